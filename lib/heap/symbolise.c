/* From addresses to source frames: rekeys a heap model by the debug information of
 * the binaries. The rules are LLVM's, docs/formats/raw-heap.md section 9. */
#include "binary_set.h"
#include "function_name.h"
#include "hash.h"
#include "hex.h"
#include "message.h"
#include "module_match.h"
#include "opts.h"
#include "path.h"
#include "progress.h"
#include "rekey.h"
#include "symbol_names.h"

#include <inttypes.h>
#include <stdlib.h>

/* Source files of allocation runtimes: an address whose innermost frame lies in one of
 * them belongs to the profiler, not to the program. */
static const char *const runtime_files[] = {
    "memprof_malloc_linux.cpp",
    "memprof_interceptors.cpp",
    "memprof_new_delete.cpp",
};

struct symbolise {
    struct pgk_rekey k;
    struct pgk_binaries *binaries;
    struct pgk_err *err;
    uint32_t *binary_of;           /* by module; PGK_INDEX_NONE: none given */
    uint32_t *path_of;             /* by module: string id of where its file was; 0: unknown */
    size_t *addresses_of;          /* by module: addresses of call stacks in it */
    struct pgk_sym_chain *chains;  /* by old frame */
    struct pgk_arena arena;        /* of the chains */
    PGK_VEC(uint64_t) guid_of;     /* by string id of the name; 0: not computed yet */
    PGK_VEC(uint32_t) new_frames;
    bool keep_unnamed;             /* addresses */
    bool spare_binaries;           /* no warning of those that no module is */
    size_t *unnamed;               /* by module, and last those of none: addresses */
    const char **near;             /* by old frame: the symbol nearest to an address without name */
    bool for_llvm;                 /* one function stands for all of its GUID */
    struct pgk_index by_guid;      /* these functions */
    uint8_t *use;                  /* by old frame: USED_... */
    uint32_t *chain_of;            /* by old frame: old stack of it alone, if it is used */
    size_t resolved;
};

static void append(char *list, size_t size, const char *item)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", item);
}

/* The binary of a module; one with a build id that was not given may be found, but is not looked
 * for if no call stack needs it. */
static int find_binary(struct symbolise *s, uint32_t module)
{
    if (s->addresses_of[module])
        return pgk_module_look_for(s->k.from, module, s->binaries, &s->binary_of[module], s->err);
    s->binary_of[module] = pgk_module_binary(s->k.from, module, s->binaries);
    return 0;
}

/* Describes a module of the profile that matches no given binary. */
static const char *module_text(const struct pgk_heap *h, uint32_t module, char *buf, size_t size)
{
    const struct pgk_heap_module *m = &h->modules.v[module];
    char id[PGK_BUILD_ID_TEXT];
    if (m->build_id)
        return pgk_format(buf, size, "%s of %s%s",
                          pgk_build_id_text(
                              id, (const uint8_t *)pgk_intern_str(&h->strings, m->build_id),
                              pgk_intern_len(&h->strings, m->build_id)),
                          m->name ? pgk_intern_str(&h->strings, m->name) : "the program",
                          m->name ? ", as it was profiled" : " that was profiled");
    if (m->name)
        return pgk_format(buf, size, "none, and no binary is named as %s",
                          pgk_intern_str(&h->strings, m->name));
    return "none, and no binary has such an executable segment";
}

/* No module of a profile is a given binary: names both sides. */
static int fail_mismatch(const struct symbolise *s, const struct pgk_heap_loaded *program)
{
    char given[200] = "", found[200], id[PGK_BUILD_ID_TEXT];
    const struct pgk_intern *strings = &s->k.from->strings;
    for (uint32_t i = 0; i < pgk_binaries_count(s->binaries); i++) {
        size_t size;
        const struct pgk_elf *elf = pgk_binaries_elf(s->binaries, i);
        const uint8_t *bytes = pgk_elf_build_id(elf, &size);
        append(given, sizeof given,
               PGK_F("%s of %s", pgk_build_id_text(id, bytes, size), pgk_elf_path(elf)));
    }
    return pgk_fail(s->err, PGK_E_MISMATCH, .file = pgk_intern_str(strings, program->profile),
                    .format = "raw heap profile", .record = "segments", .field = "build id",
                    .found = module_text(s->k.from, program->module, found, sizeof found),
                    .expected = *given ? PGK_F("that of a given file: %s", given)
                                       : "a binary to look addresses up in",
                    .hint = "with -b, give exactly the binary that was run; "
                            "'readelf -n BINARY' prints its build id");
}

