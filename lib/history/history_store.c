/* The file of a history: an SQLite database. Without a journal of its own beside it, it is a single
 * file that can be copied; while something is added, SQLite keeps what was there in a second one,
 * from which whoever comes next restores it if the first was killed. */
#include "history_store.h"

#include "mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "PGKH", as `file` may one day know it; and the form of the tables. */
enum { APPLICATION_ID = 0x50474b48, FORM = 1, BUSY_MS = 30000 };

static const char name_of_file[] = "history.sqlite";

static const char tables[] =
    "CREATE TABLE profile("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, name TEXT NOT NULL,"
    " kind TEXT NOT NULL, version TEXT NOT NULL, host TEXT NOT NULL, build_id TEXT NOT NULL,"
    " page TEXT NOT NULL, weight INTEGER NOT NULL, objects INTEGER, peak INTEGER, exit INTEGER,"
    " functions INTEGER, gain REAL, match REAL, size INTEGER NOT NULL, digest INTEGER NOT NULL)"
    " STRICT;"
    "CREATE INDEX profile_by_time ON profile(time, id);"
    "CREATE INDEX profile_by_class ON profile(host, kind, time);"
    "CREATE INDEX profile_by_version ON profile(version, time);"
    "CREATE INDEX profile_by_digest ON profile(digest);"
    "CREATE TABLE function("
    " profile INTEGER NOT NULL REFERENCES profile(id) ON DELETE CASCADE, name TEXT NOT NULL,"
    " weight INTEGER NOT NULL, PRIMARY KEY(profile, name)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE content("
    " profile INTEGER PRIMARY KEY REFERENCES profile(id) ON DELETE CASCADE, data BLOB NOT NULL)"
    " STRICT;";

int pgk_history_fail(const struct pgk_history *h, const char *what, struct pgk_err *err)
{
    const int code = sqlite3_errcode(h->db);
    if (code == SQLITE_NOMEM)
        return pgk_fail_nomem(err);
    const int status = code == SQLITE_CORRUPT  ? PGK_E_CORRUPT
                       : code == SQLITE_NOTADB ? PGK_E_FORMAT
                       : code == SQLITE_TOOBIG ? PGK_E_LIMIT
                                               : PGK_E_IO;
    return pgk_fail(err, status, .file = h->path, .record = "history", .field = what,
                    .sys_errno = status == PGK_E_IO ? sqlite3_system_errno(h->db) : 0,
                    .found = PGK_F("SQLite says: %s", sqlite3_errmsg(h->db)),
                    .hint = code == SQLITE_BUSY ? "another process is adding to it; try again"
                            : status == PGK_E_IO
                                ? "look whether there is space, and whether you may write there"
                                : "take the file from a backup, or begin a history in another "
                                  "folder");
}

int pgk_history_prepare(const struct pgk_history *h, const char *sql, sqlite3_stmt **statement,
                        struct pgk_err *err)
{
    *statement = NULL;
    return sqlite3_prepare_v2(h->db, sql, -1, statement, NULL) ? pgk_history_fail(h, "query", err)
                                                               : 0;
}

int pgk_history_run(const struct pgk_history *h, const char *sql, struct pgk_err *err)
{
    return sqlite3_exec(h->db, sql, NULL, NULL, NULL) ? pgk_history_fail(h, "tables", err) : 0;
}

static int number_of(const struct pgk_history *h, const char *pragma, sqlite3_int64 *value,
                     struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_prepare(h, pragma, &s, err));
    const bool ok = sqlite3_step(s) == SQLITE_ROW;
    *value = ok ? sqlite3_column_int64(s, 0) : 0;
    const int status = ok ? 0 : pgk_history_fail(h, "header", err);
    sqlite3_finalize(s);
    return status;
}

