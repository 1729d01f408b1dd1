/* The overlap of samples as `llvm-profdata overlap --sample` of LLVM 22 prints it. */
#include "llvm_words.h"

#include "mem.h"
#include "opts.h"
#include "sample_overlap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void put_counts(const char *title, const char *things, uint64_t both, uint64_t base,
                       uint64_t test, FILE *out)
{
    fprintf(out, "  %s overlap: %.3f%%\n    overlap %s: %" PRIu64 "\n"
            "    %s unique in base profile: %" PRIu64 "\n"
            "    %s unique in test profile: %" PRIu64 "\n", title,
            percent(both, both + base + test), things, both, things, base, things, test);
}

static void put_program(const struct pgk_sample_overlap *o, FILE *out)
{
    fprintf(out, "Program level:\n  Whole program profile similarity: %.3f%%\n"
            "  Whole program sample overlap: %.3f%%\n"
            "    percentage of samples unique in base profile: %.3f%%\n"
            "    percentage of samples unique in test profile: %.3f%%\n"
            "    total samples in base profile: %" PRIu64 "\n"
            "    total samples in test profile: %" PRIu64 "\n", o->similarity * 100,
            o->sample_overlap * 100, o->base_unique * 100, o->test_unique * 100, o->base_samples,
            o->test_samples);
    put_counts("Function", "functions", o->functions_both, o->functions_base, o->functions_test,
               out);
    put_counts("Hot-function", "hot functions", o->hot_functions_both, o->hot_functions_base,
               o->hot_functions_test, out);
    put_counts("Hot-block", "hot blocks", o->hot_lines_both, o->hot_lines_base, o->hot_lines_test,
               out);
}

static bool is_shown(const struct pgk_llvm_overlap_opts *o, const struct pgk_sample_pair *p)
{
    return (o->has_value_cutoff && p->max_count >= o->value_cutoff) ||
           (p->in_base && p->change.similarity * 1000000 < o->similarity_cutoff) ||
           (o->function && *o->function && strstr(p->change.function, o->function));
}

static int by_weight(const void *a, const void *b)
{
    const struct pgk_sample_pair *const *x = a, *const *y = b;
    double u = (*x)->change.base_share, v = (*y)->change.base_share;
    if (u != v)
        return u > v ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void put_functions(const struct pgk_sample_pair **shown, size_t n, FILE *out)
{
    fputs("Function-level details:\nBase weight    Test weight    Similarity   Overlap   "
          "Base unique   Test unique   Base samples   Test samples   Function name\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct pgk_sample_pair *p = shown[i];
        const struct pgk_sample_change *c = &p->change;
        char cells[6][32];
        const double values[6] = {c->base_share * 100, c->test_share * 100, c->similarity * 100,
                                  c->overlap * 100, percent(p->base_only, c->base_samples),
                                  percent(p->test_only, c->test_samples)};
        for (int k = 0; k < 6; k++)
            snprintf(cells[k], sizeof cells[k], "%.2f%%", values[k]);
        fprintf(out, "%-14s %-14s %-12s %-9s %-13s %-13s %-14" PRIu64 " %-14" PRIu64 " %s\n",
                cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], c->base_samples,
                c->test_samples, c->function);
    }
}

static int put_pairs(const struct pgk_sample_diff *diff, const struct pgk_llvm_overlap_opts *o,
                     FILE *out, struct pgk_err *err)
{
    size_t n, shown = 0;
    const struct pgk_sample_pair *pairs = pgk_sample_diff_pairs(diff, &n), **list;
    if (!(list = pgk_mem_alloc(n + 1, sizeof *list)))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        if (is_shown(o, &pairs[i]))
            list[shown++] = &pairs[i];
    if (shown) {
        qsort(list, shown, sizeof *list, by_weight);
        put_functions(list, shown, out);
    }
    pgk_mem_free(list);
    return 0;
}

static bool is_empty(const struct pgk_sample *p)
{
    for (size_t i = 0; i < p->nodes.n; i++)
        for (uint32_t k = 0; k < p->nodes.v[i].recs.n; k++)
            if (p->nodes.v[i].recs.v[k].what == PGK_REC_BODY && p->nodes.v[i].recs.v[k].count)
                return false;
    return true;
}

int pgk_sample_print_llvm_overlap(const struct pgk_sample *base, const struct pgk_sample *test,
                                  const struct pgk_llvm_overlap_opts *given, FILE *out,
                                  struct pgk_err *err)
{
    struct pgk_llvm_overlap_opts o;
    struct pgk_sample_diff *diff;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    bool base_empty = is_empty(base), test_empty = is_empty(test);
    if (base_empty)
        fprintf(out, "Sum of sample counts for profile %s is 0.\n", o.base_title);
    if (test_empty)
        fprintf(out, "Sum of sample counts for profile %s is 0.\n", o.test_title);
    if (base_empty || test_empty)
        return 0;
    PGK_TRY(pgk_sample_compare(&diff, base, test, err));
    pgk_llvm_put_overlap_title(o.base_title, o.test_title, o.release, out);
    put_program(pgk_sample_diff_overlap(diff), out);
    int status = put_pairs(diff, &o, out, err);
    pgk_sample_diff_close(&diff);
    return status;
}
