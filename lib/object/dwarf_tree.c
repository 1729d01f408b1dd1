/* address -> inline chain within one unit.
 *
 * A unit is walked once from end to end to list its functions: in a DIE tree written
 * without DW_AT_sibling reaching the next function means reading everything between.
 * The walk needs neither depth nor attributes, so a DIE costs one table word and an
 * addition. Then only functions that hold a queried
 * address are walked again, now with their nesting.
 *
 * Which DIE an address belongs to is decided as LLVM does. It enters the ranges of all
 * function DIEs, in the order of the file, into a map from the first address of a range
 * to its end and DIE. A new range that begins within an entry splits it; but entries that
 * begin inside the new range stay. With nested ranges that gives the innermost DIE, and it
 * is enough to follow one entry per query. With functions that a linker folded into one it
 * gives a mixture, which is reproduced, too, because frames must equal those that the
 * compiler's own tools find; for such queries the whole map is made. */
#include "dwarf_priv.h"
#include "message.h"
#include "search.h"

#include <dwarf.h>
#include <inttypes.h>

/* Steps over the attributes of a DIE with some of varying size. */
static inline void skip_attributes(const struct pgk_dw_unit *u, const struct pgk_dw_abbrevs *t,
                            const struct pgk_dw_abbrev *a, struct pgk_dw_pos *at)
{
    pgk_dw_take(at, a->fixed);
    const struct pgk_dw_step *s = t->steps.v + a->step;
    for (uint32_t i = 0; i < a->n_steps; i++, s++) {
        /* Expressions are short, nearly always with a length of one byte. */
        if (s->form == DW_FORM_exprloc && at->p < at->end && !(*at->p & 0x80))
            pgk_dw_take(at, UINT64_C(1) + *at->p);
        else
            pgk_dw_form_skip(u, s->form, at);
        pgk_dw_take(at, s->then);
    }
}

static void read_pc_slowly(const struct pgk_dw_unit *u, const struct pgk_dw_abbrevs *t,
                           const struct pgk_dw_abbrev *a, const struct pgk_dw_pos *at,
                           struct pgk_dw_pc *pc)
{
    struct pgk_dw_iter it = {
        .unit = u,
        .abbrev = a,
        .spec = t->specs.v + a->spec,
        .spec_end = t->specs.v + a->spec + a->n_specs,
        .pos = *at,
    };
    while (pgk_dw_iter_next(&it)) {
        if (it.at == DW_AT_low_pc)
            pc->low = it.value;
        else if (it.at == DW_AT_high_pc)
            pc->high = it.value;
        else if (it.at == DW_AT_ranges)
            pc->ranges = it.value;
    }
}

/* Appends the ranges of the DIE whose attributes begin at `at`. Nearly all DIEs have an
 * address and a length of 4 bytes, at known places. */
static inline bool read_ranges(const struct pgk_dw_unit *u, const struct pgk_dw_abbrevs *t,
                               const struct pgk_dw_abbrev *a, const struct pgk_dw_pos *at,
                               pgk_dw_range_vec *out)
{
    struct pgk_dw_pc pc = {0};
    uint64_t left = (uint64_t)(at->end - at->p);
    if (a->simple_pc && left >= a->low_at + 8u && left >= a->high_at + 4u) {
        uint64_t low;
        uint32_t length;
        memcpy(&low, at->p + a->low_at, sizeof low);
        memcpy(&length, at->p + a->high_at, sizeof length);
        return !length || low > UINT64_MAX - length ||
               pgk_vec_push(out, (struct pgk_dw_range){low, low + length});
    }
    read_pc_slowly(u, t, a, at, &pc);
    return pgk_dw_ranges(u, &pc, out);
}

/* Called for a DIE that is looked for whose attributes begin at `at`; not 0 ends the walk. */
typedef int visit_fn(void *ctx, const struct pgk_dw_abbrevs *t, const struct pgk_dw_abbrev *a,
                     uint64_t die, const struct pgk_dw_pos *at);

