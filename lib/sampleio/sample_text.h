/* Sample profiles as text, as LLVM prints and reads them. docs/formats/sample-text.md */
#ifndef PGK_SAMPLE_TEXT_H
#define PGK_SAMPLE_TEXT_H

#include "cursor.h"
#include "sample_model.h"
#include "sink.h"

/* True if the first line that says something is the head of a function or of a partial profile. */
bool pgk_sample_text_sniff(const uint8_t *bytes, size_t size);

/* Adds the profile to `p`, each count times `weight`; nothing points into `bytes` afterwards.
 * On failure `p` is only good for closing. */
PGK_MUST_USE int pgk_sample_text_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                      const struct pgk_source *src, uint64_t weight,
                                      struct pgk_err *err);

/* Writes the first `n` tops by heat. With `flat_marks`, as llvm-profdata --split-layout. */
PGK_MUST_USE int pgk_sample_text_write(const struct pgk_sample *p, size_t n, bool flat_marks,
                                       bool vtables, struct pgk_sink *out, struct pgk_err *err);

#endif
