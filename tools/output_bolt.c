/* pgokit gen --format bolt and preaggregated: files for llvm-bolt and perf2bolt. */
#include "output_bolt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const struct bolt_output_form *bolt_output_form(const char *name)
{
    static const struct bolt_output_form forms[] = {
        {"bolt", ".fdata", PGK_BOLT_FDATA},
        {"preaggregated", ".preaggregated", PGK_BOLT_PREAGGREGATED},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i].name))
            return &forms[i];
    return NULL;
}

static int fail(struct pgk_err *err, int status, const char *path, const char *found,
                const char *hint)
{
    *err = (struct pgk_err){.status = status};
    snprintf(err->file, sizeof err->file, "%s", path);
    snprintf(err->found, sizeof err->found, "%s", found);
    snprintf(err->hint, sizeof err->hint, "%s", hint);
    return status;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Two binaries of one name would be one file. */
static bool is_name_taken(const struct pgk_gen *gen, uint32_t binary)
{
    for (uint32_t i = 0; i < binary; i++) {
        const char *other = pgk_gen_traced(gen, i);
        if (other && !strcmp(last_part(other), last_part(pgk_gen_traced(gen, binary))))
            return true;
    }
    return false;
}

static int write_into(struct pgk_gen *gen, const struct bolt_output_form *form, uint32_t binary,
                      const char *folder, struct pgk_err *err)
{
    char path[PATH_MAX];
    const char *name = pgk_gen_traced(gen, binary);
    size_t n = strlen(folder);
    if (is_name_taken(gen, binary))
        return fail(err, PGK_E_ARG, name, "a binary with the name of another one",
                    "write them into two folders, one after the other");
    int len = snprintf(path, sizeof path, "%s%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/",
                       last_part(name), form->suffix);
    if (len < 0 || (size_t)len >= sizeof path)
        return fail(err, PGK_E_ARG, folder, "a path that is too long", "name another folder");
    return pgk_gen_write_bolt(gen, binary, form->form, path, err);
}

int bolt_output_write(struct pgk_gen *gen, const struct bolt_output_form *form,
                   const struct pgk_binaries *binaries, const char *path, struct pgk_err *err)
{
    uint32_t n = (uint32_t)pgk_binaries_count(binaries), sampled = 0, last = 0;
    size_t len = strlen(path);
    bool folder = cli_is_folder(path) || (len && path[len - 1] == '/');
    int status = 0;
    for (uint32_t i = 0; i < n; i++)
        if (pgk_gen_traced(gen, i)) {
            sampled++;
            last = i;
        }
    if (!folder && sampled > 1)
        return fail(err, PGK_E_ARG, path, "several binaries that were sampled",
                    "name a folder that gets a file for each of them, as -o DIR/");
    if (!folder || !sampled)
        return pgk_gen_write_bolt(gen, last, form->form, path, err);
    if (mkdir(path, 0777) && errno != EEXIST)
        return fail(err, PGK_E_IO, path, "cannot be made", strerror(errno));
    for (uint32_t i = 0; !status && i < n; i++)
        if (pgk_gen_traced(gen, i))
            status = write_into(gen, form, i, path, err);
    return status;
}
