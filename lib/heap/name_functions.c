/* Names of functions that are known by GUID only, from debug information.
 *
 * A profile has one record for all static functions of one name. If debug information has several,
 * the record is of the one that has code at the places of the call stacks, if only one has. */
#include "binary_set.h"
#include "function_name.h"
#include "hash.h"
#include "heap_model.h"
#include "u64_set.h"

/* A function that one of the profile, of which there are several, may be. */
struct candidate {
    uint32_t func, file, decl_line;
    bool has_place;
};

struct naming {
    struct pgk_heap *heap;
    struct pgk_binaries *binaries;
    struct pgk_index by_guid; /* functions without name */
    bool *unclear;            /* by function: there are several */
    bool any_unclear;
    struct pgk_index by_place; /* frames of these */
    PGK_VEC(struct candidate) candidates;
    PGK_VEC(uint64_t) units; /* of the binary that have some */
    struct pgk_arena arena;
    struct pgk_err *err;
};

static int name_function(void *ctx, const struct pgk_sym_function *f)
{
    struct naming *n = ctx;
    struct pgk_intern *strings = &n->heap->strings;
    uint64_t guid = pgk_heap_guid(f->name, strlen(f->name));
    PGK_INDEX_FOR (&n->by_guid, guid, i) {
        struct pgk_heap_func *fn = &n->heap->funcs.v[i];
        if (fn->guid != guid)
            continue;
        uint32_t name = pgk_intern_cstr(strings, f->name),
                 file = pgk_intern_cstr(strings, f->decl_file);
        if (name == PGK_INDEX_NONE || file == PGK_INDEX_NONE)
            return pgk_fail_nomem(n->err);
        bool another = fn->name && (fn->file != file || fn->decl_line != f->decl_line);
        fn->name = name;
        fn->file = another ? 0 : file;
        fn->decl_line = another ? 0 : f->decl_line;
        n->unclear[i] |= another;
        n->any_unclear |= another;
    }
    return 0;
}

/* ---- which of several ---- */

static bool add_candidate(struct naming *n, struct candidate c)
{
    for (size_t i = 0; i < n->candidates.n; i++) {
        const struct candidate *o = &n->candidates.v[i];
        if (o->func == c.func && o->file == c.file && o->decl_line == c.decl_line)
            return true;
    }
    return pgk_vec_push(&n->candidates, c);
}

static int list_candidate(void *ctx, const struct pgk_sym_function *f)
{
    struct naming *n = ctx;
    const uint64_t guid = pgk_heap_guid(f->name, strlen(f->name));
    PGK_INDEX_FOR (&n->by_guid, guid, i) {
        if (n->heap->funcs.v[i].guid != guid || !n->unclear[i])
            continue;
        const struct candidate c = {i, pgk_intern_cstr(&n->heap->strings, f->decl_file),
                                    f->decl_line, false};
        if (c.file == PGK_INDEX_NONE || !add_candidate(n, c) ||
            (f->unit && !pgk_vec_push(&n->units, (uint64_t)f->unit)))
            return pgk_fail_nomem(n->err);
    }
    return 0;
}

/* A place as profiles hold it: with 16 bits of the line. */
static uint64_t short_place(uint64_t where)
{
    return pgk_frame_place((uint32_t)(where >> 32) & UINT16_MAX, (uint32_t)where);
}

static bool index_places(struct naming *n)
{
    for (uint32_t i = 0; i < n->heap->frames.n; i++) {
        const struct pgk_frame *f = &n->heap->frames.v[i];
        if (f->kind != PGK_FRAME_ADDRESS && n->unclear[f->ref] &&
            !pgk_index_add(&n->by_place, pgk_hash_pair(short_place(f->where), f->ref), i))
            return false;
    }
    return true;
}

static bool is_in_stacks(const struct naming *n, uint32_t func, uint64_t place)
{
    PGK_INDEX_FOR (&n->by_place, pgk_hash_pair(place, func), i) {
        const struct pgk_frame *f = &n->heap->frames.v[i];
        if (f->ref == func && short_place(f->where) == place)
            return true;
    }
    return false;
}

