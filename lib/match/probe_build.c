/* The calls of a build, by its pseudo probes. */
#include "probe_build.h"

#include "code.h"
#include "function_name.h"
#include "hash.h"
#include "probes.h"
#include "sample_names.h"
#include "symbol_names.h"

/* A direct call, whose callee the symbols know. */
struct target {
    uint64_t addr;
    uint32_t call; /* of the build */
};

struct reader {
    struct pgk_build *build;
    const struct pgk_elf *elf;
    struct pgk_probes *probes;
    struct pgk_probe_index *index;
    struct pgk_code code;
    bool has_code; /* symbols say where instructions are */
    uint32_t *func_of; /* by descriptor */
    PGK_VEC(struct target) targets;
};

static uint32_t find_func(const struct pgk_build *build, uint64_t guid)
{
    PGK_INDEX_FOR (&build->by_guid, guid, i)
        if (build->funcs.v[i].full_guid == guid)
            return i;
    return PGK_INDEX_NONE;
}

/* Of several descriptors of one function the first. */
static uint32_t add_func(struct pgk_build *build, const struct pgk_probe_desc *d)
{
    uint32_t at = find_func(build, d->guid);
    if (at != PGK_INDEX_NONE)
        return at;
    struct pgk_build_func f = {
        .guid = pgk_build_guid(d->name, d->name_len),
        .full_guid = d->guid,
        .bare_guid = pgk_build_bare_guid(d->name, d->name_len),
        .linkage = pgk_intern(&build->strings, d->name, d->name_len),
        .name = pgk_intern(&build->strings, d->name, pgk_build_plain_len(d->name, d->name_len)),
        .has_body = true,
    };
    at = (uint32_t)build->funcs.n;
    bool ok = f.linkage != PGK_INDEX_NONE && f.name != PGK_INDEX_NONE &&
              pgk_vec_push(&build->funcs, f) && pgk_build_index_func(build, at);
    return ok ? at : PGK_INDEX_NONE;
}

static bool add_funcs(struct reader *r)
{
    size_t n = pgk_probe_descs(r->probes);
    bool ok = true;
    r->func_of = pgk_mem_alloc(n + 1, sizeof *r->func_of);
    for (size_t i = 0; r->func_of && ok && i < n; i++) {
        struct pgk_probe_desc d = pgk_probe_desc_at(r->probes, i);
        r->func_of[i] = add_func(r->build, &d);
        ok = r->func_of[i] != PGK_INDEX_NONE;
    }
    return r->func_of && ok;
}

static bool add_call(struct reader *r, uint32_t node, uint32_t site, uint32_t callee, uint32_t how)
{
    struct pgk_build_call call = {
        .func = r->func_of[pgk_probe_function(r->index, node)],
        .callee = callee,
        .line = site,
        .offset = site,
        .how = how,
    };
    return pgk_vec_push(&r->build->calls, call);
}

/* A call of a function without a symbol is useless here. */
static bool add_direct(struct reader *r, const struct pgk_probe *p)
{
    struct pgk_insn insn;
    if (!r->has_code || !pgk_code_insn(&r->code, p->addr, &insn) || !insn.target)
        return true;
    uint32_t how = PGK_HOW_CALL | (insn.kind == PGK_INSN_CALL ? 0 : (uint32_t)PGK_HOW_TAIL);
    struct target t = {insn.target, (uint32_t)r->build->calls.n};
    return pgk_vec_push(&r->targets, t) && add_call(r, p->node, p->index, PGK_INDEX_NONE, how);
}

static bool add_probe(struct reader *r, uint32_t number)
{
    struct pgk_probe p = pgk_probe_get(r->index, number);
    struct pgk_build_place place = {
        .func = r->func_of[pgk_probe_function(r->index, p.node)],
        .offset = p.index & UINT16_MAX,
    };
    bool ok = pgk_vec_push(&r->build->places, place);
    if (ok && p.type == PGK_PROBE_INDIRECT_CALL)
        ok = add_call(r, p.node, p.index, PGK_INDEX_NONE, PGK_HOW_CALL);
    else if (ok && p.type == PGK_PROBE_DIRECT_CALL)
        ok = add_direct(r, &p);
    return ok;
}

