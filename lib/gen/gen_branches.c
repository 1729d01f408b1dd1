/* Counts of the branch recorder into those of the binaries, which are found by their build ids. */
#include "gen_branches.h"

#include "binary_set.h"
#include "branch_scale.h"
#include "branch_view.h"
#include "gen_vtables.h"
#include "hex.h"
#include "message.h"
#include "path.h"
#include "saturate.h"

#include <inttypes.h>
#include <stdio.h>

struct adder {
    struct pgk_gen *g;
    struct pgk_branches_view view;
    uint64_t scale;       /* of counts */
    double ran, loaded;   /* unscaled counts of ranges and loads that are counted */
    pgk_addr_vec callers; /* of the entry in hand, innermost first */
    uint32_t of[PGK_BRANCH_MODULES_MAX + 1]; /* binary of each module, or PGK_NO_BINARY */
    char foreign[300];                       /* a file of the same name that is another build */
};

static bool is_named(const struct pgk_gen *g, const struct pgk_elf *elf, uint32_t binary,
                     const char *recorded)
{
    for (size_t i = 0; i < g->known.n; i++)
        if (g->known.v[i].binary == binary && (!strcmp(g->known.v[i].recorded, recorded) ||
                                         !strcmp(g->known.v[i].recorded, pgk_base_name(recorded))))
            return true;
    return !strcmp(pgk_base_name(pgk_elf_path(elf)), pgk_base_name(recorded));
}

static uint64_t scaled(const struct adder *a, const struct pgk_branch_entry *e)
{
    return pgk_multiply_saturated(e->count, a->scale);
}

/* By its build id; one without is known by its name. */
static uint32_t find_binary(struct adder *a, const struct pgk_branch_module *m)
{
    struct pgk_gen *g = a->g;
    for (uint32_t i = 0; i < g->images.n; i++) {
        size_t size;
        const uint8_t *id = pgk_elf_build_id(g->images.v[i].elf, &size);
        const bool has_both = size && m->id_size;
        if (pgk_elf_has_build_id(g->images.v[i].elf, m->id, m->id_size))
            return i;
        if (!is_named(g, g->images.v[i].elf, i, m->path))
            continue;
        if (!has_both)
            return i;
        char recorded[PGK_BUILD_ID_TEXT], given[PGK_BUILD_ID_TEXT];
        snprintf(a->foreign, sizeof a->foreign, "%s in the recording, %s in %s",
                 pgk_build_id_text(recorded, m->id, m->id_size),
                 pgk_build_id_text(given, id, size), pgk_elf_path(g->images.v[i].elf));
    }
    return PGK_NO_BINARY;
}

/* An address of an entry: of which binary, and whether an instruction is there. */
static uint32_t place(struct adder *a, uint64_t address, uint64_t *addr, bool *fits)
{
    const uint32_t binary = a->of[pgk_branches_module_of(&a->view, address)];
    *addr = pgk_branches_place(address);
    *fits = binary != PGK_NO_BINARY && pgk_code_is(&a->g->images.v[binary].code, *addr);
    return binary;
}

/* The call in front of a return address, as one binary sees it. */
static uint64_t call_of(struct adder *a, uint32_t binary, uint64_t back)
{
    if (a->of[pgk_branches_module_of(&a->view, back)] != binary)
        return PGK_ADDR_EXTERNAL;
    return pgk_code_call_before(&a->g->images.v[binary].code, pgk_branches_place(back));
}

/* The calls that an entry happened under, as those of a call chain. */
static bool list_callers(struct adder *a, uint32_t binary, const struct pgk_branch_entry *e)
{
    bool elsewhere = false;
    a->callers.n = 0;
    for (uint32_t i = e->under; i;) {
        const struct pgk_branch_entry call = pgk_branches_entry(&a->view, i - 1);
        const uint64_t at = call_of(a, binary, call.from);
        const bool was_elsewhere = elsewhere;
        elsewhere = at == PGK_ADDR_EXTERNAL;
        i = call.under;
        if (!at)
            break;
        if (!(elsewhere && was_elsewhere) && !pgk_vec_push(&a->callers, at))
            return false;
    }
    if (a->callers.n && a->callers.v[a->callers.n - 1] == PGK_ADDR_EXTERNAL)
        a->callers.n--;
    return true;
}

/* PGK_INDEX_NONE when out of memory. */
static uint32_t node_of(struct adder *a, uint32_t binary, const struct pgk_branch_entry *e)
{
    a->callers.n = 0;
    if (a->g->contexts && !list_callers(a, binary, e))
        return PGK_INDEX_NONE;
    return pgk_call_trie_find(&a->g->images.v[binary].calls, a->callers.v, a->callers.n);
}

