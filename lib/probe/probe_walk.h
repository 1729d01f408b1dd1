/* The grammar of .pseudo_probe, once, for the pass that counts and the one that fills.
 *
 *     root  := body
 *     body  := guid:u64 nprobes:ULEB nchildren:ULEB probe{nprobes} child{nchildren}
 *     child := site:ULEB body
 *     probe := index:ULEB packed:u8 address discriminator:ULEB?
 *
 * Both passes run through here with their own two functions, which are known when this is
 * compiled, so that no call is left in the loop. Nesting is followed without recursion. */
#ifndef PGK_PROBE_WALK_H
#define PGK_PROBE_WALK_H

#include "probe_priv.h"

enum { PGK_PROBE_MIN_BYTES = 3, PGK_PROBE_CHILD_MIN_BYTES = 11 };

struct pgk_probe_walk {
    const struct pgk_probes *probes;
    struct pgk_cursor cur;
    uint64_t last;                /* address of the last probe */
    uint64_t guid, guid_off;      /* of the body being read, for messages */
    PGK_VEC(uint32_t) pending;    /* per level: children still to come */
    uint64_t start;               /* of the root: what its first delta counts from */
    struct pgk_probe_start *symbol; /* until the first delta: may be the start instead */
    bool doubtful;                /* what pgk_probe_walk_base found */
    bool absolute;                /* the chain began with an absolute address */
    uint64_t lost_guid;           /* of a root or sentinel without symbol; else 0 */
};

struct pgk_probe_seen {
    uint64_t addr;
    uint32_t index, discriminator;
    uint8_t packed;
};

/* The pass's own part: `node` begins a body at a level, 0 being a root. */
typedef int pgk_probe_on_node(struct pgk_probe_walk *w, void *ctx, uint64_t guid, uint32_t site,
                              size_t level, uint32_t probes, struct pgk_err *err);
typedef void pgk_probe_on_probe(struct pgk_probe_walk *w, void *ctx,
                                const struct pgk_probe_seen *seen);

#define PGK_PROBE_INLINE static inline __attribute__((always_inline))

/* Most numbers have one byte, most deltas one or two. */
PGK_PROBE_INLINE uint64_t walk_uleb(struct pgk_cursor *c, const char *field)
{
    if (PGK_LIKELY(c->at < c->end && *c->at < 0x80))
        return *c->at++;
    return pgk_cur_uleb(c, field);
}

PGK_PROBE_INLINE int64_t walk_sleb(struct pgk_cursor *c, const char *field)
{
    if (PGK_LIKELY(pgk_cur_left(c) >= 2)) {
        unsigned a = c->at[0], b = c->at[1];
        if (a < 0x80) {
            c->at++;
            return (int8_t)(a << 1) >> 1;
        }
        if (b < 0x80) {
            c->at += 2;
            return (int16_t)((b << 7 | (a & 0x7f)) << 2) >> 2;
        }
    }
    return pgk_cur_sleb(c, field);
}

/* A ULEB that must fit 32 bits. */
PGK_PROBE_INLINE uint32_t walk_u32(struct pgk_cursor *c, const char *field)
{
    uint64_t v = walk_uleb(c, field);
    if (PGK_UNLIKELY(v > UINT32_MAX)) {
        pgk_cur_fail(c, 0, field);
        c->fail_kind = PGK_CUR_LEB;
        return 0;
    }
    return (uint32_t)v;
}

int pgk_probe_walk_fail(const struct pgk_probe_walk *w, struct pgk_err *err);
/* Errors of a body are reported at its GUID. */
int pgk_probe_walk_reject(const struct pgk_probe_walk *w, const char *field, const char *found,
                          const char *expected, int status, struct pgk_err *err);
int pgk_probe_walk_bad_type(const struct pgk_probe_walk *w, uint64_t off, unsigned type,
                            struct pgk_err *err);
int pgk_probe_walk_bad_counts(const struct pgk_probe_walk *w, uint64_t off, uint32_t probes,
                              uint32_t children, struct pgk_err *err);
/* Compares where the first delta of a root leads from the last address and from its symbol. */
void pgk_probe_walk_base(struct pgk_probe_walk *w, int64_t delta);
uint64_t pgk_probe_walk_sentinel(struct pgk_probe_walk *w, uint64_t guid);

/* Most probes have an index below 128, a delta of one or two bytes, and nothing else; which of the
 * two cannot be predicted, and so is not branched on. False: read it with all that may be. */