static bool add_inlined(struct reader *r, uint32_t node)
{
    uint32_t parent = pgk_probe_parent(r->index, node);
    uint32_t site = pgk_probe_site(r->index, node);
    struct pgk_build_place place = {.offset = site & UINT16_MAX};
    if (parent == PGK_PROBE_NONE)
        return true;
    place.func = r->func_of[pgk_probe_function(r->index, parent)];
    return pgk_vec_push(&r->build->places, place) &&
           add_call(r, parent, site, r->func_of[pgk_probe_function(r->index, node)],
                    PGK_HOW_INLINED);
}

/* Names the callees of direct calls; drops those calls whose callee has no probes. */
static int name_targets(struct reader *r, struct pgk_err *err)
{
    struct pgk_build *build = r->build;
    struct pgk_arena arena = {0};
    uint64_t *addrs = pgk_arena_alloc(&arena, r->targets.n + 1, sizeof *addrs);
    struct pgk_sym_chain *chains = pgk_arena_alloc(&arena, r->targets.n + 1, sizeof *chains);
    int status = addrs && chains ? 0 : pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < r->targets.n; i++)
        addrs[i] = r->targets.v[i].addr;
    if (!status)
        status = pgk_symbol_names_chains(r->elf, addrs, r->targets.n, false, &arena, chains, err);
    for (size_t i = r->targets.n; !status && i-- > 0;) {
        const char *name = chains[i].count ? chains[i].frames[0].function : NULL;
        uint32_t callee = PGK_INDEX_NONE;
        uint32_t call = r->targets.v[i].call;
        size_t len = name ? pgk_sample_drop_suffixes(name, strlen(name)) : 0;
        if (name)
            callee = find_func(build, pgk_md5_low64(name, len));
        if (callee != PGK_INDEX_NONE)
            build->calls.v[call].callee = callee;
        else
            build->calls.v[call] = build->calls.v[--build->calls.n];
    }
    pgk_arena_free(&arena);
    return status;
}

static int read_index(struct reader *r, struct pgk_err *err)
{
    bool ok = add_funcs(r);
    PGK_TRY(ok ? pgk_probe_index_all(&r->index, r->probes, err) : pgk_fail_nomem(err));
    int status = pgk_code_open(&r->code, r->elf, err);
    r->has_code = !status;
    if (status == PGK_E_NODEBUG) { /* no symbols: inlined and indirect calls are known */
        *err = (struct pgk_err){0};
        status = 0;
    }
    PGK_TRY(status);
    for (size_t i = 0; ok && i < pgk_probe_count(r->index); i++)
        ok = add_probe(r, (uint32_t)i);
    PGK_TRY(ok ? name_targets(r, err) : pgk_fail_nomem(err));
    for (size_t i = 0; ok && i < pgk_probe_node_count(r->index); i++)
        ok = add_inlined(r, (uint32_t)i);
    return ok ? 0 : pgk_fail_nomem(err);
}

static int read_binary(struct pgk_build *build, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct reader r = {.build = build, .elf = elf};
    struct pgk_err own = {0};
    int status = pgk_probes_open_elf(&r.probes, elf, &own);
    if (!status)
        status = read_index(&r, &own);
    pgk_code_close(&r.code);
    pgk_probe_index_close(&r.index);
    pgk_probes_close(&r.probes);
    pgk_mem_free(r.func_of);
    pgk_vec_free(&r.targets);
    if (status == PGK_E_EMPTY) /* another binary of the set may have some */
        return 0;
    if (status && err)
        *err = own;
    return status;
}

int pgk_build_read_probes(struct pgk_build *build, struct pgk_binaries *set, struct pgk_err *err)
{
    size_t n = pgk_binaries_count(set);
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(read_binary(build, pgk_binaries_elf(set, i), err));
    pgk_build_finish(build);
    return 0;
}
