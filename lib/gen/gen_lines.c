/* Counts of code to counts of source lines, without calling contexts.
 *
 *   ranges ─► + zero ranges of sampled functions ─► disjoint pieces ─► instructions
 *          ─► frames (debug information) ─► line records: maximum of the instructions of a line
 *   branches ─► call targets and heads of functions
 *
 * docs/formats/profile-generation.md section 5 */
#include "gen_binary.h"

#include "discriminator.h"
#include "functions.h"
#include "hash.h"
#include "u64_set.h"

#include <stdlib.h>

/* A line of a function that some instruction belongs to. */
struct line_count {
    uint32_t node, name; /* name: callee of a call target; 0 for the line's own count */
    uint64_t loc, count;
};

struct piece {
    uint64_t low, high, count;
};

/* Where an instruction stands in the profile. */
struct site {
    uint64_t loc;
    uint32_t node; /* 0: nowhere */
    uint32_t copies;
    bool found;    /* the rest is known */
    bool no_lines; /* counts for the total of the node only */
};

struct lines {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_functions functions;
    struct pgk_arena arena; /* of the frames */
    PGK_VEC(struct piece) pieces;
    PGK_VEC(uint64_t) addrs; /* of all instructions that count; ascending */
    struct pgk_sym_chain *chains;
    struct site *sites; /* of addrs */
    PGK_VEC(struct line_count) bodies, targets;
    PGK_VEC(uint64_t) weights; /* by node: samples times bytes, without its inlinees */
    /* Names that were looked up, by the place of their text. */
    PGK_VEC(struct known_name {
        const char *text;
        uint32_t name;
    })
    known;
    struct pgk_index known_index;
};

/* ---- pieces ---- */

struct point {
    uint64_t addr;
    bool is_end, is_zero;
    uint64_t count;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->is_end - y->is_end;
}

typedef PGK_VEC(struct point) point_vec;

static bool add_points(point_vec *points, uint64_t low, uint64_t high, uint64_t count, bool zero)
{
    return pgk_vec_push(points, (struct point){low, false, zero, count}) &&
           pgk_vec_push(points, (struct point){high, true, zero, count});
}

/* All code of a function that was sampled counts, if only zero, so that the compiler tells code
 * that never ran from code that it does not know of. */
static bool add_zero_ranges(struct lines *l, point_vec *points)
{
    const struct pgk_functions *f = &l->functions;
    bool *taken = pgk_mem_zalloc(f->functions.n + 1, sizeof *taken);
    bool ok = taken;
    const struct pgk_pairs *ranges = &l->b->counters.ranges;
    for (size_t i = 0; ok && i < ranges->v.n; i++) {
        const struct pgk_function_range *r = pgk_functions_at(f, ranges->v.v[i].from);
        if (!r || taken[r->function])
            continue;
        taken[r->function] = true;
        const struct pgk_function *function = &f->functions.v[r->function];
        for (uint32_t k = 0; ok && k < function->n; k++) {
            const struct pgk_function_range *all =
                &f->ranges.v[f->by_function.v[function->first + k]];
            ok = add_points(points, all->low, all->high - 1, 0, true);
        }
    }
    pgk_mem_free(taken);
    return ok;
}

/* Cuts ranges that overlap into pieces that do not. A piece counts zero where a zero range says
 * so; what lies between ranges otherwise is no piece. */
static bool cut_pieces(struct lines *l, const point_vec *points)
{
    uint64_t begin = 0, count = 0;
    size_t depth = 0;
    bool open = false;
    for (size_t i = 0; i < points->n;) {
        uint64_t at = points->v[i].addr;
        if (!points->v[i].is_end) {
            if (open && at > begin &&
                !pgk_vec_push(&l->pieces, (struct piece){begin, at - 1, count}))
                return false;
            for (; i < points->n && points->v[i].addr == at && !points->v[i].is_end; i++) {
                count = pgk_sample_sum(count, points->v[i].count);
                depth += points->v[i].is_zero;
            }
            begin = at;
            open = true;
        } else {
            if (!pgk_vec_push(&l->pieces, (struct piece){begin, at, count}))
                return false;
            for (; i < points->n && points->v[i].addr == at; i++) {
                count -= points->v[i].count;
                depth -= points->v[i].is_zero;
            }
            begin = at + 1;
            open = count || depth;
        }
    }
    return true;
}

