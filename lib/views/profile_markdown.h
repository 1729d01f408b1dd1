/* The main facts of a profile, in Markdown: for the summary of a job. Exports put it into a
 * file. */
#ifndef PGK_PROFILE_MARKDOWN_H
#define PGK_PROFILE_MARKDOWN_H

#include "pgokit/report.h"
#include "text_out.h"

/* opts->top contexts and, of each, opts->depth frames; 0: all. */
PGK_MUST_USE int pgk_heap_markdown(const struct pgk_heap *heap,
                                   const struct pgk_heap_print_opts *opts,
                                   struct pgk_text_out *out, struct pgk_err *err);
/* opts->top functions; 0: all. */
PGK_MUST_USE int pgk_sample_markdown(const struct pgk_sample *profile,
                                     const struct pgk_sample_print_opts *opts,
                                     struct pgk_text_out *out, struct pgk_err *err);

#endif
