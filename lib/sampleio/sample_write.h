/* Writing a sample profile as the row of a format does. */
#ifndef PGK_SAMPLE_WRITE_H
#define PGK_SAMPLE_WRITE_H

#include "fail.h"
#include "format_row.h"

/* As pgk_sample_write, whatever encoding the options name. On success `left_out`, a struct of zeros
 * before or NULL, says what was left out. */
PGK_MUST_USE int pgk_sample_write_as(const struct pgk_sample *profile, const char *path,
                                     const struct pgk_sample_writer *writer,
                                     const struct pgk_sample_write_opts *opts,
                                     struct pgk_sample_written *left_out, struct pgk_err *err);

#endif