static int make_pieces(struct lines *l, struct pgk_err *err)
{
    point_vec points = {0};
    const struct pgk_pairs *ranges = &l->b->counters.ranges;
    bool ok = add_zero_ranges(l, &points);
    for (size_t i = 0; ok && i < ranges->v.n; i++)
        ok = add_points(&points, ranges->v.v[i].from, ranges->v.v[i].to, ranges->v.v[i].count,
                        false);
    if (ok && points.n)
        qsort(points.v, points.n, sizeof *points.v, compare_points);
    ok = ok && cut_pieces(l, &points);
    pgk_vec_free(&points);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* ---- frames ---- */

/* Instructions of the pieces, sources of branches, and loads of vtables. */
static int list_addresses(struct lines *l, struct pgk_err *err)
{
    struct pgk_code *code = &l->b->code;
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct piece *p = &l->pieces.v[i];
        for (uint64_t at = p->low; (at = pgk_code_first(code, at, p->high)) != UINT64_MAX;
             at += pgk_code_mark(code, at) & PGK_CODE_LENGTH)
            if (!pgk_vec_push(&l->addrs, at))
                return pgk_fail_nomem(err);
    }
    const struct pgk_pairs *const more[] = {&l->b->counters.branches, &l->b->vtables};
    for (size_t k = 0; k < PGK_COUNTOF(more); k++)
        for (size_t i = 0; i < more[k]->v.n; i++)
            if (more[k]->v.v[i].from != PGK_ADDR_EXTERNAL &&
                !pgk_vec_push(&l->addrs, more[k]->v.v[i].from))
                return pgk_fail_nomem(err);
    l->addrs.n = pgk_u64_set(l->addrs.v, l->addrs.n);
    return 0;
}

static uint32_t name_of(struct lines *l, const char *text)
{
    uint64_t hash = pgk_hash_u64((uintptr_t)text);
    PGK_INDEX_FOR (&l->known_index, hash, i)
        if (l->known.v[i].text == text)
            return l->known.v[i].name;
    uint32_t name = pgk_sample_name(l->p, text, pgk_canonical_length(text));
    return name && pgk_vec_push(&l->known, (struct known_name){text, name}) &&
                   pgk_index_add(&l->known_index, hash, (uint32_t)l->known.n - 1)
               ? name
               : 0;
}

static uint64_t frame_loc(const struct lines *l, const struct pgk_sym_frame *f)
{
    return pgk_sample_loc((f->line - f->decl_line) & 0xffff,
                          pgk_discriminator_base(f->discriminator, l->b->flow_sensitive));
}

static bool has_name(const struct pgk_sym_frame *f)
{
    return f->function && *f->function && strcmp(f->function, "<invalid>") != 0;
}

/* Functions that start a module run once, whatever the input. */
static bool is_start_up(const char *name)
{
    return !strncmp(name, "__cxx_global_var_init", 21) || !strncmp(name, "__tls_init", 10);
}

/* The node of an instruction: its outermost function, and through it what was inlined. */
static bool find_site(struct lines *l, const struct pgk_sym_chain *chain, struct site *site)
{
    uint32_t i = chain->count;
    *site = (struct site){.found = true};
    if (!i || !has_name(&chain->frames[i - 1]) || is_start_up(chain->frames[i - 1].function))
        return true;
    uint32_t name = name_of(l, chain->frames[--i].function);
    uint32_t node = name ? pgk_sample_function(l->p, name) : 0;
    for (; node && i && has_name(&chain->frames[i - 1]); i--) {
        if ((site->no_lines = is_start_up(chain->frames[i - 1].function)))
            break;
        name = name_of(l, chain->frames[i - 1].function);
        node = name ? pgk_sample_inlinee(l->p, node, frame_loc(l, &chain->frames[i]), name) : 0;
    }
    site->node = node;
    site->loc = frame_loc(l, &chain->frames[i]);
    site->copies = pgk_discriminator_copies(chain->frames[i].discriminator, l->b->flow_sensitive);
    return node;
}

/* Frames outside of the innermost one are the same for the code of one inlined call. */
static bool same_outer(const struct pgk_sym_chain *a, const struct pgk_sym_chain *b)
{
    if (a->count != b->count || !a->count || a->frames[0].function != b->frames[0].function)
        return false;
    for (uint32_t i = 1; i < a->count; i++) {
        const struct pgk_sym_frame *x = &a->frames[i], *y = &b->frames[i];
        if (x->function != y->function || x->line != y->line || x->decl_line != y->decl_line ||
            x->discriminator != y->discriminator)
            return false;
    }
    return has_name(&a->frames[0]);
}

static int read_frames(struct lines *l, unsigned threads, struct pgk_err *err)
{
    l->chains = pgk_mem_alloc(l->addrs.n + 1, sizeof *l->chains);
    l->sites = pgk_mem_zalloc(l->addrs.n + 1, sizeof *l->sites);
    if (!l->chains || !l->sites)
        return pgk_fail_nomem(err);
    return pgk_symbolise(l->b->sym, l->addrs.v, l->addrs.n, threads, &l->arena, l->chains, err);
}

/* The site of the address number `i`, found on first use: a profile has no functions that are
 * not counted. NULL when out of memory. */
