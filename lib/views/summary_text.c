/* Summaries in the words of `llvm-profdata show --detailed-summary` of LLVM 22 and 23, which
 * scripts read. */
#include "instr_summary.h"
#include "mem.h"
#include "opts.h"
#include "pgokit/report.h"

#include <inttypes.h>
#include <stdlib.h>

/* What both kinds have. */
struct totals {
    uint64_t functions, max_entry_count, max_inner_count, counters, total_count;
};

static void put_totals(const struct totals *t, FILE *out)
{
    fprintf(out, "Total functions: %" PRIu64 "\nMaximum function count: %" PRIu64 "\n"
            "Maximum internal block count: %" PRIu64 "\nTotal number of blocks: %" PRIu64 "\n"
            "Total count: %" PRIu64 "\nDetailed summary:\n", t->functions, t->max_entry_count,
            t->max_inner_count, t->counters, t->total_count);
}

/* LLVM divides shares as float, whose digits show. */
static void put_cutoff(const struct totals *t, uint64_t ppm, uint64_t min_count, uint64_t n,
                       FILE *out)
{
    double blocks = t->counters ? 100.0 * (double)n / (double)t->counters : 0;
    float share = (float)ppm / 1000000.0f * 100.0f;
    fprintf(out, "%" PRIu64 " blocks (%.2f%%) with count >= %" PRIu64 " account for %.6g%% of the "
            "total counts.\n", n, blocks, min_count, (double)share);
}

static int by_share(const void *a, const void *b)
{
    const struct pgk_summary_cutoff *x = a, *y = b;
    return x->ppm < y->ppm ? -1 : x->ppm > y->ppm;
}

/* The requested cutoffs, or the usual ones, by rising share; free with pgk_mem_free. */
static struct pgk_summary_cutoff *make_cutoffs(const struct pgk_instr_print_opts *o, size_t *n)
{
    *n = o->n_cutoffs ? o->n_cutoffs : PGK_SUMMARY_CUTOFFS;
    struct pgk_summary_cutoff *cutoffs = pgk_mem_alloc(*n, sizeof *cutoffs);
    if (!cutoffs)
        return NULL;
    if (!o->n_cutoffs)
        pgk_summary_usual_cutoffs(cutoffs);
    for (size_t i = 0; i < o->n_cutoffs; i++)
        cutoffs[i] = (struct pgk_summary_cutoff){.ppm = o->cutoffs[i]};
    qsort(cutoffs, *n, sizeof *cutoffs, by_share);
    return cutoffs;
}

static void put_level(const struct pgk_instr *p, FILE *out)
{
    if (pgk_instr_origin(p) != PGK_INSTR_IR)
        fputs("Instrumentation level: Front-end\n", out);
    else
        fprintf(out, "Instrumentation level: IR  entry_first = %d  instrument_loop_entries = %d\n",
                (int)(p->flags >> PGK_INDEXED_ENTRY_FIRST & 1),
                (int)(p->flags >> PGK_INDEXED_LOOP_ENTRIES & 1));
}

int pgk_instr_print_summary(const struct pgk_instr *p, const struct pgk_instr_print_opts *given,
                            FILE *out, struct pgk_err *err)
{
    struct pgk_instr_print_opts o;
    struct pgk_instr_summary s;
    size_t n;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    o.contextual = o.contextual && pgk_instr_context_bit(p);
    struct pgk_summary_cutoff *cutoffs = make_cutoffs(&o, &n);
    if (!cutoffs)
        return pgk_fail_nomem(err);
    int status =
        pgk_instr_summarise(p, o.contextual, pgk_instr_context_bit(p), &s, cutoffs, n, err);
    struct totals t = {s.functions, s.max_entry_count, s.max_inner_count, s.counters,
                       s.total_count};
    if (!status) {
        put_level(p, out);
        put_totals(&t, out);
    }
    for (size_t i = 0; i < n && !status; i++)
        put_cutoff(&t, cutoffs[i].ppm, cutoffs[i].min_count, cutoffs[i].n_counts, out);
    pgk_mem_free(cutoffs);
    return status;
}

int pgk_sample_print_summary(const struct pgk_sample *p, const struct pgk_sample_print_opts *given,
                             FILE *out, struct pgk_err *err)
{
    struct pgk_sample_print_opts o;
    struct pgk_sample_summary s = {.struct_size = sizeof s};
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    const struct pgk_sample_summary *stored = o.info ? pgk_file_info_summary(o.info) : NULL;
    if (stored)
        s = *stored;
    else
        PGK_TRY(pgk_sample_summarise(p, &s, err));
    struct totals t = {s.num_functions, s.max_function_count, 0, s.num_counts, s.total_count};
    put_totals(&t, out);
    for (size_t i = 0; i < s.n_cutoffs; i++)
        put_cutoff(&t, s.cutoffs[i].ppm, s.cutoffs[i].min_count, s.cutoffs[i].num_counts, out);
    return 0;
}
