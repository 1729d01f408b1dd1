/* Adding to a history, and deleting what is too old: each in one transaction. */
#include "history_store.h"

#include "filemap.h"
#include "hash.h"
#include "mem.h"
#include "opts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { FUNCTIONS_KEPT = 64, LEVEL = 3 };

/* Of a column that has no more bits than a signed number. */
static sqlite3_int64 number(uint64_t v)
{
    return v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v;
}

static void bind_count(sqlite3_stmt *s, int at, uint64_t v)
{
    if (v != PGK_HISTORY_UNKNOWN)
        sqlite3_bind_int64(s, at, number(v));
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text ? text : "", -1, SQLITE_STATIC);
}

/* NaN is bound as no value, as SQLite does it by itself; infinity is none either. */
static void bind_real(sqlite3_stmt *s, int at, double v)
{
    if (isfinite(v))
        sqlite3_bind_double(s, at, v);
}

/* Runs the statement, which has no result, and is done with it. */
static int finish(const struct pgk_history *h, sqlite3_stmt *s, const char *what,
                  struct pgk_err *err)
{
    const int status = sqlite3_step(s) == SQLITE_DONE ? 0 : pgk_history_fail(h, what, err);
    sqlite3_finalize(s);
    return status;
}

/* ---- a profile ---- */

struct content {
    struct pgk_filemap file;
    sqlite3_int64 digest;
    void *packed;
    size_t size;
};

static int read_content(struct content *c, const char *path, struct pgk_err *err)
{
    PGK_TRY(pgk_filemap_open(&c->file, path, err));
    if (c->file.size > PGK_HISTORY_MOST_BYTES)
        return pgk_fail(err, PGK_E_LIMIT, .file = path, .found = PGK_F("%zu bytes", c->file.size),
                        .expected = "less than 2 GiB", .hint = "merge or trim the profile first");
    const size_t most = ZSTD_compressBound(c->file.size);
    c->digest = (sqlite3_int64)pgk_blake3_low64(c->file.bytes, c->file.size);
    c->packed = pgk_mem_zalloc(most, 1);
    if (!c->packed)
        return pgk_fail_nomem(err);
    c->size = ZSTD_compress(c->packed, most, c->file.bytes, c->file.size, LEVEL);
    return ZSTD_isError(c->size) ? pgk_fail_nomem(err) : 0;
}

static int add_row(const struct pgk_history *h, const struct pgk_history_entry *e,
                   const struct content *c, struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_prepare(h,
                                "INSERT INTO profile(time, name, kind, version, host, build_id, "
                                "page, weight, objects, peak, exit, functions, gain, match, size, "
                                "digest) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                &s, err));
    sqlite3_bind_int64(s, 1, e->time_s);
    bind_text(s, 2, e->name);
    bind_text(s, 3, e->kind);
    bind_text(s, 4, e->version);
    bind_text(s, 5, e->host_class);
    bind_text(s, 6, e->build_id);
    bind_text(s, 7, e->page);
    sqlite3_bind_int64(s, 8, number(e->weight));
    bind_count(s, 9, e->objects);
    bind_count(s, 10, e->peak_bytes);
    bind_count(s, 11, e->exit_bytes);
    bind_count(s, 12, e->functions);
    bind_real(s, 13, e->gain_percent);
    bind_real(s, 14, e->match_percent);
    sqlite3_bind_int64(s, 15, number(c->file.size));
    sqlite3_bind_int64(s, 16, c->digest);
    return finish(h, s, "profile", err);
}

static int add_content(const struct pgk_history *h, sqlite3_int64 id, const struct content *c,
                       struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_prepare(h, "INSERT INTO content(profile, data) VALUES(?,?)", &s, err));
    sqlite3_bind_int64(s, 1, id);
    if (sqlite3_bind_blob64(s, 2, c->packed, c->size, SQLITE_STATIC)) {
        const int status = pgk_history_fail(h, "content", err);
        sqlite3_finalize(s);
        return status;
    }
    return finish(h, s, "content", err);
}