PGK_PROBE_INLINE bool walk_short_probe(struct pgk_probe_walk *w, struct pgk_probe_seen *seen)
{
    struct pgk_cursor *c = &w->cur;
    uint32_t v;
    if (PGK_UNLIKELY(pgk_cur_left(c) < sizeof v))
        return false;
    memcpy(&v, c->at, sizeof v);
    uint8_t packed = (uint8_t)(v >> 8);
    if (PGK_UNLIKELY(v & 0x80) || PGK_UNLIKELY((v & 0x80800000) == 0x80800000) ||
        PGK_UNLIKELY((packed & PGK_PROBE_ATTRIBUTES) != PGK_PROBE_DELTA) ||
        PGK_UNLIKELY((packed & PGK_PROBE_TYPE_MASK) >= PGK_PROBE_TYPES))
        return false;
    unsigned longer = v >> 23 & 1, unused = 64 - 7 * (1 + longer);
    uint64_t delta = (v >> 16 & 0x7f) | v >> 24 << 7;
    w->last += (uint64_t)((int64_t)(delta << unused) >> unused);
    c->at += 3 + longer;
    *seen = (struct pgk_probe_seen){.addr = w->last, .index = v & 0x7f, .packed = packed};
    return true;
}

PGK_PROBE_INLINE int walk_probe(struct pgk_probe_walk *w, struct pgk_probe_seen *seen,
                                struct pgk_err *err)
{
    struct pgk_cursor *c = &w->cur;
    if (PGK_LIKELY(!w->symbol && walk_short_probe(w, seen)))
        return 0;
    const uint8_t *begin = c->at;
    seen->index = walk_u32(c, "probe index");
    seen->packed = pgk_cur_u8(c, "probe type and attributes");
    if (PGK_LIKELY(seen->packed & PGK_PROBE_DELTA)) {
        int64_t delta = walk_sleb(c, "address delta");
        if (PGK_UNLIKELY(w->symbol))
            pgk_probe_walk_base(w, delta);
        w->last += (uint64_t)delta;
    } else if (seen->packed & PGK_PROBE_SENTINEL) {
        w->last = pgk_probe_walk_sentinel(w, pgk_cur_u64(c, "linkage name GUID"));
    } else {
        w->last = pgk_cur_u64(c, "address");
        w->absolute = true;
        w->lost_guid = 0;
        w->symbol = NULL;
    }
    seen->addr = w->last;
    seen->discriminator = 0;
    if (PGK_UNLIKELY(seen->packed & PGK_PROBE_HAS_DISCRIMINATOR))
        seen->discriminator = walk_u32(c, "discriminator");
    if (PGK_UNLIKELY(c->failed))
        return pgk_probe_walk_fail(w, err);
    unsigned type = seen->packed & PGK_PROBE_TYPE_MASK;
    if (PGK_UNLIKELY(type >= PGK_PROBE_TYPES))
        return pgk_probe_walk_bad_type(w, c->src.base_off + (uint64_t)(begin - c->start), type,
                                       err);
    return 0;
}

/* Reads one root with all that is inlined into it. */
PGK_PROBE_INLINE int pgk_probe_walk_root(struct pgk_probe_walk *w, void *ctx,
                                         pgk_probe_on_node *on_node,
                                         pgk_probe_on_probe *on_probe, struct pgk_err *err)
{
    struct pgk_cursor *c = &w->cur;
    w->pending.n = 0;
    do {
        size_t level = w->pending.n;
        uint32_t site = level ? walk_u32(c, "inline site") : 0;
        w->guid_off = pgk_cur_off(c);
        w->guid = pgk_cur_u64(c, "GUID");
        uint64_t counts_off = pgk_cur_off(c);
        uint32_t probes = walk_u32(c, "number of probes");
        uint32_t children = walk_u32(c, "number of inlined functions");
        if (PGK_UNLIKELY(c->failed))
            return pgk_probe_walk_fail(w, err);
        if (PGK_UNLIKELY((uint64_t)probes * PGK_PROBE_MIN_BYTES +
                             (uint64_t)children * PGK_PROBE_CHILD_MIN_BYTES >
                         pgk_cur_left(c)))
            return pgk_probe_walk_bad_counts(w, counts_off, probes, children, err);
        PGK_TRY(on_node(w, ctx, w->guid, site, level, probes, err));
        for (uint32_t i = 0; i < probes; i++) {
            struct pgk_probe_seen seen;
            PGK_TRY(walk_probe(w, &seen, err));
            if (PGK_LIKELY(!(seen.packed & PGK_PROBE_SENTINEL)))
                on_probe(w, ctx, &seen);
        }
        if (children && !pgk_vec_push(&w->pending, children + 1))
            return pgk_fail_nomem(err);
        while (w->pending.n && !--w->pending.v[w->pending.n - 1])
            w->pending.n--;
    } while (w->pending.n);
    return 0;
}

#endif
