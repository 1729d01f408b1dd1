/* The results of a thread's last walk for each frame, so that the next walk can reuse them. Most
 * frames of two walks are the same: a walk uses rules until it meets a frame of the trail, and from
 * there compares the words that the last one read; these loads do not wait for one another. */
#ifndef PGG_TRAIL_H
#define PGG_TRAIL_H

#include "guest_vector.h"

#pragma GCC visibility push(hidden)

/* The words that were read to leave a frame. With the return address the frame was left. */
enum { PGG_READ_RETURN = 1, PGG_READ_BP = 2, PGG_READ_CFA = 4, PGG_READ_MOST = 3 };
/* Of a walk that goes on. */
struct pgg_frame {
    u64 pc;              /* of code in it */
    uintptr_t sp, bp_at; /* as the frame sees it; where its frame pointer is kept */
    u64 return_word, bp_word, cfa_word; /* what was at return_at, bp_at and cfa_at */
    u32 return_off, cfa_off;            /* return_at and cfa_at, from sp on */
    bool sp_is_low;                     /* of struct place */
    uint8_t read;
} __attribute__((aligned(64))); /* a line of the cache */
/* The same in the trail. The words are apart, those of all frames in one row: a walk compares most
 * of them, and needs nothing else of most frames. */
struct pgg_kept {
    u64 pc;
    uintptr_t sp, bp_at;
    u32 words; /* of the frame, from there to those of the next one outwards */
    bool sp_is_low;
    uint8_t read;
} __attribute__((aligned(32)));
enum {
    PGG_TRAIL = 512,                  /* frames */
    PGG_TRAIL_FRESH = PGG_TRAIL / 2,  /* that one walk may put in front of the others */
    PGG_TRAIL_ALONE = PGG_TRAIL_FRESH + PGG_TRAIL / 4, /* where these end if there are no others */
    /* The words of frame i begin at PGG_READ_MOST * i or after it, and those of the last frame at
     * PGG_READ_MOST * end or before it, so that there is space for as many as frames may have. */
    PGG_TRAIL_WORDS = PGG_READ_MOST * (PGG_TRAIL + 1),
};
/* Zeroed memory is an empty one. */
struct pgg_trail {
    u32 epoch;                         /* of the rules that it was made by */
    u32 power_n;                       /* PGG_TRAIL_BASE^power_n is the one needed last */
    u64 power;
    u32 first, end, fresh_n;           /* [first, end) are frames, innermost first */
    u32 words_end;
    bool ended;                        /* the last frame is the outermost one of its stack */
    uintptr_t base;                    /* no word of the stack is below it */
    /* Hash of a frame's pc and those outside of it, see pgg_trail_hash; the last covers none. */
    u64 sums[PGG_TRAIL + 1];
    u64 words[PGG_TRAIL_WORDS];        /* what was there */
    u32 words_at[PGG_TRAIL_WORDS];     /* from `base` on */
    struct pgg_kept frames[PGG_TRAIL];
    struct pgg_frame fresh[PGG_TRAIL_FRESH]; /* of a walk that goes on, not in `frames` so far */
};

/* The hash of n code addresses is the sum of pgg_trail_mix(pcs[i]) * PGG_TRAIL_BASE^i, made even
 * by pgg_trail_finish: that of part of a trail is the difference of two sums. */
#define PGG_TRAIL_BASE UINT64_C(0x9e3779b97f4a7c15)
#define PGG_TRAIL_INVERSE UINT64_C(0xf1de83e19937733d) /* the product of both is 1 */

PGG_INLINE u64 pgg_trail_mix(u64 pc)
{
    pc *= UINT64_C(0xff51afd7ed558ccd);
    pc ^= pc >> 32;
    return pc * UINT64_C(0xc4ceb9fe1a85ec53);
}

