/* Names, places and contexts as texts spell them. */
#ifndef PGK_SAMPLE_SPELLING_H
#define PGK_SAMPLE_SPELLING_H

#include "line_buffer.h"
#include "sample_model.h"

/* "12345" for a name without spelling. */
void pgk_put_spelling(struct pgk_line *line, const struct pgk_sample_name *name);
/* "3" or "3.2". */
void pgk_put_spelled_loc(struct pgk_line *line, uint64_t loc);
/* The name of a function or "main:3 @ parse". */
void pgk_sample_put_identity(const struct pgk_sample *p, uint32_t top, struct pgk_line *line);

#endif
