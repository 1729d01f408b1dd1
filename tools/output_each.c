/* Outputs of gen in a folder: a file for each binary that was sampled. */
#include "output_each.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int output_fail(struct pgk_err *err, int status, const char *path, const char *found,
                const char *hint)
{
    *err = (struct pgk_err){.status = status};
    snprintf(err->file, sizeof err->file, "%s", path);
    snprintf(err->found, sizeof err->found, "%s", found);
    snprintf(err->hint, sizeof err->hint, "%s", hint);
    return status;
}

static bool ends_in_slash(const char *path)
{
    size_t n = strlen(path);
    return n && path[n - 1] == '/';
}

bool output_is_folder(const char *path)
{
    return cli_is_folder(path) || ends_in_slash(path);
}

/* Two binaries of one name would be one file. */
static bool is_name_taken(const struct pgk_gen *gen, uint32_t binary)
{
    for (uint32_t i = 0; i < binary; i++) {
        const char *other = pgk_gen_counted(gen, i);
        if (other && !strcmp(cli_base_name(other), cli_base_name(pgk_gen_counted(gen, binary))))
            return true;
    }
    return false;
}

static int make_path(char path[PATH_MAX], const char *folder, const char *name, const char *suffix,
                     struct pgk_err *err)
{
    int len = snprintf(path, PATH_MAX, "%s%s%s%s", folder, ends_in_slash(folder) ? "" : "/",
                       cli_base_name(name), suffix);
    return len >= 0 && len < PATH_MAX
               ? 0
               : output_fail(err, PGK_E_ARG, folder, "a path that is too long",
                             "name another folder");
}

/* Before the first is written. */
static int check_paths(const struct pgk_gen *gen, size_t n, const char *folder, const char *suffix,
                       struct pgk_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        char path[PATH_MAX];
        const char *name = pgk_gen_counted(gen, i);
        int status = name ? make_path(path, folder, name, suffix, err) : 0;
        if (status)
            return status;
        if (name)
            cli_writes(path);
    }
    return 0;
}

int output_each(const struct pgk_gen *gen, size_t n, const char *folder, const char *suffix,
                int (*write)(void *ctx, uint32_t binary, const char *path, struct pgk_err *err),
                void *ctx, struct pgk_err *err)
{
    if (mkdir(folder, 0777) && errno != EEXIST)
        return output_fail(err, PGK_E_IO, folder, "cannot be made", strerror(errno));
    int status = check_paths(gen, n, folder, suffix, err);
    for (uint32_t i = 0; !status && i < n; i++) {
        char path[PATH_MAX];
        const char *name = pgk_gen_counted(gen, i);
        if (!name)
            continue;
        if (is_name_taken(gen, i))
            return output_fail(err, PGK_E_ARG, name, "a binary with the name of another one",
                               "write them into two folders, one after the other");
        status = make_path(path, folder, name, suffix, err);
        if (!status)
            status = write(ctx, i, path, err);
    }
    return status;
}