static const struct site *site_at(struct lines *l, size_t i)
{
    struct site *s = &l->sites[i];
    const struct pgk_sym_chain *chain = &l->chains[i];
    if (s->found)
        return s;
    if (!i || !s[-1].found || !same_outer(chain, chain - 1))
        return find_site(l, chain, s) ? s : NULL;
    *s = s[-1];
    s->loc = frame_loc(l, &chain->frames[0]);
    s->copies = pgk_discriminator_copies(chain->frames[0].discriminator, l->b->flow_sensitive);
    return s;
}

/* The site of an address that is listed. */
static const struct site *site_of(struct lines *l, uint64_t addr)
{
    return site_at(l, pgk_u64_find(l->addrs.v, l->addrs.n, addr));
}

/* ---- counts ---- */

static bool add_weight(struct lines *l, uint32_t node, uint64_t weight)
{
    if (node >= l->weights.n) {
        size_t more = l->p->nodes.n - l->weights.n;
        if (!pgk_vec_reserve(&l->weights, more))
            return false;
        memset(l->weights.v + l->weights.n, 0, more * sizeof *l->weights.v);
        l->weights.n += more;
    }
    l->weights.v[node] = pgk_sample_sum(l->weights.v[node], weight);
    return true;
}

/* Adds the count of an instruction; neighbours of one line are one record. */
static bool add_body(struct lines *l, const struct site *s, uint64_t count)
{
    struct line_count *last = l->bodies.n ? &l->bodies.v[l->bodies.n - 1] : NULL;
    if (last && last->node == s->node && last->loc == s->loc) {
        last->count = last->count > count ? last->count : count;
        return true;
    }
    return pgk_vec_push(&l->bodies, (struct line_count){s->node, 0, s->loc, count});
}

static int count_pieces(struct lines *l, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    size_t a = 0;
    for (size_t i = 0; i < l->pieces.n; i++) {
        const struct piece *p = &l->pieces.v[i];
        while (a < l->addrs.n && l->addrs.v[a] < p->low)
            a++;
        for (; a < l->addrs.n && l->addrs.v[a] <= p->high; a++) {
            const struct site *s = site_at(l, a);
            if (!s)
                return pgk_fail_nomem(err);
            uint8_t length = pgk_code_mark(&l->b->code, l->addrs.v[a]) & PGK_CODE_LENGTH;
            stats->instructions += p->count != 0;
            stats->symbolised += p->count && s->node;
            if (s->node &&
                (!add_weight(l, s->node, pgk_sample_product(p->count, length)) ||
                 (!s->no_lines && !add_body(l, s, pgk_sample_product(p->count, s->copies)))))
                return pgk_fail_nomem(err);
        }
    }
    return 0;
}