/* Each profile must have been recorded with one at least of the binaries; where addresses may stay,
 * one profile. Of several that were not
 * the first by name is reported, because the order in which they were read means nothing. */
static int check_profiles(const struct symbolise *s)
{
    const struct pgk_heap *from = s->k.from;
    const struct pgk_heap_loaded *first = NULL;
    bool any = false;
    for (size_t i = 0, next; i < from->loaded.n; i = next) {
        bool matched = false;
        for (next = i; next < from->loaded.n; next++) {
            if (from->loaded.v[next].profile != from->loaded.v[i].profile)
                break;
            matched |= s->binary_of[from->loaded.v[next].module] != PGK_INDEX_NONE;
        }
        const struct pgk_heap_loaded *l = &from->loaded.v[i];
        any |= matched;
        if (!matched && (!first || strcmp(pgk_intern_str(&from->strings, l->profile),
                                          pgk_intern_str(&from->strings, first->profile)) < 0))
            first = l;
    }
    return first && !(any && s->keep_unnamed) ? fail_mismatch(s, first) : 0;
}

static int match_modules(struct symbolise *s)
{
    size_t n = s->k.from->modules.n;
    s->binary_of = pgk_mem_alloc(n + 1, sizeof *s->binary_of);
    s->addresses_of = pgk_module_addresses(s->k.from);
    if (!s->binary_of || !s->addresses_of)
        return pgk_fail_nomem(s->err);
    for (size_t i = 0; i < n; i++)
        PGK_TRY(find_binary(s, (uint32_t)i));
    PGK_TRY(check_profiles(s));
    for (uint32_t b = 0; !s->spare_binaries && b < pgk_binaries_count(s->binaries); b++) {
        bool used = false;
        for (size_t i = 0; i < n && !used; i++)
            used = s->binary_of[i] == b;
        if (!used && n)
            pgk_warn("%s was not loaded in any run of these profiles (no module has its build "
                     "id), so it is not used",
                     pgk_elf_path(pgk_binaries_elf(s->binaries, b)));
    }
    return 0;
}

struct address {
    uint64_t address;
    uint32_t frame; /* old frame */
};

