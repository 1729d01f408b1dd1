/* The allocated and live bytes of each context, from the sheets of the threads. */
#include "runtime_totals.h"

#include "guest_memory.h"
#include "runtime_thread.h"

static void take(void *arg, const struct pgrt_allocated *b)
{
    struct pgrt_totals *t = arg;
    if (pgrt_context_of(b) >= t->n)
        return;
    struct pgrt_total *to = &t->of[pgrt_context_of(b)];
    to->made_objects += b->objects;
    to->made_bytes += b->bytes;
    to->alive_objects += b->alive_objects;
    to->alive_bytes += b->alive_bytes;
}

/* The live objects of one thread may be negative, modulo 2^32. */
static void add_up(struct pgrt_totals *t)
{
    for (u32 id = 1; id < t->n; id++) {
        struct pgrt_total *one = &t->of[id];
        one->alive_objects = (u32)one->alive_objects;
        t->all.made_objects += one->made_objects;
        t->all.made_bytes += one->made_bytes;
        t->all.alive_objects += one->alive_objects;
        t->all.alive_bytes += one->alive_bytes;
    }
}

static size_t bytes_of(const struct pgrt_totals *t)
{
    return pgg_whole_pages(t->n * sizeof *t->of);
}

bool pgrt_totals_take(struct pgrt_totals *t)
{
    *t = (struct pgrt_totals){0};
    if (!pgrt_can_stop())
        return false;
    pgrt_stop_world();
    const bool stopped = pgrt_gate_now() == PGRT_GATE_STOP;
    if (stopped) {
        t->n = pgg_contexts();
        t->of = pgg_map(bytes_of(t));
        if (t->of)
            pgrt_sheets_each_allocated(take, t);
    }
    pgrt_start_world();
    if (!t->of)
        return false;
    add_up(t);
    return true;
}

void pgrt_totals_free(struct pgrt_totals *t)
{
    if (t->of)
        pgg_unmap(t->of, bytes_of(t));
    t->of = NULL;
}
