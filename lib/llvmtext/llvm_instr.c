/* Counters as `llvm-profdata show` of LLVM 22 prints them. */
#include "llvm_words.h"

#include "mem.h"
#include "opts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function and its largest counter, for the lists of the hottest. */
struct ranked {
    const struct pgk_instr_name *name;
    uint64_t max;
    size_t place; /* in the file, which decides between equal ones */
};

/* Of all values that were printed of one kind. */
struct site_stats {
    uint64_t sites, sites_with_values, values;
    uint64_t by_size[PGK_SITE_VALUES_MAX + 1]; /* sites with so many values */
};

struct printer {
    const struct pgk_instr *p;
    const struct pgk_llvm_print_opts *o;
    FILE *out;
    bool is_ir;
    size_t shown, below;
    struct site_stats stats[PGK_VALUE_KINDS];
    PGK_VEC(struct ranked) ranked;
    bool failed;
};

/* How each kind of values is requested and announced. */
static const struct kind_text {
    uint32_t part;
    enum pgk_value_kind kind;
    const char *number, *results, *statistics;
} kind_texts[] = {
    {PGK_LLVM_TARGETS, PGK_VALUE_CALL, "Indirect Call Site Count",
     "Indirect Target Results", "indirect call sites"},
    {PGK_LLVM_VTABLES, PGK_VALUE_VTABLE, "Number of instrumented vtables", "VTable Results",
     "vtable"},
    {PGK_LLVM_MEMOPS, PGK_VALUE_SIZE, "Number of Memory Intrinsics Calls",
     "Memory Intrinsic Size Results", "memory intrinsic calls sizes"},
};
enum { KIND_TEXTS = sizeof kind_texts / sizeof *kind_texts };

static bool is_wanted(const struct printer *w, const struct pgk_instr_func *f)
{
    bool contextual = f->hash >> PGK_HASH_CONTEXTUAL_BIT & 1;
    return !w->is_ir || contextual == w->o->contextual;
}

static bool is_shown(const struct printer *w, const char *name)
{
    return w->o->parts & PGK_LLVM_ALL_FUNCTIONS ||
           (w->o->function && *w->o->function && strstr(name, w->o->function));
}

static void put_value(struct printer *w, const struct kind_text *t, size_t site,
                      const struct pgk_instr_value *v, uint64_t sum)
{
    const char *name = pgk_instr_name(w->p, t->kind, v->value);
    fprintf(w->out, "\t[ %2zu, ", site);
    if (t->kind == PGK_VALUE_SIZE)
        fprintf(w->out, "%4" PRIu64, v->value);
    else
        fputs(name ? name : "** External Symbol **", w->out);
    fprintf(w->out, ", %10" PRId64 " ] (%.2f%%)\n", (int64_t)v->count,
            (double)v->count * 100.0 / (double)sum);
}

static void put_sites(struct printer *w, const struct pgk_instr_func *f,
                      const struct kind_text *t)
{
    struct site_stats *stats = &w->stats[t->kind];
    stats->sites += f->n_sites[t->kind];
    for (size_t i = 0; i < f->n_sites[t->kind]; i++) {
        const struct pgk_value_site *site = pgk_func_site(f, t->kind, i);
        uint64_t sum = 0;
        if (!site->n)
            continue;
        stats->sites_with_values++;
        stats->values += site->n;
        stats->by_size[site->n < PGK_SITE_VALUES_MAX ? site->n : PGK_SITE_VALUES_MAX]++;
        for (uint32_t k = 0; k < site->n; k++)
            sum += site->v[k].count;
        for (uint32_t k = 0; k < site->n; k++)
            put_value(w, t, i, &site->v[k], sum ? sum : 1);
    }
}

static void put_counts(const struct printer *w, const struct pgk_instr_func *f)
{
    fputs("    Block counts: [", w->out);
    for (uint32_t i = !w->is_ir; i < f->n_counts; i++)
        fprintf(w->out, "%s%" PRIu64, i == !w->is_ir ? "" : ", ", f->counts[i]);
    fputs("]\n", w->out);
}

static bool has_kind(const struct printer *w, const struct pgk_instr_func *f,
                     const struct kind_text *t)
{
    return w->o->parts & t->part && (t->kind != PGK_VALUE_SIZE || f->n_sites[t->kind]);
}

static void put_function(struct printer *w, const struct pgk_instr_func *f, const char *name)
{
    fprintf(w->out, "%s  %s:\n    Hash: 0x%016" PRIx64 "\n    Counters: %" PRIu32,
            w->shown++ ? "" : "Counters:\n", name, f->hash, f->n_counts);
    if (f->counts[0] >= PGK_COUNT_WARM) {
        fprintf(w->out, "    <Pseudo%s>\n", f->counts[0] == PGK_COUNT_HOT ? "Hot" : "Warm");
        return;
    }
    fputc('\n', w->out);
    if (!w->is_ir)
        fprintf(w->out, "    Function count: %" PRIu64 "\n", f->counts[0]);
    for (size_t i = 0; i < KIND_TEXTS; i++)
        if (has_kind(w, f, &kind_texts[i]))
            fprintf(w->out, "    %s: %" PRIu32 "\n", kind_texts[i].number,
                    f->n_sites[kind_texts[i].kind]);
    if (w->o->parts & PGK_LLVM_COUNTS)
        put_counts(w, f);
    for (size_t i = 0; i < KIND_TEXTS; i++)
        if (has_kind(w, f, &kind_texts[i])) {
            fprintf(w->out, "    %s:\n", kind_texts[i].results);
            put_sites(w, f, &kind_texts[i]);
        }
}

