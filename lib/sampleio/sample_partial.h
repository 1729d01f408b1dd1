/* Partial sample profiles, for merging in shards. */
#ifndef PGK_SAMPLE_PARTIAL_H
#define PGK_SAMPLE_PARTIAL_H

#include "sample_model.h"
#include "sink.h"

#define PGK_SAMPLE_PARTIAL_HEAD "pgokit partial sample profile, version 1"

#define PGK_SAMPLE_PARTIAL_ORIGINS "origins: "

/* True if a text begins like one. */
bool pgk_sample_is_partial(const char *s, const char *end);
/* Sets what a word of its marks stands for, in `p` or, if that is what kind of profile it is, in
 * `kind`; false if there is no such mark. */
bool pgk_sample_partial_mark(struct pgk_sample *p, struct pgk_sample_kind *kind, const char *s,
                             size_t len);
/* The second line of an origin, without its end: the time, and where "=FILE" or "*" begins. False
 * if it is none. */
bool pgk_sample_partial_origin(const char *s, const char *end, uint64_t *first_run,
                               const char **file);
/* Finishes the profile without a choice among checksums, and writes it. */
PGK_MUST_USE int pgk_sample_partial_write(struct pgk_sample *p, struct pgk_sink *out,
                                          struct pgk_err *err);

#endif
