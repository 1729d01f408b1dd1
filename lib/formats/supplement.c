/* Correcting counters by samples.
 *
 * Samples are by function with what was inlined into it; counters are of each function for itself.
 * So the samples of inlinees go to the functions that were inlined, as far as these have counters,
 * and to their callers otherwise. */
#include "pgokit/supplement.h"

#include "hash.h"
#include "instr_summary.h"
#include "opts.h"
#include "sample_layout.h"
#include "saturate.h"

/* A product of two counts. */
__extension__ typedef unsigned __int128 wide;

/* Instead of the position of a name. */
#define NONE UINT32_MAX
#define AMBIGUOUS (UINT32_MAX - 1)
enum { HOT_CUTOFF = 11, COLD_CUTOFF = 15 }; /* 99 and 99.9999 percent of all counts */

/* The state of a name of the counters. */
struct entry {
    struct pgk_instr_func *func; /* NULL: none */
    bool several;                /* hashes: it stays as it is */
    uint64_t entries, largest;   /* samples at its entry, and of its hottest line */
};

struct supplement {
    struct pgk_instr *instr;
    const struct pgk_sample *samples;
    struct pgk_supplement_opts opts;
    struct pgk_supplemented done;
    struct entry *by_name;       /* by position in the names of `instr` */
    struct pgk_arena arena;
    struct pgk_instr_names locals; /* names of static functions without their files */
    PGK_VEC(uint32_t) names_of;  /* by position in `locals`: the whole name's, or AMBIGUOUS */
    PGK_VEC(uint64_t) unclear;   /* ambiguous names that samples have */
    uint64_t hot_samples, cold_samples, hot_count, cold_count;
};

/* ---- names ---- */

/* Static functions may have the hash of their module's name appended. */
static size_t without_unique_suffix(const char *name, size_t len)
{
    static const char mark[] = ".__uniq.";
    const char *at = memmem(name, len, mark, sizeof mark - 1);
    return at && at > name ? (size_t)(at - name) : len;
}

/* The symbol after the file; NULL if it is not static. Before LLVM 19 a colon separated them, which
 * names of other languages have, too. */
static const char *local_part(const struct pgk_instr_name *name)
{
    static const char *const ends[] = {".c", "cc", ".cpp", ".cxx", ".h", ".hpp"};
    const char *semicolon = memchr(name->s, ';', name->len);
    if (semicolon)
        return semicolon[1] ? semicolon + 1 : NULL;
    const char *colon = memchr(name->s, ':', name->len);
    for (size_t i = 0; colon && i < PGK_COUNTOF(ends); i++) {
        size_t n = strlen(ends[i]);
        if ((size_t)(colon - name->s) > n && !memcmp(colon - n, ends[i], n))
            return colon[1] ? colon + 1 : NULL;
    }
    return NULL;
}

static bool add_local(struct supplement *s, uint32_t at)
{
    const struct pgk_instr_name *name = &s->instr->names.list.v[at];
    const char *local = local_part(name);
    if (!local)
        return true;
    size_t len = without_unique_suffix(local, name->len - (size_t)(local - name->s));
    uint32_t pos =
        pgk_names_add(&s->locals, &s->arena, pgk_md5_low64(local, len), local, len);
    if (pos == PGK_INDEX_NONE)
        return false;
    if (pos < s->names_of.n)
        s->names_of.v[pos] = AMBIGUOUS;
    return pos < s->names_of.n || pgk_vec_push(&s->names_of, at);
}

static bool index_functions(struct supplement *s)
{
    struct pgk_instr *p = s->instr;
    s->by_name = pgk_mem_zalloc(p->names.list.n + 1, sizeof *s->by_name);
    if (!s->by_name)
        return false;
    for (size_t i = 0; i < p->funcs.n; i++) {
        struct entry *e = &s->by_name[p->funcs.v[i].name];
        e->several = e->func != NULL;
        e->func = &p->funcs.v[i];
    }
    for (uint32_t i = 0; i < p->names.list.n; i++)
        if (s->by_name[i].func && !s->by_name[i].several && !add_local(s, i))
            return false;
    return true;
}

/* The function of the counters that a name of the samples means. */
static uint32_t find(struct supplement *s, const struct pgk_sample_name *name)
{
    uint64_t ref = name->s ? pgk_md5_low64(name->s, name->len) : name->guid;
    uint32_t at = pgk_names_find(&s->instr->names, ref);
    if (at != PGK_INDEX_NONE && s->by_name[at].func)
        return s->by_name[at].several ? NONE : at;
    if (name->s)
        ref = pgk_md5_low64(name->s, without_unique_suffix(name->s, name->len));
    uint32_t local = pgk_names_find(&s->locals, ref);
    return local == PGK_INDEX_NONE ? NONE : s->names_of.v[local];
}

/* ---- samples by function ---- */

static bool note_unclear(struct supplement *s, uint32_t name)
{
    for (size_t i = 0; i < s->unclear.n; i++)
        if (s->unclear.v[i] == name)
            return true;
    return pgk_vec_push(&s->unclear, name);
}

