/* The profile summary: how counts are distributed, from which compilers take what is hot. */
#ifndef PGK_INSTR_SUMMARY_H
#define PGK_INSTR_SUMMARY_H

#include "instr_model.h"

/* The largest counts that make up `ppm` parts per million of the total. */
struct pgk_summary_cutoff {
    uint32_t ppm;
    uint64_t min_count; /* the smallest of them */
    uint64_t n_counts;  /* how many */
};
enum { PGK_SUMMARY_CUTOFFS = 0
#define PGK_SUMMARY_CUTOFF(ppm) + 1
#include "indexed.def"
#undef PGK_SUMMARY_CUTOFF
};

/* The shares for which files have cutoffs. */
void pgk_summary_usual_cutoffs(struct pgk_summary_cutoff cutoffs[PGK_SUMMARY_CUTOFFS]);
/* The bit of hashes of functions counted in context; 0 where there are none. */
uint64_t pgk_instr_context_bit(const struct pgk_instr *p);
/* Of the functions that have the bit, or that do not; fills cutoffs whose shares are rising. */
PGK_MUST_USE int pgk_instr_summarise(const struct pgk_instr *p, bool contextual,
                                     uint64_t context_bit, struct pgk_instr_summary *sums,
                                     struct pgk_summary_cutoff *cutoffs, size_t n_cutoffs,
                                     struct pgk_err *err);
/* As indexed files have it. NULL for `p` gives the summary of no functions. */
PGK_MUST_USE int pgk_instr_summarise_written(const struct pgk_instr *p, bool contextual,
                                             struct pgk_instr_summary *sums,
                                             struct pgk_summary_cutoff cutoffs[PGK_SUMMARY_CUTOFFS],
                                             struct pgk_err *err);

#endif
