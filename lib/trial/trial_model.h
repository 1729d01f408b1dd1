/* A trial as its reports see it. */
#ifndef PGK_TRIAL_MODEL_H
#define PGK_TRIAL_MODEL_H

#include "json_out.h"
#include "pgokit/trial.h"
#include "vec.h"

struct pgk_trial_row {
    char *name, *why, *advice;
    bool kept;
    uint64_t bytes[2];
    PGK_VEC(struct pgk_trial_turn) turns;
    double *gains; /* sorted, with the capacity of `turns` */
    size_t beyond; /* pgk_median_beyond of them */
};

struct pgk_trial {
    double error, matters;
    char *build, *run, *measured, *compiler, *profile; /* NULL: not known */
    uint64_t bytes;                                    /* of the plain build */
    PGK_VEC(struct pgk_trial_row) rows;
};

/* Of the row's times, at 0 or 1: the quantile, 0.5 is the median. `space` is for as many doubles as
 * there are turns. */
double pgk_trial_seconds(const struct pgk_trial_row *row, int which, double part, double *space);

/* The members of what pgk_trial_print_json writes, in an object that is open. */
void pgk_trial_put_json(struct pgk_json *j, const struct pgk_trial *t);

#endif
