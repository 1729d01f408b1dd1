/* What a library that was built without SQLite says of every history. */
#include "history_movers.h"

static int refuse(struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_FORMAT, .record = "history",
                    .found = "a pgokit that was built without SQLite",
                    .hint = "install libsqlite3-dev (Debian), and build pgokit again");
}

int pgk_history_open(struct pgk_history **history, const char *folder, bool create,
                     struct pgk_err *err)
{
    (void)history, (void)folder, (void)create;
    return refuse(err);
}

void pgk_history_close(struct pgk_history **history)
{
    (void)history;
}

/* None of these can be called, as there is no history. */

int pgk_history_add(struct pgk_history *history, const struct pgk_history_entry *entry,
                    const char *path, const struct pgk_history_function *functions, size_t n,
                    int64_t *id, bool *is_new, struct pgk_err *err)
{
    (void)history, (void)entry, (void)path, (void)functions, (void)n, (void)id, (void)is_new;
    return refuse(err);
}

int pgk_history_keep(struct pgk_history *history, size_t n, size_t *deleted, struct pgk_err *err)
{
    (void)history, (void)n, (void)deleted;
    return refuse(err);
}

int pgk_history_walk(struct pgk_history *history, const struct pgk_history_query *query,
                     pgk_history_fn *fn, void *ctx, struct pgk_err *err)
{
    (void)history, (void)query, (void)fn, (void)ctx;
    return refuse(err);
}

int pgk_history_find(struct pgk_history *history, const char *what, int64_t *id,
                     struct pgk_err *err)
{
    (void)history, (void)what, (void)id;
    return refuse(err);
}

int pgk_history_extract(struct pgk_history *history, int64_t id, const char *path,
                        struct pgk_err *err)
{
    (void)history, (void)id, (void)path;
    return refuse(err);
}

int pgk_history_movers(struct pgk_history *history, int64_t before, int64_t now, size_t top,
                       pgk_history_mover_fn *fn, void *ctx, struct pgk_err *err)
{
    (void)history, (void)before, (void)now, (void)top, (void)fn, (void)ctx;
    return refuse(err);
}

int pgk_history_print_table(struct pgk_history *history, const struct pgk_history_query *query,
                            size_t top, FILE *out, struct pgk_err *err)
{
    (void)history, (void)query, (void)top, (void)out;
    return refuse(err);
}

int pgk_history_print_json(struct pgk_history *history, const struct pgk_history_query *query,
                           size_t top, FILE *out, struct pgk_err *err)
{
    (void)history, (void)query, (void)top, (void)out;
    return refuse(err);
}
