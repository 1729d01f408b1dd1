/* Counters from samples of instructions alone, as a machine without branch stacks gives them.
 *
 *   hits ─► per block: hits / instructions ─► balanced flow of its function ─► ranges and branches
 *   call chains ─► whom indirect calls enter ─► branches
 *
 * A block that control went through takes time in each of its instructions, so the hits of all of
 * them together tell how often it ran; docs/formats/profile-generation.md section 9. */
#include "gen_binary.h"

#include "flow_graph.h"
#include "saturate.h"
#include "search.h"

enum { SCALE = 1000 }; /* one hit of a block of one instruction: hits are divided */

enum { NO_ENTRY = 0 };

struct infer {
    struct pgk_gen_binary *b;
    struct pgk_functions functions;
    struct pgk_flow_graph graph;
    struct pgk_pairs entries;  /* of functions, `from`: how often they ran */
    struct pgk_pairs calls;    /* how often an entry was branched to: `from` */
    struct pgk_pairs sites;    /* indirect calls, `from`: how often they ran */
    struct pgk_pairs targets;  /* of these: samples of what they entered */
    struct pgk_pairs entered;  /* the same by entry: `from` */
    struct pgk_pairs guessed;  /* how often entries were called indirectly: `from` */
};

/* Position of the first hit at `addr` or behind. */
static size_t first_hit(const struct pgk_pairs *hits, uint64_t addr)
{
    PGK_SEARCH(low, hits->v.n, mid, hits->v.v[mid].from < addr)
    return low;
}

static void measure_blocks(struct infer *f)
{
    const struct pgk_pairs *hits = &f->b->hits;
    for (size_t i = 0; i < f->graph.places.n; i++) {
        const struct pgk_flow_place *p = &f->graph.places.v[i];
        uint64_t sum = 0;
        for (size_t k = first_hit(hits, p->low); k < hits->v.n && hits->v.v[k].from <= p->last; k++)
            sum = pgk_add_saturated(sum, hits->v.v[k].count);
        uint64_t count = p->n ? pgk_multiply_saturated(sum, SCALE) / p->n : 0;
        f->graph.blocks.v[i].count = count < PGK_FLOW_MOST ? count : PGK_FLOW_MOST;
    }
}

static bool add_branch(struct infer *f, uint64_t from, uint64_t to, uint64_t count)
{
    if (!count || !pgk_functions_entered(&f->functions, to))
        return true;
    return pgk_pairs_add(&f->b->counters.branches, from, to, count) &&
           pgk_pairs_add(&f->calls, to, 0, count);
}

static bool add_range(struct infer *f, uint64_t from, uint64_t last, uint64_t count)
{
    return pgk_pairs_add(&f->b->counters.ranges, from, last, count);
}

/* Ranges end at calls, as those of branch stacks do. */
static bool add_block(struct infer *f, const struct pgk_flow_place *p,
                      const struct pgk_flow_block *b)
{
    struct pgk_insn insn;
    uint64_t from = p->low;
    uint8_t mark = 0;
    for (uint64_t at = p->low; at < p->high; at += mark & PGK_CODE_LENGTH) {
        mark = pgk_code_mark(&f->b->code, at);
        enum pgk_insn_kind kind = pgk_code_kind(mark);
        bool leaves = kind == PGK_INSN_JUMP || kind == PGK_INSN_COND; /* as a tail call */
        if (kind == PGK_INSN_CALL || at == p->last) {
            if (!add_range(f, from, at, b->count))
                return false;
            from = at + (mark & PGK_CODE_LENGTH);
        }
        if (mark & PGK_CODE_INDIRECT && kind == PGK_INSN_CALL &&
            !pgk_pairs_add(&f->sites, at, 0, b->count))
            return false;
        if (mark & PGK_CODE_INDIRECT || !(kind == PGK_INSN_CALL || (leaves && b->is_exit)))
            continue;
        if (pgk_code_insn(&f->b->code, at, &insn) &&
            !add_branch(f, at, insn.target, leaves ? b->leaves : b->count))
            return false;
    }
    return true;
}

static bool add_counters(struct infer *f)
{
    const struct pgk_flow_graph *g = &f->graph;
    for (size_t i = 0; i < g->places.n; i++)
        if (g->blocks.v[i].count && !add_block(f, &g->places.v[i], &g->blocks.v[i]))
            return false;
    return g->entry >= g->places.n ||
           pgk_pairs_add(&f->entries, g->places.v[g->entry].low, 0, g->blocks.v[g->entry].count);
}

static uint64_t count_of(const struct pgk_pairs *pairs, uint64_t from)
{
    size_t i = first_hit(pairs, from);
    return i < pairs->v.n && pairs->v.v[i].from == from ? pairs->v.v[i].count : 0;
}

/* ---- indirect calls ---- */

