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

/* Reads only what an extensible binary has of one function, in any context, without looking
 * at the rest; other formats are read as a whole. A context in brackets, as the text format has
 * it, is that context alone. The file's info has the summary of all functions. PGK_E_EMPTY if the
 * function is not there. */
PGK_MUST_USE int pgk_sample_read_function(struct pgk_sample *profile, struct pgk_file *file,
                                          const char *function, struct pgk_err *err);
/* Reads into a new profile what a sample profile has of some functions, by their GUIDs: on their
 * own, and inlined into others, of which all is read then. There may be others. Of an extensible
 * binary without contexts nothing else goes into the profile, and no checksums or attributes do;
 * other formats are read as a whole. */
PGK_MUST_USE int pgk_sample_read_functions(struct pgk_sample **profile, struct pgk_file *file,
                                           const uint64_t *functions, size_t n,
                                           struct pgk_err *err);

#endif
