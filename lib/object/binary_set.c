/* A set of binaries and their symbolisers, opened when first asked for. */
#include "binary_set.h"

#include "debug_caches.h"
#include "elf_priv.h"
#include "hex.h"
#include "mem.h"
#include "message.h"
#include "opts.h"
#include "symbol_cache.h"
#include "symbol_names.h"
#include "sysroot.h"
#include "vec.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct binary {
    struct pgk_elf *elf;
    bool by_symbols; /* because debug information is missing */
    bool at_path;    /* found where the profile says that it was: no note names it */
    struct pgk_symboliser *sym;
    struct pgk_symbol_cache cache;
    dev_t device;
    ino_t inode;
};

typedef PGK_VEC(const char *) name_vec; /* copies */

struct pgk_binaries {
    PGK_VEC(struct binary) list;
    name_vec debug_dirs, sysroots, packages;
    struct pgk_debug_places places; /* the debug folders and packages, as binaries look there */
    struct pgk_sysroot in_sysroots;
    struct pgk_debug_caches *caches; /* NULL: not looked into */
    char *cache_folder;               /* NULL: no cache */
    unsigned threads;
    bool symbols_suffice, find_binaries, use_paths;
};

static bool copy_all(name_vec *to, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *copy = pgk_mem_strdup(names[i]);
        if (!copy || !pgk_vec_push(to, copy)) {
            pgk_mem_free(copy);
            return false;
        }
    }
    return true;
}

/* Where a system keeps its debug files. */
static bool add_debug_dirs(struct pgk_binaries *set)
{
    static const char inside[] = "/usr/lib/debug";
    for (size_t i = 0; i < set->sysroots.n; i++) {
        size_t n = strlen(set->sysroots.v[i]);
        char *dir = pgk_mem_alloc(n + sizeof inside, 1);
        if (!dir || !pgk_vec_push(&set->debug_dirs, dir)) {
            pgk_mem_free(dir);
            return false;
        }
        memcpy(dir, set->sysroots.v[i], n);
        memcpy(dir + n, inside, sizeof inside);
    }
    return true;
}

static void free_all(name_vec *names)
{
    for (size_t i = 0; i < names->n; i++)
        pgk_mem_free((char *)(uintptr_t)names->v[i]);
    pgk_vec_free(names);
}

int pgk_binaries_new(struct pgk_binaries **out, const struct pgk_binaries_opts *given,
                     struct pgk_err *err)
{
    struct pgk_binaries_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    struct pgk_binaries *set = pgk_mem_zalloc(1, sizeof *set);
    if (!set)
        return pgk_fail_nomem(err);
    set->threads = opts.threads;
    set->symbols_suffice = opts.symbols_suffice;
    set->find_binaries = opts.find_binaries;
    set->use_paths = opts.use_paths;
    if (!copy_all(&set->debug_dirs, opts.debug_dirs, opts.n_debug_dirs) ||
        !copy_all(&set->sysroots, opts.sysroots, opts.n_sysroots) ||
        !copy_all(&set->packages, opts.packages, opts.n_packages) || !add_debug_dirs(set) ||
        (opts.cache_folder && !(set->cache_folder = pgk_mem_strdup(opts.cache_folder))) ||
        (opts.use_caches && !(set->caches = pgk_debug_caches_new(opts.download)))) {
        pgk_binaries_close(&set);
        return pgk_fail_nomem(err);
    }
    set->places = (struct pgk_debug_places){set->debug_dirs.v, set->debug_dirs.n, set->packages.v,
                                            set->packages.n, set->caches};
    *out = set;
    return 0;
}

int pgk_binaries_add(struct pgk_binaries *set, const char *path, struct pgk_err *err)
{
    struct stat st;
    bool known_file = strcmp(path, "-") != 0 && stat(path, &st) == 0;
    for (size_t i = 0; known_file && i < set->list.n; i++)
        if (set->list.v[i].device == st.st_dev && set->list.v[i].inode == st.st_ino)
            return 0;
    struct binary b = {0};
    PGK_TRY(pgk_elf_open(&b.elf, path, err));
    pgk_elf_look_in(b.elf, &set->places);
    if (known_file) {
        b.device = st.st_dev;
        b.inode = st.st_ino;
    }
    if (!pgk_vec_push(&set->list, b)) {
        pgk_elf_close(&b.elf);
        return pgk_fail_nomem(err);
    }
    return 0;
}