/* Where a function is entered; NO_ENTRY if that is not known. */
static uint64_t entry_of(const struct infer *f, uint64_t addr)
{
    const struct pgk_function_range *r = pgk_functions_at(&f->functions, addr);
    const struct pgk_function *function = r ? &f->functions.functions.v[r->function] : NULL;
    for (uint32_t i = 0; function && i < function->n; i++) {
        r = &f->functions.ranges.v[f->functions.by_function.v[function->first + i]];
        if (r->is_entry)
            return r->low;
    }
    return NO_ENTRY;
}

static bool list_targets(struct infer *f)
{
    const struct pgk_pairs *calls = &f->b->hit_calls;
    for (size_t i = 0; i < calls->v.n; i++) {
        const struct pgk_pair *c = &calls->v.v[i];
        uint64_t entry = entry_of(f, c->to);
        if (entry != NO_ENTRY && (!pgk_pairs_add(&f->targets, c->from, entry, c->count) ||
                                  !pgk_pairs_add(&f->entered, entry, 0, c->count)))
            return false;
    }
    pgk_pairs_sort(&f->targets);
    pgk_pairs_sort(&f->entered);
    pgk_pairs_sort(&f->sites);
    return true;
}

/* Entries of a function that direct calls do not explain belong to the indirect ones that were
 * seen above it, by their samples: a callee that takes long is not one that is called often. */
static double calls_of(const struct infer *f, const struct pgk_pair *target)
{
    uint64_t entries = count_of(&f->entries, target->to), direct = count_of(&f->calls, target->to);
    double open = entries > direct ? (double)(entries - direct) : 0;
    double calls = open * (double)target->count / (double)count_of(&f->entered, target->to);
    return calls > 1 ? calls : 1;
}

/* An indirect call goes as often to all its targets as it ran. */
static bool add_targets(struct infer *f, const struct pgk_pair *v, size_t n)
{
    double all = 0, ran = (double)count_of(&f->sites, v->from);
    for (size_t i = 0; i < n; i++)
        all += calls_of(f, &v[i]);
    for (size_t i = 0; i < n; i++) {
        double calls = calls_of(f, &v[i]) * (ran > 0 ? ran / all : 1);
        uint64_t count = calls < 1 ? 1 : (uint64_t)(calls + 0.5);
        if (!pgk_pairs_add(&f->b->counters.branches, v[i].from, v[i].to, count) ||
            !pgk_pairs_add(&f->guessed, v[i].to, 0, count))
            return false;
    }
    return true;
}

static bool add_indirect_calls(struct infer *f)
{
    const struct pgk_pairs *t = &f->targets;
    if (!list_targets(f))
        return false;
    for (size_t i = 0, end; i < t->v.n; i = end) {
        for (end = i + 1; end < t->v.n && t->v.v[end].from == t->v.v[i].from; end++)
            continue;
        if (!add_targets(f, &t->v.v[i], end - i))
            return false;
    }
    pgk_pairs_sort(&f->guessed);
    return true;
}

/* What entered a function without a call that was seen came from elsewhere. */
static bool add_missing_entries(struct infer *f)
{
    for (size_t i = 0; i < f->entries.v.n; i++) {
        const struct pgk_pair *e = &f->entries.v.v[i];
        uint64_t called = pgk_add_saturated(count_of(&f->calls, e->from),
                                            count_of(&f->guessed, e->from));
        if (e->count > called && !pgk_pairs_add(&f->b->counters.branches, PGK_ADDR_EXTERNAL,
                                                e->from, e->count - called))
            return false;
    }
    return true;
}

/* ---- */

static int infer(struct infer *f, bool symbols, unsigned threads, struct pgk_err *err)
{
    PGK_TRY(pgk_gen_functions(f->b, &f->functions, symbols, threads, err));
    size_t n = f->functions.functions.n;
    bool *hit = pgk_gen_sampled(f->b, &f->functions, false);
    int status = hit ? 0 : pgk_fail_nomem(err);
    for (uint32_t i = 0; !status && i < n; i++) {
        if (!hit[i])
            continue;
        status = pgk_flow_graph_make(&f->graph, &f->b->code, &f->functions, i, err);
        if (status)
            break;
        measure_blocks(f);
        if (!pgk_flow_balance(&f->graph.blocks, &f->graph.edges, f->graph.entry, 1) ||
            !add_counters(f))
            status = pgk_fail_nomem(err);
    }
    pgk_pairs_sort(&f->entries);
    pgk_pairs_sort(&f->calls);
    if (!status && (!add_indirect_calls(f) || !add_missing_entries(f)))
        status = pgk_fail_nomem(err);
    pgk_mem_free(hit);
    return status;
}

int pgk_gen_infer(struct pgk_gen_binary *b, bool symbols, unsigned threads, struct pgk_err *err)
{
    struct infer f = {.b = b};
    pgk_pairs_sort(&b->hits);
    int status = infer(&f, symbols, threads, err);
    pgk_functions_close(&f.functions);
    pgk_flow_graph_free(&f.graph);
    pgk_pairs_free(&f.entries);
    pgk_pairs_free(&f.calls);
    pgk_pairs_free(&f.sites);
    pgk_pairs_free(&f.targets);
    pgk_pairs_free(&f.entered);
    pgk_pairs_free(&f.guessed);
    return status;
}
