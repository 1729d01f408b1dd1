/* Whole profiles as JSON, wherever the text goes: what pgk_heap_print_json and
 * pgk_sample_print_json print to a stream, exports put into a file. */
#ifndef PGK_PROFILE_JSON_H
#define PGK_PROFILE_JSON_H

#include "pgokit/report.h"
#include "text_out.h"

PGK_MUST_USE int pgk_heap_json(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                               struct pgk_text_out *out, struct pgk_err *err);
PGK_MUST_USE int pgk_sample_json(const struct pgk_sample *profile,
                                 const struct pgk_sample_print_opts *opts, struct pgk_text_out *out,
                                 struct pgk_err *err);

#endif
