/* Matches functions with counters with those of an instrumented build. */
#include "instr_align.h"

#include "build_index.h"
#include "hash.h"
#include "name_blocks.h"

/* A function is known by its hash alone if it has so many counters: the hashes of simple ones are
 * those of others, too. */
enum { DISTINCTIVE_COUNTERS = 4 };

static int add_name(void *ctx, const char *name, size_t len)
{
    struct pgk_instr_align *a = ctx;
    return pgk_names_add(&a->names, &a->arena, pgk_md5_low64(name, len), name, len) ==
                   PGK_INDEX_NONE
               ? PGK_E_NOMEM
               : 0;
}

/* A program need not have its names: these are then in a file of their own. */
static int read_names(struct pgk_instr_align *a, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct pgk_elf_section_info s = pgk_hashes_section(elf, "__llvm_prf_names");
    const struct pgk_source src = {.file = pgk_elf_path(elf), .format = s.name,
                                   .base_off = s.offset};
    struct pgk_cursor c;
    if (!s.bytes)
        return 0;
    pgk_cur_init(&c, s.bytes, s.size, &src);
    int status = pgk_name_blocks_read(&c, "names", add_name, a, err);
    return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : status;
}

static bool index_all(struct pgk_instr_align *a)
{
    const struct pgk_instr *p = a->profile;
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->hashes.list.n; i++)
        ok = pgk_index_add(&a->build_by_hash, a->hashes.list.v[i].hash, i);
    for (uint32_t i = 0; ok && i < p->funcs.n; i++)
        ok = pgk_index_add(&a->profile_by_hash, p->funcs.v[i].hash, i) &&
             pgk_index_add(&a->profile_by_ref, p->names.list.v[p->funcs.v[i].name].ref, i);
    return ok;
}

int pgk_instr_align(struct pgk_instr_align *a, const struct pgk_instr *profile,
                    struct pgk_binaries *binaries, struct pgk_err *err)
{
    a->profile = profile;
    PGK_TRY(pgk_hashes_of_counters(&a->hashes, binaries, err));
    for (uint32_t i = 0; i < pgk_binaries_count(binaries); i++)
        PGK_TRY(read_names(a, pgk_binaries_elf(binaries, i), err));
    return index_all(a) ? 0 : pgk_fail_nomem(err);
}

void pgk_instr_align_free(struct pgk_instr_align *a)
{
    pgk_hashes_free(&a->hashes);
    pgk_vec_free(&a->names.list);
    pgk_index_free(&a->names.by_ref);
    pgk_arena_free(&a->arena);
    pgk_index_free(&a->build_by_hash);
    pgk_index_free(&a->profile_by_hash);
    pgk_index_free(&a->profile_by_ref);
}

/* ---- renamed ---- */

static const struct pgk_instr_name *name_of(const struct pgk_instr_align *a, uint32_t func)
{
    return &a->profile->names.list.v[a->profile->funcs.v[func].name];
}

/* The name without the file that stands in front of those of static functions, and without what
 * makes them unique. */
static uint64_t bare_name(const struct pgk_instr_name *name)
{
    const char *end = name->s + name->len, *at = memrchr(name->s, ';', name->len);
    if (!at)
        at = memrchr(name->s, ':', name->len);
    at = at ? at + 1 : name->s;
    return pgk_build_bare_guid(at, (size_t)(end - at));
}

static bool is_in_profile(const struct pgk_instr_align *a, uint64_t ref)
{
    PGK_INDEX_FOR (&a->profile_by_ref, ref, i)
        if (name_of(a, i)->ref == ref)
            return true;
    return false;
}

static bool is_in_build(const struct pgk_instr_align *a, uint64_t ref)
{
    PGK_INDEX_FOR (&a->hashes.by_guid, ref, i)
        if (a->hashes.list.v[i].guid == ref)
            return true;
    return false;
}

/* Functions with this hash that only one side has by name. */
struct rivals {
    uint32_t all, same_bare; /* how many */
    uint32_t one, one_bare;  /* the last of them */
};

static struct rivals rivals_in_build(const struct pgk_instr_align *a, uint64_t hash, uint64_t bare)
{
    struct rivals r = {0};
    PGK_INDEX_FOR (&a->build_by_hash, hash, i) {
        const struct pgk_function_hash *h = &a->hashes.list.v[i];
        uint32_t name = pgk_names_find(&a->names, h->guid);
        if (h->hash != hash || is_in_profile(a, h->guid))
            continue;
        r.all++;
        r.one = name;
        if (name == PGK_INDEX_NONE || bare_name(&a->names.list.v[name]) != bare)
            continue;
        r.same_bare++;
        r.one_bare = name;
    }
    return r;
}

static struct rivals rivals_in_profile(const struct pgk_instr_align *a, uint64_t hash,
                                       uint64_t bare)
{
    struct rivals r = {0};
    PGK_INDEX_FOR (&a->profile_by_hash, hash, i) {
        if (a->profile->funcs.v[i].hash != hash || is_in_build(a, name_of(a, i)->ref))
            continue;
        r.all++;
        r.same_bare += bare_name(name_of(a, i)) == bare;
    }
    return r;
}

/* The only one that has come with the hash of the only one that has gone; of several the only one
 * of the same name in another file. */
static const struct pgk_instr_name *renamed(const struct pgk_instr_align *a, uint32_t func)
{
    const struct pgk_instr_func *f = &a->profile->funcs.v[func];
    uint64_t bare = bare_name(name_of(a, func));
    struct rivals now = rivals_in_build(a, f->hash, bare);
    struct rivals old = rivals_in_profile(a, f->hash, bare);
    if (now.same_bare)
        return now.same_bare == 1 && old.same_bare == 1 ? &a->names.list.v[now.one_bare] : NULL;
    bool distinctive = f->n_counts >= DISTINCTIVE_COUNTERS;
    if (!distinctive || now.all != 1 || old.all != 1 || now.one == PGK_INDEX_NONE)
        return NULL;
    return &a->names.list.v[now.one];
}

struct pgk_instr_found pgk_instr_align_find(const struct pgk_instr_align *a, uint32_t func)
{
    const struct pgk_instr_func *f = &a->profile->funcs.v[func];
    struct pgk_hash_key key = {.guid = name_of(a, func)->ref, .hash = f->hash};
    struct pgk_instr_found found = {.level = PGK_MATCH_GONE};
    found.level = pgk_hashes_level(&a->hashes, &key, &found.hash);
    if (found.level == PGK_MATCH_GONE)
        found.to = renamed(a, func);
    if (found.to) {
        found.level = PGK_MATCH_REROUTED;
        found.hash = f->hash;
    }
    return found;
}