static bool add_range(struct adder *a, const struct pgk_branch_entry *e)
{
    uint64_t from, to;
    bool fits, ends;
    const uint32_t binary = place(a, e->from, &from, &fits);
    place(a, e->to, &to, &ends);
    if (!fits || !ends)
        return true;
    struct pgk_gen_binary *b = &a->g->images.v[binary];
    a->ran += (double)e->count;
    if (!a->g->contexts)
        return pgk_pairs_add(&b->counters.ranges, from, to, scaled(a, e));
    const uint32_t node = node_of(a, binary, e);
    return node != PGK_INDEX_NONE &&
           pgk_call_trie_add_range(&b->calls, &b->code, node, from, to, scaled(a, e));
}

/* Of a branch from elsewhere the callers are not known. */
static bool count_branch(struct adder *a, const struct pgk_branch_entry *e, uint32_t binary,
                         uint64_t from, uint64_t to)
{
    struct pgk_gen_binary *b = &a->g->images.v[binary];
    if (!a->g->contexts)
        return pgk_pairs_add(&b->counters.branches, from, to, scaled(a, e));
    const uint32_t node = from == PGK_ADDR_EXTERNAL ? pgk_call_trie_find(&b->calls, NULL, 0)
                                                    : node_of(a, binary, e);
    return node != PGK_INDEX_NONE &&
           pgk_call_counts_add(&b->calls.branches, node, from, to, scaled(a, e));
}

/* Tables of the linker (.plt) are no code that profiles are of. */
static bool is_unfit(struct adder *a, uint32_t binary, uint64_t addr)
{
    return binary != PGK_NO_BINARY && pgk_code_is_between(&a->g->images.v[binary].code, addr);
}

static bool add_branch(struct adder *a, const struct pgk_branch_entry *e)
{
    struct pgk_gen_stats *s = &a->g->stats;
    uint64_t from, to;
    bool from_fits, to_fits;
    const uint32_t source = place(a, e->from, &from, &from_fits),
                   target = place(a, e->to, &to, &to_fits);
    s->branches = pgk_add_saturated(s->branches, e->count);
    if (source == PGK_NO_BINARY && target == PGK_NO_BINARY)
        s->branches_outside = pgk_add_saturated(s->branches_outside, e->count);
    if (is_unfit(a, source, from) || is_unfit(a, target, to)) {
        s->unfit = pgk_add_saturated(s->unfit, e->count);
        s->in_code = pgk_add_saturated(s->in_code, e->count);
        pgk_gen_example(s, PGK_GEN_UNFIT, "from 0x%" PRIx64 " to 0x%" PRIx64, from, to);
        return true;
    }
    return !to_fits ||
           count_branch(a, e, target, from_fits && source == target ? from : PGK_ADDR_EXTERNAL, to);
}

/* The data that a load hit: for data profiles any data, otherwise vtables. Every load of a window
 * is counted, like every branch, so counts of types are scaled like those of branches. */
static int add_load(struct adder *a, const struct pgk_branch_entry *e)
{
    struct pgk_gen *g = a->g;
    uint64_t at;
    uint32_t name;
    bool fits;
    const uint32_t binary = place(a, e->from, &at, &fits);
    const struct pgk_gen_place data = {a->of[pgk_branches_module_of(&a->view, e->to)],
                                       pgk_branches_place(e->to)};
    g->stats.load_samples = pgk_add_saturated(g->stats.load_samples, e->count);
    a->loaded += (double)e->count;
    if (data.binary == PGK_NO_BINARY || g->opts.no_vtables)
        return 0;
    struct pgk_gen_binary *b = &g->images.v[g->opts.data ? data.binary : binary];
    if (g->opts.data)
        return pgk_pairs_add(&b->accesses, data.addr, 0, scaled(a, e)) ? 0 : pgk_fail_nomem(g->err);
    if (!fits)
        return 0;
    PGK_TRY(pgk_gen_find_vtable(g, data, &name));
    if (!name)
        return 0;
    const uint32_t node = node_of(a, binary, e);
    return node != PGK_INDEX_NONE &&
                   pgk_call_counts_add(&b->calls.vtables, node, at, name, scaled(a, e))
               ? 0
               : pgk_fail_nomem(g->err);
}

/* Where time was spent, if somebody asks for it. */
static int add_tick(struct adder *a, const struct pgk_branch_entry *e)
{
    uint64_t addr;
    bool fits;
    if (!a->g->ticks.wanted)
        return 0;
    const uint32_t binary = place(a, e->from, &addr, &fits);
    if (binary != PGK_NO_BINARY)
        return pgk_gen_tick(a->g, (struct pgk_gen_place){binary, addr}, NULL, e->count);
    const uint64_t module = pgk_branches_module_of(&a->view, e->from);
    if (module == a->view.head.modules)
        return pgk_gen_tick(a->g, (struct pgk_gen_place){PGK_NO_BINARY, 0}, "", e->count);
    const struct pgk_branch_module m = pgk_branches_module(&a->view, module);
    return pgk_gen_tick(a->g, (struct pgk_gen_place){PGK_NO_BINARY, 0}, m.path, e->count);
}

