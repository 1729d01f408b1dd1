/* The model of an instrumentation profile: tables of functions, names and what else a profile
 * holds. Adding records to it is instr_add.c's. */
#include "instr_model.h"

#include "hash.h"
#include "opts.h"

#include <assert.h>
#include <inttypes.h>

int pgk_instr_new(struct pgk_instr **profile, struct pgk_err *err)
{
    struct pgk_instr *p = pgk_mem_zalloc(1, sizeof *p);
    if (!p)
        return pgk_fail_nomem(err);
    *profile = p;
    return 0;
}

static void free_names(struct pgk_instr_names *t)
{
    pgk_vec_free(&t->list);
    pgk_index_free(&t->by_ref);
}

void pgk_instr_close(struct pgk_instr **profile)
{
    struct pgk_instr *p = *profile;
    *profile = NULL;
    if (!p)
        return;
    free_names(&p->names);
    free_names(&p->vtables);
    pgk_vec_free(&p->funcs);
    pgk_index_free(&p->func_index);
    pgk_vec_free(&p->disputes);
    pgk_vec_free(&p->binary_ids);
    pgk_index_free(&p->id_index);
    pgk_vec_free(&p->traces);
    pgk_arena_free(&p->arena);
    pgk_mem_free(p);
}

/* ---- names ---- */

uint32_t pgk_names_find(const struct pgk_instr_names *t, uint64_t ref)
{
    PGK_INDEX_FOR (&t->by_ref, ref, i)
        if (t->list.v[i].ref == ref)
            return i;
    return PGK_INDEX_NONE;
}

uint32_t pgk_names_add(struct pgk_instr_names *t, struct pgk_arena *arena, uint64_t ref,
                       const char *s, size_t len)
{
    uint32_t known = pgk_names_find(t, ref);
    if (known != PGK_INDEX_NONE)
        return known;
    char *copy = pgk_arena_copy(arena, s, len);
    const struct pgk_instr_name name = {.ref = ref, .s = copy, .len = len};
    if (!copy || !pgk_vec_push(&t->list, name))
        return PGK_INDEX_NONE;
    if (!pgk_index_add(&t->by_ref, ref, (uint32_t)t->list.n - 1)) {
        t->list.n--;
        return PGK_INDEX_NONE;
    }
    return (uint32_t)t->list.n - 1;
}

const char *pgk_instr_name(const struct pgk_instr *p, enum pgk_value_kind kind, uint64_t id)
{
    const struct pgk_instr_names *t = kind == PGK_VALUE_VTABLE ? &p->vtables : &p->names;
    uint32_t i = pgk_names_find(t, id);
    return i == PGK_INDEX_NONE ? NULL : t->list.v[i].s;
}

const char *pgk_value_kind_name(enum pgk_value_kind kind)
{
    assert((unsigned)kind < PGK_VALUE_KINDS);
    static const char *const names[] = {"indirect calls", "memory operation sizes",
                                        "virtual tables"};
    return names[kind];
}

/* ---- functions ---- */

uint32_t pgk_instr_find(const struct pgk_instr *p, uint64_t name_ref, uint64_t hash)
{
    PGK_INDEX_FOR (&p->func_index, pgk_hash_pair(name_ref, hash), i)
        if (p->funcs.v[i].hash == hash && p->names.list.v[p->funcs.v[i].name].ref == name_ref)
            return i;
    return PGK_INDEX_NONE;
}

int pgk_instr_squeeze(struct pgk_instr *p,
                      bool (*keep)(const void *ctx, const struct pgk_instr_func *),
                      const void *ctx, struct pgk_err *err)
{
    struct pgk_index fresh = {0};
    size_t n = 0;
    /* Before anything moves: what may fail must leave the profile as it was. */
    if (!pgk_index_reserve(&fresh, (uint32_t)p->funcs.n))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->funcs.n; i++) {
        struct pgk_instr_func f = p->funcs.v[i];
        if (!keep(ctx, &f))
            continue;
        pgk_index_add(&fresh, pgk_hash_pair(p->names.list.v[f.name].ref, f.hash), (uint32_t)n);
        p->funcs.v[n++] = f;
    }
    p->funcs.n = n;
    pgk_index_free(&p->func_index);
    p->func_index = fresh;
    return 0;
}

static bool is_undisputed(const void *ctx, const struct pgk_instr_func *f)
{
    (void)ctx;
    return !f->disputed;
}