/* A debug file without a build id can only be assigned if there is one binary. */
static struct pgk_elf *binary_of_debug(const struct pgk_binaries *set, const char *path,
                                       struct pgk_err *err)
{
    struct pgk_elf *debug;
    size_t size, own_size;
    if (pgk_elf_open_as(&debug, path, PGK_ELF_DEBUG, err))
        return NULL;
    const uint8_t *id = pgk_elf_build_id(debug, &size);
    uint32_t found = pgk_binaries_find(set, id, size);
    if (found == PGK_INDEX_NONE && set->list.n == 1 &&
        (pgk_elf_build_id(set->list.v[0].elf, &own_size), !size || !own_size))
        found = 0;
    if (found == PGK_INDEX_NONE) {
        char text[PGK_BUILD_ID_TEXT];
        (void)pgk_fail(err, PGK_E_MISMATCH, .file = path, .format = "ELF", .field = "build id",
                       .found = pgk_build_id_text(text, id, size),
                       .expected = set->list.n ? "the build id of a given binary" : "a binary",
                       .hint = "give the program that this debug file was split off with -b");
    }
    pgk_elf_close(&debug);
    return found == PGK_INDEX_NONE ? NULL : set->list.v[found].elf;
}

int pgk_binaries_add_debug(struct pgk_binaries *set, const char *path, struct pgk_err *err)
{
    struct pgk_err why = {0};
    struct pgk_elf *elf = binary_of_debug(set, path, &why);
    if (elf)
        return pgk_elf_use_debug(elf, path, err);
    if (err)
        *err = why;
    return why.status;
}

size_t pgk_binaries_count(const struct pgk_binaries *set)
{
    return set ? set->list.n : 0;
}

const char *pgk_binaries_path(const struct pgk_binaries *set, size_t number)
{
    assert(number < set->list.n);
    return pgk_elf_path(set->list.v[number].elf);
}

void pgk_binaries_close(struct pgk_binaries **set_at)
{
    struct pgk_binaries *set = *set_at;
    if (!set)
        return;
    *set_at = NULL;
    for (size_t i = 0; i < set->list.n; i++) {
        pgk_symboliser_close(&set->list.v[i].sym);
        pgk_symbol_cache_close(&set->list.v[i].cache);
        pgk_elf_close(&set->list.v[i].elf);
    }
    pgk_vec_free(&set->list);
    free_all(&set->debug_dirs);
    free_all(&set->sysroots);
    free_all(&set->packages);
    pgk_sysroot_free(&set->in_sysroots);
    pgk_debug_caches_close(&set->caches);
    pgk_mem_free(set->cache_folder);
    pgk_mem_free(set);
}

uint32_t pgk_binaries_find(const struct pgk_binaries *set, const uint8_t *build_id, size_t size)
{
    for (size_t i = 0; i < pgk_binaries_count(set); i++)
        if (pgk_elf_has_build_id(set->list.v[i].elf, build_id, size))
            return (uint32_t)i;
    return PGK_INDEX_NONE;
}

uint32_t pgk_binaries_find_file(const struct pgk_binaries *set, const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return PGK_INDEX_NONE;
    for (size_t i = 0; i < set->list.n; i++)
        if (set->list.v[i].device == st.st_dev && set->list.v[i].inode == st.st_ino)
            return (uint32_t)i;
    return PGK_INDEX_NONE;
}

/* The places to search if no folder was given: debug information before a program, which may have
 * none. */
static int look_in_system(struct pgk_binaries *set, const uint8_t *id, size_t size,
                          struct pgk_elf **elf, struct pgk_err *err)
{
    static const char *const system_dir = "/usr/lib/debug";
    static const enum pgk_id_file order[] = {PGK_ID_DEBUG, PGK_ID_PROGRAM};
    PGK_TRY(pgk_find_in_debug_dirs(elf, &system_dir, 1, id, size, err));
    for (size_t i = 0; i < PGK_COUNTOF(order) && !*elf; i++)
        PGK_TRY(pgk_debug_caches_open(set->caches, order[i], PGK_ELF_PROGRAM, id, size, elf, err));
    return 0;
}

