/* The array of formats. */
#ifndef PGK_FORMAT_ROWS_H
#define PGK_FORMAT_ROWS_H

#include "fail.h"
#include "format_row.h"

/* i = 0 .. until NULL. */
const struct pgk_format_row *pgk_format_row_at(size_t i);

/* The path that the file was opened by, for messages. */
const char *pgk_file_path(const struct pgk_file *file);
/* Finishes the profile, which was read from the file, and notes its summary as that of the file if
 * the file stores none. */
PGK_MUST_USE int pgk_file_note_summary(struct pgk_file *file, struct pgk_sample *profile,
                                       struct pgk_err *err);

#endif
