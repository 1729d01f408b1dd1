/* Summaries in the words of `llvm-profdata show --detailed-summary` of LLVM 22 and 23, which
 * scripts read. */
#include "llvm_words.h"

#include "mem.h"
#include "opts.h"
#include "pgokit/report.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_sums(const struct pgk_llvm_totals *t, FILE *out)
{
    fprintf(out, "Total number of blocks: %" PRIu64 "\nTotal count: %" PRIu64 "\n", t->counters,
            t->total_count);
}

void pgk_llvm_put_totals(const struct pgk_llvm_totals *t, unsigned release, FILE *out)
{
    fprintf(out, "Total functions: %" PRIu64 "\nMaximum function count: %" PRIu64
            "\nMaximum internal block count: %" PRIu64 "\n", t->functions, t->max_entry_count,
            t->max_inner_count);
    if (!pgk_llvm_has_old_words(release))
        put_sums(t, out);
}

void pgk_llvm_put_overlap_title(const char *base, const char *test, unsigned release, FILE *out)
{
    fprintf(out, "Profile overlap %s for base_profile: %s and test_profile: %s\n",
            pgk_llvm_has_old_words(release) ? "infomation" : "information", base, test);
}

/* LLVM divides shares as float, whose digits show. */
void pgk_llvm_put_cutoff(const struct pgk_llvm_totals *t, uint64_t ppm, uint64_t min_count,
                         uint64_t n, unsigned release, FILE *out)
{
    double blocks = t->counters ? 100.0 * (double)n / (double)t->counters : 0;
    float share = (float)ppm / 1000000.0f * 100.0f;
    if (pgk_llvm_has_old_words(release))
        fprintf(out, "%" PRIu64 " blocks with count >= %" PRIu64 " account for %.6g percentage of "
                "the total counts.\n", n, min_count, (double)share);
    else
        fprintf(out, "%" PRIu64 " blocks (%.2f%%) with count >= %" PRIu64 " account for %.6g%% of "
                "the total counts.\n", n, blocks, min_count, (double)share);
}

static int by_share(const void *a, const void *b)
{
    const struct pgk_summary_cutoff *x = a, *y = b;
    return x->ppm < y->ppm ? -1 : x->ppm > y->ppm;
}

/* The requested cutoffs, or the usual ones, by rising share. */
static struct pgk_summary_cutoff *make_cutoffs(const uint32_t *wanted, size_t n_wanted, size_t *n)
{
    *n = n_wanted ? n_wanted : PGK_SUMMARY_CUTOFFS;
    struct pgk_summary_cutoff *cutoffs = pgk_mem_alloc(*n, sizeof *cutoffs);
    if (!cutoffs)
        return NULL;
    if (!n_wanted)
        pgk_summary_usual_cutoffs(cutoffs);
    for (size_t i = 0; i < n_wanted; i++)
        cutoffs[i] = (struct pgk_summary_cutoff){.ppm = wanted[i]};
    qsort(cutoffs, *n, sizeof *cutoffs, by_share);
    return cutoffs;
}

void pgk_llvm_put_level(const struct pgk_instr *p, unsigned release, FILE *out)
{
    if (pgk_instr_origin(p) != PGK_INSTR_IR) {
        fputs("Instrumentation level: Front-end\n", out);
        return;
    }
    fprintf(out, "Instrumentation level: IR  entry_first = %d",
            (int)(p->flags >> PGK_INDEXED_ENTRY_FIRST & 1));
    if (!pgk_llvm_has_old_words(release))
        fprintf(out, "  instrument_loop_entries = %d",
                (int)(p->flags >> PGK_INDEXED_LOOP_ENTRIES & 1));
    putc('\n', out);
}