static int compare_addresses(const void *a, const void *b)
{
    const struct address *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static bool is_named(const struct pgk_sym_chain *chain)
{
    return chain->count && chain->frames[0].function;
}

/* Looks up all addresses that lie in one binary. */
static int look_up(struct symbolise *s, uint32_t binary)
{
    PGK_VEC(struct address) in = {0};
    PGK_VEC(uint64_t) addresses = {0};
    struct pgk_sym_chain *chains = NULL;
    int status = 0;
    const struct pgk_heap *from = s->k.from;

    for (size_t i = 0; i < from->frames.n && !status; i++) {
        const struct pgk_frame *f = &from->frames.v[i];
        if (f->kind == PGK_FRAME_ADDRESS && f->ref != PGK_INDEX_NONE &&
            s->binary_of[f->ref] == binary &&
            !pgk_vec_push(&in, (struct address){
                pgk_module_link_address(from, f->ref, pgk_binaries_elf(s->binaries, binary),
                                        f->where),
                (uint32_t)i}))
            status = pgk_fail_nomem(s->err);
    }
    if (in.n)
        qsort(in.v, in.n, sizeof *in.v, compare_addresses);
    /* Two modules may be one binary (where there are no build ids): addresses may repeat. */
    for (size_t i = 0; i < in.n && !status; i++)
        if ((!i || in.v[i].address != in.v[i - 1].address) &&
            !pgk_vec_push(&addresses, in.v[i].address))
            status = pgk_fail_nomem(s->err);
    if (!status) {
        chains = pgk_mem_zalloc(addresses.n + 1, sizeof *chains);
        status = chains ? pgk_binaries_symbolise(s->binaries, binary, addresses.v, addresses.n,
                                                 &s->arena, chains, s->err)
                        : pgk_fail_nomem(s->err);
    }
    for (size_t i = 0, a = 0; i < in.n && !status; i++) {
        while (addresses.v[a] != in.v[i].address)
            a++;
        s->chains[in.v[i].frame] = chains[a];
        if (s->keep_unnamed && !is_named(&chains[a]))
            s->near[in.v[i].frame] = pgk_symbol_names_near(
                pgk_binaries_elf(s->binaries, binary), addresses.v[a]);
    }
    pgk_vec_free(&in);
    pgk_vec_free(&addresses);
    pgk_mem_free(chains);
    return status;
}

static bool is_runtime(const struct pgk_sym_frame *f)
{
    if (!f->file)
        return false;
    const char *name = pgk_base_name(f->file);
    for (size_t i = 0; i < PGK_COUNTOF(runtime_files); i++)
        if (!strcmp(name, runtime_files[i]))
            return true;
    return false;
}

/* The function that frames refer to, or PGK_INDEX_NONE when out of memory. */
static uint32_t stand_in(struct symbolise *s, uint32_t func)
{
    if (!s->for_llvm || func == PGK_INDEX_NONE)
        return func;
    const struct pgk_heap_func *funcs = s->k.to->funcs.v;
    uint64_t hash = pgk_hash_u64(funcs[func].guid);
    PGK_INDEX_FOR (&s->by_guid, hash, i)
        if (funcs[i].guid == funcs[func].guid)
            return i;
    return pgk_index_add(&s->by_guid, hash, func) ? func : PGK_INDEX_NONE;
}

/* `path`: a string id, of the file that has the function. */
static uint32_t make_func(struct symbolise *s, const struct pgk_sym_frame *f, uint32_t path)
{
    struct pgk_intern *strings = &s->k.to->strings;
    uint32_t name = pgk_intern_cstr(strings, f->function);
    uint32_t file = pgk_intern_cstr(strings, f->decl_file);
    if (name == PGK_INDEX_NONE || file == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    while (s->guid_of.n <= name)
        if (!pgk_vec_push(&s->guid_of, 0))
            return PGK_INDEX_NONE;
    if (!s->guid_of.v[name])
        s->guid_of.v[name] = pgk_heap_guid(pgk_intern_str(strings, name),
                                           pgk_intern_len(strings, name));
    uint32_t func = pgk_heap_func(s->k.to, s->guid_of.v[name], name, file, f->decl_line);
    if (func != PGK_INDEX_NONE)
        pgk_heap_note_func_path(s->k.to, func, path);
    return stand_in(s, func);
}

/* Where the file of each module was, as the profile has it, or else where it is. */
static int find_paths(struct symbolise *s)
{
    const struct pgk_heap *from = s->k.from;
    s->path_of = pgk_mem_zalloc(from->modules.n + 1, sizeof *s->path_of);
    if (!s->path_of)
        return pgk_fail_nomem(s->err);
    for (size_t i = 0; i < from->modules.n; i++) {
        const uint32_t path = from->modules.v[i].path, binary = s->binary_of[i];
        const char *text = path ? pgk_intern_str(&from->strings, path)
                           : binary == PGK_INDEX_NONE
                               ? ""
                               : pgk_elf_path(pgk_binaries_elf(s->binaries, binary));
        s->path_of[i] = pgk_intern_cstr(&s->k.to->strings, text);
        if (s->path_of[i] == PGK_INDEX_NONE)
            return pgk_fail_nomem(s->err);
    }
    return 0;
}

static enum pgk_frame_kind kind_of(const struct pgk_sym_frame *f)
{
    return f->by_symbol ? PGK_FRAME_SYMBOL : f->inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER;
}

/* Compilers do not know code that has a symbol only. */
static bool is_left_out(const struct symbolise *s, const struct pgk_sym_chain *chain)
{
    return is_runtime(&chain->frames[0]) || (chain->frames[0].by_symbol && !s->keep_unnamed);
}

/* With the nearest symbol, as that says about what it is. */
static int keep_unnamed(struct symbolise *s, size_t old)
{
    PGK_TRY(pgk_rekey_keep(&s->k, s->err));
    if (!s->near[old] || !*s->near[old])
        return 0;
    const uint32_t name = pgk_intern_cstr(&s->k.to->strings, s->near[old]);
    return name != PGK_INDEX_NONE &&
                   pgk_heap_note_near(s->k.to, s->k.map.frames.v[s->k.map.frames.n - 1], name)
               ? 0
               : pgk_fail_nomem(s->err);
}

/* Maps one old address frame to the frames of its chain, or to itself if it has no name. */
static int map_address(struct symbolise *s, size_t old)
{
    const struct pgk_sym_chain *chain = &s->chains[old];
    s->new_frames.n = 0;
    if (!is_named(chain)) {
        const uint32_t module = s->k.from->frames.v[old].ref;
        s->unnamed[module == PGK_INDEX_NONE ? s->k.from->modules.n : module]++;
        if (s->keep_unnamed)
            return keep_unnamed(s, old);
    } else if (!is_left_out(s, chain)) {
        const uint32_t path = s->path_of[s->k.from->frames.v[old].ref]; /* it has a binary */
        s->resolved++;
        for (uint32_t i = 0; i < chain->count; i++) {
            const struct pgk_sym_frame *f = &chain->frames[i];
            uint32_t func = make_func(s, f, path);
            uint32_t frame = func == PGK_INDEX_NONE
                                 ? func
                                 : pgk_heap_frame(s->k.to, kind_of(f), func,
                                                  pgk_frame_place(f->line - f->decl_line,
                                                                  f->column) & s->k.place_mask);
            if (frame == PGK_INDEX_NONE || !pgk_vec_push(&s->new_frames, frame))
                return pgk_fail_nomem(s->err);
            pgk_heap_note_discriminator(s->k.to, frame, f->discriminator);
        }
    }
    return pgk_rekey_replace(&s->k, s->new_frames.v, s->new_frames.n, s->err);
}

static int map_frames(struct symbolise *s)
{
    const struct pgk_heap *from = s->k.from;
    s->chains = pgk_mem_zalloc(from->frames.n + 1, sizeof *s->chains);
    s->unnamed = pgk_mem_zalloc(from->modules.n + 1, sizeof *s->unnamed);
    s->near = pgk_mem_zalloc(from->frames.n + 1, sizeof *s->near);
    if (!s->chains || !s->unnamed || !s->near)
        return pgk_fail_nomem(s->err);
    for (uint32_t b = 0; b < pgk_binaries_count(s->binaries); b++)
        for (size_t m = 0; m < from->modules.n; m++)
            if (s->binary_of[m] == b) {
                PGK_TRY(look_up(s, b));
                break;
            }
    for (size_t i = 0; i < from->frames.n; i++)
        PGK_TRY(from->frames.v[i].kind == PGK_FRAME_ADDRESS ? map_address(s, i)
                                                            : pgk_rekey_keep(&s->k, s->err));
    return 0;
}

/* The inline chain of an old frame, which is `stack` now, as a call site of the functions in it,
 * from frame `from` of the chain on. */
static int add_chain(struct symbolise *s, uint32_t frame, uint32_t from, uint32_t stack)
{
    const struct pgk_frame_map *map = &s->k.map;
    const uint32_t *chain = map->frames.v + map->first.v[frame];
    uint32_t n = map->first.v[frame + 1] - map->first.v[frame];
    for (uint32_t i = from; i < n; i++)
        PGK_TRY(pgk_heap_add_site(s->k.to, PGK_SITE_CALL, s->k.to->frames.v[chain[i]].ref, stack,
                                  NULL, 0, s->err));
    return 0;
}

/* Frames that stay addresses, or have the name of a symbol only, are in no function's record. */
static bool has_functions(const struct symbolise *s, uint32_t frame)
{
    const uint32_t first = s->k.map.first.v[frame];
    return first < s->k.map.first.v[frame + 1] &&
           pgk_frame_has_record(&s->k.to->frames.v[s->k.map.frames.v[first]]);
}

/* The first node of a stack of which something is left. */
static uint32_t leaf_left(const struct symbolise *s, uint32_t node)
{
    const struct pgk_stack_node *nodes = s->k.taken->stacks.nodes.v;
    const uint32_t *first = s->k.map.first.v;
    while (node && first[nodes[node].frame] == first[nodes[node].frame + 1])
        node = nodes[node].parent;
    return node;
}

enum { USED_AS_LEAF = 1, USED_AS_CALLER = 2 };

/* Function records: who allocates, and through which calls the allocations are
 * reached. A chain is a call site of all its functions; only the innermost function
 * of the first chain of a stack makes the allocation itself. Notes how each old frame is
 * used, and that contexts stand in the records of their chains. */
static int note_uses(struct symbolise *s)
{
    enum { AHEAD = 12 };
    struct pgk_heap *from = s->k.taken;
    const struct pgk_stack_node *nodes = from->stacks.nodes.v;
    size_t n_nodes = from->stacks.nodes.n;
    uint8_t *calls = pgk_mem_zalloc(n_nodes, 1);
    s->use = pgk_mem_zalloc(from->frames.n + 1, 1);
    if (!calls || !s->use) {
        pgk_mem_free(calls);
        return pgk_fail_nomem(s->err);
    }
    for (size_t i = 0; i < from->contexts.n; i++) {
        uint32_t node = from->contexts.v[i].stack;
        if (i + AHEAD < from->contexts.n)
            pgk_heap_prefetch_leaf(from, from->contexts.v[i + AHEAD].stack);
        if (!node || from->frames.v[nodes[node].frame].kind != PGK_FRAME_ADDRESS)
            continue; /* came with its sites */
        const uint32_t leaf = leaf_left(s, node);
        from->contexts.v[i].owned_by_chain = leaf && has_functions(s, nodes[leaf].frame);
        while (node && !has_functions(s, nodes[node].frame))
            node = nodes[node].parent;
        if (node) {
            s->use[nodes[node].frame] |= USED_AS_LEAF;
            calls[nodes[node].parent] = 1;
        }
    }
    for (size_t i = n_nodes; i-- > 1;) {
        if (!calls[i])
            continue;
        s->use[nodes[i].frame] |= USED_AS_CALLER;
        calls[nodes[i].parent] = 1;
    }
    pgk_mem_free(calls);
    return 0;
}

/* Stacks of one old frame each, for the call sites; these become new stacks with all others. */
static int push_chains(struct symbolise *s)
{
    s->chain_of = pgk_mem_zalloc(s->k.from->frames.n + 1, sizeof *s->chain_of);
    if (!s->chain_of)
        return pgk_fail_nomem(s->err);
    for (size_t i = 0; i < s->k.from->frames.n; i++) {
        if (s->use[i])
            s->chain_of[i] = pgk_stack_push(&s->k.taken->stacks, 0, (uint32_t)i);
        if (s->chain_of[i] == PGK_NODE_NONE)
            return pgk_fail_nomem(s->err);
    }
    return 0;
}

/* A context whose leaf has no name is in the records of the first functions of its stack. */
static int add_unnamed_leaves(struct symbolise *s)
{
    const struct pgk_heap *from = s->k.taken;
    const struct pgk_stack_node *nodes = from->stacks.nodes.v;
    const struct pgk_frame_map *map = &s->k.map;
    for (size_t i = 0; i < from->contexts.n; i++) {
        const uint32_t stack = from->contexts.v[i].stack;
        if (!stack || from->frames.v[nodes[stack].frame].kind != PGK_FRAME_ADDRESS ||
            from->contexts.v[i].owned_by_chain)
            continue;
        uint32_t node = stack;
        while (node && !has_functions(s, nodes[node].frame))
            node = nodes[node].parent;
        for (uint32_t f = node ? map->first.v[nodes[node].frame] : 0;
             node && f < map->first.v[nodes[node].frame + 1]; f++)
            PGK_TRY(pgk_heap_add_site(s->k.to, PGK_SITE_ALLOC,
                                      s->k.to->frames.v[map->frames.v[f]].ref,
                                      s->k.node_map[stack], NULL, 0, s->err));
    }
    return 0;
}

static int add_sites(struct symbolise *s)
{
    if (s->keep_unnamed)
        PGK_TRY(add_unnamed_leaves(s));
    for (size_t i = 0; i < s->k.from->frames.n; i++)
        if (s->use[i] && has_functions(s, (uint32_t)i))
            PGK_TRY(add_chain(s, (uint32_t)i, s->use[i] & USED_AS_CALLER ? 0 : 1,
                              s->k.node_map[s->chain_of[i]]));
    return 0;
}

/* With every step some table of the old profile has been used for the last time. */
static int rekey(struct symbolise *s)
{
    struct pgk_heap *from = s->k.taken;
    pgk_binaries_trim(s->binaries); /* names are strings of the new profile by now */
    pgk_index_free(&from->frame_index);
    pgk_vec_free(&from->context_of);
    PGK_TRY(note_uses(s));
    PGK_TRY(push_chains(s));
    pgk_stack_tree_trim(&from->stacks);
    PGK_TRY(pgk_rekey_stacks(&s->k, s->err));
    PGK_TRY(add_sites(s));
    pgk_vec_free(&from->stacks.nodes);
    return pgk_rekey_finish(&s->k, s->err);
}

/* In an order that does not depend on that of the modules, which threads may have read. */
static int by_frames(const void *a, const void *b, void *arg)
{
    const struct pgk_intern *strings = arg;
    const struct pgk_heap_unnamed_in *x = a, *y = b;
    if (x->frames != y->frames)
        return x->frames < y->frames ? 1 : -1;
    const int order = strcmp(pgk_intern_str(strings, x->path), pgk_intern_str(strings, y->path));
    return order ? order
                 : memcmp(pgk_intern_str(strings, x->build_id),
                          pgk_intern_str(strings, y->build_id),
                          pgk_intern_len(strings, x->build_id) <
                                  pgk_intern_len(strings, y->build_id)
                              ? pgk_intern_len(strings, x->build_id)
                              : pgk_intern_len(strings, y->build_id));
}

static int list_unnamed(struct symbolise *s)
{
    struct pgk_heap *to = s->k.to;
    const struct pgk_heap *from = s->k.from;
    for (size_t i = 0; i <= from->modules.n; i++) {
        static const struct pgk_heap_module none;
        const struct pgk_heap_module *m = i < from->modules.n ? &from->modules.v[i] : &none;
        struct pgk_heap_unnamed_in u = {
            .frames = s->unnamed[i],
            .file_found = i < from->modules.n && s->binary_of[i] != PGK_INDEX_NONE};
        if (!u.frames)
            continue;
        u.path = pgk_intern_cstr(&to->strings,
                                 pgk_intern_str(&from->strings, m->path ? m->path : m->name));
        u.build_id = pgk_intern(&to->strings, pgk_intern_str(&from->strings, m->build_id),
                                pgk_intern_len(&from->strings, m->build_id));
        if (u.path == PGK_INDEX_NONE || u.build_id == PGK_INDEX_NONE ||
            !pgk_vec_push(&to->unnamed, u))
            return pgk_fail_nomem(s->err);
    }
    if (to->unnamed.n)
        qsort_r(to->unnamed.v, to->unnamed.n, sizeof *to->unnamed.v, by_frames, &to->strings);
    return 0;
}

bool pgk_heap_unnamed_at(const struct pgk_heap *heap, size_t i, struct pgk_heap_unnamed *unnamed)
{
    if (i >= heap->unnamed.n)
        return false;
    const struct pgk_heap_unnamed_in *u = &heap->unnamed.v[i];
    const struct pgk_heap_unnamed full = {
        .struct_size = sizeof full,
        .path = pgk_intern_str(&heap->strings, u->path),
        .build_id = (const uint8_t *)pgk_intern_str(&heap->strings, u->build_id),
        .build_id_size = pgk_intern_len(&heap->strings, u->build_id),
        .frames = u->frames,
        .file_found = u->file_found};
    PGK_RESULT_GIVE(unnamed, &full);
    return true;
}

static int run(struct symbolise *s, struct pgk_heap_symbolised *done)
{
    const struct pgk_heap *from = s->k.from;
    size_t addresses = 0, contexts = from->contexts.n;
    PGK_TRY(match_modules(s));
    PGK_TRY(find_paths(s));
    PGK_TRY(map_frames(s));
    PGK_TRY(list_unnamed(s));
    PGK_TRY(rekey(s));
    for (size_t i = 0; i < from->frames.n; i++)
        addresses += from->frames.v[i].kind == PGK_FRAME_ADDRESS;
    const struct pgk_heap_symbolised result = {
        .addresses = addresses, .addresses_resolved = s->resolved,
        .contexts_dropped = s->k.contexts_dropped, .bytes_dropped = s->k.bytes_dropped};
    PGK_RESULT_GIVE(done, &result);
    const bool none_named = s->keep_unnamed && addresses && !s->resolved;
    if (contexts && (none_named || !s->k.to->contexts.n))
        return pgk_fail(s->err, PGK_E_EMPTY, .record = "contexts",
                        .file = pgk_binaries_count(s->binaries)
                                    ? pgk_elf_path(pgk_binaries_elf(s->binaries, 0))
                                    : NULL,
                        .found = PGK_F("%zu context%s, %zu address%s, and the given binaries have "
                                       "no debug information for them", contexts,
                                       pgk_plural(contexts), addresses,
                                       addresses == 1 ? "" : "es"),
                        .expected = "at least one context with a known function",
                        .hint = "compile with -g, or -gline-tables-only "
                                "-fdebug-info-for-profiling; without debug information, pgokit "
                                "show prints addresses and merge --partial keeps them");
    return 0;
}

/* Frames that were symbolised before are also reduced to what LLVM's formats hold. */
static int begin_for_llvm(struct symbolise *s)
{
    s->k.place_mask = pgk_frame_place(PGK_LLVM_LINE_MASK, UINT32_MAX);
    for (size_t i = 0; i < s->k.from->funcs.n; i++) {
        s->k.func_map[i] = stand_in(s, s->k.func_map[i]);
        if (s->k.func_map[i] == PGK_INDEX_NONE)
            return pgk_fail_nomem(s->err);
    }
    return 0;
}

int pgk_heap_symbolise(struct pgk_heap **heap, struct pgk_binaries *binaries,
                       const struct pgk_heap_symbolise_opts *given,
                       struct pgk_heap_symbolised *done, struct pgk_err *err)
{
    struct pgk_heap_symbolise_opts opts;
    struct pgk_heap *to;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    struct symbolise s = {.binaries = binaries, .for_llvm = opts.for_llvm,
                          .keep_unnamed = opts.keep_unnamed,
                          .spare_binaries = opts.spare_binaries, .err = err};
    PGK_TRY(pgk_heap_new(&to, err));
    int status = pgk_rekey_begin(&s.k, to, *heap, err);
    s.k.taken = *heap;
    if (!status && opts.for_llvm)
        status = begin_for_llvm(&s);
    struct pgk_progress progress;
    pgk_progress_start(&progress, "naming addresses", NULL, 0);
    if (!status)
        status = run(&s, done);
    pgk_progress_end(&progress);
    pgk_rekey_end(&s.k);
    pgk_index_free(&s.by_guid);
    pgk_mem_free(s.binary_of);
    pgk_mem_free(s.path_of);
    pgk_mem_free(s.addresses_of);
    pgk_mem_free(s.chains);
    pgk_mem_free(s.unnamed);
    pgk_mem_free(s.near);
    pgk_mem_free(s.use);
    pgk_mem_free(s.chain_of);
    pgk_arena_free(&s.arena);
    pgk_vec_free(&s.guid_of);
    pgk_vec_free(&s.new_frames);
    if (status) {
        pgk_heap_close(&to);
        return status;
    }
    pgk_heap_close(heap);
    *heap = to;
    return 0;
}
