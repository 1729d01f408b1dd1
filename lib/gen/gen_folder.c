/* Folders of recordings, and the program that CPU profiles of other profilers are of: they name all
 * files that were sampled, mostly by build id alone. */
#include "gen_folder.h"

#include "binary_set.h"
#include "branch_view.h"
#include "gen_input.h"
#include "gen_samples.h"
#include "hex.h"
#include "path.h"
#include "perf_input.h"
#include "saturate.h"
#include "stack_profile.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int refuse(const char *what, const char *path, int sys_errno, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_IO, .file = path, .sys_errno = sys_errno, .found = what);
}

int pgk_gen_each_file(const char *path, pgk_gen_file_fn *fn, void *ctx, struct pgk_err *err)
{
    char *const roots[] = {(char *)(uintptr_t)path, NULL};
    struct stat st;
    int status = 0;
    if (!stat(path, &st) && !S_ISDIR(st.st_mode))
        return fn(ctx, path, err);
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    if (!walk)
        return refuse("a folder that cannot be opened", path, errno, err);
    for (FTSENT *e; !status && (e = fts_read(walk));) {
        if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
            status = refuse("what cannot be looked into", e->fts_path, e->fts_errno, err);
        else if (e->fts_info == FTS_F)
            status = fn(ctx, e->fts_path, err);
    }
    fts_close(walk);
    return status;
}

bool pgk_gen_is_stacks(const uint8_t *bytes, size_t size)
{
    return pgk_stacks_in_form(bytes, size);
}

/* ---- the program ---- */

/* A file in which samples are. */
struct sampled {
    char *path;
    uint8_t id[PGK_BUILD_ID_MAX];
    uint32_t id_size;
    uint64_t count;
};

struct finder {
    const struct pgk_gen_opts *opts;
    PGK_VEC(struct sampled) files;
    PGK_VEC(uint32_t) file_of; /* by region of the profile in hand */
    bool any;
    char *other; /* path of the first other recording; "" none so far */
    struct pgk_err *err;
};

enum { REGION_BITS = 40 };

static bool is_same(const struct sampled *s, const struct pgk_perf_mapping *m)
{
    return strlen(s->path) == m->path_len && !memcmp(s->path, m->path, m->path_len) &&
           s->id_size == m->build_id_size && !memcmp(s->id, m->build_id, s->id_size);
}

static int on_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    struct finder *f = ctx;
    const uint64_t region = m->start >> REGION_BITS;
    uint32_t file = 0;
    while (file < f->files.n && !is_same(&f->files.v[file], m))
        file++;
    while (f->file_of.n <= region)
        if (!pgk_vec_push(&f->file_of, 0))
            return pgk_fail_nomem(f->err);
    f->file_of.v[region] = file;
    if (file < f->files.n)
        return 0;
    struct sampled s = {.path = pgk_mem_alloc(m->path_len + 1, 1), .id_size = m->build_id_size};
    if (!s.path || !pgk_vec_push(&f->files, s)) {
        pgk_mem_free(s.path);
        return pgk_fail_nomem(f->err);
    }
    struct sampled *added = &f->files.v[file];
    memcpy(added->path, m->path, m->path_len);
    added->path[m->path_len] = 0;
    memcpy(added->id, m->build_id, sizeof added->id);
    return 0;
}

static int on_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct finder *f = ctx;
    const uint64_t region = s->ip >> REGION_BITS;
    if (!region || region >= f->file_of.n || s->mode == PGK_PERF_KERNEL ||
        (f->opts->pid && s->pid != f->opts->pid) || pgk_gen_missing_label(f->opts, s) ||
        pgk_gen_is_other_time(f->opts, s))
        return 0;
    uint64_t *count = &f->files.v[f->file_of.v[region]].count;
    *count = pgk_add_saturated(*count, s->count);
    return 0;
}

static int look_at(void *ctx, const char *path, struct pgk_err *err)
{
    struct finder *f = ctx;
    struct pgk_filemap map;
    struct pgk_perf_info info;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    const struct pgk_stack_form *form = pgk_stacks_in_form(map.bytes, map.size);
    int status = 0;
    if (form) {
        const struct pgk_source src = {.file = path, .format = form->name};
        const struct pgk_perf_handler handler = {
            .ctx = f, .mapping = on_mapping, .sample = on_sample};
        f->any = true;
        status = pgk_stacks_in_read(form, &map, &src, &handler, &info, err);
    } else if (!*f->other &&
               (pgk_perf_sniff(map.bytes, map.size) || pgk_branches_sniff(map.bytes, map.size))) {
        snprintf(f->other, PATH_MAX, "%s", path);
    }
    pgk_filemap_close(&map);
    return status;
}

