/* Two builds side by side: which functions and inlined calls are on the page. */
#ifndef PGK_GAIN_ROWS_H
#define PGK_GAIN_ROWS_H

#include "built_model.h"

/* A function of either build; what a build has not is NULL. */
struct pgk_gain_row {
    const char *name; /* linkage name */
    const struct pgk_built_function *of[2];
    bool moved; /* it is not where it was in the order of the functions of both builds */
};

/* A function that is inlined in another one in one of the builds only. */
struct pgk_gain_call {
    const char *callee, *caller;
    bool is_new;     /* in the later build */
    uint32_t places; /* in that build */
    double share;    /* of the samples of all calls of that build that are inlined */
};

struct pgk_gain_rows {
    PGK_VEC(struct pgk_gain_row) functions; /* with the most ticks on either side first */
    PGK_VEC(struct pgk_gain_call) calls;    /* with the largest share first */
};

/* Either build may be NULL; both have to live as long as the rows. False when out of memory. */
PGK_MUST_USE bool pgk_gain_rows_make(struct pgk_gain_rows *rows, const struct pgk_built *before,
                                     const struct pgk_built *after);
void pgk_gain_rows_free(struct pgk_gain_rows *rows);

#endif
