/* All objects that are alive. */
#include "runtime_heap.h"

#include "runtime_alloc.h"
#include "runtime_shadow.h"
#include "runtime_thread.h"

/* The object whose mark this word is, of this granule; false: it is none. */
static bool object_of_mark(u64 word, uintptr_t granule, struct pgrt_object *o)
{
    enum pgrt_form form;
    if (pgrt_histogram)
        form = (word & 0xff) == PGRT_HIST_NEAR  ? PGRT_FORM_NEAR
               : (word & 0xff) == PGRT_HIST_FAR ? PGRT_FORM_FAR
                                                : PGRT_FORM_NONE;
    else
        form = (word & PGRT_MARK_BITS) == PGRT_MARK_SMALL  ? PGRT_FORM_SMALL
               : (word & PGRT_MARK_BITS) == PGRT_MARK_NEAR ? PGRT_FORM_NEAR
               : (word & PGRT_MARK_BITS) == PGRT_MARK_FAR  ? PGRT_FORM_FAR
                                                           : PGRT_FORM_NONE;
    if (form == PGRT_FORM_NONE)
        return false;
    granule += form == PGRT_FORM_NEAR ? PGRT_HEADER : form == PGRT_FORM_FAR ? PGRT_GRANULE : 0;
    *o = pgrt_object_at((void *)granule, form);
    return true;
}

static u32 regions(void)
{
    return pgrt_region_count < PGRT_REGIONS_MAX ? pgrt_region_count : PGRT_REGIONS_MAX;
}

/* Goes through all objects until one is the one; false: none is. */
PGG_INLINE bool find(bool (*is_it)(void *arg, struct pgrt_object *o), void *arg,
                     struct pgrt_object *o)
{
    for (u32 i = 0; i < regions(); i++) {
        uintptr_t at = (uintptr_t)pgrt_region_list[i] << PGRT_REGION_SHIFT,
                  end = at + ((uintptr_t)1 << PGRT_REGION_SHIFT);
        for (const u64 *word = pgrt_shadow(at); at < end; at += PGRT_GRANULE, word++)
            if (*word && object_of_mark(*word, at, o) && is_it(arg, o))
                return true;
    }
    return false;
}

struct visit {
    void (*f)(void *arg, struct pgrt_object *o);
    void *arg;
};

static bool visit(void *arg, struct pgrt_object *o)
{
    const struct visit *v = arg;
    v->f(v->arg, o);
    return false;
}

void pgrt_heap_each(void (*f)(void *arg, struct pgrt_object *o), void *arg)
{
    struct visit all = {f, arg};
    struct pgrt_object o;
    find(visit, &all, &o);
}

static bool contains(void *address, struct pgrt_object *o)
{
    return (uintptr_t)address - (uintptr_t)o->at < o->h.size;
}

/* False, with the world running, if it cannot be stopped. */
static bool stop_world(void)
{
    if (!pgrt_can_stop())
        return false;
    pgrt_stop_world();
    if (pgrt_gate_now() == PGRT_GATE_STOP)
        return true;
    pgrt_start_world();
    return false;
}

static void add_size(void *sum, struct pgrt_object *o)
{
    *(u64 *)sum += o->h.size;
}

bool pgrt_heap_bytes(u64 *asked, u64 *taken)
{
    *asked = 0;
    if (!stop_world())
        return false;
    pgrt_heap_each(add_size, asked);
    *taken = (u64)regions() << PGRT_REGION_SHIFT;
    pgrt_start_world();
    return true;
}

const void *pgrt_heap_begin(const void *address)
{
    if (!stop_world())
        return NULL;
    struct pgrt_object o;
    const bool found = find(contains, (void *)address, &o);
    pgrt_start_world();
    return found ? o.at : NULL;
}
