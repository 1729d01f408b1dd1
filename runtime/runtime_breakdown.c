/* Finds the contexts that hold most at a point of the series. This takes a walk over the contexts
 * of all threads, so the more contexts there are, the longer the wait until the next one. Only the
 * largest are kept: their memory does not depend on the number of contexts, and the others would
 * not show in a picture.
 *
 * One at a time: called with the lock of the series, or with the world stopped. */
#include "runtime_breakdown.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "runtime_depot.h"
#include "runtime_sheets.h"

/* An entry takes some nanoseconds, so that this is less than half a percent of the time. */
enum { ENTRIES_PER_MS = 200 };

static u64 *alive; /* by context; all 0 between two walks */
static u32 capacity;
static u32 due_ms;

static bool reserve(u32 contexts)
{
    if (contexts <= capacity)
        return true;
    const size_t bytes = pgg_whole_pages(2 * contexts * sizeof *alive);
    u64 *larger = pgg_map(bytes);
    if (!larger)
        return false;
    pgrt_breakdown_forget();
    alive = larger;
    capacity = (u32)(bytes / sizeof *alive);
    return true;
}

void pgrt_breakdown_forget(void)
{
    if (alive)
        pgg_unmap(alive, capacity * sizeof *alive);
    alive = NULL;
    capacity = 0;
}

/* Keeps the largest, in falling order; the number of them. */
static u64 add_share(struct pgrt_share *of, u64 n, struct pgrt_share share)
{
    if (n == PGK_SHARES_MAX && share.bytes <= of[n - 1].bytes)
        return n;
    u64 at = n < PGK_SHARES_MAX ? n : n - 1;
    for (; at && of[at - 1].bytes < share.bytes; at--)
        of[at] = of[at - 1];
    of[at] = share;
    return n < PGK_SHARES_MAX ? n + 1 : n;
}

/* Until it is whole a reader finds none, whenever the process is killed. */
void pgrt_breakdown_take(struct pgrt_breakdown *to, u32 now_ms)
{
    const u32 contexts = pgg_contexts();
    u64 n = 0;
    to->shares = 0;
    pgg_compiler_barrier();
    to->ms = now_ms;
    if (now_ms < due_ms || !reserve(contexts))
        return;
    due_ms = now_ms + (u32)(pgrt_sheets_add_alive(alive, contexts) / ENTRIES_PER_MS);
    for (u32 id = 1; id < contexts; id++) {
        /* A thread may have freed what another one is about to count. */
        if ((i64)alive[id] > 0)
            n = add_share(to->of, n, (struct pgrt_share){.context = id, .bytes = alive[id]});
        alive[id] = 0;
    }
    pgg_compiler_barrier();
    to->shares = n;
}

void pgrt_breakdown_copy(struct pgrt_breakdown *to, const struct pgrt_breakdown *from)
{
    to->shares = 0;
    pgg_compiler_barrier();
    to->ms = from->ms;
    pgg_copy(to->of, from->of, from->shares * sizeof *from->of);
    pgg_compiler_barrier();
    to->shares = from->shares;
}

void pgrt_breakdown_forked(void)
{
    due_ms = 0;
}