/* Adds a binary that the user did not name; *pos stays if it has no names, which is no error. */
static int take_found(struct pgk_binaries *set, struct binary *b, bool by_symbols, uint32_t *pos,
                      struct pgk_err *err)
{
    size_t debug_size;
    struct pgk_symboliser *sym;
    pgk_elf_look_in(b->elf, &set->places);
    if (!pgk_vec_push(&set->list, *b)) {
        pgk_elf_close(&b->elf);
        return pgk_fail_nomem(err);
    }
    const uint32_t at = (uint32_t)set->list.n - 1;
    int status = pgk_elf_raw_section(b->elf, ".debug_info", &debug_size)
                     ? 0 /* the cache may make a symboliser needless */
                     : pgk_binaries_symboliser(set, at, &sym, NULL);
    if (!status || (status == PGK_E_NODEBUG && by_symbols && pgk_symbol_names_any(b->elf))) {
        *pos = at;
        return 0;
    }
    set->list.n--;
    return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : 0;
}

static int look_in_sysroots(struct pgk_binaries *set, const struct pgk_program_wanted *wanted,
                            struct pgk_elf **elf, struct pgk_err *err)
{
    const struct pgk_sysroot_wanted file = {wanted->path, wanted->build_id,
                                            wanted->build_id_size};
    return pgk_find_in_sysroots(elf, &set->in_sysroots, set->sysroots.v, set->sysroots.n, &file,
                                err);
}

/* In the folders that were given, and in those of the system. What has only symbols is no better
 * than the file at its path, if that is there. */
static int look_in_folders(struct pgk_binaries *set, const struct pgk_program_wanted *wanted,
                           bool at_path, uint32_t *pos, struct pgk_err *err)
{
    const uint8_t *id = wanted->build_id;
    const size_t size = wanted->build_id_size;
    struct binary b = {0};
    PGK_TRY(pgk_find_in_debug_dirs(&b.elf, set->debug_dirs.v, set->debug_dirs.n, id, size, err));
    if (!b.elf)
        PGK_TRY(look_in_sysroots(set, wanted, &b.elf, err));
    if (!b.elf && set->find_binaries)
        PGK_TRY(look_in_system(set, id, size, &b.elf, err));
    if (!b.elf)
        return 0;
    int status = take_found(set, &b, set->symbols_suffice && !at_path, pos, err);
    if (*pos != PGK_INDEX_NONE)
        return 0;
    if (!status && !at_path)
        pgk_note("%s is not used: it has no debug information", pgk_elf_path(b.elf));
    pgk_elf_close(&b.elf);
    return status;
}

static struct pgk_elf *open_at_path(const struct pgk_program_wanted *wanted, bool *other);

int pgk_binaries_look_for(struct pgk_binaries *set, const struct pgk_program_wanted *wanted,
                          uint32_t *pos, struct pgk_err *err)
{
    const uint8_t *id = wanted->build_id;
    const size_t size = wanted->build_id_size;
    const bool use_path = set->find_binaries || set->use_paths;
    *pos = pgk_binaries_find(set, id, size);
    if (*pos != PGK_INDEX_NONE || !size)
        return 0;
    struct binary b = {.at_path = true};
    if (use_path && wanted->path && *wanted->path == '/')
        b.elf = open_at_path(wanted, NULL);
    int status = b.elf ? take_found(set, &b, false, pos, err) : 0;
    /* Names of symbols are the last resort. */
    if (!status && *pos == PGK_INDEX_NONE)
        status = look_in_folders(set, wanted, b.elf != NULL, pos, err);
    if (!status && *pos == PGK_INDEX_NONE && b.elf && (set->symbols_suffice || set->use_paths))
        status = take_found(set, &b, true, pos, err);
    if (b.elf && (*pos == PGK_INDEX_NONE || set->list.v[*pos].elf != b.elf))
        pgk_elf_close(&b.elf);
    return status;
}

static int is_main(void *ctx, const struct pgk_elf_entry *entry)
{
    (void)ctx;
    return entry->section && !strcmp(entry->name, "main");
}

bool pgk_elf_has_main(const struct pgk_elf *elf)
{
    return pgk_elf_entries(elf, is_main, NULL) > 0;
}

/* The file at the path if it is the one that is wanted, or NULL. A recording named the path and not
 * the user, so that another file there is no error. */
