/* The processes that a heap profile is of. */
#include "heap_origin.h"

#include "saturate.h"

#define PGK_ORIGIN(name, rule, meaning) +1
enum {
    ORIGIN_FIELDS = 0
#include "heap_origin.def"
};
#undef PGK_ORIGIN
_Static_assert(sizeof(struct pgk_heap_origin) == ORIGIN_FIELDS * sizeof(uint64_t),
               "each row is a field");

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void pgk_heap_origin_merge(struct pgk_heap_origin *into, const struct pgk_heap_origin *from)
{
#define MERGE_SUM pgk_add_saturated
#define MERGE_MAX greater
#define PGK_ORIGIN(name, rule, meaning) into->name = MERGE_##rule(into->name, from->name);
#include "heap_origin.def"
#undef PGK_ORIGIN
}

void pgk_heap_origin_scale(struct pgk_heap_origin *o, uint64_t times)
{
#define TIMES_SUM times
#define TIMES_MAX 1
#define PGK_ORIGIN(name, rule, meaning) o->name = pgk_multiply_saturated(o->name, TIMES_##rule);
#include "heap_origin.def"
#undef PGK_ORIGIN
}
