/* Counters in another build: their functions by the hashes that an instrumented build records. */
#include "function_totals.h"
#include "instr_align.h"
#include "instr_rename.h"
#include "saturate.h"

static uint64_t sum_of(const struct pgk_instr_func *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n_counts; i++)
        sum = pgk_add_saturated(sum, f->counts[i]);
    return sum;
}

static bool match_function(struct pgk_function_match *m, const struct pgk_instr_align *a,
                           uint32_t func)
{
    const struct pgk_instr_func *f = &a->profile->funcs.v[func];
    const struct pgk_instr_name *name = &a->profile->names.list.v[f->name];
    struct pgk_level_samples samples = {0};
    struct pgk_instr_found found = pgk_instr_align_find(a, func);
    struct pgk_changed c = {.guid = name->ref, .level = (uint8_t)found.level, .checksum = f->hash,
                            .now_checksum = found.hash, .samples = sum_of(f), .by_checksum = true};
    c.function = pgk_intern(&m->strings, name->s, name->len);
    if (found.to)
        c.now_function = pgk_intern(&m->strings, found.to->s, found.to->len);
    pgk_function_match_count(m, found.level, c.samples, &samples);
    pgk_function_match_close_function(m, &samples);
    return c.function != PGK_INDEX_NONE && c.now_function != PGK_INDEX_NONE &&
           (found.level == PGK_MATCH_EXACT || pgk_function_match_note(m, &c));
}

static int match(struct pgk_function_match *m, const struct pgk_instr_align *a,
                 struct pgk_err *err)
{
    size_t n = a->profile->funcs.n;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = match_function(m, a, i);
    if (!ok)
        return pgk_fail_nomem(err);
    pgk_function_match_finish(m);
    return pgk_function_match_check(n, m->totals[PGK_MATCH_GONE].functions < n, err);
}

/* ---- rebasing ---- */

struct kept {
    const struct pgk_instr *p;
    const struct pgk_hashes *hashes;
};

static bool is_kept(const void *ctx, const struct pgk_instr_func *f)
{
    const struct kept *k = ctx;
    struct pgk_hash_key key = {.guid = k->p->names.list.v[f->name].ref, .hash = f->hash};
    uint64_t now;
    return pgk_hashes_level(k->hashes, &key, &now) == PGK_MATCH_EXACT;
}

static int list_renames(struct pgk_instr_renames *r, const struct pgk_instr_align *a,
                        struct pgk_err *err)
{
    for (uint32_t i = 0; i < a->profile->funcs.n; i++) {
        const struct pgk_instr_name *name =
            &a->profile->names.list.v[a->profile->funcs.v[i].name];
        struct pgk_instr_found found = pgk_instr_align_find(a, i);
        if (found.to)
            PGK_TRY(pgk_instr_rename(r, name->s, name->len, found.to->s, found.to->len, err));
    }
    return 0;
}

static int rebase(struct pgk_instr **into, const struct pgk_instr_align *a, struct pgk_err *err)
{
    struct pgk_instr_renames renames = {0};
    struct pgk_instr *p = NULL;
    int status = list_renames(&renames, a, err);
    if (!status)
        status = pgk_instr_new(&p, err);
    if (!status)
        status = pgk_instr_copy(p, a->profile, 1, &renames, err);
    const struct kept kept = {p, &a->hashes};
    if (!status)
        status = pgk_instr_squeeze(p, is_kept, &kept, err);
    pgk_instr_renames_free(&renames);
    if (status)
        pgk_instr_close(&p);
    else
        *into = p;
    return status;
}

/* Either result may be NULL. */
static int run(struct pgk_instr **rebased, struct pgk_function_match **into,
               const struct pgk_instr *profile, struct pgk_binaries *binaries,
               struct pgk_err *err)
{
    struct pgk_instr_align a = {0};
    struct pgk_function_match *m = NULL;
    if (!pgk_instr_functions(profile))
        return pgk_fail(err, PGK_E_EMPTY, .field = "functions", .found = "none",
                        .expected = "counters of functions");
    PGK_TRY(pgk_function_match_new(&m, err));
    int status = pgk_instr_align(&a, profile, binaries, err);
    if (!status)
        status = match(m, &a, err);
    if (!status && rebased)
        status = rebase(rebased, &a, err);
    pgk_instr_align_free(&a);
    if (!status && into)
        *into = m;
    else
        pgk_function_match_close(&m);
    return status;
}

int pgk_match_instr(struct pgk_function_match **into, const struct pgk_instr *profile,
                    struct pgk_binaries *binaries, struct pgk_err *err)
{
    return run(NULL, into, profile, binaries, err);
}

int pgk_instr_rebase(struct pgk_instr **rebased, struct pgk_function_match **match,
                           const struct pgk_instr *profile, struct pgk_binaries *binaries,
                           struct pgk_err *err)
{
    return run(rebased, match, profile, binaries, err);
}