static struct pgk_elf *open_at_path(const struct pgk_program_wanted *wanted, bool *other)
{
    struct pgk_elf *elf;
    if (pgk_elf_open(&elf, wanted->path, NULL))
        return NULL;
    if (!wanted->build_id_size ||
        pgk_elf_has_build_id(elf, wanted->build_id, wanted->build_id_size))
        return elf;
    if (other)
        *other = true;
    pgk_elf_close(&elf);
    return NULL;
}

bool pgk_is_at_path(const struct pgk_program_wanted *wanted, bool *symbols)
{
    struct pgk_elf *elf = wanted->path && *wanted->path == '/' ? open_at_path(wanted, NULL) : NULL;
    const bool is = elf != NULL;
    if (is)
        *symbols = pgk_symbol_names_any(elf);
    pgk_elf_close(&elf);
    return is;
}

int pgk_binaries_look_for_program(struct pgk_binaries *set,
                                  const struct pgk_program_wanted *wanted, uint32_t *pos,
                                  bool *other, struct pgk_err *err)
{
    const uint8_t *id = wanted->build_id;
    const size_t size = wanted->build_id_size;
    struct stat st;
    *pos = size ? pgk_binaries_find(set, id, size) : pgk_binaries_find_file(set, wanted->path);
    if (*pos != PGK_INDEX_NONE)
        return 0;
    struct binary b = {.elf = open_at_path(wanted, other)};
    if (b.elf && !stat(wanted->path, &st)) {
        b.device = st.st_dev;
        b.inode = st.st_ino;
    }
    if (!b.elf && size)
        PGK_TRY(look_in_sysroots(set, wanted, &b.elf, err));
    if (!b.elf && size && set->find_binaries)
        PGK_TRY(pgk_debug_caches_open(set->caches, PGK_ID_PROGRAM, PGK_ELF_PROGRAM, id, size,
                                      &b.elf, err));
    if (!b.elf)
        return 0;
    if (wanted->with_main && !pgk_elf_has_main(b.elf)) {
        pgk_elf_close(&b.elf);
        return 0;
    }
    pgk_elf_look_in(b.elf, &set->places);
    if (!pgk_vec_push(&set->list, b)) {
        pgk_elf_close(&b.elf);
        return pgk_fail_nomem(err);
    }
    *pos = (uint32_t)set->list.n - 1;
    return 0;
}

bool pgk_binaries_at_path(const struct pgk_binaries *set, uint32_t pos)
{
    assert(pos < set->list.n);
    return set->list.v[pos].at_path;
}

const struct pgk_elf *pgk_binaries_elf(const struct pgk_binaries *set, uint32_t pos)
{
    assert(pos < set->list.n);
    return set->list.v[pos].elf;
}

unsigned pgk_binaries_threads(const struct pgk_binaries *set)
{
    return set->threads;
}

int pgk_binaries_symboliser(struct pgk_binaries *set, uint32_t pos, struct pgk_symboliser **sym,
                            struct pgk_err *err)
{
    assert(pos < set->list.n);
    struct binary *b = &set->list.v[pos];
    if (!b->sym)
        PGK_TRY(pgk_symboliser_open(&b->sym, b->elf, err));
    *sym = b->sym;
    return 0;
}

/* Looks up what the cache does not know, and adds it there. */
static int look_up_missing(struct pgk_binaries *set, uint32_t pos, const uint64_t *addrs,
                           const uint32_t *missing, size_t n, struct pgk_arena *arena,
                           struct pgk_sym_chain *chains, struct pgk_err *err)
{
    struct pgk_symboliser *sym = NULL;
    uint64_t *some = pgk_mem_alloc(n, sizeof *some);
    struct pgk_sym_chain *found = pgk_mem_alloc(n, sizeof *found);
    int status = some && found ? pgk_binaries_symboliser(set, pos, &sym, err)
                               : pgk_fail_nomem(err);
    for (size_t i = 0; i < n && !status; i++)
        some[i] = addrs[missing[i]];
    if (!status)
        status = pgk_symbolise(sym, some, n, set->threads, arena, found, err);
    for (size_t i = 0; i < n && !status; i++)
        chains[missing[i]] = found[i];
    pgk_mem_free(some);
    pgk_mem_free(found);
    return status;
}

