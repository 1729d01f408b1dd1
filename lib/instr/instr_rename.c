/* Names of counters: new ones by a file, and choosing functions by them. */
#include "instr_rename.h"

#include "hash.h"
#include "pattern.h"
#include "text_lines.h"

/* ---- new names ---- */

const struct pgk_instr_name *pgk_instr_renamed(const struct pgk_instr_renames *renames,
                                               const struct pgk_instr_name *name)
{
    uint32_t at = renames ? pgk_names_find(&renames->old, name->ref) : PGK_INDEX_NONE;
    return at == PGK_INDEX_NONE ? name : &renames->new.v[at];
}

uint64_t pgk_instr_renamed_ref(const struct pgk_instr_renames *renames, uint64_t ref)
{
    uint32_t at = renames ? pgk_names_find(&renames->old, ref) : PGK_INDEX_NONE;
    return at == PGK_INDEX_NONE ? ref : renames->new.v[at].ref;
}

int pgk_instr_rename(struct pgk_instr_renames *r, const char *old, size_t n_old, const char *new,
                     size_t n_new, struct pgk_err *err)
{
    uint32_t at = pgk_names_add(&r->old, &r->arena, pgk_md5_low64(old, n_old), old, n_old);
    struct pgk_instr_name name = {.ref = pgk_md5_low64(new, n_new), .len = n_new};
    name.s = pgk_arena_copy(&r->arena, new, n_new);
    if (at == PGK_INDEX_NONE || !name.s)
        return pgk_fail_nomem(err);
    return at < r->new.n || pgk_vec_push(&r->new, name) ? 0 : pgk_fail_nomem(err);
}

void pgk_instr_renames_free(struct pgk_instr_renames *r)
{
    pgk_vec_free(&r->old.list);
    pgk_index_free(&r->old.by_ref);
    pgk_vec_free(&r->new);
    pgk_arena_free(&r->arena);
}

static int add_pair(void *ctx, const char *old, size_t n_old, const char *new, size_t n_new,
                    struct pgk_err *err)
{
    return pgk_instr_rename(ctx, old, n_old, new, n_new, err);
}

int pgk_instr_remap(struct pgk_instr **profile, const char *path, struct pgk_err *err)
{
    struct pgk_instr_renames r = {0};
    struct pgk_instr *renamed = NULL;
    int status = pgk_text_pairs(path, add_pair, &r, err);
    if (!status)
        status = pgk_instr_new(&renamed, err);
    if (!status)
        status = pgk_instr_copy(renamed, *profile, 1, &r, err);
    pgk_instr_renames_free(&r);
    if (status) {
        pgk_instr_close(&renamed);
        return status;
    }
    pgk_instr_close(profile);
    *profile = renamed;
    return 0;
}

/* ---- choosing ---- */

struct choice {
    const struct pgk_instr *p;
    struct pgk_pattern keep, drop;
};

static bool is_chosen(const void *ctx, const struct pgk_instr_func *f)
{
    const struct choice *c = ctx;
    const char *name = c->p->names.list.v[f->name].s;
    return (!c->keep.given || pgk_pattern_matches(&c->keep, name)) &&
           !pgk_pattern_matches(&c->drop, name);
}

int pgk_instr_filter(struct pgk_instr *p, const char *keep, const char *drop, struct pgk_err *err)
{
    struct choice c = {.p = p};
    int status = pgk_pattern_compile(&c.keep, keep, err);
    if (!status)
        status = pgk_pattern_compile(&c.drop, drop, err);
    if (!status)
        status = pgk_instr_squeeze(p, is_chosen, &c, err);
    pgk_pattern_free(&c.keep);
    pgk_pattern_free(&c.drop);
    return status;
}