int pgk_llvm_summarise(const struct pgk_instr *p, bool contextual, const uint32_t *cutoffs,
                       size_t n_cutoffs, struct pgk_llvm_summary *s, struct pgk_err *err)
{
    struct pgk_instr_summary sums;
    uint64_t bit = pgk_instr_context_bit(p);
    s->cutoffs = make_cutoffs(cutoffs, n_cutoffs, &s->n_cutoffs);
    if (!s->cutoffs)
        return pgk_fail_nomem(err);
    int status = pgk_instr_summarise(p, contextual && bit, bit, &sums, s->cutoffs, s->n_cutoffs,
                                     err);
    if (status)
        pgk_llvm_summary_free(s);
    else
        s->totals = (struct pgk_llvm_totals){sums.functions, sums.max_entry_count,
                                             sums.max_inner_count, sums.counters,
                                             sums.total_count};
    return status;
}

void pgk_llvm_put_detailed(const struct pgk_llvm_summary *s, unsigned release, FILE *out)
{
    if (pgk_llvm_has_old_words(release))
        put_sums(&s->totals, out);
    fputs("Detailed summary:\n", out);
    for (size_t i = 0; i < s->n_cutoffs; i++)
        pgk_llvm_put_cutoff(&s->totals, s->cutoffs[i].ppm, s->cutoffs[i].min_count,
                            s->cutoffs[i].n_counts, release, out);
}

void pgk_llvm_summary_free(struct pgk_llvm_summary *s)
{
    pgk_mem_free(s->cutoffs);
    s->cutoffs = NULL;
}

int pgk_instr_print_summary(const struct pgk_instr *p, const struct pgk_instr_print_opts *given,
                            FILE *out, struct pgk_err *err)
{
    struct pgk_instr_print_opts o;
    struct pgk_llvm_summary s;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    PGK_TRY(pgk_llvm_summarise(p, o.contextual, o.cutoffs, o.n_cutoffs, &s, err));
    pgk_llvm_put_level(p, 0, out);
    pgk_llvm_put_totals(&s.totals, 0, out);
    pgk_llvm_put_detailed(&s, 0, out);
    pgk_llvm_summary_free(&s);
    return 0;
}

int pgk_llvm_sample_summary(const struct pgk_sample *p, const struct pgk_file_info *info,
                            struct pgk_sample_summary *s, struct pgk_err *err)
{
    const struct pgk_sample_summary *stored = info ? pgk_file_info_summary(info) : NULL;
    *s = (struct pgk_sample_summary){.struct_size = sizeof *s};
    if (!stored)
        return pgk_sample_summarise(p, s, err);
    *s = *stored;
    return 0;
}

void pgk_llvm_put_sample_summary(const struct pgk_sample_summary *s, unsigned release, FILE *out)
{
    struct pgk_llvm_totals t = {s->num_functions, s->max_function_count, 0, s->num_counts,
                                s->total_count};
    if (pgk_llvm_has_old_words(release))
        fprintf(out, "Total functions: %" PRIu64 "\nMaximum function count: %" PRIu64
                "\nMaximum block count: %" PRIu64 "\nTotal number of blocks: %" PRIu64
                "\nTotal count: %" PRIu64 "\n", t.functions, t.max_entry_count, s->max_count,
                t.counters, t.total_count);
    else
        pgk_llvm_put_totals(&t, release, out);
    fputs("Detailed summary:\n", out);
    for (size_t i = 0; i < s->n_cutoffs; i++)
        pgk_llvm_put_cutoff(&t, s->cutoffs[i].ppm, s->cutoffs[i].min_count,
                            s->cutoffs[i].num_counts, release, out);
}

int pgk_sample_print_summary(const struct pgk_sample *p, const struct pgk_sample_print_opts *given,
                             FILE *out, struct pgk_err *err)
{
    struct pgk_sample_print_opts o;
    struct pgk_sample_summary s;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    PGK_TRY(pgk_llvm_sample_summary(p, o.info, &s, err));
    pgk_llvm_put_sample_summary(&s, 0, out);
    return 0;
}
