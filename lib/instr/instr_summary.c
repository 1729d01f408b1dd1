/* The profile summary, as llvm-profdata computes it. docs/formats/instr-indexed.md */
#include "instr_summary.h"

#include "opts.h"

#include <stdlib.h>

/* A product of a count and a million. */
__extension__ typedef unsigned __int128 wide;

/* Functions of which only hot or warm is known have no counts. Long hashes of front ends may
 * have the bit of contextual functions, too; compilers miss these functions in the summary that
 * LLVM's tools write, and shall decide the same by ours. */
static bool is_summed(const struct pgk_instr_func *f, bool contextual, uint64_t context_bit)
{
    return ((f->hash & context_bit) != 0) == contextual && f->counts[0] < PGK_COUNT_WARM;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* All but the total, which is returned: it may need more than 64 bits. */
static wide sum_up(const struct pgk_instr *p, bool contextual, uint64_t context_bit,
                   struct pgk_instr_summary *sums)
{
    wide total = 0;
    *sums = (struct pgk_instr_summary){0};
    for (size_t i = 0; i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        if (!is_summed(f, contextual, context_bit))
            continue;
        sums->functions++;
        sums->counters += f->n_counts;
        sums->max_entry_count = larger(sums->max_entry_count, f->counts[0]);
        total += f->counts[0];
        for (uint32_t k = 1; k < f->n_counts; k++) {
            sums->max_inner_count = larger(sums->max_inner_count, f->counts[k]);
            total += f->counts[k];
        }
    }
    sums->max_count = larger(sums->max_entry_count, sums->max_inner_count);
    return total;
}

uint64_t pgk_instr_context_bit(const struct pgk_instr *p)
{
    return pgk_instr_origin(p) == PGK_INSTR_IR ? UINT64_C(1) << PGK_HASH_CONTEXTUAL_BIT : 0;
}

void pgk_instr_summary(const struct pgk_instr *p, bool contextual,
                       struct pgk_instr_summary *summary)
{
    struct pgk_instr_summary sums;
    wide total = sum_up(p, contextual, pgk_instr_context_bit(p), &sums);
    sums.total_count = total > UINT64_MAX ? UINT64_MAX : (uint64_t)total;
    PGK_RESULT_GIVE(summary, &sums);
}

static int by_falling_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

/* All counts but 0, largest first. */
static uint64_t *sorted_counts(const struct pgk_instr *p, bool contextual, uint64_t context_bit,
                               uint64_t most, size_t *n)
{
    uint64_t *v = pgk_mem_alloc(most + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; v && i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        for (uint32_t k = 0; is_summed(f, contextual, context_bit) && k < f->n_counts; k++)
            if (f->counts[k])
                v[(*n)++] = f->counts[k];
    }
    if (v && *n)
        qsort(v, *n, sizeof *v, by_falling_size);
    return v;
}

static void cut(const uint64_t *v, size_t n, uint64_t total, struct pgk_summary_cutoff *cutoffs,
                size_t n_cutoffs)
{
    wide sum = 0;
    size_t at = 0;
    uint64_t last = 0;
    for (size_t c = 0; c < n_cutoffs; c++) {
        wide wanted = (wide)total * cutoffs[c].ppm / 1000000;
        while (sum < wanted && at < n) { /* equal counts stay together */
            last = v[at];
            for (; at < n && v[at] == last; at++)
                sum += last;
        }
        cutoffs[c].min_count = last;
        cutoffs[c].n_counts = at;
    }
}

void pgk_summary_usual_cutoffs(struct pgk_summary_cutoff cutoffs[PGK_SUMMARY_CUTOFFS])
{
    static const uint32_t ppm[PGK_SUMMARY_CUTOFFS] = {
#define PGK_SUMMARY_CUTOFF(parts) parts,
#include "indexed.def"
#undef PGK_SUMMARY_CUTOFF
    };
    for (int i = 0; i < PGK_SUMMARY_CUTOFFS; i++)
        cutoffs[i] = (struct pgk_summary_cutoff){.ppm = ppm[i]};
}

int pgk_instr_summarise(const struct pgk_instr *p, bool contextual, uint64_t context_bit,
                        struct pgk_instr_summary *sums, struct pgk_summary_cutoff *cutoffs,
                        size_t n_cutoffs, struct pgk_err *err)
{
    size_t n;
    sums->total_count = (uint64_t)sum_up(p, contextual, context_bit, sums); /* modulo 2^64 */
    uint64_t *v = sorted_counts(p, contextual, context_bit, sums->counters, &n);
    if (!v)
        return pgk_fail_nomem(err);
    cut(v, n, sums->total_count, cutoffs, n_cutoffs);
    pgk_mem_free(v);
    return 0;
}

int pgk_instr_summarise_written(const struct pgk_instr *p, bool contextual,
                                struct pgk_instr_summary *sums,
                                struct pgk_summary_cutoff cutoffs[PGK_SUMMARY_CUTOFFS],
                                struct pgk_err *err)
{
    *sums = (struct pgk_instr_summary){0};
    pgk_summary_usual_cutoffs(cutoffs);
    if (!p)
        return 0;
    return pgk_instr_summarise(p, contextual, UINT64_C(1) << PGK_HASH_CONTEXTUAL_BIT, sums, cutoffs,
                               PGK_SUMMARY_CUTOFFS, err);
}
