/* Parts that raw and indexed profiles have alike. They are ordered by content, so the output does
 * not depend on the order of inputs. */
#ifndef PGK_INSTR_PARTS_H
#define PGK_INSTR_PARTS_H

#include "instr_model.h"
#include "sink.h"

/* One block of names; nothing if there are none. `wanted`, by position: 0 leaves a name out;
 * NULL: all. */
PGK_MUST_USE int pgk_instr_names_write(const struct pgk_instr_names *t, const uint32_t *wanted,
                                       struct pgk_sink *out, struct pgk_err *err);

/* Each with its size in front and padded to 8. */
uint64_t pgk_instr_ids_size(const struct pgk_instr *p);
PGK_MUST_USE int pgk_instr_ids_write(const struct pgk_instr *p, struct pgk_sink *out,
                                     struct pgk_err *err);

#endif