/* `root`: the function that gets the samples of those without counters. */
static bool add_samples(struct supplement *s, uint32_t node, uint32_t root)
{
    const struct pgk_sample *p = s->samples;
    const struct pgk_sample_node *n = &p->nodes.v[node];
    uint64_t entries = p->kind.contexts && n->head ? n->head : pgk_sample_entries(p, node);
    uint32_t at = find(s, &p->names.list.v[n->name]);
    if (at == NONE)
        entries = 0;
    else if (at != AMBIGUOUS)
        root = at;
    if (at == AMBIGUOUS && !note_unclear(s, n->name))
        return false;
    if (root != NONE) {
        struct entry *e = &s->by_name[root];
        e->entries = pgk_add_saturated(e->entries, entries);
        for (uint32_t i = 0; i < n->recs.n; i++)
            if (n->recs.v[i].what == PGK_REC_BODY && n->recs.v[i].count > e->largest)
                e->largest = n->recs.v[i].count;
    }
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        if (!add_samples(s, c, root))
            return false;
    return true;
}

/* ---- counters ---- */

static uint64_t scaled(uint64_t count, uint64_t times, uint64_t by, uint64_t max)
{
    wide product = (wide)count * times / by;
    return product > max ? max : (uint64_t)product;
}

static void scale(struct pgk_instr_func *f, uint64_t times, uint64_t by)
{
    size_t n_sites = 0;
    for (uint32_t i = 0; i < f->n_counts; i++)
        f->counts[i] = scaled(f->counts[i], times, by, PGK_COUNT_MAX);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        n_sites += f->n_sites[k];
    for (size_t i = 0; i < n_sites; i++)
        for (uint32_t v = 0; v < f->sites[i].n; v++)
            f->sites[i].v[v].count = scaled(f->sites[i].v[v].count, times, by, UINT64_MAX);
}

/* Lifts a function above the counts that compilers take for hot, or for cold. */
static void correct(struct supplement *s, struct pgk_instr_func *f, uint64_t largest, bool hot)
{
    enum { TIMES = 3 };
    uint32_t zeros = 0;
    for (uint32_t i = 0; i < f->n_counts; i++)
        zeros += !f->counts[i];
    if (!largest || (float)zeros / (float)f->n_counts > (float)s->opts.zero_share) {
        f->counts[0] = hot ? PGK_COUNT_HOT : PGK_COUNT_WARM;
        f->pseudo = true;
        s->done.hot += hot;
        s->done.warm += !hot;
        return;
    }
    uint64_t wanted = scaled(hot ? s->hot_count : s->cold_count, TIMES, 1, UINT64_MAX);
    if (wanted <= largest)
        return;
    scale(f, wanted, largest);
    s->done.scaled++;
}

static void correct_all(struct supplement *s)
{
    for (size_t i = 0; i < s->instr->names.list.n; i++) {
        const struct entry *e = &s->by_name[i];
        uint64_t samples = e->entries > e->largest ? e->entries : e->largest, largest = 0;
        if (!e->func || e->several || !samples || samples < s->cold_samples)
            continue;
        for (uint32_t k = 0; k < e->func->n_counts; k++)
            if (e->func->counts[k] > largest)
                largest = e->func->counts[k];
        if (!e->func->pseudo && largest <= s->cold_count &&
            e->func->n_counts >= s->opts.min_counters)
            correct(s, e->func, largest, samples >= s->hot_samples);
    }
}

/* ---- all of it ---- */

static int find_thresholds(struct supplement *s, struct pgk_err *err)
{
    struct pgk_instr_summary sums;
    struct pgk_summary_cutoff cutoffs[PGK_SUMMARY_CUTOFFS];
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    PGK_TRY(pgk_instr_summarise_written(s->instr, false, &sums, cutoffs, err));
    PGK_TRY(pgk_sample_summarise(s->samples, &summary, err));
    s->hot_count = cutoffs[HOT_CUTOFF].min_count;
    s->cold_count = s->opts.cold_count ? s->opts.cold_count : cutoffs[COLD_CUTOFF].min_count;
    if (summary.n_cutoffs > COLD_CUTOFF) {
        s->hot_samples = summary.cutoffs[HOT_CUTOFF].min_count;
        s->cold_samples = summary.cutoffs[COLD_CUTOFF].min_count;
    }
    return 0;
}

static int supplement(struct supplement *s, struct pgk_err *err)
{
    PGK_TRY(find_thresholds(s, err));
    if (!index_functions(s))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < s->samples->by_heat.n; i++)
        if (!add_samples(s, s->samples->by_heat.v[i], NONE))
            return pgk_fail_nomem(err);
    correct_all(s);
    s->done.ambiguous = s->unclear.n;
    return 0;
}

int pgk_instr_supplement(struct pgk_instr *instr, const struct pgk_sample *samples,
                         const struct pgk_supplement_opts *given, struct pgk_supplemented *done,
                         struct pgk_err *err)
{
    struct supplement s = {.instr = instr, .samples = samples};
    PGK_TRY(PGK_OPTS_TAKE(&s.opts, given, err));
    if (!(s.opts.zero_share >= 0 && s.opts.zero_share <= 1))
        return pgk_fail(err, PGK_E_ARG, .field = "zero_share",
                        .found = PGK_F("%g", s.opts.zero_share), .expected = "0 to 1");
    s.opts.zero_share = s.opts.zero_share > 0 ? s.opts.zero_share : 0.7;
    s.opts.min_counters = s.opts.min_counters || s.opts.any_size ? s.opts.min_counters : 10;
    int status = supplement(&s, err);
    pgk_mem_free(s.by_name);
    pgk_vec_free(&s.locals.list);
    pgk_index_free(&s.locals.by_ref);
    pgk_vec_free(&s.names_of);
    pgk_vec_free(&s.unclear);
    pgk_arena_free(&s.arena);
    if (!status)
        PGK_RESULT_GIVE(done, &s.done);
    return status;
}
