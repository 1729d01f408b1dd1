/* What the files of this room share: summaries in the words of llvm-profdata. */
#ifndef PGK_LLVM_WORDS_H
#define PGK_LLVM_WORDS_H

#include "instr_summary.h"
#include "pgokit/llvm_text.h"
#include "sample_model.h"

/* The last release that prints summaries without shares, the largest count of samples, and
 * "infomation". */
enum { PGK_LLVM_OLD_WORDS = 19 };
static inline bool pgk_llvm_has_old_words(unsigned release)
{
    return release && release <= PGK_LLVM_OLD_WORDS;
}

/* "Profile overlap information for ..." */
void pgk_llvm_put_overlap_title(const char *base, const char *test, unsigned release, FILE *out);

/* What summaries of both kinds have. */
struct pgk_llvm_totals {
    uint64_t functions, max_entry_count, max_inner_count, counters, total_count;
};

/* Up to PGK_LLVM_OLD_WORDS the number of counters and their sum stand in the detailed summary. */
void pgk_llvm_put_totals(const struct pgk_llvm_totals *t, unsigned release, FILE *out);
/* One row of a detailed summary. */
void pgk_llvm_put_cutoff(const struct pgk_llvm_totals *t, uint64_t ppm, uint64_t min_count,
                         uint64_t n, unsigned release, FILE *out);
/* "Instrumentation level: ..." */
void pgk_llvm_put_level(const struct pgk_instr *p, unsigned release, FILE *out);

/* The summary of counters. */
struct pgk_llvm_summary {
    struct pgk_llvm_totals totals;
    struct pgk_summary_cutoff *cutoffs; /* by rising share */
    size_t n_cutoffs;
};
/* Free with pgk_llvm_summary_free. `cutoffs` are the requested shares; NULL: the usual ones. */
PGK_MUST_USE int pgk_llvm_summarise(const struct pgk_instr *p, bool contextual,
                                    const uint32_t *cutoffs, size_t n_cutoffs,
                                    struct pgk_llvm_summary *s, struct pgk_err *err);
void pgk_llvm_put_detailed(const struct pgk_llvm_summary *s, unsigned release, FILE *out);
void pgk_llvm_summary_free(struct pgk_llvm_summary *s);

/* The summary of samples: that which the file has, by `info`, or else the profile's. */
PGK_MUST_USE int pgk_llvm_sample_summary(const struct pgk_sample *p,
                                         const struct pgk_file_info *info,
                                         struct pgk_sample_summary *s, struct pgk_err *err);
void pgk_llvm_put_sample_summary(const struct pgk_sample_summary *s, unsigned release, FILE *out);

#endif
