/* Indexed profiles, a part: what can be read as a whole can be read in part, and what is in the
 * part is in the whole. */
#include "indexed.h"
#include "u64_set.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct pgk_source src = {.file = "fuzz", .format = "indexed profile"};

/* Every third function of the profile; or some others, of one that cannot be read. */
static size_t choose(const struct pgk_heap *whole, uint64_t *functions, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < whole->funcs.n && n < max; i += 3)
        functions[n++] = whole->funcs.v[i].guid;
    if (!n)
        functions[n++] = 0;
    return pgk_u64_set(functions, n);
}

static bool has_stack(const struct pgk_heap *whole, const struct pgk_heap_frame *stack, size_t n)
{
    enum { MOST = 64 };
    struct pgk_heap_frame frames[MOST];
    for (size_t i = 0; i < pgk_heap_contexts(whole); i++) {
        bool same = pgk_heap_stack(whole, i, frames, MOST) == n;
        for (size_t k = 0; same && k < n && k < MOST; k++)
            same = frames[k].guid == stack[k].guid && frames[k].inlined == stack[k].inlined &&
                   frames[k].line_offset == stack[k].line_offset &&
                   frames[k].column == stack[k].column;
        if (same)
            return true;
    }
    return false;
}

static void check(const struct pgk_heap *whole, const struct pgk_heap *part)
{
    enum { MOST = 64, LOOKED_AT = 100 };
    struct pgk_heap_frame stack[MOST];
    for (size_t i = 0; i < pgk_heap_contexts(part) && i < LOOKED_AT; i++)
        if (!has_stack(whole, stack, pgk_heap_stack(part, i, stack, MOST)))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { FUNCTIONS = 64 };
    uint64_t functions[FUNCTIONS];
    struct pgk_heap *whole, *part = NULL;
    struct pgk_indexed_info info;
    struct pgk_err err = {0};
    if (pgk_heap_new(&whole, NULL) || pgk_heap_new(&part, NULL))
        return 0;
    int status = pgk_indexed_read(whole, bytes, size, &src, NULL, NULL);
    size_t n = choose(whole, functions, FUNCTIONS);
    int in_part = pgk_indexed_read_functions(part, bytes, size, &src, functions, n, &info, &err);
    if (in_part && in_part != PGK_E_ARG && (!status || err.status != in_part || !*err.field))
        abort();
    if (!status && !in_part)
        check(whole, part);
    pgk_heap_close(&whole);
    pgk_heap_close(&part);
    return 0;
}
