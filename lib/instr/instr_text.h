/* Instrumentation profiles as text (.proftext). docs/formats/instr-text.md */
#ifndef PGK_INSTR_TEXT_H
#define PGK_INSTR_TEXT_H

#include "instr_model.h"
#include "sink.h"

/* True for what begins like such a text; other kinds of profiles are texts, too. */
bool pgk_instr_text_sniff(const uint8_t *bytes, size_t size);

/* Adds all functions of a text. */
PGK_MUST_USE int pgk_instr_text_read(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, struct pgk_err *err);

PGK_MUST_USE int pgk_instr_text_write(const struct pgk_instr *p, struct pgk_sink *out,
                                      struct pgk_err *err);
/* Functions with uniformity, which is all that a text cannot hold. */
size_t pgk_instr_text_uniform(const struct pgk_instr *p);

/* The text for values without a known name. */
#define PGK_EXTERNAL_SYMBOL "** External Symbol **"

#endif