static int symbolise_cached(struct pgk_binaries *set, uint32_t pos,
                            const struct pgk_symbol_cache_place *place, const uint64_t *addrs,
                            size_t count, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                            struct pgk_err *err)
{
    struct binary *b = &set->list.v[pos];
    uint32_t *missing = pgk_mem_alloc(count + 1, sizeof *missing);
    size_t n = 0;
    if (!missing)
        return pgk_fail_nomem(err);
    if (!b->cache.count)
        pgk_symbol_cache_open(&b->cache, place);
    for (size_t i = 0; i < count; i++)
        if (!pgk_symbol_cache_find(&b->cache, addrs[i], arena, &chains[i]))
            missing[n++] = (uint32_t)i;
    int status = n ? look_up_missing(set, pos, addrs, missing, n, arena, chains, err) : 0;
    if (!status && n && pgk_symboliser_is_whole(b->sym))
        pgk_symbol_cache_save(place, &b->cache, addrs, chains, count, PGK_SYMBOL_CACHE_BYTES);
    pgk_mem_free(missing);
    return status;
}

static int symbolise(struct pgk_binaries *set, uint32_t pos, const uint64_t *addrs, size_t count,
                     struct pgk_arena *arena, struct pgk_sym_chain *chains, struct pgk_err *err)
{
    struct pgk_symbol_cache_place place;
    struct pgk_symboliser *sym;
    if (set->cache_folder && count && count < UINT32_MAX &&
        pgk_symbol_cache_place(&place, set->cache_folder, set->list.v[pos].elf))
        return symbolise_cached(set, pos, &place, addrs, count, arena, chains, err);
    PGK_TRY(pgk_binaries_symboliser(set, pos, &sym, err));
    return pgk_symbolise(sym, addrs, count, set->threads, arena, chains, err);
}

/* A hint for a failure: none, if there are no better symbols. */
static bool take_symbols(struct pgk_binaries *set, uint32_t pos, int status)
{
    struct binary *b = &set->list.v[pos];
    if (status != PGK_E_NODEBUG || !(set->symbols_suffice || b->at_path))
        return false;
    if (!b->by_symbols && !b->at_path)
        pgk_note(pgk_symbol_names_any(b->elf)
                     ? "%s has no debug information: functions have the names of symbols, and no "
                       "lines"
                     : "%s has neither debug information nor symbols: its functions have no names",
                 pgk_elf_path(b->elf));
    b->by_symbols = true;
    return true;
}

/* Names code without debug information, such as assembly, in a file that has some. */
static int name_the_rest(const struct pgk_elf *elf, const uint64_t *addrs, size_t count,
                         struct pgk_arena *arena, struct pgk_sym_chain *chains,
                         struct pgk_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!chains[i].count)
            PGK_TRY(pgk_symbol_names_chains(elf, &addrs[i], 1, true, arena, &chains[i], err));
    return 0;
}

int pgk_binaries_symbolise(struct pgk_binaries *set, uint32_t pos, const uint64_t *addrs,
                           size_t count, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                           struct pgk_err *err)
{
    assert(pos < set->list.n);
    const struct pgk_elf *elf = set->list.v[pos].elf;
    int status = symbolise(set, pos, addrs, count, arena, chains, err);
    if (take_symbols(set, pos, status))
        return pgk_symbol_names_chains(elf, addrs, count, false, arena, chains, err);
    return !status && set->use_paths ? name_the_rest(elf, addrs, count, arena, chains, err)
                                     : status;
}

int pgk_binaries_functions(struct pgk_binaries *set, uint32_t pos, pgk_sym_function_fn *fn,
                           void *ctx, struct pgk_err *err)
{
    assert(pos < set->list.n);
    struct pgk_symboliser *sym;
    int status = pgk_binaries_symboliser(set, pos, &sym, err);
    if (take_symbols(set, pos, status))
        return pgk_symbol_names_functions(set->list.v[pos].elf, fn, ctx, err);
    return status ? status : pgk_symboliser_functions(sym, fn, ctx, err);
}

void pgk_binaries_trim(struct pgk_binaries *set)
{
    for (size_t i = 0; i < set->list.n; i++) {
        pgk_symboliser_close(&set->list.v[i].sym);
        pgk_symbol_cache_close(&set->list.v[i].cache);
        pgk_elf_forget_debug(set->list.v[i].elf);
        pgk_elf_trim(set->list.v[i].elf);
    }
}
