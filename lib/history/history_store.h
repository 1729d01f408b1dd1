/* The file of a history; shared by what adds to it and what asks it. */
#ifndef PGK_HISTORY_STORE_H
#define PGK_HISTORY_STORE_H

#include "fail.h"
#include "pgokit/history.h"

#include <sqlite3.h>

/* Of a profile, decompressed. */
enum { PGK_HISTORY_MOST_BYTES = INT32_MAX };

struct pgk_history {
    sqlite3 *db;
    char *path;
};

/* What SQLite has refused, as a status with the path. */
int pgk_history_fail(const struct pgk_history *h, const char *what, struct pgk_err *err);
/* A statement, to be finalised by sqlite3_finalize in any case. */
PGK_MUST_USE int pgk_history_prepare(const struct pgk_history *h, const char *sql,
                                     sqlite3_stmt **statement, struct pgk_err *err);
/* Statements without results. */
PGK_MUST_USE int pgk_history_run(const struct pgk_history *h, const char *sql, struct pgk_err *err);
/* The columns of PGK_HISTORY_COLUMNS as an entry. */
#define PGK_HISTORY_COLUMNS                                                              \
    "id, time, name, kind, version, host, build_id, page, weight, objects, peak, exit, " \
    "functions, "                                                                        \
    "gain, match, size"
struct pgk_history_entry pgk_history_row(sqlite3_stmt *statement);

#endif
