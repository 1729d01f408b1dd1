/* The profiles of a folder. */
#include "pgokit/inputs.h"

#include "fail.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int refuse(const char *what, const char *path, int sys_errno, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_IO, .file = path, .sys_errno = sys_errno, .found = what);
}

static int visit_file(const char *path, pgk_folder_fn *fn, void *ctx, struct pgk_err *err)
{
    const struct pgk_format *format = NULL;
    struct pgk_file *file = NULL;
    struct pgk_err why = {0};
    int status = pgk_file_open(&file, path, &why);
    if (!status)
        format = pgk_file_info_format(pgk_file_info(file)); /* which outlives the file */
    pgk_file_close(&file);
    if (status == PGK_E_IO || status == PGK_E_NOMEM) {
        if (err)
            *err = why;
        return status;
    }
    return fn(ctx, path, status || format->kind == PGK_KIND_BINARY ? NULL : format);
}

int pgk_folder_walk(const char *folder, pgk_folder_fn *fn, void *ctx, struct pgk_err *err)
{
    char *const roots[] = {(char *)(uintptr_t)folder, NULL};
    struct stat st;
    FTS *walk = stat(folder, &st) ? NULL : fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    if (!walk)
        return refuse("a folder that cannot be opened", folder, errno, err);
    int status = 0;
    for (FTSENT *e; !status && (e = fts_read(walk));) {
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
            status = refuse("what cannot be looked into", e->fts_path, e->fts_errno, err);
        else if (e->fts_info == FTS_F)
            status = visit_file(e->fts_path, fn, ctx, err);
    }
    fts_close(walk);
    return status;
}