/* Without knowing the DIE, one cannot find where the next one begins. Once per unit. */
static int warn_damaged(const struct pgk_dw_unit *unit, uint64_t die)
{
    struct pgk_dw_unit *u = (struct pgk_dw_unit *)(uintptr_t)unit;
    if (!atomic_exchange(&u->warned, true))
        pgk_warn("%s: %s is damaged at offset %" PRIu64 "; functions after it, in the unit at "
                 "offset %" PRIu64 ", are unknown",
                 pgk_elf_path(u->file->elf), u->in_types ? ".debug_types" : ".debug_info", die,
                 u->off);
    return 0;
}

/* Visits all DIEs of a unit with one of `flags`, PGK_DW_A_SUBPROGRAM or PGK_DW_A_CALL, in the order
 * of its bytes, without looking at its tree.
 * Symbolising spends most of its time here: one load from `hot` gives the size of most DIEs, and
 * only others are read attribute by attribute. */
static int walk_unit(const struct pgk_dw_unit *u, const struct pgk_dw_abbrevs *t, unsigned flags,
                     visit_fn *visit, void *ctx)
{
    const uint32_t special =
        PGK_DW_HOT_SPECIAL | (flags & PGK_DW_A_CALL ? (uint32_t)PGK_DW_HOT_CALL : 0);
    struct pgk_dw_bytes b = pgk_dw_unit_bytes(u);
    const uint8_t *base = b.p;
    const uint32_t *hot = t->hot;
    uint64_t n_hot = t->n_hot, off = u->die, end = u->end;
    while (off < end) {
        uint64_t die = off, code = base[off++];
        if (code & 0x80) {
            if (PGK_LIKELY(off < end && !(base[off] & 0x80))) {
                code = (code & 0x7f) | (uint64_t)base[off++] << 7;
            } else {
                struct pgk_dw_pos p = {base + die, base + end, false};
                code = pgk_dw_uleb(&p);
                off = (uint64_t)(p.p - base);
            }
        }
        uint32_t h = code < n_hot ? hot[code] : PGK_DW_HOT_INVALID;
        if (PGK_LIKELY(!(h & special))) {
            off += h & PGK_DW_HOT_SIZE;
            continue;
        }
        if ((h & special) == PGK_DW_HOT_EXPR) { /* mostly places of variables */
            uint64_t expr = off + (h & 0xff);
            if (PGK_LIKELY(expr < end && !(base[expr] & 0x80))) {
                off = expr + 1 + base[expr] + (h >> 8 & 0xff);
                continue;
            }
        }
        const struct pgk_dw_abbrev *a = pgk_dw_abbrev_find(t, code);
        if (!a)
            return warn_damaged(u, die);
        struct pgk_dw_pos at = {base + off, base + end, false};
        if (a->flags & flags) {
            int status = visit(ctx, t, a, die, &at);
            if (status)
                return status;
        }
        skip_attributes(u, t, a, &at);
        if (at.bad)
            return warn_damaged(u, die);
        off = (uint64_t)(at.p - base);
    }
    return 0;
}

struct indexing {
    struct pgk_dw_unit *u;
    uint64_t limit;
    pgk_dw_range_vec ranges;
};

static int index_function(void *ctx, const struct pgk_dw_abbrevs *t,
                          const struct pgk_dw_abbrev *a, uint64_t die,
                          const struct pgk_dw_pos *at)
{
    struct indexing *ix = ctx;
    if (!(a->flags & PGK_DW_A_PC))
        return 0;
    ix->ranges.n = 0;
    if (!read_ranges(ix->u, t, a, at, &ix->ranges))
        return PGK_E_NOMEM;
    if (ix->ranges.n > ix->limit - ix->u->funcs.n) {
        warn_damaged(ix->u, die);
        return 1;
    }
    for (size_t i = 0; i < ix->ranges.n; i++)
        if (!pgk_vec_push(&ix->u->funcs,
                          (struct pgk_dw_func_range){ix->ranges.v[i].low, ix->ranges.v[i].high,
                                                     die}))
            return PGK_E_NOMEM;
    return 0;
}