static int by_weight(const void *pa, const void *pb)
{
    const struct pgk_history_function *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int add_functions(const struct pgk_history *h, sqlite3_int64 id,
                         const struct pgk_history_function *functions, size_t n,
                         struct pgk_err *err)
{
    struct pgk_history_function *sorted = pgk_mem_zalloc(n + 1, sizeof *sorted);
    sqlite3_stmt *s = NULL;
    if (!sorted)
        return pgk_fail_nomem(err);
    memcpy(sorted, n ? functions : sorted, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_weight);
    int status = pgk_history_prepare(
        h, "INSERT OR IGNORE INTO function(profile, name, weight) VALUES(?,?,?)", &s, err);
    for (size_t i = 0; i < n && i < FUNCTIONS_KEPT && !status; i++) {
        sqlite3_bind_int64(s, 1, id);
        bind_text(s, 2, sorted[i].name);
        sqlite3_bind_int64(s, 3, number(sorted[i].weight));
        if (sqlite3_step(s) != SQLITE_DONE)
            status = pgk_history_fail(h, "function", err);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    pgk_mem_free(sorted);
    return status;
}

/* *id is 0 if it is not there. */
static int find_same(const struct pgk_history *h, const struct pgk_history_entry *e,
                     const struct content *c, sqlite3_int64 *id, struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_prepare(h,
                                "SELECT id FROM profile WHERE digest=? AND size=? AND "
                                "version=? AND host=?",
                                &s, err));
    sqlite3_bind_int64(s, 1, c->digest);
    sqlite3_bind_int64(s, 2, number(c->file.size));
    bind_text(s, 3, e->version);
    bind_text(s, 4, e->host_class);
    const int step = sqlite3_step(s);
    *id = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    const int status =
        step == SQLITE_ROW || step == SQLITE_DONE ? 0 : pgk_history_fail(h, "profile", err);
    sqlite3_finalize(s);
    return status;
}

static int add_all(const struct pgk_history *h, const struct pgk_history_entry *e,
                   const struct content *c, const struct pgk_history_function *functions, size_t n,
                   sqlite3_int64 *id, struct pgk_err *err)
{
    PGK_TRY(find_same(h, e, c, id, err));
    if (*id)
        return 0;
    PGK_TRY(add_row(h, e, c, err));
    const sqlite3_int64 row = sqlite3_last_insert_rowid(h->db);
    PGK_TRY(add_content(h, row, c, err));
    return add_functions(h, row, functions, n, err);
}

/* Begins with the lock that a writer needs, so that what is read before is still so then. */
static int end(const struct pgk_history *h, int status, struct pgk_err *err)
{
    if (!status)
        status = pgk_history_run(h, "COMMIT", err);
    if (status)
        sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int pgk_history_add(struct pgk_history *h, const struct pgk_history_entry *given, const char *path,
                    const struct pgk_history_function *functions, size_t n, int64_t *id,
                    bool *is_new, struct pgk_err *err)
{
    struct pgk_history_entry entry;
    struct content c = {0};
    sqlite3_int64 there = 0;
    PGK_TRY(PGK_OPTS_TAKE(&entry, given, err));
    int status = read_content(&c, path, err);
    if (!status)
        status = pgk_history_run(h, "BEGIN IMMEDIATE", err);
    if (!status) {
        status = add_all(h, &entry, &c, functions, n, &there, err);
        const sqlite3_int64 added = sqlite3_last_insert_rowid(h->db);
        status = end(h, status, err);
        if (!status) {
            *id = there ? there : 0;
            *is_new = !there;
            if (!there)
                *id = added;
        }
    }
    pgk_filemap_close(&c.file);
    pgk_mem_free(c.packed);
    return status;
}

/* ---- retention ---- */

int pgk_history_keep(struct pgk_history *h, size_t n, size_t *deleted, struct pgk_err *err)
{
    sqlite3_stmt *s;
    PGK_TRY(pgk_history_run(h, "BEGIN IMMEDIATE", err));
    int status = pgk_history_prepare(
        h,
        "DELETE FROM profile WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
        "(PARTITION BY host, kind ORDER BY time DESC, id DESC) AS rank FROM profile) "
        "WHERE rank > ?)",
        &s, err);
    if (!status) {
        sqlite3_bind_int64(s, 1, number(n));
        status = finish(h, s, "profile", err);
    }
    const size_t changed = (size_t)sqlite3_changes(h->db);
    status = end(h, status, err);
    if (status)
        return status;
    *deleted = changed;
    return changed ? pgk_history_run(h, "PRAGMA incremental_vacuum", err) : 0;
}