/* Marks the candidate that code is of, if a call stack has the code's place. */
static void note_place(struct naming *n, const struct pgk_sym_frame *f)
{
    const uint64_t guid = pgk_heap_guid(f->function, strlen(f->function)),
                   place = short_place(pgk_frame_place(f->line - f->decl_line, f->column));
    PGK_INDEX_FOR (&n->by_guid, guid, i) {
        if (n->heap->funcs.v[i].guid != guid || !n->unclear[i] || !is_in_stacks(n, i, place))
            continue;
        const uint32_t file = pgk_intern_cstr(&n->heap->strings, f->decl_file);
        for (size_t k = 0; k < n->candidates.n; k++) {
            struct candidate *c = &n->candidates.v[k];
            c->has_place |= c->func == i && c->file == file && c->decl_line == f->decl_line;
        }
    }
}

enum { ROWS_AT_ONCE = 1 << 16 };

static int note_rows(struct naming *n, uint32_t binary, const uint64_t *rows, size_t n_rows)
{
    const size_t most = n_rows < ROWS_AT_ONCE ? n_rows : ROWS_AT_ONCE;
    struct pgk_sym_chain *chains = pgk_mem_alloc(most + 1, sizeof *chains);
    int status = chains ? 0 : pgk_fail_nomem(n->err);
    for (size_t first = 0; !status && first < n_rows; first += most) {
        const size_t count = n_rows - first < most ? n_rows - first : most;
        status = pgk_binaries_symbolise(n->binaries, binary, rows + first, count, &n->arena, chains,
                                        n->err);
        for (size_t i = 0; !status && i < count; i++)
            for (uint32_t k = 0; k < chains[i].count; k++)
                if (chains[i].frames[k].function)
                    note_place(n, &chains[i].frames[k]);
        pgk_arena_free(&n->arena);
    }
    pgk_mem_free(chains);
    return status;
}

static int look_in_binary(struct naming *n, uint32_t binary)
{
    struct pgk_symboliser *sym;
    uint64_t *rows;
    size_t n_rows;
    n->units.n = 0;
    PGK_TRY(pgk_binaries_functions(n->binaries, binary, list_candidate, n, n->err));
    n->units.n = n->units.n ? pgk_u64_set(n->units.v, n->units.n) : 0;
    if (!n->units.n)
        return 0;
    PGK_TRY(pgk_binaries_symboliser(n->binaries, binary, &sym, n->err));
    PGK_TRY(pgk_symboliser_rows(sym, n->units.v, n->units.n, &rows, &n_rows, n->err));
    int status = note_rows(n, binary, rows, n_rows);
    pgk_mem_free(rows);
    return status;
}

/* By the candidates of each function that have a place of a call stack, if they are the same. */
static void decide(struct naming *n)
{
    for (size_t i = 0; i < n->candidates.n; i++) {
        const struct candidate *c = &n->candidates.v[i];
        struct pgk_heap_func *f = &n->heap->funcs.v[c->func];
        if (!c->has_place || !n->unclear[c->func])
            continue;
        if (f->decl_line && (f->file != c->file || f->decl_line != c->decl_line)) {
            f->file = f->decl_line = 0;
            n->unclear[c->func] = false; /* both have one: it stays without */
            continue;
        }
        f->file = c->file;
        f->decl_line = c->decl_line;
    }
}

static int choose(struct naming *n)
{
    if (!index_places(n))
        return pgk_fail_nomem(n->err);
    for (uint32_t b = 0; b < pgk_binaries_count(n->binaries); b++)
        PGK_TRY(look_in_binary(n, b));
    decide(n);
    return 0;
}

int pgk_heap_name_functions(struct pgk_heap *heap, struct pgk_binaries *binaries,
                            struct pgk_err *err)
{
    struct naming n = {.heap = heap, .binaries = binaries, .err = err};
    n.unclear = pgk_mem_zalloc(heap->funcs.n + 1, sizeof *n.unclear);
    int status = n.unclear ? 0 : pgk_fail_nomem(err);
    for (uint32_t i = 0; i < heap->funcs.n && !status; i++)
        if (!heap->funcs.v[i].name && !pgk_index_add(&n.by_guid, heap->funcs.v[i].guid, i))
            status = pgk_fail_nomem(err);
    for (uint32_t b = 0; n.by_guid.used && b < pgk_binaries_count(binaries) && !status; b++)
        status = pgk_binaries_functions(binaries, b, name_function, &n, err);
    if (!status && n.any_unclear)
        status = choose(&n);
    pgk_index_free(&n.by_guid);
    pgk_index_free(&n.by_place);
    pgk_vec_free(&n.candidates);
    pgk_vec_free(&n.units);
    pgk_mem_free(n.unclear);
    return status;
}