/* Inside of a transaction, so that of two that create it one does. */
static int make_tables(const struct pgk_history *h, struct pgk_err *err)
{
    sqlite3_int64 id, form;
    PGK_TRY(number_of(h, "PRAGMA application_id", &id, err));
    PGK_TRY(number_of(h, "PRAGMA user_version", &form, err));
    if (id || form)
        return 0;
    PGK_TRY(pgk_history_run(h, tables, err));
    return pgk_history_run(
        h, PGK_F("PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION_ID, FORM), err);
}

static int check_form(const struct pgk_history *h, struct pgk_err *err)
{
    sqlite3_int64 id, form;
    PGK_TRY(number_of(h, "PRAGMA application_id", &id, err));
    PGK_TRY(number_of(h, "PRAGMA user_version", &form, err));
    if (id != APPLICATION_ID)
        return pgk_fail(err, PGK_E_FORMAT, .file = h->path, .offset = &(uint64_t){68},
                        .field = "application id", .found = PGK_F("%#llx", (long long)id),
                        .expected = PGK_F("%#x, of a history of pgokit", APPLICATION_ID),
                        .hint = "name the folder of a history");
    if (form != FORM)
        return pgk_fail(err, PGK_E_VERSION, .file = h->path, .offset = &(uint64_t){60},
                        .version = (uint32_t)form, .field = "user version",
                        .found = PGK_F("%lld", (long long)form), .expected = PGK_F("%d", FORM),
                        .hint = "it is newer than this pgokit; use the pgokit that wrote it");
    return 0;
}

/* What a file from elsewhere could do by its schema is switched off. */
static int prepare_file(const struct pgk_history *h, bool create, struct pgk_err *err)
{
    sqlite3_busy_timeout(h->db, BUSY_MS);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    PGK_TRY(pgk_history_run(h,
                            "PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL; "
                            "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY",
                            err));
    if (!create)
        return check_form(h, err);
    PGK_TRY(pgk_history_run(h, "PRAGMA auto_vacuum=INCREMENTAL; BEGIN IMMEDIATE", err));
    int status = make_tables(h, err);
    status = status ? status : check_form(h, err);
    return status ? status : pgk_history_run(h, "COMMIT", err);
}

static int open_file(struct pgk_history *h, bool create, struct pgk_err *err)
{
    struct stat st;
    if (!create && stat(h->path, &st))
        return pgk_fail(err, PGK_E_IO, .file = h->path, .sys_errno = errno, .found = "cannot open",
                        .hint = "pgokit history add begins a history");
    if (sqlite3_open_v2(h->path, &h->db, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0),
                        NULL))
        return h->db ? pgk_history_fail(h, "file", err) : pgk_fail_nomem(err);
    return prepare_file(h, create, err);
}

int pgk_history_open(struct pgk_history **history, const char *folder, bool create,
                     struct pgk_err *err)
{
    struct pgk_history *h = pgk_mem_zalloc(1, sizeof *h);
    const size_t n = strlen(folder) + sizeof name_of_file + 1;
    if (h)
        h->path = pgk_mem_zalloc(n, 1);
    if (!h || !h->path) {
        pgk_mem_free(h);
        return pgk_fail_nomem(err);
    }
    snprintf(h->path, n, "%s/%s", folder, name_of_file);
    int status = 0;
    if (create && mkdir(folder, 0777) && errno != EEXIST)
        status = pgk_fail_errno(err, folder, "make the folder");
    status = status ? status : open_file(h, create, err);
    if (status)
        pgk_history_close(&h);
    else
        *history = h;
    return status;
}

void pgk_history_close(struct pgk_history **history)
{
    struct pgk_history *h = *history;
    if (!h)
        return;
    *history = NULL;
    sqlite3_close(h->db);
    pgk_mem_free(h->path);
    pgk_mem_free(h);
}

/* ---- rows ---- */

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

static uint64_t count_at(sqlite3_stmt *s, int column)
{
    const sqlite3_int64 v = sqlite3_column_int64(s, column);
    return sqlite3_column_type(s, column) == SQLITE_NULL ? PGK_HISTORY_UNKNOWN
           : v < 0                                       ? 0
                                                         : (uint64_t)v;
}

static double real_at(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

struct pgk_history_entry pgk_history_row(sqlite3_stmt *s)
{
    return (struct pgk_history_entry){.struct_size = sizeof(struct pgk_history_entry),
                                      .id = sqlite3_column_int64(s, 0),
                                      .time_s = sqlite3_column_int64(s, 1),
                                      .name = text_at(s, 2),
                                      .kind = text_at(s, 3),
                                      .version = text_at(s, 4),
                                      .host_class = text_at(s, 5),
                                      .build_id = text_at(s, 6),
                                      .page = text_at(s, 7),
                                      .weight = count_at(s, 8),
                                      .objects = count_at(s, 9),
                                      .peak_bytes = count_at(s, 10),
                                      .exit_bytes = count_at(s, 11),
                                      .functions = count_at(s, 12),
                                      .gain_percent = real_at(s, 13),
                                      .match_percent = real_at(s, 14),
                                      .size_bytes = count_at(s, 15)};
}
