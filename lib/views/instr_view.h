/* Shared by all views of an instrumentation profile: order, totals, names. */
#ifndef PGK_INSTR_VIEW_H
#define PGK_INSTR_VIEW_H

#include "fail.h"
#include "pgokit/report.h"

struct pgk_instr_totals {
    size_t functions, ran;  /* in all; of which were called */
    size_t contextual, bitmaps, uniformities; /* functions with it */
    size_t estimated;       /* only known to be hot or warm: their counters are not in the sums */
    uint64_t counters;
    double count;           /* of all counters */
    struct pgk_instr_summary plain, in_context;
    size_t sites[PGK_VALUE_KINDS];
};
void pgk_instr_totals(const struct pgk_instr *p, struct pgk_instr_totals *t);

/* Sum of the counters of a function; 0 where only hot or warm is known of it. */
double pgk_function_total(const struct pgk_instr_function *f);
uint64_t pgk_function_max(const struct pgk_instr_function *f);
/* "hot" or "warm" where that is all that is known, else NULL. */
const char *pgk_function_pseudo(const struct pgk_instr_function *f);

/* True for a function of which value_cutoff, below_cutoff and contextual leave something. */
bool pgk_function_in_cutoffs(const struct pgk_instr_function *f,
                             const struct pgk_instr_print_opts *opts);
/* Positions of the functions wanted, in order; free with pgk_mem_free. */
PGK_MUST_USE int pgk_instr_ranking(const struct pgk_instr *p,
                                   const struct pgk_instr_print_opts *opts, size_t **order,
                                   size_t *count, struct pgk_err *err);

/* The name that a programmer wrote, safe for a terminal, in `buf`: demangled, with the file of a
 * local function in front. */
const char *pgk_instr_shown_name(char *buf, size_t size, const char *name);
/* The same in the columns from `at` on, where the options say how wide lines are. */
const char *pgk_instr_fitting_name(char *buf, size_t size, const struct pgk_instr_print_opts *opts,
                                   const char *name, unsigned at);

#endif