bool pgk_dw_unit_index(struct pgk_dw_unit *u)
{
    pthread_mutex_lock(&u->indexing);
    if (!u->indexed) {
        const struct pgk_dw_abbrevs *t = pgk_dw_unit_abbrevs(u);
        struct indexing ix = {.u = u};
        /* Each list of ranges belongs to one function. */
        ix.limit = u->end - u->off + u->file->sec[PGK_DW_RNGLISTS].n +
                   u->skeleton->file->sec[PGK_DW_RANGES].n;
        u->funcs.n = 0;
        u->indexed = t && walk_unit(u, t, PGK_DW_A_SUBPROGRAM, index_function, &ix) >= 0;
        pgk_vec_free(&ix.ranges);
    }
    bool ok = u->indexed;
    pthread_mutex_unlock(&u->indexing);
    return ok;
}

struct listing {
    const struct pgk_dw_unit *u;
    pgk_dw_function_fn *fn;
    void *ctx;
};

static int list_one(void *ctx, const struct pgk_dw_abbrevs *t, const struct pgk_dw_abbrev *a,
                    uint64_t die, const struct pgk_dw_pos *at)
{
    const struct listing *l = ctx;
    (void)t;
    (void)at;
    return l->fn(l->ctx, l->u, a, die);
}

static int list(const struct pgk_dw_unit *u, unsigned flags, pgk_dw_function_fn *fn, void *ctx)
{
    const struct pgk_dw_abbrevs *t = pgk_dw_unit_abbrevs(u);
    struct listing l = {u, fn, ctx};
    return t ? walk_unit(u, t, flags, list_one, &l) : 0;
}

int pgk_dw_unit_functions(const struct pgk_dw_unit *u, pgk_dw_function_fn *fn, void *ctx)
{
    return list(u, PGK_DW_A_SUBPROGRAM, fn, ctx);
}

int pgk_dw_unit_calls(const struct pgk_dw_unit *u, pgk_dw_function_fn *fn, void *ctx)
{
    return list(u, PGK_DW_A_CALL, fn, ctx);
}

/* ---- one function ---- */

/* A function DIE that encloses the current position. */
struct open_die {
    uint64_t die, depth;
    uint32_t node; /* PGK_INDEX_NONE: not made yet */
    bool inlined;
};

/* Of LLVM's map from addresses to DIEs. */
struct map_entry {
    uint64_t key, end;
    uint32_t node;
};

/* Insertion moves all later entries, so a map beyond this size is given up; the functions of a unit
 * that share an address have some dozens of entries. */
enum { MAP_MAX = 1 << 15 };

struct walk {
    const struct pgk_dw_unit *u;
    const struct pgk_dw_abbrevs *t;
    const uint64_t *addrs;
    size_t count;
    struct pgk_dw_chains *c;
    struct map_entry *entry; /* by address: the one that decides about it */
    struct holder {
        uint64_t die; /* function that holds the address, not inside another */
        bool known, contested;
    } *holder; /* by address */
    bool contested; /* some address has several holders */
    bool whole_map; /* second round, for those */
    PGK_VEC(struct map_entry) map; /* ascending keys */
    PGK_VEC(struct open_die) open;
    pgk_dw_range_vec ranges;
};

/* The node of the innermost open DIE; nodes of the DIEs around it are made, too. */
static uint32_t make_nodes(struct walk *w)
{
    size_t first = w->open.n - 1;
    while (first && w->open.v[first].inlined && w->open.v[first].node == PGK_INDEX_NONE)
        first--;
    for (size_t i = first; i < w->open.n; i++) {
        struct open_die *o = &w->open.v[i];
        if (o->node != PGK_INDEX_NONE)
            continue;
        uint32_t parent = o->inlined && i ? w->open.v[i - 1].node : PGK_INDEX_NONE;
        if (!pgk_vec_push(&w->c->nodes, (struct pgk_dw_node){.die = o->die, .parent = parent}))
            return PGK_INDEX_NONE;
        o->node = (uint32_t)w->c->nodes.n - 1;
    }
    return w->open.v[w->open.n - 1].node;
}

