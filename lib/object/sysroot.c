/* Finding the file of a build id in folders. */
#include "sysroot.h"

#include "elf_priv.h"
#include "hex.h"
#include "mem.h"
#include "pgokit/human.h"

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* *elf stays NULL if the file cannot be used. */
static int try_open(struct pgk_elf **elf, const char *path, const uint8_t *id, size_t id_size,
                    struct pgk_err *err)
{
    struct stat st;
    struct pgk_elf *found;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    int status = pgk_elf_open_as(&found, path, PGK_ELF_PROGRAM, NULL);
    if (status == PGK_E_NOMEM)
        return pgk_fail_nomem(err);
    if (status < 0)
        return 0;
    if (pgk_elf_has_build_id(found, id, id_size))
        *elf = found;
    else
        pgk_elf_close(&found);
    return 0;
}

int pgk_find_in_debug_dirs(struct pgk_elf **elf, const char *const *folders, size_t n,
                           const uint8_t *id, size_t id_size, struct pgk_err *err)
{
    static const char *const suffixes[] = {".debug", ""};
    char hex[PGK_BUILD_ID_TEXT], path[PATH_MAX];
    if (id_size < 2 || id_size > 64)
        return 0;
    pgk_human_hex(hex, sizeof hex, id, id_size);
    for (size_t i = 0; i < n; i++) {
        for (size_t s = 0; s < PGK_COUNTOF(suffixes) && !*elf; s++) {
            int len = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s%s", folders[i], hex,
                               hex + 2, suffixes[s]);
            if (len > 0 && (size_t)len < sizeof path)
                PGK_TRY(try_open(elf, path, id, id_size, err));
        }
    }
    return 0;
}

/* Cheaper than opening each file of a system. */
static bool looks_like_elf(const char *path)
{
    char magic[4];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool yes = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic &&
               !memcmp(magic, "\177ELF", sizeof magic);
    if (fd >= 0)
        close(fd);
    return yes;
}

static bool note_file(struct pgk_sysroot *s, const char *path)
{
    struct pgk_elf *elf;
    size_t size, debug_size;
    int status = pgk_elf_open_as(&elf, path, PGK_ELF_PROGRAM, NULL);
    if (status < 0)
        return status != PGK_E_NOMEM;
    const uint8_t *id = pgk_elf_build_id(elf, &size);
    bool ok = true;
    if (size) {
        struct pgk_sysroot_file f = {
            .path = pgk_mem_strdup(path), .id = pgk_mem_alloc(size, 1), .id_size = size,
            .has_debug = pgk_elf_raw_section(elf, ".debug_info", &debug_size) != NULL};
        ok = f.path && f.id && pgk_vec_push(&s->files, f);
        if (ok) {
            memcpy(f.id, id, size);
        } else {
            pgk_mem_free(f.path);
            pgk_mem_free(f.id);
        }
    }
    pgk_elf_close(&elf);
    return ok;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool walk(struct pgk_sysroot *s, const char *folder)
{
    char *const roots[] = {(char *)(uintptr_t)folder, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    bool ok = true;
    for (const FTSENT *e; tree && ok && (e = fts_read(tree));)
        if (e->fts_info == FTS_F && e->fts_statp->st_size > 64 && looks_like_elf(e->fts_path))
            ok = note_file(s, e->fts_path);
    if (tree)
        fts_close(tree);
    return ok;
}

int pgk_find_in_sysroots(struct pgk_elf **elf, struct pgk_sysroot *s, const char *const *folders,
                         size_t n, const uint8_t *id, size_t id_size, struct pgk_err *err)
{
    for (size_t i = 0; i < n && !s->walked; i++)
        if (!walk(s, folders[i]))
            return pgk_fail_nomem(err);
    s->walked = true;
    for (int debug = 1; debug >= 0; debug--) {
        for (size_t i = 0; i < s->files.n && !*elf; i++) {
            const struct pgk_sysroot_file *f = &s->files.v[i];
            if (f->has_debug == debug && pgk_build_ids_equal(f->id, f->id_size, id, id_size))
                PGK_TRY(try_open(elf, f->path, id, id_size, err));
        }
    }
    return 0;
}

void pgk_sysroot_free(struct pgk_sysroot *s)
{
    for (size_t i = 0; i < s->files.n; i++) {
        pgk_mem_free(s->files.v[i].path);
        pgk_mem_free(s->files.v[i].id);
    }
    pgk_vec_free(&s->files);
    s->walked = false;
}