static int by_count(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* A library, or a file that is here and has no debug information, is of use only if there is no
 * program. */
static bool is_secondary(const char *path)
{
    if (strstr(pgk_base_name(path), ".so"))
        return true;
    struct pgk_elf *elf;
    size_t size;
    if (access(path, R_OK) || pgk_elf_open(&elf, path, NULL))
        return false;
    const bool lacks = !pgk_elf_section(elf, ".debug_info", &size);
    pgk_elf_close(&elf);
    return lacks;
}

static bool is_asked(const struct finder *f, const struct sampled *s)
{
    char id[PGK_BUILD_ID_TEXT];
    if (!s->count || *s->path == '[' || (*s->path != '/' && !s->id_size))
        return false;
    return !f->opts->build_id ||
           !strcasecmp(f->opts->build_id, pgk_build_id_text(id, s->id, s->id_size));
}

/* In the order of samples. *is_there: it was added. */
static int try_all(struct finder *f, struct pgk_binaries *binaries, bool programs,
                   struct pgk_gen_found *found, bool *is_there)
{
    for (size_t i = 0; i < f->files.n && !*is_there; i++) {
        const struct sampled *s = &f->files.v[i];
        const struct pgk_program_wanted wanted = {s->path, s->id, s->id_size, .with_main = false};
        uint32_t pos;
        bool other = false;
        if (!is_asked(f, s) || (programs && is_secondary(s->path)))
            continue;
        PGK_TRY(pgk_binaries_look_for_program(binaries, &wanted, &pos, &other, f->err));
        *is_there = pos != PGK_INDEX_NONE;
        found->by_build_id = s->id_size > 0;
    }
    return 0;
}

/* A program that has a tenth of the samples is not replaced by a library that happens to be here.
 */
static bool has_program(const struct finder *f)
{
    enum { TENTH = 10 };
    uint64_t all = 0, most = 0;
    for (size_t i = 0; i < f->files.n; i++) {
        const struct sampled *s = &f->files.v[i];
        all = pgk_add_saturated(all, s->count);
        if (is_asked(f, s) && !is_secondary(s->path) && s->count > most)
            most = s->count;
    }
    return most && most >= all / TENTH;
}

static int fail_not_found(const struct finder *f, const char *path)
{
    enum { NAMED = 3 };
    char names[300] = "", id[PGK_BUILD_ID_TEXT];
    const bool programs = has_program(f);
    for (size_t i = 0, n = 0; i < f->files.n && n < NAMED; i++) {
        const struct sampled *s = &f->files.v[i];
        const size_t used = strlen(names);
        if (!s->count || (programs && is_secondary(s->path)))
            continue;
        snprintf(names + used, sizeof names - used, "%s%s (build id %s, %" PRIu64 " samples)",
                 n++ ? ", " : "", *s->path ? s->path : "no name",
                 pgk_build_id_text(id, s->id, s->id_size), s->count);
    }
    return pgk_fail(f->err, PGK_E_MISMATCH, .file = path, .field = "program",
                    .found = *names ? names : "no sample of a file",
                    .expected =
                        f->opts->build_id
                            ? PGK_F("samples of build id %s, and that file", f->opts->build_id)
                            : "one of these files at its path, in --sysroot, or by its "
                              "build id in the caches of perf or debuginfod",
                    .hint = "give the file that was profiled with -b, its folder with --sysroot, "
                            "or name a server that has it in DEBUGINFOD_URLS");
}

int pgk_gen_find_stacks(const char *path, struct pgk_binaries *binaries,
                        const struct pgk_gen_opts *opts, struct pgk_gen_found *found, bool *done,
                        char other[static PATH_MAX], struct pgk_err *err)
{
    struct finder f = {.opts = opts, .other = other, .err = err};
    int status = pgk_gen_each_file(path, look_at, &f, err);
    if (!status && f.any) {
        if (f.files.n)
            qsort(f.files.v, f.files.n, sizeof *f.files.v, by_count);
        status = try_all(&f, binaries, true, found, done);
        if (!status && !*done && !has_program(&f))
            status = try_all(&f, binaries, false, found, done);
        if (!status && !*done)
            status = fail_not_found(&f, path);
    }
    for (size_t i = 0; i < f.files.n; i++)
        pgk_mem_free(f.files.v[i].path);
    pgk_vec_free(&f.files);
    pgk_vec_free(&f.file_of);
    return status;
}
