/* The results of a thread's last walk for each frame: the parts that few walks need. */
#include "guest_trail.h"

#include "guest_bytes.h"

u64 pgg_trail_hash_pcs(const u64 *pcs, u32 n)
{
    u64 sum = 0;
    for (u32 i = n; i--;)
        sum = sum * PGG_TRAIL_BASE + pgg_trail_mix(pcs[i]);
    return pgg_trail_finish(sum, n);
}

u64 pgg_trail_power(u32 n)
{
    u64 result = 1;
    for (u64 base = PGG_TRAIL_BASE; n; n >>= 1, base *= base)
        if (n & 1)
            result *= base;
    return result;
}

PGG_COLD bool pgg_trail_rebase(struct pgg_trail *t, u32 at, uintptr_t bp_at)
{
    const uintptr_t before = t->frames[at].bp_at;
    u32 to = at;
    if (!before || !bp_at)
        return false;
    for (; t->frames[to].bp_at == before; to++)
        if (t->frames[to].read & PGG_READ_BP || to + 1 == t->end)
            return false;
    while (to-- > at)
        t->frames[to].bp_at = bp_at;
    return true;
}

PGG_COLD bool pgg_trail_take(struct pgg_trail *t, u32 at, u32 to)
{
    if (to - at > PGG_TRAIL_FRESH - t->fresh_n)
        return false;
    while (at < to)
        t->fresh[t->fresh_n++] = t->frames[at++];
    return true;
}

/* Moves the frames from `at` on to the middle of what the fresh ones leave: at most half of all, so
 * that this is seldom. */
static PGG_COLD u32 move(struct pgg_trail *t, u32 at)
{
    const u32 n = t->end - at < PGG_TRAIL / 2 ? t->end - at : PGG_TRAIL / 2,
              to = t->fresh_n + (PGG_TRAIL - t->fresh_n - n) / 2;
    pgg_move_fast(&t->frames[to], &t->frames[at], n * sizeof *t->frames);
    pgg_move_fast(&t->sums[to], &t->sums[at], (n + 1) * sizeof *t->sums);
    t->first = to;
    t->end = to + n;
    return to;
}

struct pgg_frame *pgg_trail_append(struct pgg_trail *t, u32 *at, u64 pc)
{
    if (PGG_UNLIKELY(t->end == PGG_TRAIL)) {
        if (t->end - *at > PGG_TRAIL / 2)
            return NULL;
        *at = move(t, *at);
        if (t->end == PGG_TRAIL)
            return NULL;
    }
    const u64 sum = t->sums[t->end];
    t->sums[t->end + 1] = (sum - pgg_trail_mix(pc)) * PGG_TRAIL_INVERSE;
    return &t->frames[t->end++];
}

u32 pgg_trail_put(struct pgg_trail *t, u32 at, u32 n)
{
    if (PGG_UNLIKELY(at < t->fresh_n)) {
        if (n > PGG_TRAIL / 2)
            return 0;
        at = move(t, at);
    }
    u64 sum = t->sums[at];
    for (u32 i = t->fresh_n, to = at; i--;) {
        sum = sum * PGG_TRAIL_BASE + pgg_trail_mix(t->fresh[i].pc);
        t->sums[--to] = sum;
        t->frames[to] = t->fresh[i];
    }
    t->first = at - t->fresh_n;
    return t->fresh_n + n;
}

u32 pgg_trail_put_alone(struct pgg_trail *t)
{
    t->first = t->end = PGG_TRAIL_ALONE;
    t->sums[t->end] = 0;
    return pgg_trail_put(t, t->end, 0);
}