/* What a branch enters at its beginning was called, or jumped to as a tail call. */
static int count_branches(struct lines *l, struct pgk_err *err)
{
    const struct pgk_pairs *branches = &l->b->counters.branches;
    for (size_t i = 0; i < branches->v.n; i++) {
        const struct pgk_pair *b = &branches->v.v[i];
        const struct pgk_function *callee = pgk_functions_entered(&l->functions, b->to);
        if (!callee || is_start_up(callee->name))
            continue;
        uint32_t name = name_of(l, callee->name);
        uint32_t node = name ? pgk_sample_function(l->p, name) : 0;
        if (!node)
            return pgk_fail_nomem(err);
        pgk_sample_add_head(l->p, node, b->count);
        if (b->from == PGK_ADDR_EXTERNAL)
            continue;
        const struct site *s = site_of(l, b->from);
        if (!s)
            return pgk_fail_nomem(err);
        if (s->node && !s->no_lines &&
            !pgk_vec_push(&l->targets, (struct line_count){s->node, name, s->loc, b->count}))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int compare_counts(const void *a, const void *b)
{
    const struct line_count *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->loc != y->loc)
        return x->loc < y->loc ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static bool same_line(const struct line_count *a, const struct line_count *b)
{
    return a->node == b->node && a->loc == b->loc;
}

/* A line of a function's own profile was run at least as often as it called. */
static bool write_counts(struct lines *l)
{
    const struct line_count *b = l->bodies.v, *b_end = b + l->bodies.n;
    const struct line_count *t = l->targets.v, *t_end = t + l->targets.n;
    while (b < b_end || t < t_end) {
        bool from_target =
            b == b_end || (t < t_end && compare_counts(t, b) < 0 && !same_line(t, b));
        struct line_count line = from_target ? *t : *b;
        uint64_t highest = 0, called = 0;
        for (; b < b_end && same_line(b, &line); b++)
            highest = b->count > highest ? b->count : highest;
        for (; t < t_end && same_line(t, &line); t++) {
            called = pgk_sample_sum(called, t->count);
            if (!pgk_sample_add_target(l->p, line.node, line.loc, t->name, t->count))
                return false;
        }
        if (l->p->nodes.v[line.node].flags & PGK_NODE_TOP && called > highest)
            highest = called;
        if (!pgk_sample_add_body(l->p, line.node, line.loc, highest))
            return false;
    }
    return true;
}

/* A function's total holds those of what was inlined into it; parents are made before. */
static void write_totals(struct lines *l)
{
    for (size_t i = l->weights.n; i-- > 1;) {
        const struct pgk_sample_node *n = &l->p->nodes.v[i];
        uint64_t total = l->weights.v[i];
        pgk_sample_add_total(l->p, (uint32_t)i, total);
        if (n->parent && !(n->flags & PGK_NODE_CONTEXT))
            l->weights.v[n->parent] = pgk_sample_sum(l->weights.v[n->parent], total);
    }
}

static int count_vtables(struct lines *l, struct pgk_gen_stats *stats, struct pgk_err *err)
{
    const struct pgk_pairs *vtables = &l->b->vtables;
    for (size_t i = 0; i < vtables->v.n; i++) {
        const struct pgk_pair *v = &vtables->v.v[i];
        const struct site *s = site_of(l, v->from);
        if (!s)
            return pgk_fail_nomem(err);
        if (!s->node || s->no_lines)
            continue;
        stats->vtable_samples += v->count;
        if (!pgk_sample_add_vtable(l->p, s->node, s->loc, (uint32_t)v->to, v->count))
            return pgk_fail_nomem(err);
    }
    return 0;
}

/* Ranges that control cannot have run through come of broken samples. */
static void drop_bad_ranges(struct lines *l, struct pgk_gen_stats *stats)
{
    struct pgk_pairs *ranges = &l->b->counters.ranges;
    size_t kept = 0;
    for (size_t i = 0; i < ranges->v.n; i++) {
        const struct pgk_pair *r = &ranges->v.v[i];
        stats->ranges += r->count;
        if (pgk_code_is_straight(&l->b->code, r->from, r->to))
            ranges->v.v[kept++] = *r;
        else
            stats->ranges_bad += r->count;
    }
    ranges->v.n = kept;
}

/* Addresses whose units' functions are needed. */
static int open_functions(struct lines *l, unsigned threads, struct pgk_err *err)
{
    PGK_VEC(uint64_t) addrs = {0};
    const struct pgk_counters *c = &l->b->counters;
    const struct pgk_pairs *const pairs[] = {&c->ranges, &c->branches};
    bool ok = true;
    for (size_t k = 0; k < PGK_COUNTOF(pairs); k++)
        for (size_t i = 0; ok && i < pairs[k]->v.n; i++)
            ok = pgk_vec_push(&addrs, pairs[k]->v.v[i].from) &&
                 pgk_vec_push(&addrs, pairs[k]->v.v[i].to);
    addrs.n = pgk_u64_set(addrs.v, addrs.n);
    int status =
        ok ? pgk_functions_open(&l->functions, l->b->sym, l->b->elf, addrs.v, addrs.n, threads, err)
           : pgk_fail_nomem(err);
    pgk_vec_free(&addrs);
    return status;
}

static int generate(struct lines *l, unsigned threads, struct pgk_gen_stats *stats,
                    struct pgk_err *err)
{
    drop_bad_ranges(l, stats);
    PGK_TRY(open_functions(l, threads, err));
    PGK_TRY(make_pieces(l, err));
    PGK_TRY(list_addresses(l, err));
    PGK_TRY(read_frames(l, threads, err));
    PGK_TRY(count_pieces(l, stats, err));
    PGK_TRY(count_branches(l, err));
    if (l->bodies.n)
        qsort(l->bodies.v, l->bodies.n, sizeof *l->bodies.v, compare_counts);
    if (l->targets.n)
        qsort(l->targets.v, l->targets.n, sizeof *l->targets.v, compare_counts);
    if (!write_counts(l))
        return pgk_fail_nomem(err);
    write_totals(l);
    return count_vtables(l, stats, err);
}

int pgk_gen_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err)
{
    struct lines l = {.p = into, .b = binary};
    pgk_pairs_sort(&binary->counters.ranges);
    pgk_pairs_sort(&binary->counters.branches);
    pgk_pairs_sort(&binary->vtables);
    into->fs |= binary->flow_sensitive;
    int status = generate(&l, threads, stats, err);
    pgk_functions_close(&l.functions);
    pgk_arena_free(&l.arena);
    pgk_vec_free(&l.pieces);
    pgk_vec_free(&l.addrs);
    pgk_mem_free(l.chains);
    pgk_mem_free(l.sites);
    pgk_vec_free(&l.bodies);
    pgk_vec_free(&l.targets);
    pgk_vec_free(&l.weights);
    pgk_vec_free(&l.known);
    pgk_index_free(&l.known_index);
    return status;
}
