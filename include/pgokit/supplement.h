/* Correcting counters by samples.
 *
 * Counters are of a run that was made to be recorded; samples are of what users run. Functions that
 * samples call hot or warm although they were cold in the recorded run get counts, or a mark, that
 * make compilers treat them so. The rules are those of llvm-profdata's
 * `--supplement-instr-with-sample`. */
#ifndef PGOKIT_SUPPLEMENT_H
#define PGOKIT_SUPPLEMENT_H

#include "pgokit/err.h"
#include "pgokit/instr.h"
#include "pgokit/sample.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Which functions are corrected. */
struct pgk_supplement_opts {
    size_t struct_size;   /* sizeof(struct pgk_supplement_opts) */
    double zero_share;    /* above this share of counters of 0 (0 to 1) a function's counts are
                             replaced by a mark instead of being scaled; 0: 0.7 */
    uint64_t min_counters; /* smaller functions stay, as they are inlined anyway; 0: 10 */
    uint64_t cold_count;  /* functions with larger counters stay; 0: what compilers take for the
                             largest cold count by the profile's summary */
    bool any_size; /* 0 of min_counters is a number: functions of any size are changed */
};
/* How many functions were changed, and how. */
struct pgk_supplemented {
    size_t struct_size; /* sizeof(struct pgk_supplemented), set by the caller */
    size_t hot, warm;   /* marked as such, their counts being of no use */
    size_t scaled;      /* whose counts were multiplied */
    size_t ambiguous;   /* names of samples that may be of several static functions: not used */
};

/* Corrects the counters; `samples` must be finished. `opts` and `done` may be NULL. Functions with
 * several hashes stay as they are. One thread for `instr`. PGK_E_ARG for options out of their
 * range, PGK_E_NOMEM. */
int pgk_instr_supplement(struct pgk_instr *instr, const struct pgk_sample *samples,
                         const struct pgk_supplement_opts *opts, struct pgk_supplemented *done,
                         struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
