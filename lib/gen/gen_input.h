/* Files for a generator, of formats that its caller knows. */
#ifndef PGK_GEN_INPUT_H
#define PGK_GEN_INPUT_H

#include "fail.h"
#include "format_row.h"
#include "pgokit/gen.h"

/* Whether a file is of another profiler that keeps call stacks: pprof, OTLP, viewers. */
bool pgk_gen_is_stacks(const uint8_t *bytes, size_t size);

/* As pgk_gen_add_folder. */
PGK_MUST_USE int pgk_gen_add_files(struct pgk_gen *gen, const char *folder, pgk_format_rows row_at,
                                   struct pgk_err *err);

/* As pgk_gen_add; sample profiles are read by those of the rows that read such. */
PGK_MUST_USE int pgk_gen_add_file(struct pgk_gen *gen, const char *path, pgk_format_rows row_at,
                                  struct pgk_err *err);

#endif
