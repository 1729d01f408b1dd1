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

PGG_COLD u32 pgg_trail_first_other(const struct pgg_trail *t, u32 at)
{
    while (!pgg_trail_differs(t, t->frames[at].words, pgg_trail_words(t, at + 1)))
        at++;
    return at;
}

/* A frame of the trail, with its words. */
static struct pgg_frame taken(const struct pgg_trail *t, u32 at)
{
    const struct pgg_kept *k = &t->frames[at];
    u32 w = k->words;
    struct pgg_frame f = {.pc = k->pc, .sp = k->sp, .bp_at = k->bp_at, .sp_is_low = k->sp_is_low,
                          .read = k->read};
    if (k->read & PGG_READ_BP)
        f.bp_word = t->words[w++];
    if (k->read & PGG_READ_CFA) {
        f.cfa_off = (u32)((uintptr_t)pgg_trail_at(t, w) - f.sp);
        f.cfa_word = t->words[w++];
    }
    if (k->read & PGG_READ_RETURN) {
        f.return_off = (u32)((uintptr_t)pgg_trail_at(t, w) - f.sp);
        f.return_word = t->words[w];
    }
    return f;
}

PGG_COLD bool pgg_trail_take(struct pgg_trail *t, u32 at, u32 to)
{
    if (to - at > PGG_TRAIL_FRESH - t->fresh_n)
        return false;
    while (at < to)
        t->fresh[t->fresh_n++] = taken(t, at++);
    return true;
}

/* Moves the frames from `at` on to the middle of what the fresh ones leave: at most half of all, so
 * that this is seldom. */
static PGG_COLD u32 move(struct pgg_trail *t, u32 at)
{
    const u32 n = t->end - at < PGG_TRAIL / 2 ? t->end - at : PGG_TRAIL / 2,
              to = t->fresh_n + (PGG_TRAIL - t->fresh_n - n) / 2, words = pgg_trail_words(t, at),
              more = pgg_trail_words(t, at + n) - words, words_to = PGG_READ_MOST * (to + n) - more;
    pgg_move_fast(&t->words[words_to], &t->words[words], more * sizeof *t->words);
    pgg_move_fast(&t->words_at[words_to], &t->words_at[words], more * sizeof *t->words_at);
    pgg_move_fast(&t->frames[to], &t->frames[at], n * sizeof *t->frames);
    pgg_move_fast(&t->sums[to], &t->sums[at], (n + 1) * sizeof *t->sums);
    t->first = to;
    t->ended &= at + n == t->end;
    t->end = to + n;
    t->words_end = words_to + more;
    for (u32 i = to; i < t->end; i++)
        t->frames[i].words += words_to - words;
    return to;
}

PGG_INLINE u32 put_word(struct pgg_trail *t, u32 end, uintptr_t at, u64 word)
{
    t->words_at[--end] = (u32)(at - t->base);
    t->words[end] = word;
    return end;
}

/* The words of a frame that end at `end`; where they begin. */
PGG_INLINE u32 put_words(struct pgg_trail *t, u32 end, const struct pgg_frame *f)
{
    if (f->read & PGG_READ_RETURN)
        end = put_word(t, end, f->sp + f->return_off, f->return_word);
    if (PGG_UNLIKELY(f->read & PGG_READ_CFA))
        end = put_word(t, end, f->sp + f->cfa_off, f->cfa_word);
    if (f->read & PGG_READ_BP)
        end = put_word(t, end, f->bp_at, f->bp_word);
    return end;
}

PGG_INLINE struct pgg_kept kept(const struct pgg_frame *f, u32 words)
{
    return (struct pgg_kept){.pc = f->pc, .sp = f->sp, .bp_at = f->bp_at, .words = words,
                             .sp_is_low = f->sp_is_low, .read = f->read};
}

struct pgg_frame pgg_trail_last(const struct pgg_trail *t)
{
    struct pgg_frame f = taken(t, t->end - 1);
    f.read = 0;
    return f;
}

void pgg_trail_leave(struct pgg_trail *t, const struct pgg_frame *f)
{
    struct pgg_kept *last = &t->frames[t->end - 1];
    last->read = f->read;
    t->words_end = last->words + (u32)__builtin_popcount(f->read);
    put_words(t, t->words_end, f);
}

bool pgg_trail_append(struct pgg_trail *t, u32 *at, const struct pgg_frame *f)
{
    if (PGG_UNLIKELY(t->end == PGG_TRAIL)) {
        if (t->end - *at > PGG_TRAIL / 2)
            return false;
        *at = move(t, *at);
        if (t->end == PGG_TRAIL)
            return false;
    }
    const u64 sum = t->sums[t->end];
    t->sums[t->end + 1] = (sum - pgg_trail_mix(f->pc)) * PGG_TRAIL_INVERSE;
    t->frames[t->end++] = kept(f, t->words_end);
    t->ended = false;
    return true;
}

u32 pgg_trail_put(struct pgg_trail *t, u32 at, u32 n)
{
    if (PGG_UNLIKELY(at < t->fresh_n)) {
        if (n > PGG_TRAIL / 2)
            return 0;
        at = move(t, at);
    }
    u64 sum = t->sums[at];
    u32 words = pgg_trail_words(t, at);
    for (u32 i = t->fresh_n, to = at; i--;) {
        const struct pgg_frame *f = &t->fresh[i];
        sum = sum * PGG_TRAIL_BASE + pgg_trail_mix(f->pc);
        t->sums[--to] = sum;
        words = put_words(t, words, f);
        t->frames[to] = kept(f, words);
    }
    t->first = at - t->fresh_n;
    return t->fresh_n + n;
}

u32 pgg_trail_put_alone(struct pgg_trail *t, bool ended)
{
    t->first = t->end = PGG_TRAIL_ALONE;
    t->ended = ended;
    t->sums[t->end] = 0;
    t->words_end = PGG_READ_MOST * PGG_TRAIL_ALONE;
    return pgg_trail_put(t, t->end, 0);
}