int pgk_instr_drop_conflicts(struct pgk_instr *p, struct pgk_err *err)
{
    return p->disputes.n ? pgk_instr_squeeze(p, is_undisputed, NULL, err) : 0;
}

static bool has_run(const struct pgk_instr_func *f)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < f->n_counts; i++)
        any |= f->counts[i];
    for (uint32_t i = 0; i < f->n_bitmap; i++)
        any |= f->bitmap[i];
    return any != 0;
}

static bool name_has_run(const void *ctx, const struct pgk_instr_func *f)
{
    const bool *ran = ctx;
    return ran[f->name];
}

int pgk_instr_drop_unused(struct pgk_instr *p, size_t *dropped, struct pgk_err *err)
{
    size_t before = p->funcs.n;
    bool *ran = pgk_mem_zalloc(p->names.list.n + 1, sizeof *ran);
    if (!ran)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->funcs.n; i++)
        ran[p->funcs.v[i].name] |= has_run(&p->funcs.v[i]);
    int status = pgk_instr_squeeze(p, name_has_run, ran, err);
    pgk_mem_free(ran);
    if (!status && dropped)
        *dropped = before - p->funcs.n;
    return status;
}

size_t pgk_instr_functions(const struct pgk_instr *p)
{
    return p->funcs.n;
}

static bool is_contextual(const struct pgk_instr *p, const struct pgk_instr_func *f)
{
    return p->flags >> PGK_INDEXED_IR & 1 && f->hash >> PGK_HASH_CONTEXTUAL_BIT & 1;
}

void pgk_instr_function(const struct pgk_instr *p, size_t i, struct pgk_instr_function *function)
{
    assert(i < p->funcs.n);
    const struct pgk_instr_func *f = &p->funcs.v[i];
    const struct pgk_instr_name *name = &p->names.list.v[f->name];
    struct pgk_instr_function result = {.name = name->s,
                                        .name_len = name->len,
                                        .id = name->ref,
                                        .hash = f->hash,
                                        .contextual = is_contextual(p, f),
                                        .counts = f->counts,
                                        .n_counts = f->n_counts,
                                        .bitmap = f->bitmap,
                                        .n_bitmap = f->n_bitmap};
    PGK_RESULT_GIVE(function, &result);
}

size_t pgk_instr_sites(const struct pgk_instr *p, size_t i, enum pgk_value_kind kind)
{
    assert(i < p->funcs.n);
    return (unsigned)kind < PGK_VALUE_KINDS ? p->funcs.v[i].n_sites[kind] : 0;
}

const struct pgk_value_site *pgk_func_site(const struct pgk_instr_func *f, enum pgk_value_kind kind,
                                           size_t site)
{
    assert((unsigned)kind < PGK_VALUE_KINDS && site < f->n_sites[kind]);
    for (int k = 0; k < (int)kind; k++)
        site += f->n_sites[k];
    return &f->sites[site];
}

size_t pgk_instr_site(const struct pgk_instr *p, size_t i, enum pgk_value_kind kind, size_t site,
                      struct pgk_instr_value *values, size_t max)
{
    assert(i < p->funcs.n);
    const struct pgk_value_site *s = pgk_func_site(&p->funcs.v[i], kind, site);
    size_t n = 0;
    for (uint32_t k = 0; k < s->n && max; k++) {
        size_t at = n;
        while (at && values[at - 1].count < s->v[k].count)
            at--;
        if (at == max)
            continue;
        n += n < max;
        memmove(values + at + 1, values + at, (n - 1 - at) * sizeof *values);
        values[at] = s->v[k];
    }
    return s->n;
}

/* ---- conflicts ---- */

bool pgk_instr_changed(const struct pgk_instr *p, size_t i)
{
    assert(i < p->funcs.n);
    const struct pgk_instr_func *f = &p->funcs.v[i];
    return f->inputs < p->names.list.v[f->name].inputs;
}

size_t pgk_instr_conflicts(const struct pgk_instr *p)
{
    return p->disputes.n;
}

void pgk_instr_conflict(const struct pgk_instr *p, size_t i, struct pgk_instr_conflict *conflict)
{
    assert(i < p->disputes.n);
    const struct pgk_instr_dispute *d = &p->disputes.v[i];
    const struct pgk_instr_conflict result = {.name = p->names.list.v[d->name].s,
                                              .hash = d->hash,
                                              .what = d->what,
                                              .one = d->one,
                                              .other = d->other,
                                              .file = d->file};
    PGK_RESULT_GIVE(conflict, &result);
}

