/* What the exports of all kinds of profiles share: how they are written. */
#ifndef PGK_EXPORT_OUT_H
#define PGK_EXPORT_OUT_H

#include "fail.h"
#include "sink.h"

#include <stdio.h>

/* Writes something of `ctx`. */
typedef int pgk_write_fn(const void *ctx, struct pgk_sink *out, struct pgk_err *err);

/* A file, whole or not at all; "-": standard output. */
PGK_MUST_USE int pgk_export_save(const char *path, pgk_write_fn *write, const void *ctx,
                                 struct pgk_err *err);
/* The page around the JSON that `json` writes. */
PGK_MUST_USE int pgk_export_page(struct pgk_sink *out, pgk_write_fn *json, const void *ctx,
                                 struct pgk_err *err);
/* What is written to the stream goes into the sink; close it with pgk_export_stream_end. */
PGK_MUST_USE int pgk_export_stream(FILE **stream, struct pgk_sink *out, struct pgk_err *err);
/* `status` if it is a failure, else that of writing. */
PGK_MUST_USE int pgk_export_stream_end(FILE *stream, int status, struct pgk_err *err);

/* A name in a folded stack: the sign between frames cannot be part of it. */
void pgk_folded_name(struct pgk_sink *out, const char *name);
/* Text in a quoted cell of a table: one that a spreadsheet would take for a formula gets a
 * blank before it, as names come from files. */
void pgk_csv_text(struct pgk_sink *out, const char *text);
void pgk_csv_cell(struct pgk_sink *out, const char *text);

#endif
