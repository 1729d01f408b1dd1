/* Counters from samples of instructions alone, as a machine without branch stacks gives them.
 *
 *   hits ─► per block: hits / instructions ─► balanced flow of its function ─► ranges and branches
 *   call chains, virtual tables ─► whom indirect calls enter ─► branches
 *
 * A block that control went through takes time in each of its instructions, so the hits of all of
 * them together tell how often it ran; docs/formats/profile-generation.md section 9. */
#include "gen_binary.h"

#include "flow_graph.h"
#include "saturate.h"
#include "vtables.h"

#include <stdlib.h>

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
    struct pgk_vtables vtables;
    struct pgk_pairs runs;     /* of virtual calls without call chains, by slot: `from` */
    struct pgk_pairs reach;    /* runs of all slots that hold an entry: `from` */
    struct pgk_pairs virtuals; /* how often entries were called by these: `from` */
    PGK_VEC(uint64_t) samples; /* of each function */
};

/* False when out of memory. */
static bool measure_blocks(struct infer *f)
{
    const struct pgk_pairs *hits = &f->b->hits;
    uint64_t samples = 0;
    for (size_t i = 0; i < f->graph.places.n; i++) {
        const struct pgk_flow_place *p = &f->graph.places.v[i];
        uint64_t sum = 0;
        for (size_t k = pgk_pairs_from(hits, p->low);
             k < hits->list.n && hits->list.v[k].from <= p->last; k++)
            sum = pgk_add_saturated(sum, hits->list.v[k].count);
        samples = pgk_add_saturated(samples, sum);
        uint64_t count = p->n ? pgk_multiply_saturated(sum, SCALE) / p->n : 0;
        f->graph.blocks.v[i].count = count < PGK_FLOW_MOST ? count : PGK_FLOW_MOST;
    }
    return pgk_vec_push(&f->samples, samples);
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

/* A call of a virtual function may be the last thing that a function does. */
static bool is_virtual_jump(struct infer *f, uint64_t at)
{
    const pgk_flow_blocks *blocks = &f->graph.blocks;
    int32_t slot = blocks->v[blocks->n - 1].is_exit ? pgk_code_slot(&f->b->code, at) : -1;
    size_t n = 0;
    if (slot >= 0)
        pgk_vtables_at(&f->vtables, (uint64_t)slot, &n);
    return n;
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
        if (mark & PGK_CODE_INDIRECT &&
            (kind == PGK_INSN_CALL || (kind == PGK_INSN_JUMP && is_virtual_jump(f, at))) &&
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

/* Control that a comparison of types sends on if it finds equality. */
static bool add_equal(struct infer *f, uint32_t block)
{
    const struct pgk_flow_graph *g = &f->graph;
    const struct pgk_type_tests *tests = &f->b->tests;
    uint64_t branch = g->places.v[block].last, jumped = 0;
    size_t i = pgk_type_tests_from(tests, branch);
    if (i == tests->list.n || tests->list.v[i].branch != branch || tests->list.v[i].no_branch)
        return true;
    const struct pgk_type_test *t = &tests->list.v[i];
    uint32_t to = pgk_flow_graph_find(g, t->target);
    for (size_t k = 0; k < g->edges.n; k++)
        if (g->edges.v[k].from == block && g->edges.v[k].to == to)
            jumped = pgk_add_saturated(jumped, g->edges.v[k].count);
    if (to == UINT32_MAX) /* into another function */
        jumped = g->blocks.v[block].leaves;
    uint64_t ran = g->blocks.v[block].count, stayed = ran > jumped ? ran - jumped : 0;
    return pgk_pairs_add(&f->b->equal, branch, 0, t->if_equal ? jumped : stayed);
}

static bool add_counters(struct infer *f)
{
    const struct pgk_flow_graph *g = &f->graph;
    for (size_t i = 0; i < g->places.n; i++)
        if (g->blocks.v[i].count && (!add_block(f, &g->places.v[i], &g->blocks.v[i]) ||
                                     !add_equal(f, (uint32_t)i)))
            return false;
    return g->entry >= g->places.n ||
           pgk_pairs_add(&f->entries, g->places.v[g->entry].low, 0, g->blocks.v[g->entry].count);
}

static uint64_t count_of(const struct pgk_pairs *pairs, uint64_t from)
{
    size_t i = pgk_pairs_from(pairs, from);
    return i < pairs->list.n && pairs->list.v[i].from == from ? pairs->list.v[i].count : 0;
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

static bool is_at_slot(struct infer *f, const struct pgk_pair *target)
{
    int32_t slot = pgk_code_slot(&f->b->code, target->from);
    return slot >= 0 && pgk_vtables_have(&f->vtables, (uint64_t)slot, target->to);
}

/* The functions that a virtual call enters are at its slot of a table; any other function seen
 * below it was jumped to from there, which leaves no frame. */
static void drop_jumped_to(struct infer *f)
{
    struct pgk_pair *v = f->targets.list.v;
    size_t n = 0;
    for (size_t i = 0, end; i < f->targets.list.n; i = end) {
        bool is_virtual = false;
        for (end = i; end < f->targets.list.n && v[end].from == v[i].from; end++)
            is_virtual |= is_at_slot(f, &v[end]);
        for (size_t k = i; k < end; k++)
            if (!is_virtual || is_at_slot(f, &v[k]))
                v[n++] = v[k];
    }
    f->targets.list.n = n;
}

/* A function without a frame of its own, as it was sampled, ran below a known function, at one of
 * the virtual calls that can enter it: at each as often as that ran. */
static bool add_frameless(struct infer *f, const struct pgk_pair *below)
{
    const struct pgk_function_range *r = pgk_functions_at(&f->functions, below->from);
    uint64_t entry = entry_of(f, below->to), all = 0;
    if (!r || entry == NO_ENTRY || entry == entry_of(f, below->from))
        return true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = pgk_pairs_from(&f->sites, r->low);
             i < f->sites.list.n && f->sites.list.v[i].from < r->high; i++) {
            const struct pgk_pair *s = &f->sites.list.v[i], target = {s->from, entry, 0};
            if (!s->count || !is_at_slot(f, &target))
                continue;
            double share = pass ? (double)s->count / (double)all : 0;
            uint64_t samples = (uint64_t)((double)below->count * share + 0.5);
            if (!pass)
                all = pgk_add_saturated(all, s->count);
            else if (samples && !pgk_pairs_add(&f->targets, s->from, entry, samples))
                return false;
        }
    return true;
}

static bool list_targets(struct infer *f)
{
    const struct pgk_pairs *calls = &f->b->hit_calls, *below = &f->b->hit_frameless;
    pgk_pairs_sort(&f->sites);
    for (size_t i = 0; i < calls->list.n; i++) {
        const struct pgk_pair *c = &calls->list.v[i];
        uint64_t entry = entry_of(f, c->to);
        if (entry != NO_ENTRY && !pgk_pairs_add(&f->targets, c->from, entry, c->count))
            return false;
    }
    for (size_t i = 0; i < below->list.n; i++)
        if (!add_frameless(f, &below->list.v[i]))
            return false;
    pgk_pairs_sort(&f->targets);
    drop_jumped_to(f);
    for (size_t i = 0; i < f->targets.list.n; i++)
        if (!pgk_pairs_add(&f->entered, f->targets.list.v[i].to, 0, f->targets.list.v[i].count))
            return false;
    pgk_pairs_sort(&f->entered);
    return true;
}

/* Entries of a function that direct calls do not explain belong to the indirect ones that were
 * seen above it, by their samples: a callee that takes long is not one that is called often. */
static double calls_of(const struct infer *f, const struct pgk_pair *target)
{
    if (f->b->hit_calls_sampled)
        return (double)target->count;
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
    for (size_t i = 0, end; i < t->list.n; i = end) {
        for (end = i + 1; end < t->list.n && t->list.v[end].from == t->list.v[i].from; end++)
            continue;
        if (!add_targets(f, &t->list.v[i], end - i))
            return false;
    }
    pgk_pairs_sort(&f->guessed);
    return true;
}

/* ---- virtual calls without call chains ---- */

/* How often a function was entered without a call that is known. */
static uint64_t open_entries(const struct infer *f, uint64_t entry)
{
    uint64_t known = pgk_add_saturated(count_of(&f->calls, entry), count_of(&f->guessed, entry));
    uint64_t entries = count_of(&f->entries, entry);
    return entries > known ? entries - known : 0;
}

/* Leaves only entries of tables that were entered without a call that is known. */
static void keep_open(struct infer *f)
{
    struct pgk_vtables *t = &f->vtables;
    size_t n = 0;
    for (size_t i = 0; i < t->list.n; i++)
        if (open_entries(f, t->list.v[i].function) &&
            pgk_functions_entered(&f->functions, t->list.v[i].function))
            t->list.v[n++] = t->list.v[i];
    t->list.n = n;
}

/* Whether two thirds of the entries at a slot are of one family; otherwise the caller is
 * unknown. */
static bool is_one_family(const struct infer *f, const struct pgk_vtable_entry *e, size_t n,
                          bool *is_one)
{
    struct pgk_pairs families = {0};
    double all = 0, most = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t open = open_entries(f, e[i].function);
        all += (double)open;
        ok = pgk_pairs_add(&families, e[i].family, 0, open);
    }
    for (size_t i = 0; i < families.list.n; i++)
        if ((double)families.list.v[i].count > most)
            most = (double)families.list.v[i].count;
    pgk_pairs_free(&families);
    *is_one = 3 * most >= 2 * all;
    return ok;
}

/* The slot of a virtual call whose targets call chains do not show; -1 for another call. */
static int32_t unknown_slot(struct infer *f, const struct pgk_pair *site)
{
    size_t i = pgk_pairs_from(&f->targets, site->from);
    bool known = i < f->targets.list.n && f->targets.list.v[i].from == site->from;
    return known ? -1 : pgk_code_slot(&f->b->code, site->from);
}

static bool measure_slots(struct infer *f)
{
    size_t n;
    for (size_t i = 0; i < f->sites.list.n; i++) {
        int32_t slot = unknown_slot(f, &f->sites.list.v[i]);
        if (slot >= 0 && !pgk_pairs_add(&f->runs, (uint64_t)slot, 0, f->sites.list.v[i].count))
            return false;
    }
    pgk_pairs_sort(&f->runs);
    for (size_t i = 0; i < f->runs.list.n; i++) {
        struct pgk_pair *run = &f->runs.list.v[i];
        const struct pgk_vtable_entry *e = pgk_vtables_at(&f->vtables, run->from, &n);
        bool is_one;
        if (!is_one_family(f, e, n, &is_one))
            return false;
        run->count = is_one ? run->count : 0;
        for (size_t k = 0; is_one && k < n; k++)
            if (!pgk_pairs_add(&f->reach, e[k].function, 0, run->count))
                return false;
    }
    pgk_pairs_sort(&f->reach);
    return true;
}

/* Each function shares its open entries among the calls that can enter it, by how often these ran;
 * a call enters no more than it ran. */
static bool share_entries(struct infer *f, const struct pgk_pair *site)
{
    int32_t slot = unknown_slot(f, site);
    double all = 0, ran = (double)site->count;
    size_t n;
    if (slot < 0 || !count_of(&f->runs, (uint64_t)slot))
        return true;
    const struct pgk_vtable_entry *e = pgk_vtables_at(&f->vtables, (uint64_t)slot, &n);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            uint64_t entry = e[i].function;
            double part = ran / (double)count_of(&f->reach, entry);
            double calls = (double)open_entries(f, entry) * part;
            uint64_t count = (uint64_t)(pass && all > ran ? calls * ran / all : calls);
            if (!pass)
                all += calls;
            else if (count && (!pgk_pairs_add(&f->b->counters.branches, site->from, entry, count) ||
                               !pgk_pairs_add(&f->virtuals, entry, 0, count)))
                return false;
        }
    return true;
}

static bool add_virtual_calls(struct infer *f)
{
    keep_open(f);
    if (!measure_slots(f))
        return false;
    for (size_t i = 0; i < f->sites.list.n; i++)
        if (f->sites.list.v[i].count && !share_entries(f, &f->sites.list.v[i]))
            return false;
    pgk_pairs_sort(&f->virtuals);
    return true;
}

/* Entries of a function that no call explains came from elsewhere. */
static bool add_missing_entries(struct infer *f)
{
    for (size_t i = 0; i < f->entries.list.n; i++) {
        uint64_t entry = f->entries.list.v[i].from, open = open_entries(f, entry);
        uint64_t virtuals = count_of(&f->virtuals, entry);
        if (open > virtuals && !pgk_pairs_add(&f->b->counters.branches, PGK_ADDR_EXTERNAL, entry,
                                              open - virtuals))
            return false;
    }
    return true;
}

/* ---- how much the samples bear ---- */

static int compare_falling(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

/* The deviation of n samples is the root of n. */
static void settle(struct infer *f, struct pgk_gen_stats *stats)
{
    double all = 0, held = 0;
    if (!f->samples.n)
        return;
    qsort(f->samples.v, f->samples.n, sizeof *f->samples.v, compare_falling);
    for (size_t i = 0; i < f->samples.n; i++)
        all += (double)f->samples.v[i];
    for (size_t i = 0; i < f->samples.n && held < 0.9 * all; i++) {
        double n = (double)f->samples.v[i], more = n > 0 ? PGK_GEN_SETTLED / n : 0;
        held += n;
        stats->settling++;
        stats->settled += n >= PGK_GEN_SETTLED;
        stats->record_more = more > stats->record_more ? more : stats->record_more;
    }
}

/* ---- */

static int infer(struct infer *f, bool symbols, unsigned threads, struct pgk_err *err)
{
    PGK_TRY(pgk_gen_functions(f->b, &f->functions, symbols, threads, err));
    PGK_TRY(pgk_vtables_read(&f->vtables, f->b->elf, err));
    size_t n = f->functions.functions.n;
    bool *hit = pgk_gen_sampled(f->b, &f->functions, false);
    int status = hit ? 0 : pgk_fail_nomem(err);
    for (uint32_t i = 0; !status && i < n; i++) {
        if (!hit[i])
            continue;
        status = pgk_flow_graph_make(&f->graph, &f->b->code, &f->functions, i, err);
        if (status)
            break;
        if (!measure_blocks(f) ||
            !pgk_flow_balance(&f->graph.blocks, &f->graph.edges, f->graph.entry, 1) ||
            !add_counters(f))
            status = pgk_fail_nomem(err);
    }
    pgk_pairs_sort(&f->entries);
    pgk_pairs_sort(&f->calls);
    if (!status && (!add_indirect_calls(f) || !add_virtual_calls(f) || !add_missing_entries(f)))
        status = pgk_fail_nomem(err);
    pgk_mem_free(hit);
    return status;
}

int pgk_gen_infer(struct pgk_gen_binary *b, bool symbols, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err)
{
    struct infer f = {.b = b};
    pgk_pairs_sort(&b->hits);
    int status = infer(&f, symbols, threads, err);
    settle(&f, stats);
    pgk_functions_close(&f.functions);
    pgk_flow_graph_free(&f.graph);
    pgk_pairs_free(&f.entries);
    pgk_pairs_free(&f.calls);
    pgk_pairs_free(&f.sites);
    pgk_pairs_free(&f.targets);
    pgk_pairs_free(&f.entered);
    pgk_pairs_free(&f.guessed);
    pgk_pairs_free(&f.runs);
    pgk_pairs_free(&f.reach);
    pgk_pairs_free(&f.virtuals);
    pgk_vtables_free(&f.vtables);
    pgk_vec_free(&f.samples);
    return status;
}
