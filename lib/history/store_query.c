/* Asking a history. */
#include "history_movers.h"
#include "history_store.h"

#include "mem.h"
#include "opts.h"
#include "sink.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Ends a walk: the status of what has ended it. */
static int end_walk(const struct pgk_history *h, sqlite3_stmt *s, int step, int status,
                    struct pgk_err *err)
{
    if (!status && step != SQLITE_DONE)
        status = pgk_history_fail(h, "profile", err);
    sqlite3_finalize(s);
    return status;
}

static void bind_filter(sqlite3_stmt *s, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

int pgk_history_walk(struct pgk_history *h, const struct pgk_history_query *given,
                     pgk_history_fn *fn, void *ctx, struct pgk_err *err)
{
    struct pgk_history_query q;
    sqlite3_stmt *s;
    int status = 0, step;
    PGK_TRY(PGK_OPTS_TAKE(&q, given, err));
    PGK_TRY(pgk_history_prepare(
        h,
        "SELECT * FROM (SELECT " PGK_HISTORY_COLUMNS " FROM profile WHERE time >= ?1 AND "
        "(?2 = 0 OR time < ?2) AND (?3 IS NULL OR version = ?3) AND (?4 IS NULL OR host = ?4) "
        "AND (?5 IS NULL OR kind = ?5) ORDER BY time DESC, id DESC LIMIT ?6) "
        "ORDER BY time, id",
        &s, err));
    sqlite3_bind_int64(s, 1, q.since_s ? q.since_s : INT64_MIN);
    sqlite3_bind_int64(s, 2, q.until_s);
    bind_filter(s, 3, q.version);
    bind_filter(s, 4, q.host_class);
    bind_filter(s, 5, q.kind);
    sqlite3_bind_int64(s, 6, q.newest && q.newest < INT64_MAX ? (sqlite3_int64)q.newest : -1);
    while (!status && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct pgk_history_entry e = pgk_history_row(s);
        status = fn(ctx, &e);
    }
    return end_walk(h, s, status ? SQLITE_DONE : step, status, err);
}

/* The id in the first row; 0 if there is none. */
static int first_id(const struct pgk_history *h, const char *sql, const char *text, int64_t *id,
                    struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_prepare(h, sql, &s, err));
    bind_filter(s, 1, text);
    const int step = sqlite3_step(s);
    *id = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    return end_walk(h, s, step == SQLITE_ROW ? SQLITE_DONE : step, 0, err);
}

int pgk_history_find(struct pgk_history *h, const char *what, int64_t *id, struct pgk_err *err)
{
    int64_t found;
    PGK_TRY(first_id(h, "SELECT id FROM profile WHERE version = ? ORDER BY time DESC, id DESC",
                     what, &found, err));
    if (!found)
        PGK_TRY(
            first_id(h, "SELECT id FROM profile WHERE CAST(id AS TEXT) = ?", what, &found, err));
    if (!found && !strcmp(what, "last"))
        PGK_TRY(
            first_id(h, "SELECT id FROM profile ORDER BY time DESC, id DESC", NULL, &found, err));
    if (!found)
        return pgk_fail(err, PGK_E_ARG, .file = h->path, .record = "profile",
                        .found = PGK_F("no profile '%.100s'", what),
                        .expected = "a version, an id, or last",
                        .hint = "pgokit history show lists what there is");
    *id = found;
    return 0;
}

/* ---- content ---- */

static int unpack(const struct pgk_history *h, const void *packed, size_t n, const char *path,
                  struct pgk_err *err)
{
    struct pgk_sink *out;
    const unsigned long long size = ZSTD_getFrameContentSize(packed, n);
    if (size > PGK_HISTORY_MOST_BYTES)
        return pgk_fail(err, PGK_E_CORRUPT, .file = h->path, .record = "content", .field = "size",
                        .found = PGK_F("%llu bytes", size), .expected = "less than 2 GiB",
                        .hint = "take the file from a backup");
    void *bytes = pgk_mem_zalloc(size + 1, 1);
    if (!bytes)
        return pgk_fail_nomem(err);
    int status = 0;
    if (ZSTD_decompress(bytes, size, packed, n) != size)
        status = pgk_fail(err, PGK_E_CORRUPT, .file = h->path, .record = "content", .field = "data",
                          .found = "what cannot be decompressed",
                          .expected = "the profile, compressed by zstd",
                          .hint = "take the file from a backup");
    status = status ? status : pgk_sink_open(&out, path, err);
    if (!status) {
        pgk_sink_bytes(out, bytes, size);
        status = pgk_sink_commit(&out, err);
    }
    pgk_mem_free(bytes);
    return status;
}

int pgk_history_extract(struct pgk_history *h, int64_t id, const char *path, struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_prepare(h, "SELECT data FROM content WHERE profile = ?", &s, err));
    sqlite3_bind_int64(s, 1, id);
    const int step = sqlite3_step(s);
    int status = 0;
    if (step == SQLITE_ROW)
        status =
            unpack(h, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), path, err);
    else if (step == SQLITE_DONE)
        status = pgk_fail(err, PGK_E_ARG, .file = h->path, .record = "content",
                          .found = PGK_F("no profile %lld", (long long)id),
                          .expected = "the id of a profile",
                          .hint = "pgokit history show lists what there is");
    return end_walk(h, s, step == SQLITE_ROW ? SQLITE_DONE : step, status, err);
}

/* ---- movers ---- */

/* Shares are of the whole weight, of which the functions that were kept may be a part. */
int pgk_history_movers(struct pgk_history *h, int64_t before, int64_t now, size_t top,
                       pgk_history_mover_fn *fn, void *ctx, struct pgk_err *err)
{
    sqlite3_stmt *s;
    int step;
    PGK_TRY(pgk_history_prepare(
        h,
        "WITH was AS (SELECT f.name AS name, 100.0 * f.weight / max(p.weight, 1) AS share FROM "
        "function f JOIN profile p ON p.id = f.profile WHERE f.profile = ?1), "
        "is_now AS (SELECT f.name AS name, 100.0 * f.weight / max(p.weight, 1) AS share FROM "
        "function f JOIN profile p ON p.id = f.profile WHERE f.profile = ?2), "
        "both AS (SELECT name, share AS a, 0.0 AS b FROM was UNION ALL SELECT name, 0.0, share "
        "FROM is_now) "
        "SELECT name, sum(a), sum(b) FROM both GROUP BY name "
        "HAVING abs(sum(b) - sum(a)) > 0.005 "
        "ORDER BY round(abs(sum(b) - sum(a)), 6) DESC, name LIMIT ?3",
        &s, err));
    sqlite3_bind_int64(s, 1, before);
    sqlite3_bind_int64(s, 2, now);
    sqlite3_bind_int64(s, 3, top < INT64_MAX ? (sqlite3_int64)top : -1);
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        const struct pgk_history_mover mover = {name ? name : "", sqlite3_column_double(s, 1),
                                                sqlite3_column_double(s, 2)};
        fn(ctx, &mover);
    }
    return end_walk(h, s, step, 0, err);
}