static bool count(struct adder *a, const struct pgk_branch_entry *e)
{
    return e->kind == PGK_BRANCH_RAN ? add_range(a, e) : add_branch(a, e);
}

static int add_entry(struct adder *a, const struct pgk_branch_entry *e)
{
    switch ((enum pgk_branch_kind)e->kind) {
    case PGK_BRANCH_LOADED: return add_load(a, e);
    case PGK_BRANCH_TICKED: return add_tick(a, e);
    case PGK_BRANCH_TAKEN:
    case PGK_BRANCH_RAN:
        return a->g->opts.data || count(a, e) ? 0 : pgk_fail_nomem(a->g->err);
    case PGK_BRANCH_CALLED:
    case PGK_BRANCH_KINDS: break;
    }
    return 0;
}

static int add_entries(struct adder *a)
{
    for (uint64_t i = 0; i < a->view.head.entries; i++) {
        const struct pgk_branch_entry e = pgk_branches_entry(&a->view, i);
        PGK_TRY(add_entry(a, &e));
    }
    return 0;
}

/* Which files were recorded instead, for a person. */
static void note_elsewhere(const struct adder *a)
{
    struct pgk_gen *g = a->g;
    for (uint64_t i = 0; i < a->view.head.modules && !*g->elsewhere; i++)
        if (*pgk_branches_module(&a->view, i).path)
            snprintf(g->elsewhere, sizeof g->elsewhere, "%.*s", (int)sizeof g->elsewhere - 1,
                     pgk_base_name(pgk_branches_module(&a->view, i).path));
}

/* All inputs are with contexts, or none is. */
static int decide_contexts(struct adder *a, const struct pgk_source *src, struct pgk_err *err)
{
    static const char *const kinds[] = {"plain counters", "counters by calling context"};
    struct pgk_gen *g = a->g;
    bool contexts = false;
    for (uint64_t i = 0; i < a->view.head.entries && !contexts && !g->opts.ignore_chains; i++)
        contexts = pgk_branches_entry(&a->view, i).kind == PGK_BRANCH_CALLED;
    if (g->decided && g->contexts != contexts)
        return pgk_fail(err, PGK_E_MISMATCH, .file = src->file, .format = src->format,
                        .offset = &(uint64_t){0}, .field = "contexts", .found = kinds[contexts],
                        .expected = kinds[g->contexts],
                        .hint = "generate from inputs of one kind, or choose another --mode");
    g->decided = true;
    g->contexts = contexts;
    return 0;
}

int pgk_gen_add_branches(struct pgk_gen *g, const struct pgk_filemap *map, const char *path,
                         struct pgk_err *err)
{
    const struct pgk_source src = {.file = path, .format = "branch recording"};
    struct adder a = {.g = g};
    bool any = false;
    PGK_TRY(pgk_branches_check(&a.view, map->bytes, map->size, &src, err));
    PGK_TRY(decide_contexts(&a, &src, err));
    a.scale = g->opts.no_scale ? 1 : pgk_branch_scale(&a.view.head);
    pgk_gen_note_scale(g, a.scale);
    const uint64_t n = a.view.head.modules;
    a.of[n] = PGK_NO_BINARY;
    for (uint64_t i = 0; i < n; i++) {
        const struct pgk_branch_module m = pgk_branches_module(&a.view, i);
        if ((a.of[i] = find_binary(&a, &m)) == PGK_NO_BINARY)
            continue;
        any = true;
        PGK_TRY(pgk_gen_need_code(g, &g->images.v[a.of[i]]));
    }
    if (!any && *a.foreign)
        PGK_TRY(pgk_gen_other_build(g, path, a.foreign, err));
    const uint64_t windows = a.view.head.counters[PGK_BRANCH_WINDOWS];
    g->stats.samples = pgk_add_saturated(g->stats.samples, windows);
    g->stats.lost = pgk_add_saturated(g->stats.lost, a.view.head.counters[PGK_BRANCH_TABLE_FULL]);
    if (!any) {
        g->stats.outside = pgk_add_saturated(g->stats.outside, windows);
        note_elsewhere(&a);
    }
    const int status = add_entries(&a);
    pgk_gen_note_windows(&g->ranges, a.ran, a.scale);
    pgk_gen_note_windows(&g->loaded, a.loaded, a.scale);
    pgk_vec_free(&a.callers);
    return status;
}