/* Position of the first entry of the whole map with a key above `addr`. */
static size_t map_above(const struct walk *w, uint64_t addr)
{
    PGK_SEARCH(low, w->map.n, mid, w->map.v[mid].key <= addr)
    return low;
}

/* Enters one range of the innermost open DIE into the map. Of each query only the entry
 * with the greatest key not above it is known, which is enough as long as ranges nest.
 * Keys ascend with the queries, so the loop ends early. */
static bool paint_range(struct walk *w, uint64_t low, uint64_t high)
{
    for (size_t i = pgk_dw_lower_bound(w->addrs, w->count, low);
         i < w->count && w->entry[i].key <= low; i++) {
        struct map_entry *e = &w->entry[i];
        uint64_t addr = w->addrs[i];
        if (addr >= high && low < e->end && high < e->end) {
            e->key = high; /* what the range leaves of the entry that it splits */
            continue;
        }
        uint32_t node = PGK_INDEX_NONE;
        if (addr < high) {
            node = make_nodes(w);
            if (node == PGK_INDEX_NONE)
                return false;
        }
        *e = (struct map_entry){low, high, node};
    }
    return true;
}

static bool map_set(struct walk *w, struct map_entry e)
{
    size_t i = map_above(w, e.key);
    if (i && w->map.v[i - 1].key == e.key) {
        w->map.v[i - 1] = e;
        return true;
    }
    if (!pgk_vec_reserve(&w->map, 1))
        return false;
    memmove(w->map.v + i + 1, w->map.v + i, (w->map.n - i) * sizeof *w->map.v);
    w->map.v[i] = e;
    w->map.n++;
    return true;
}

/* Enters one range of the innermost open DIE into the whole map. */
static bool map_range(struct walk *w, uint64_t low, uint64_t high)
{
    uint32_t node = make_nodes(w);
    if (node == PGK_INDEX_NONE)
        return false;
    if (w->map.n >= MAP_MAX)
        return true;
    size_t above = map_above(w, low);
    if (above && low < w->map.v[above - 1].end) {
        struct map_entry before = w->map.v[above - 1];
        if (low > before.key)
            w->map.v[above - 1].end = low;
        if (high < before.end && !map_set(w, (struct map_entry){high, before.end, before.node}))
            return false;
    }
    return map_set(w, (struct map_entry){low, high, node});
}

static bool paint(struct walk *w)
{
    for (size_t i = 0; i < w->ranges.n; i++) {
        const struct pgk_dw_range *r = &w->ranges.v[i];
        if (w->whole_map ? !map_range(w, r->low, r->high)
                         : r->low <= w->addrs[w->count - 1] && !paint_range(w, r->low, r->high))
            return false;
    }
    return true;
}

