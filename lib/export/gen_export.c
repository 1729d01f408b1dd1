/* The call stacks that a generator saw as weighted stacks, with the names and lines that debug
 * information has of them: inlined functions are frames of their own. */
#include "exporters.h"

#include "binary_set.h"
#include "demangle.h"
#include "gen_stacks.h"
#include "hash.h"
#include "hex.h"
#include "path.h"
#include "pgokit/gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct pgk_value_type types[] = {{"samples", "samples", "count"}};

struct builder {
    struct pgk_stacks *s;
    const struct pgk_gen_stacks *seen;
    struct pgk_binaries *binaries;
    struct pgk_err *err;
    struct pgk_index func_index, frame_index;
    PGK_VEC(uint32_t) location; /* of each place */
    PGK_VEC(uint32_t) chain, path;
};

static uint32_t text(struct builder *b, const char *t)
{
    return t && *t ? pgk_intern_safe(&b->s->strings, t) : 0;
}

static uint32_t func_of(struct builder *b, const struct pgk_stack_func *func)
{
    const uint64_t hash = pgk_hash_pair(pgk_hash_pair(func->linkage, func->file),
                                        pgk_hash_pair(func->first_line, func->module));
    PGK_INDEX_FOR (&b->func_index, hash, i) {
        const struct pgk_stack_func *f = &b->s->funcs.v[i];
        if (f->linkage == func->linkage && f->file == func->file && f->module == func->module &&
            f->first_line == func->first_line)
            return i;
    }
    const uint32_t added = (uint32_t)b->s->funcs.n;
    return pgk_vec_push(&b->s->funcs, *func) && pgk_index_add(&b->func_index, hash, added)
               ? added
               : PGK_INDEX_NONE;
}

static bool push_frame(struct builder *b, const struct pgk_stack_frame *frame)
{
    const uint64_t hash = pgk_hash_pair(pgk_hash_pair(frame->func, frame->line),
                                        pgk_hash_pair(frame->column, frame->address));
    PGK_INDEX_FOR (&b->frame_index, hash, i) {
        const struct pgk_stack_frame *f = &b->s->frames.v[i];
        if (f->func == frame->func && f->line == frame->line && f->column == frame->column &&
            f->address == frame->address)
            return pgk_vec_push(&b->chain, i);
    }
    const uint32_t added = (uint32_t)b->s->frames.n;
    return pgk_vec_push(&b->s->frames, *frame) && pgk_index_add(&b->frame_index, hash, added) &&
           pgk_vec_push(&b->chain, added);
}

static bool push_source(struct builder *b, const struct pgk_sym_frame *f)
{
    char *shown = f->function ? pgk_demangle(f->function) : NULL;
    struct pgk_stack_func func = {.linkage = text(b, f->function),
                                  .name = text(b, shown ? shown : f->function),
                                  .file = text(b, f->decl_file ? f->decl_file : f->file),
                                  .first_line = f->decl_line};
    pgk_mem_free(shown);
    struct pgk_stack_frame frame = {
        .func = func_of(b, &func), .line = f->line, .column = f->column};
    return frame.func != PGK_INDEX_NONE && push_frame(b, &frame);
}

/* The build id of the file that a place is in, as a text; 0: unknown. */
static uint32_t module_of(struct builder *b, const struct pgk_stack_place *p)
{
    char id[PGK_BUILD_ID_TEXT];
    size_t n;
    if (p->binary == UINT32_MAX)
        return 0;
    const uint8_t *bytes = pgk_elf_build_id(pgk_binaries_elf(b->binaries, p->binary), &n);
    return n ? text(b, pgk_build_id_text(id, bytes, n)) : 0;
}

/* A place without debug information has the name of its file. */
static bool push_file(struct builder *b, const struct pgk_stack_place *p)
{
    char name[300] = "[unknown]";
    if (p->binary != UINT32_MAX)
        snprintf(name, sizeof name, "[%s]",
                 pgk_base_name(pgk_elf_path(pgk_binaries_elf(b->binaries, p->binary))));
    else if (p->file)
        snprintf(name, sizeof name, "[%s]", pgk_intern_str(&b->seen->texts, p->file));
    const struct pgk_stack_func func = {.linkage = text(b, name), .name = text(b, name)};
    const struct pgk_stack_frame frame = {.func = func_of(b, &func)};
    return frame.func != PGK_INDEX_NONE && push_frame(b, &frame);
}

static bool add_location(struct builder *b, uint32_t place, const struct pgk_sym_chain *chain)
{
    bool ok = true;
    b->chain.n = 0;
    for (uint32_t i = 0; ok && chain && i < chain->count; i++)
        ok = push_source(b, &chain->frames[i]);
    if (ok && !b->chain.n)
        ok = push_file(b, &b->seen->places.v[place]);
    const uint32_t added = ok ? pgk_stacks_add_location(b->s, b->chain.v, (uint32_t)b->chain.n) : 0;
    b->location.v[place] = added;
    if (!added)
        return false;
    struct pgk_stack_location *l = &b->s->locations.v[added];
    l->module = module_of(b, &b->seen->places.v[place]);
    l->address = b->seen->places.v[place].addr;
    return true;
}