PGG_INLINE u64 pgg_trail_finish(u64 sum, u32 n)
{
    sum = (sum ^ n ^ sum >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
    return sum ^ sum >> 29;
}

u64 pgg_trail_hash_pcs(const u64 *pcs, u32 n);
u64 pgg_trail_power(u32 n);                   /* PGG_TRAIL_BASE^n */
/* Forgets all if the rules are others now. `base` is the stack's. */
PGG_INLINE void pgg_trail_begin(struct pgg_trail *t, u32 epoch, uintptr_t base)
{
    t->fresh_n = 0;
    if (PGG_UNLIKELY(t->epoch != epoch)) {
        t->epoch = epoch;
        t->base = base;
        t->first = t->end = PGG_TRAIL_ALONE;
    }
}

/* Where the words of frame `at` begin, and those of the one inside of it end. */
PGG_INLINE u32 pgg_trail_words(const struct pgg_trail *t, u32 at)
{
    return at < t->end ? t->frames[at].words : t->words_end;
}

/* Frame `at` has another place for its frame pointer now. True, and that is noted, if the walk from
 * there on does not read it before some frame has kept another one. */
bool pgg_trail_rebase(struct pgg_trail *t, u32 at, uintptr_t bp_at);
/* Whether a walk at this frame goes on as the one before did, as far as words stay the same. */
PGG_INLINE bool pgg_trail_joins(struct pgg_trail *t, u32 at, u64 pc, uintptr_t sp, uintptr_t bp_at,
                                bool sp_is_low)
{
    const struct pgg_kept *f = &t->frames[at];
    return at < t->end && f->sp == sp && f->pc == pc && f->sp_is_low == sp_is_low &&
           (PGG_LIKELY(f->bp_at == bp_at) || pgg_trail_rebase(t, at, bp_at));
}

/* The first frame from `at` on that is not as far in as sp. */
PGG_INLINE u32 pgg_trail_seek(const struct pgg_trail *t, u32 at, uintptr_t sp)
{
    while (at < t->end && t->frames[at].sp < sp)
        at++;
    return at;
}

PGG_INLINE const u64 *pgg_trail_at(const struct pgg_trail *t, u32 word)
{
    return (const u64 *)(t->base + t->words_at[word]);
}

/* The difference of two words, one after the other. Their places are loaded together. */
PGG_INLINE pgg_v16 pgg_trail_pair(const struct pgg_trail *t, u32 word)
{
    u64 at;
    __builtin_memcpy(&at, &t->words_at[word], sizeof at);
    const pgg_v16_words now = {*(const u64 *)(t->base + (u32)at),
                               *(const u64 *)(t->base + (at >> 32))};
    return pgg_xor16((pgg_v16)now, pgg_load16(&t->words[word]));
}

/* Whether a word of [from, end) is another one now: loads that wait for nothing, and branches that
 * depend on little. */
PGG_INLINE bool pgg_trail_differs(const struct pgg_trail *t, u32 from, u32 end)
{
    enum { BLOCK = 8 };
    pgg_v16 other = pgg_zero16();
    if (PGG_UNLIKELY(end - from < BLOCK)) {
        u64 any = 0;
        for (; from < end; from++)
            any |= *pgg_trail_at(t, from) ^ t->words[from];
        return any;
    }
    /* The last two may overlap. */
    for (;; from = end - from < 2 * BLOCK ? end - BLOCK : from + BLOCK) {
        for (u32 i = 0; i < BLOCK; i += 2)
            other = pgg_or16(other, pgg_trail_pair(t, from + i));
        if (from + BLOCK == end)
            return pgg_any16(other);
    }
}

u32 pgg_trail_first_other(const struct pgg_trail *t, u32 at);
/* The first frame in [at, last) which is not left as before, or `last`. All have been left. With
 * `ends` it may also be the one after `last`, which was outermost: then it still is. */
PGG_INLINE u32 pgg_trail_same(const struct pgg_trail *t, u32 at, u32 last, bool ends)
{
    const u32 end = ends ? t->words_end : t->frames[last].words;
    if (PGG_UNLIKELY(pgg_trail_differs(t, t->frames[at].words, end)))
        return pgg_trail_first_other(t, at);
    return last + ends;
}

/* Of the first n frames. */
PGG_INLINE u64 pgg_trail_hash(struct pgg_trail *t, u32 n)
{
    const u64 *sums = &t->sums[t->first];
    if (sums[n] && t->power_n != n) { /* of a whole stack there is nothing to leave out */
        t->power_n = n;
        t->power = pgg_trail_power(n);
    }
    return pgg_trail_finish(sums[0] - t->power * sums[n], n);
}

/* For a frame that the trail does not have; NULL: there are too many. */
PGG_INLINE struct pgg_frame *pgg_trail_fresh(struct pgg_trail *t)
{
    return PGG_LIKELY(t->fresh_n < PGG_TRAIL_FRESH) ? &t->fresh[t->fresh_n++] : NULL;
}

/* The frames of [at, to) become fresh ones, as the walk leaves the last of them otherwise. False:
 * there are too many. */
bool pgg_trail_take(struct pgg_trail *t, u32 at, u32 to);
/* The outermost frame, to be left again; and the words that it is left by. */
struct pgg_frame pgg_trail_last(const struct pgg_trail *t);
void pgg_trail_leave(struct pgg_trail *t, const struct pgg_frame *f);
/* A frame outside of all; false: there are too many. May move the others: *at, where fresh ones are
 * to be put, with them. */
bool pgg_trail_append(struct pgg_trail *t, u32 *at, const struct pgg_frame *f);
/* The fresh frames are put in front of frame `at`, with which n others are to stay; what was in
 * front of it is gone. How many there are then; 0: too many. */
u32 pgg_trail_put(struct pgg_trail *t, u32 at, u32 n);
u32 pgg_trail_put_alone(struct pgg_trail *t, bool ended); /* all others are gone */

#pragma GCC visibility pop
#endif
