/* Finding the file of a build id in folders. */
#include "sysroot.h"

#include "elf_priv.h"
#include "hex.h"
#include "mem.h"
#include "pgokit/human.h"
#include "progress.h"

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
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

/* What the kernel shows as files; some of them never end. */
static bool is_of_kernel(const char *folder)
{
    static const unsigned long kinds[] = {
        BINFMTFS_MAGIC, BPF_FS_MAGIC,    CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC, DEBUGFS_MAGIC,
        DEVPTS_SUPER_MAGIC, EFIVARFS_MAGIC, PROC_SUPER_MAGIC, PSTOREFS_MAGIC, SECURITYFS_MAGIC,
        SYSFS_MAGIC,    TRACEFS_MAGIC,
    };
    struct statfs fs;
    if (statfs(folder, &fs))
        return false;
    for (size_t i = 0; i < PGK_COUNTOF(kinds); i++)
        if ((unsigned long)fs.f_type == kinds[i])
            return true;
    return false;
}

static bool walk(struct pgk_sysroot *s, const char *folder, struct pgk_progress *progress)
{
    char *const roots[] = {(char *)(uintptr_t)folder, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    bool ok = true;
    for (FTSENT *e; tree && ok && (e = fts_read(tree));) {
        if (e->fts_info == FTS_D && e->fts_level && e->fts_dev != e->fts_parent->fts_dev &&
            is_of_kernel(e->fts_path))
            fts_set(tree, e, FTS_SKIP);
        if (e->fts_info != FTS_F)
            continue;
        pgk_progress_add(progress, 1);
        if (e->fts_statp->st_size > 64 && looks_like_elf(e->fts_path))
            ok = note_file(s, e->fts_path);
    }
    if (tree)
        fts_close(tree);
    return ok;
}

static int walk_all(struct pgk_sysroot *s, const char *const *folders, size_t n,
                    struct pgk_err *err)
{
    struct pgk_progress progress;
    bool ok = true;
    pgk_progress_start(&progress, "looking for binaries in --sysroot", "files", 0);
    for (size_t i = 0; i < n && ok; i++)
        ok = walk(s, folders[i], &progress);
    pgk_progress_end(&progress);
    s->walked = ok;
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Where the target had it. */
static int find_at_path(struct pgk_elf **elf, const char *const *folders, size_t n,
                        const struct pgk_sysroot_wanted *wanted, struct pgk_err *err)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < n && !*elf && wanted->path && *wanted->path == '/'; i++) {
        const int len = snprintf(path, sizeof path, "%s%s", folders[i], wanted->path);
        if (len > 0 && (size_t)len < sizeof path)
            PGK_TRY(try_open(elf, path, wanted->id, wanted->id_size, err));
    }
    return 0;
}

/* Code that the kernel maps, "[vdso]", would be looked for among all files in vain. */
static bool is_no_file(const char *path)
{
    return path && (*path == '[' || !strncmp(path, "linux-vdso", strlen("linux-vdso")));
}

int pgk_find_in_sysroots(struct pgk_elf **elf, struct pgk_sysroot *s, const char *const *folders,
                         size_t n, const struct pgk_sysroot_wanted *wanted, struct pgk_err *err)
{
    if (!n || is_no_file(wanted->path))
        return 0;
    PGK_TRY(find_at_path(elf, folders, n, wanted, err));
    if (*elf)
        return 0;
    if (!s->walked)
        PGK_TRY(walk_all(s, folders, n, err));
    for (int debug = 1; debug >= 0; debug--) {
        for (size_t i = 0; i < s->files.n && !*elf; i++) {
            const struct pgk_sysroot_file *f = &s->files.v[i];
            if (f->has_debug == debug &&
                pgk_build_ids_equal(f->id, f->id_size, wanted->id, wanted->id_size))
                PGK_TRY(try_open(elf, f->path, wanted->id, wanted->id_size, err));
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
