/* Functions of a sample profile that the build has by another name.
 *
 * A function whose name is gone is one that only the build knows, if a function that called it
 * calls that one now, and their names are alike, or that one calls all functions that the other is
 * known to have called, two at least. It must be the only one of that kind, and the other its only
 * one. */
#include "line_align.h"

#include "hash.h"
#include "name_likeness.h"

enum { DISTINCTIVE_CALLEES = 2 };

struct pair {
    uint32_t name; /* of the profile */
    uint32_t func; /* of the build */
};

struct finder {
    struct pgk_line_align *a;
    const struct pgk_sample *p;
    struct pgk_index gone;       /* names of the profile, by GUID */
    bool *known;                 /* by function of the build */
    PGK_VEC(struct pair) pairs;  /* each once */
    struct pgk_index pair_index;
    uint32_t *n_of_func, *n_of_name; /* pairs of each that were accepted */
};

static uint32_t find_gone(const struct finder *f, uint64_t guid)
{
    PGK_INDEX_FOR (&f->gone, guid, i)
        if (f->a->funcs[i].guid == guid)
            return i;
    return PGK_INDEX_NONE;
}

static bool is_in(const struct pgk_build *build, uint64_t guid)
{
    uint32_t at = 0;
    return pgk_build_next(build, guid, &at) != PGK_INDEX_NONE;
}

/* A function that the profile, or the profiled build, has under its name was not renamed. */
static bool sort_functions(struct finder *f)
{
    struct pgk_line_align *a = f->a;
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->n_funcs; i++) {
        uint32_t at = 0, n = 0;
        if (!a->funcs[i].is_used)
            continue;
        for (uint32_t func; (func = pgk_build_next(&a->build, a->funcs[i].guid, &at)) !=
                            PGK_INDEX_NONE; n++)
            f->known[func] = true;
        if (!n)
            ok = pgk_index_add(&f->gone, a->funcs[i].guid, i);
    }
    for (uint32_t i = 0; i < a->build.funcs.n; i++)
        f->known[i] |= is_in(&a->profiled, a->build.funcs.v[i].guid);
    return ok;
}

static bool add_pair(struct finder *f, struct pair pair)
{
    uint64_t hash = pgk_hash_pair(pair.name, pair.func);
    PGK_INDEX_FOR (&f->pair_index, hash, i)
        if (f->pairs.v[i].name == pair.name && f->pairs.v[i].func == pair.func)
            return true;
    return pgk_vec_push(&f->pairs, pair) &&
           pgk_index_add(&f->pair_index, hash, (uint32_t)f->pairs.n - 1);
}

/* Functions that only the build knows, called where one was called that is gone. */
static bool list_pairs(struct finder *f)
{
    const struct pgk_build *build = &f->a->build;
    bool ok = true;
    for (size_t i = 0; ok && i < f->a->calls.n; i++) {
        const struct pgk_line_call *old = &f->a->calls.v[i];
        uint32_t name = old->callee ? find_gone(f, old->callee) : PGK_INDEX_NONE, at = 0;
        if (name == PGK_INDEX_NONE)
            continue;
        for (uint32_t from; ok && (from = pgk_build_next(build, f->a->funcs[old->func].guid,
                                                         &at)) != PGK_INDEX_NONE;) {
            const struct pgk_build_func *func = &build->funcs.v[from];
            for (uint32_t c = func->first_call; ok && c < func->first_call + func->n_calls; c++) {
                uint32_t callee = build->calls.v[c].callee;
                if (callee != PGK_INDEX_NONE && !f->known[callee] &&
                    build->funcs.v[callee].has_body)
                    ok = add_pair(f, (struct pair){name, callee});
            }
        }
    }
    return ok;
}

static bool calls(const struct pgk_build *build, uint32_t func, uint64_t callee)
{
    const struct pgk_build_func *f = &build->funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        uint32_t at = build->calls.v[i].callee;
        if (at != PGK_INDEX_NONE && build->funcs.v[at].guid == callee)
            return true;
    }
    return false;
}

static bool calls_the_same(const struct finder *f, const struct pair *pair)
{
    const struct pgk_line_align *a = f->a;
    const struct pgk_line_func *old = &a->funcs[pair->name];
    unsigned n = 0;
    if (!old->n_groups)
        return false;
    uint32_t first = a->groups.v[old->first_group].first,
             end = a->groups.v[old->first_group + old->n_groups - 1].end;
    for (uint32_t i = first; i < end; i++) {
        uint64_t callee = a->calls.v[i].callee;
        if (!callee || find_gone(f, callee) != PGK_INDEX_NONE)
            continue;
        if (!calls(&a->build, pair->func, callee))
            return false;
        bool is_new = true;
        for (uint32_t j = first; j < i && is_new; j++)
            is_new = a->calls.v[j].callee != callee;
        n += is_new;
    }
    return n >= DISTINCTIVE_CALLEES;
}

static bool is_accepted(const struct finder *f, const struct pair *pair)
{
    const struct pgk_sample_name *name = &f->p->names.list.v[pair->name];
    const char *now = pgk_build_text(&f->a->build, f->a->build.funcs.v[pair->func].linkage);
    return calls_the_same(f, pair) || (name->s && pgk_name_likeness(name->s, now) >=
                                                      PGK_NAMES_ALIKE);
}

/* From here on it is known by what the build calls it. */
static void rename_function(struct pgk_line_align *a, const struct pair *pair)
{
    struct pgk_line_func *old = &a->funcs[pair->name];
    uint64_t guid = a->build.funcs.v[pair->func].guid;
    for (size_t i = 0; i < a->calls.n; i++)
        if (a->calls.v[i].callee == old->guid)
            a->calls.v[i].callee = guid;
    old->guid = guid;
    old->has_new_name = true;
}

static void settle(struct finder *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->pairs.n; i++) {
        struct pair pair = f->pairs.v[i];
        if (!is_accepted(f, &pair))
            continue;
        f->n_of_func[pair.func]++;
        f->n_of_name[pair.name]++;
        f->pairs.v[n++] = pair;
    }
    f->pairs.n = n;
    for (size_t i = 0; i < n; i++)
        if (f->n_of_func[f->pairs.v[i].func] == 1 && f->n_of_name[f->pairs.v[i].name] == 1)
            rename_function(f->a, &f->pairs.v[i]);
}

bool pgk_line_find_renamed(struct pgk_line_align *a, const struct pgk_sample *p)
{
    struct finder f = {.a = a, .p = p};
    f.known = pgk_mem_zalloc(a->build.funcs.n + 1, sizeof *f.known);
    f.n_of_func = pgk_mem_zalloc(a->build.funcs.n + 1, sizeof *f.n_of_func);
    f.n_of_name = pgk_mem_zalloc((size_t)a->n_funcs + 1, sizeof *f.n_of_name);
    bool ok = f.known && f.n_of_func && f.n_of_name && sort_functions(&f) &&
              (!f.gone.used || list_pairs(&f));
    if (ok)
        settle(&f);
    pgk_mem_free(f.known);
    pgk_mem_free(f.n_of_func);
    pgk_mem_free(f.n_of_name);
    pgk_vec_free(&f.pairs);
    pgk_index_free(&f.gone);
    pgk_index_free(&f.pair_index);
    return ok;
}
