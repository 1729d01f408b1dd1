/* What a thread's last walk found of each frame: the parts of it that few walks need. */
#include "guest_trail.h"

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
    struct pgg_frame *frames = t->frames;
    if (to < at)
        for (u32 i = 0; i <= n; i++)
            frames[to + i] = frames[at + i];
    else
        for (u32 i = n + 1; i--;)
            frames[to + i] = frames[at + i];
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
    struct pgg_frame *f = &t->frames[t->end++];
    f->pc = pc;
    f[1].sum = (f->sum - pgg_trail_mix(pc)) * PGG_TRAIL_INVERSE;
    return f;
}

u32 pgg_trail_put(struct pgg_trail *t, u32 at, u32 n)
{
    if (PGG_UNLIKELY(at < t->fresh_n)) {
        if (n > PGG_TRAIL / 2)
            return 0;
        at = move(t, at);
    }
    struct pgg_frame *to = &t->frames[at];
    for (u32 i = t->fresh_n; i--;) {
        const u64 outside = to->sum;
        *--to = t->fresh[i];
        to->sum = outside * PGG_TRAIL_BASE + pgg_trail_mix(to->pc);
    }
    t->first = at - t->fresh_n;
    return t->fresh_n + n;
}

u32 pgg_trail_put_alone(struct pgg_trail *t)
{
    t->first = t->end = PGG_TRAIL_ALONE;
    t->frames[t->end].sum = 0;
    return pgg_trail_put(t, t->end, 0);
}
