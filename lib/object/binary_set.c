/* A set of binaries and their symbolisers, opened when first asked for. */
#include "binary_set.h"

#include "mem.h"
#include "vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct binary {
    struct pgk_elf *elf;
    struct pgk_symboliser *sym;
    dev_t device;
    ino_t inode;
};

struct pgk_binaries {
    PGK_VEC(struct binary) v;
    PGK_VEC(const char *) debug_dirs; /* copies */
    unsigned threads;
};

int pgk_binaries_new(struct pgk_binaries **out, const struct pgk_binaries_opts *opts,
                     struct pgk_err *err)
{
    const struct pgk_binaries_opts defaults = {.struct_size = sizeof defaults};
    if (!opts)
        opts = &defaults;
    if (opts->struct_size < sizeof *opts)
        return pgk_fail(err, PGK_E_ARG, .field = "struct_size",
                        .found = PGK_F("%zu", opts->struct_size),
                        .expected = PGK_F("at least %zu", sizeof *opts),
                        .hint = "set it to sizeof(struct pgk_binaries_opts)");
    const uint8_t *tail = (const uint8_t *)opts;
    for (size_t i = sizeof *opts; i < opts->struct_size; i++)
        if (tail[i])
            return pgk_fail(err, PGK_E_ARG, .field = "struct pgk_binaries_opts",
                            .found = "an option that this library does not know",
                            .hint = "link with a newer libpgokit");
    struct pgk_binaries *set = pgk_mem_zalloc(1, sizeof *set);
    if (!set)
        return pgk_fail_nomem(err);
    set->threads = opts->threads;
    for (size_t i = 0; i < opts->n_debug_dirs; i++) {
        char *copy = pgk_mem_strdup(opts->debug_dirs[i]);
        if (!copy || !pgk_vec_push(&set->debug_dirs, copy)) {
            pgk_mem_free(copy);
            pgk_binaries_close(&set);
            return pgk_fail_nomem(err);
        }
    }
    *out = set;
    return 0;
}

int pgk_binaries_add(struct pgk_binaries *set, const char *path, struct pgk_err *err)
{
    struct stat st;
    bool known_file = strcmp(path, "-") != 0 && stat(path, &st) == 0;
    for (size_t i = 0; known_file && i < set->v.n; i++)
        if (set->v.v[i].device == st.st_dev && set->v.v[i].inode == st.st_ino)
            return 0;
    struct binary b = {0};
    PGK_TRY(pgk_elf_open(&b.elf, path, err));
    if (known_file) {
        b.device = st.st_dev;
        b.inode = st.st_ino;
    }
    if (!pgk_vec_push(&set->v, b)) {
        pgk_elf_close(&b.elf);
        return pgk_fail_nomem(err);
    }
    return 0;
}

size_t pgk_binaries_count(const struct pgk_binaries *set)
{
    return set ? set->v.n : 0;
}

void pgk_binaries_close(struct pgk_binaries **set_at)
{
    struct pgk_binaries *set = *set_at;
    if (!set)
        return;
    *set_at = NULL;
    for (size_t i = 0; i < set->v.n; i++) {
        pgk_symboliser_close(&set->v.v[i].sym);
        pgk_elf_close(&set->v.v[i].elf);
    }
    for (size_t i = 0; i < set->debug_dirs.n; i++)
        pgk_mem_free((char *)(uintptr_t)set->debug_dirs.v[i]);
    pgk_vec_free(&set->v);
    pgk_vec_free(&set->debug_dirs);
    pgk_mem_free(set);
}

uint32_t pgk_binaries_find(const struct pgk_binaries *set, const uint8_t *build_id, size_t size)
{
    for (size_t i = 0; size && i < pgk_binaries_count(set); i++) {
        size_t have_size;
        const uint8_t *have = pgk_elf_build_id(set->v.v[i].elf, &have_size);
        if (have_size == size && memcmp(have, build_id, size) == 0)
            return (uint32_t)i;
    }
    return PGK_INDEX_NONE;
}

const struct pgk_elf *pgk_binaries_elf(const struct pgk_binaries *set, uint32_t pos)
{
    return set->v.v[pos].elf;
}

unsigned pgk_binaries_threads(const struct pgk_binaries *set)
{
    return set->threads;
}

int pgk_binaries_symboliser(struct pgk_binaries *set, uint32_t pos, struct pgk_symboliser **sym,
                            struct pgk_err *err)
{
    struct binary *b = &set->v.v[pos];
    if (!b->sym) {
        const struct pgk_symboliser_opts opts = {set->debug_dirs.v, set->debug_dirs.n};
        PGK_TRY(pgk_symboliser_open(&b->sym, b->elf, &opts, err));
    }
    *sym = b->sym;
    return 0;
}

const char *pgk_build_id_text(char buf[PGK_BUILD_ID_TEXT], const uint8_t *id, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = size < (PGK_BUILD_ID_TEXT - 1) / 2 ? size : (PGK_BUILD_ID_TEXT - 1) / 2;
    if (!n)
        return strcpy(buf, "none");
    for (size_t i = 0; i < n; i++) {
        buf[2 * i] = digits[id[i] >> 4];
        buf[2 * i + 1] = digits[id[i] & 15];
    }
    buf[2 * n] = '\0';
    return buf;
}
