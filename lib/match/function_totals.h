/* The result of a match of functions: sums by level, and the changes. */
#ifndef PGK_FUNCTION_TOTALS_H
#define PGK_FUNCTION_TOTALS_H

#include "fail.h"
#include "index.h"
#include "intern.h"
#include "pgokit/match.h"
#include "vec.h"

/* A change: its key and heaviest place. Texts are ids of `strings`. */
struct pgk_changed {
    uint64_t guid, callee_guid; /* the latter 0: of the function's own places */
    uint8_t level;
    uint32_t function, callee, file, now_function; /* the last 0: not renamed */
    uint32_t line, discriminator, now_line, decl_line;
    bool has_now, line_zero, by_checksum, inlined;
    uint64_t checksum, now_checksum;
    uint64_t samples, places, most; /* most: of one place */
};

struct pgk_function_match {
    struct pgk_intern strings;
    struct pgk_function_totals totals[PGK_MATCH_LEVELS + 1];
    PGK_VEC(struct pgk_changed) changed;
    struct pgk_index index;
};

/* Samples of one function by level. */
struct pgk_level_samples {
    uint64_t of[PGK_MATCH_LEVELS];
    bool any[PGK_MATCH_LEVELS]; /* places, though perhaps without samples */
};

PGK_MUST_USE int pgk_function_match_new(struct pgk_function_match **match, struct pgk_err *err);
/* Counts a place of a function. */
void pgk_function_match_count(struct pgk_function_match *m, enum pgk_match_level level,
                              uint64_t samples, struct pgk_level_samples *of_function);
/* Counts the function itself, once all of its places are. */
void pgk_function_match_close_function(struct pgk_function_match *m,
                                       const struct pgk_level_samples *of_function);
/* Adds `one.samples` and one place to the change of this key: function, callee and level, and of
 * calls the line. False when out of memory. */
PGK_MUST_USE bool pgk_function_match_note(struct pgk_function_match *m,
                                          const struct pgk_changed *one);
/* Puts the changes into order. */
void pgk_function_match_finish(struct pgk_function_match *m);
/* PGK_E_MISMATCH if nothing of the profile's `functions` is in the build. */
PGK_MUST_USE int pgk_function_match_check(size_t functions, bool found, struct pgk_err *err);

#endif