static void put_text_sites(const struct printer *w, const struct pgk_instr_func *f,
                           enum pgk_value_kind kind)
{
    static const char *const kinds[] = {"IPVK_IndirectCallTarget", "IPVK_MemOPSize",
                                        "IPVK_VTableTarget"};
    fprintf(w->out, "# ValueKind = %s:\n%d\n# NumValueSites:\n%" PRIu32 "\n", kinds[kind],
            (int)kind, f->n_sites[kind]);
    for (uint32_t i = 0; i < f->n_sites[kind]; i++) {
        const struct pgk_value_site *site = pgk_func_site(f, kind, i);
        fprintf(w->out, "%" PRIu32 "\n", site->n);
        for (uint32_t k = 0; k < site->n; k++) {
            const char *name = pgk_instr_name(w->p, kind, site->v[k].value);
            if (kind == PGK_VALUE_SIZE)
                fprintf(w->out, "%" PRIu64, site->v[k].value);
            else
                fputs(name ? name : "** External Symbol **", w->out);
            fprintf(w->out, ":%" PRIu64 "\n", site->v[k].count);
        }
    }
}

/* As in a text profile, but in the order of the file. */
static void put_text(const struct printer *w, const struct pgk_instr_func *f, const char *name)
{
    int kinds = 0;
    fprintf(w->out, "%s\n# Func Hash:\n%" PRIu64 "\n# Num Counters:\n%" PRIu32
            "\n# Counter Values:\n", name, f->hash, f->n_counts);
    for (uint32_t i = 0; i < f->n_counts; i++)
        fprintf(w->out, "%" PRIu64 "\n", f->counts[i]);
    if (f->n_bitmap)
        fprintf(w->out, "# Num Bitmap Bytes:\n$%" PRIu32 "\n# Bitmap Byte Values:\n",
                f->n_bitmap);
    for (uint32_t i = 0; i < f->n_bitmap; i++)
        fprintf(w->out, "0x%x\n", f->bitmap[i]);
    if (f->n_bitmap)
        fputc('\n', w->out);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        kinds += f->n_sites[k] > 0;
    if (kinds)
        fprintf(w->out, "# Num Value Kinds:\n%d\n", kinds);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        if (f->n_sites[k])
            put_text_sites(w, f, (enum pgk_value_kind)k);
    fputc('\n', w->out);
}

static void note_function(struct printer *w, size_t place, const struct pgk_instr_func *f)
{
    const struct pgk_instr_name *name = &w->p->names.list.v[f->name];
    uint64_t max = 0, sum = 0;
    if (w->o->parts & PGK_LLVM_TEXT) {
        if (is_shown(w, name->s))
            put_text(w, f, name->s);
        return;
    }
    bool pseudo = f->counts[0] >= PGK_COUNT_WARM;
    for (uint32_t i = 0; i < f->n_counts && !pseudo; i++) {
        max = f->counts[i] > max ? f->counts[i] : max;
        sum += f->counts[i];
    }
    if (w->o->parts & PGK_LLVM_COVERED) {
        if (max || pseudo)
            fprintf(w->out, "%s\n", name->s);
        return;
    }
    if (!pseudo && max < w->o->value_cutoff) {
        w->below++;
        if (w->o->below_cutoff)
            fprintf(w->out, "  %s: (Max = %" PRIu64 " Sum = %" PRIu64 ")\n", name->s, max, sum);
        return;
    }
    if (w->o->below_cutoff && !pseudo)
        return;
    if (!pseudo && (w->o->top || w->o->parts & PGK_LLVM_HOT))
        w->failed |= !pgk_vec_push(&w->ranked, ((struct ranked){name, max, place}));
    if (is_shown(w, name->s))
        put_function(w, f, name->s);
}

static int by_falling_max(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->max != y->max)
        return x->max > y->max ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static uint64_t hot_threshold(const struct pgk_llvm_summary *s)
{
    enum { HOT_PPM = 990000 };
    for (size_t i = 0; i < s->n_cutoffs; i++)
        if (s->cutoffs[i].ppm >= HOT_PPM)
            return s->cutoffs[i].min_count;
    return 0;
}

static void put_hottest(struct printer *w, const struct pgk_llvm_summary *s)
{
    if (w->ranked.n)
        qsort(w->ranked.v, w->ranked.n, sizeof *w->ranked.v, by_falling_max);
    if (w->o->top)
        fprintf(w->out, "Top %zu functions with the largest internal block counts: \n",
                w->o->top);
    for (size_t i = 0; i < w->ranked.n && i < w->o->top; i++)
        fprintf(w->out, "  %s, max count = %" PRIu64 "\n", w->ranked.v[i].name->s,
                w->ranked.v[i].max);
    if (!(w->o->parts & PGK_LLVM_HOT))
        return;
    uint64_t hot = hot_threshold(s);
    fprintf(w->out, "# Hot count threshold: %" PRIu64 "\n", hot);
    for (size_t i = 0; i < w->ranked.n && w->ranked.v[i].max >= hot; i++)
        fprintf(w->out, "%s\n", w->ranked.v[i].name->s);
}