void pgk_instr_keep_conflicts(struct pgk_instr *p)
{
    p->keeps_disputed = true;
}

bool pgk_instr_mixed(const struct pgk_instr *p, size_t i)
{
    assert(i < p->funcs.n);
    return p->funcs.v[i].mixed;
}

int pgk_instr_check_writable(const struct pgk_instr *p, const char *path, const char *format,
                             struct pgk_err *err)
{
    for (size_t i = 0; p && !p->keeps_disputed && i < p->disputes.n; i++) {
        const struct pgk_instr_dispute *d = &p->disputes.v[i];
        const struct pgk_instr_name *name = &p->names.list.v[d->name];
        if (pgk_instr_find(p, name->ref, d->hash) != PGK_INDEX_NONE)
            return pgk_fail(err, PGK_E_MISMATCH, .file = d->file, .record = name->s,
                            .field = d->what, .found = PGK_F("%" PRIu64, d->other),
                            .expected = PGK_F("%" PRIu64 ", as in the inputs before", d->one),
                            .hint = "--keep-going leaves such functions out");
    }
    if (!p || !p->funcs.n)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .format = format, .found = "no functions",
                        .hint = "did the program run and end normally?");
    return 0;
}

/* ---- what else there is ---- */

bool pgk_instr_add_binary_id(struct pgk_instr *p, const uint8_t *bytes, size_t size)
{
    uint64_t hash = pgk_hash_bytes(bytes, size);
    PGK_INDEX_FOR (&p->id_index, hash, i)
        if (p->binary_ids.v[i].size == size && !memcmp(p->binary_ids.v[i].bytes, bytes, size))
            return true;
    char *copy = pgk_arena_copy(&p->arena, (const char *)bytes, size);
    return copy &&
           pgk_vec_push(&p->binary_ids, (struct pgk_instr_id){(const uint8_t *)copy, size}) &&
           pgk_index_add(&p->id_index, hash, (uint32_t)p->binary_ids.n - 1);
}

bool pgk_instr_add_trace(struct pgk_instr *p, uint64_t weight, const uint64_t *refs, size_t n)
{
    if (!n)
        return true;
    uint64_t *copy = pgk_arena_alloc(&p->arena, n, sizeof *copy);
    if (!copy || !pgk_vec_push(&p->traces, (struct pgk_instr_trace){weight, copy, n}))
        return false;
    memcpy(copy, refs, n * sizeof *copy);
    return true;
}

size_t pgk_instr_binary_ids(const struct pgk_instr *p)
{
    return p->binary_ids.n;
}

const uint8_t *pgk_instr_binary_id(const struct pgk_instr *p, size_t i, size_t *size)
{
    assert(i < p->binary_ids.n);
    *size = p->binary_ids.v[i].size;
    return p->binary_ids.v[i].bytes;
}

size_t pgk_instr_traces(const struct pgk_instr *p)
{
    return p->traces.n;
}

size_t pgk_instr_vtables(const struct pgk_instr *p)
{
    return p->vtables.list.n;
}

/* ---- what made it ---- */

static bool has(const struct pgk_instr *p, enum pgk_indexed_flag bit)
{
    return p->flags >> bit & 1;
}

enum pgk_instr_origin pgk_instr_origin(const struct pgk_instr *p)
{
    return !p->flags_file           ? PGK_INSTR_NONE
           : has(p, PGK_INDEXED_IR) ? PGK_INSTR_IR
                                    : PGK_INSTR_FRONT_END;
}

const char *pgk_instr_origin_text(const struct pgk_instr *p)
{
    if (!p->flags_file)
        return "no counters";
    if (!has(p, PGK_INDEXED_IR))
        return has(p, PGK_INDEXED_BYTE_COVERAGE) ? "front-end coverage" : "front-end";
    if (has(p, PGK_INDEXED_ENTRY_ONLY))
        return "IR coverage of functions";
    if (has(p, PGK_INDEXED_BYTE_COVERAGE))
        return "IR coverage of blocks";
    return has(p, PGK_INDEXED_CONTEXT_SENSITIVE) ? "IR with contexts" : "IR";
}