/* ---- addresses of one binary ---- */

struct place_at {
    uint64_t addr;
    uint32_t place;
};

static int by_address(const void *a, const void *b)
{
    const struct place_at *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct batch {
    PGK_VEC(struct place_at) places;
    PGK_VEC(uint64_t) addrs;
    struct pgk_arena arena;
    struct pgk_sym_chain *chains;
};

static int name_all(struct builder *b, uint32_t binary, struct batch *batch)
{
    if (!batch->places.n)
        return 0;
    qsort(batch->places.v, batch->places.n, sizeof *batch->places.v, by_address);
    for (size_t i = 0; i < batch->places.n; i++)
        if (!pgk_vec_push(&batch->addrs, batch->places.v[i].addr))
            return pgk_fail_nomem(b->err);
    batch->chains = pgk_mem_zalloc(batch->addrs.n, sizeof *batch->chains);
    if (!batch->chains)
        return pgk_fail_nomem(b->err);
    int status = pgk_binaries_symbolise(b->binaries, binary, batch->addrs.v, batch->addrs.n,
                                        &batch->arena, batch->chains, b->err);
    if (status && status != PGK_E_NODEBUG)
        return status;
    for (size_t i = 0; i < batch->places.n; i++)
        if (!add_location(b, batch->places.v[i].place, status ? NULL : &batch->chains[i]))
            return pgk_fail_nomem(b->err);
    return 0;
}

static int name_places(struct builder *b, uint32_t binary)
{
    struct batch batch = {0};
    int status = 0;
    for (uint32_t i = 0; !status && i < b->seen->places.n; i++)
        if (b->seen->places.v[i].binary == binary &&
            !pgk_vec_push(&batch.places, (struct place_at){b->seen->places.v[i].addr, i}))
            status = pgk_fail_nomem(b->err);
    if (!status)
        status = name_all(b, binary, &batch);
    pgk_vec_free(&batch.places);
    pgk_vec_free(&batch.addrs);
    pgk_arena_free(&batch.arena);
    pgk_mem_free(batch.chains);
    return status;
}

/* ---- stacks ---- */

static bool add_stack(struct builder *b, uint32_t node)
{
    const struct pgk_stack_node *nodes = b->seen->tree.nodes.v;
    b->path.n = 0;
    for (uint32_t at = node; at; at = nodes[at].parent)
        if (!pgk_vec_push(&b->path, b->location.v[nodes[at].frame]))
            return false;
    return pgk_stacks_add(b->s, b->path.v, b->path.n, (struct pgk_weighted_stack){.label = ""},
                          &b->seen->counts.v[node]);
}

static int build(struct builder *b)
{
    for (size_t i = 0; i < b->seen->places.n; i++)
        if (!pgk_vec_push(&b->location, 0))
            return pgk_fail_nomem(b->err);
    if (!pgk_stack_tree_init(&b->s->paths))
        return pgk_fail_nomem(b->err);
    for (uint32_t i = 0; i < pgk_binaries_count(b->binaries); i++)
        PGK_TRY(name_places(b, i));
    for (uint32_t i = 0; i < b->seen->places.n; i++)
        if (b->seen->places.v[i].binary == UINT32_MAX && !add_location(b, i, NULL))
            return pgk_fail_nomem(b->err);
    for (uint32_t node = 1; node < b->seen->counts.n; node++)
        if (b->seen->counts.v[node] && !add_stack(b, node))
            return pgk_fail_nomem(b->err);
    return 0;
}

static int write_stacks(struct builder *b, const struct pgk_exporter *x, const char *path)
{
    struct pgk_sink *out;
    PGK_TRY(build(b));
    PGK_TRY(pgk_sink_open(&out, path, b->err));
    const int status = x->stacks(b->s, out, b->err);
    if (!status)
        return pgk_sink_commit(&out, b->err);
    pgk_sink_drop(&out);
    return status;
}

int pgk_gen_export(struct pgk_gen *gen, const char *format, const char *path, struct pgk_err *err)
{
    struct pgk_stacks stacks = {.title = NULL, .types = types, .n_types = PGK_COUNTOF(types)};
    struct builder b = {
        .s = &stacks, .seen = pgk_gen_stacks(gen), .binaries = pgk_gen_binaries(gen), .err = err};
    const struct pgk_exporter *x = NULL;
    PGK_TRY(pgk_exporter_find(&x, format, err));
    if (!x->stacks)
        return pgk_fail(err, PGK_E_ARG, .field = "format", .found = format,
                        .expected = "pprof, otlp, folded or speedscope",
                        .hint = "make a sample profile, and give it to pgokit report");
    if (!b.seen->counts.n)
        return pgk_gen_no_stacks(gen, err);
    const int status = write_stacks(&b, x, path);
    pgk_stacks_free(&stacks);
    pgk_index_free(&b.func_index);
    pgk_index_free(&b.frame_index);
    pgk_vec_free(&b.location);
    pgk_vec_free(&b.chain);
    pgk_vec_free(&b.path);
    return status;
}