static void put_statistics(const struct printer *w)
{
    for (size_t i = 0; i < KIND_TEXTS && w->shown; i++) {
        const struct site_stats *stats = &w->stats[kind_texts[i].kind];
        if (!(w->o->parts & kind_texts[i].part))
            continue;
        fprintf(w->out, "Statistics for %s profile:\n  Total number of sites: %" PRIu64 "\n"
                "  Total number of sites with values: %" PRIu64 "\n"
                "  Total number of profiled values: %" PRIu64 "\n"
                "  Value sites histogram:\n\tNumTargets, SiteCount\n", kind_texts[i].statistics,
                stats->sites, stats->sites_with_values, stats->values);
        for (size_t n = 1; n <= PGK_SITE_VALUES_MAX; n++)
            if (stats->by_size[n])
                fprintf(w->out, "\t%zu, %" PRIu64 "\n", n, stats->by_size[n]);
    }
}

static void put_ids(const struct printer *w)
{
    fputs("Binary IDs: \n", w->out);
    for (size_t i = 0; i < w->p->binary_ids.n; i++) {
        for (size_t k = 0; k < w->p->binary_ids.v[i].size; k++)
            fprintf(w->out, "%02x", w->p->binary_ids.v[i].bytes[k]);
        fputc('\n', w->out);
    }
}

static void put_traces(const struct printer *w)
{
    fprintf(w->out, "Temporal Profile Traces (samples=%zu seen=%" PRIu64 "):\n", w->p->traces.n,
            w->p->trace_stream);
    for (size_t i = 0; i < w->p->traces.n; i++) {
        const struct pgk_instr_trace *t = &w->p->traces.v[i];
        fprintf(w->out, "  Temporal Profile Trace %zu (weight=%" PRIu64 " count=%zu):\n", i,
                t->weight, t->n);
        for (size_t k = 0; k < t->n; k++) {
            const char *name = pgk_instr_name(w->p, PGK_VALUE_CALL, t->refs[k]);
            fprintf(w->out, "    %s\n", name ? name : "** External Symbol **");
        }
    }
}

/* What follows the functions. */
static void put_rest(struct printer *w, const struct pgk_llvm_summary *s)
{
    const struct pgk_llvm_print_opts *o = w->o;
    pgk_llvm_put_level(w->p, o->release, w->out);
    if (o->parts & PGK_LLVM_ALL_FUNCTIONS || (o->function && *o->function))
        fprintf(w->out, "Functions shown: %zu\n", w->shown);
    pgk_llvm_put_totals(&s->totals, o->release, w->out);
    if (o->value_cutoff)
        fprintf(w->out, "Number of functions with maximum count (< %" PRIu64 "): %zu\n"
                "Number of functions with maximum count (>= %" PRIu64 "): %" PRIu64 "\n",
                o->value_cutoff, w->below, o->value_cutoff, s->totals.functions - w->below);
    put_hottest(w, s);
    put_statistics(w);
    if (o->parts & PGK_LLVM_SUMMARY)
        pgk_llvm_put_detailed(s, o->release, w->out);
    if (o->parts & PGK_LLVM_BINARY_IDS)
        put_ids(w);
    if (o->parts & PGK_LLVM_VERSION)
        fprintf(w->out, "Profile version: %" PRIu32 "\n",
                o->info ? pgk_file_info_version(o->info) : 0);
    if (o->parts & PGK_LLVM_TRACES)
        put_traces(w);
}

int pgk_instr_print_llvm(const struct pgk_instr *p, const struct pgk_llvm_print_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_llvm_print_opts o;
    struct pgk_llvm_summary summary;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    struct printer w = {
        .p = p, .o = &o, .out = out, .is_ir = pgk_instr_origin(p) == PGK_INSTR_IR};
    PGK_TRY(pgk_llvm_summarise(p, o.contextual, o.cutoffs, o.n_cutoffs, &summary, err));
    if (o.parts & PGK_LLVM_TEXT && w.is_ir)
        fputs(":ir\n", out);
    else if (o.below_cutoff && !(o.parts & PGK_LLVM_TEXT))
        fprintf(out, "The list of functions with the maximum counter less than %" PRIu64 ":\n",
                o.value_cutoff);
    for (size_t i = 0; i < p->funcs.n && !w.failed; i++)
        if (is_wanted(&w, &p->funcs.v[i]))
            note_function(&w, i, &p->funcs.v[i]);
    if (!(o.parts & (PGK_LLVM_COVERED | PGK_LLVM_TEXT)))
        put_rest(&w, &summary);
    pgk_llvm_summary_free(&summary);
    pgk_vec_free(&w.ranked);
    return w.failed ? pgk_fail_nomem(err) : 0;
}
