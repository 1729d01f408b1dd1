/* The plan of a heap profile, or that of a file with the profile's contexts. */
#ifndef PLAN_INPUT_H
#define PLAN_INPUT_H

#include "heap_input.h"

struct plan_input {
    const struct cli_verb *verb; /* whose usage is shown */
    struct cli_common common;    /* the build that the plan is for */
    struct cli_list profiled;    /* the build that was profiled, if it is another one */
    struct pgk_plan_opts opts;
    char *found; /* one of `profiled` that was found; NULL: none */
    const char *profile;
    const char *file; /* of the plan; NULL: one is made */
    bool names;       /* of functions are wanted, and found by build ids if the build was not
                       * given */
};

int plan_input_make(struct plan_input *p, struct pgk_plan **plan, struct pgk_err *err);
/* All but `common`. */
void plan_input_free(struct plan_input *p);

#endif