/* Walks the function at `off`. Sets `*end` to the offset after it. */
static bool walk_function(struct walk *w, uint64_t off, uint64_t *end)
{
    struct pgk_dw_bytes b = pgk_dw_unit_bytes(w->u);
    struct pgk_dw_pos at = {b.p + off, b.p + w->u->end, false};
    uint64_t depth = 0;
    w->open.n = 0;
    do {
        uint64_t die = (uint64_t)(at.p - b.p), code = pgk_dw_uleb(&at);
        if (at.bad)
            break;
        if (code == 0) {
            depth--;
            while (w->open.n && w->open.v[w->open.n - 1].depth >= depth)
                w->open.n--;
            continue;
        }
        const struct pgk_dw_abbrev *a = pgk_dw_abbrev_find(w->t, code);
        if (!a)
            break;
        if ((a->flags & (PGK_DW_A_SUBPROGRAM | PGK_DW_A_INLINED)) &&
            (a->flags & (PGK_DW_A_PC | PGK_DW_A_CHILDREN))) {
            if (!pgk_vec_push(&w->open, (struct open_die){
                                            .die = die,
                                            .depth = depth,
                                            .node = PGK_INDEX_NONE,
                                            .inlined = (a->flags & PGK_DW_A_INLINED) != 0,
                                        }))
                return false;
            if (a->flags & PGK_DW_A_PC) {
                w->ranges.n = 0;
                if (!read_ranges(w->u, w->t, a, &at, &w->ranges) || !paint(w))
                    return false;
            }
            if (!(a->flags & PGK_DW_A_CHILDREN))
                w->open.n--;
        }
        skip_attributes(w->u, w->t, a, &at);
        if (a->flags & PGK_DW_A_CHILDREN)
            depth++;
    } while (depth && !at.bad && at.p < at.end);
    *end = at.bad ? w->u->end : (uint64_t)(at.p - b.p);
    return true;
}

/* Walks the functions that hold a query, or with the whole map a query that several hold.
 * Notes which queries those are. */
static bool walk_functions(struct walk *w)
{
    uint64_t walked = UINT64_MAX;
    uint64_t done = 0; /* functions before this offset lie in one that was walked */
    for (size_t i = 0; i < w->u->funcs.n; i++) {
        const struct pgk_dw_func_range *f = &w->u->funcs.v[i];
        if (f->die < done && f->die != walked)
            continue;
        bool wanted = false;
        for (size_t q = pgk_dw_lower_bound(w->addrs, w->count, f->low);
             q < w->count && w->addrs[q] < f->high; q++) {
            wanted = wanted || !w->whole_map || w->holder[q].contested;
            if (w->holder[q].known && w->holder[q].die != f->die && !w->whole_map)
                w->contested = w->holder[q].contested = true;
            w->holder[q].known = true;
            w->holder[q].die = f->die;
        }
        if (wanted && f->die >= done) {
            walked = f->die;
            if (!walk_function(w, f->die, &done))
                return false;
        }
    }
    return true;
}

static bool find_innermost(struct walk *w)
{
    w->whole_map = false;
    if (!walk_functions(w))
        return false;
    for (size_t i = 0; i < w->count; i++)
        w->c->innermost[i] = w->entry[i].node;
    if (!w->contested)
        return true;
    w->whole_map = true;
    if (!walk_functions(w))
        return false;
    for (size_t i = 0; i < w->count; i++) {
        size_t above = map_above(w, w->addrs[i]);
        if (w->holder[i].contested && w->map.n < MAP_MAX)
            w->c->innermost[i] = above && w->addrs[i] < w->map.v[above - 1].end
                                     ? w->map.v[above - 1].node
                                     : PGK_INDEX_NONE;
    }
    return true;
}

bool pgk_dw_unit_chains(struct pgk_dw_unit *u, const uint64_t *addrs, size_t count,
                        struct pgk_dw_chains *c)
{
    struct walk w = {.u = u, .addrs = addrs, .count = count, .c = c};
    if (!count)
        return true;
    w.t = pgk_dw_unit_abbrevs(u);
    w.entry = pgk_mem_alloc(count, sizeof *w.entry);
    w.holder = pgk_mem_zalloc(count, sizeof *w.holder);
    bool ok = w.t && w.entry && w.holder && pgk_dw_unit_index(u);
    for (size_t i = 0; ok && i < count; i++)
        w.entry[i] = (struct map_entry){0, 0, PGK_INDEX_NONE};
    ok = ok && find_innermost(&w);
    pgk_vec_free(&w.open);
    pgk_vec_free(&w.ranges);
    pgk_vec_free(&w.map);
    pgk_mem_free(w.entry);
    pgk_mem_free(w.holder);
    return ok;
}
