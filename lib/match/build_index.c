/* The calls of a build: those of its code, symbolised. */
#include "build_index.h"

#include "code_calls.h"
#include "discriminator.h"
#include "function_name.h"
#include "hash.h"

#include <stdlib.h>

/* Functions that memory is asked of: a call of one of them ends a context. */
static const char *const allocators[] = {
    "malloc",         "calloc",         "realloc",        "reallocarray",
    "aligned_alloc",  "memalign",       "posix_memalign", "valloc",
    "pvalloc",        "strdup",         "strndup",        "__strdup",
    "__strndup",      "mmap",           "_Znwm",          "_Znam",
    "_ZnwmRKSt9nothrow_t",              "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",             "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
};

static bool is_allocator(const char *name, size_t len)
{
    for (size_t i = 0; i < PGK_COUNTOF(allocators); i++)
        if (strlen(allocators[i]) == len && !memcmp(name, allocators[i], len))
            return true;
    return false;
}

/* A function as debug information names it, found once. */
struct named {
    const char *name, *file;
    uint32_t func;
};

struct reader {
    struct pgk_build *build;
    struct pgk_binaries *set;
    struct pgk_index by_identity; /* functions, by name and file */
    PGK_VEC(struct named) named;
    struct pgk_index named_index; /* by the addresses of both texts */
    struct pgk_index call_index;
    struct pgk_arena arena; /* of the chains of a batch */
    PGK_VEC(uint64_t) addrs;
    uint64_t met; /* calls, also those that another binary has, too */
    bool lines;   /* are wanted */
};

bool pgk_build_index_func(struct pgk_build *build, uint32_t func)
{
    const struct pgk_build_func *f = &build->funcs.v[func];
    return pgk_index_add(&build->by_guid, f->guid, func) &&
           (f->full_guid == f->guid || pgk_index_add(&build->by_guid, f->full_guid, func)) &&
           (f->bare_guid == f->guid || pgk_index_add(&build->by_guid, f->bare_guid, func)) &&
           (!f->identifier_guid || pgk_index_add(&build->by_guid, f->identifier_guid, func));
}

static uint32_t add_func(struct reader *r, const char *name, const char *file)
{
    struct pgk_build *build = r->build;
    size_t len = strlen(name);
    struct pgk_plain_name plain;
    pgk_build_plain(&plain, name, len);
    uint32_t name_id = pgk_intern(&build->strings, plain.s, plain.len);
    uint32_t file_id = pgk_intern_cstr(&build->strings, file ? pgk_build_file_tail(file) : NULL);
    if (name_id == PGK_INDEX_NONE || file_id == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    uint64_t hash = pgk_hash_pair(name_id, file_id);
    PGK_INDEX_FOR (&r->by_identity, hash, i)
        if (build->funcs.v[i].name == name_id && build->funcs.v[i].file == file_id)
            return i;
    struct pgk_build_func f = {
        .guid = pgk_build_guid(name, len),
        .full_guid = pgk_heap_guid(name, len),
        .bare_guid = pgk_build_bare_guid(name, len),
        .identifier_guid = pgk_build_identifier_guid(name, len),
        .linkage = pgk_intern(&build->strings, name, len),
        .name = name_id,
        .file = file_id,
        .path = pgk_intern_cstr(&build->strings, file),
        .allocates = is_allocator(plain.s, plain.len),
    };
    uint32_t at = (uint32_t)build->funcs.n;
    bool ok = f.linkage != PGK_INDEX_NONE && f.path != PGK_INDEX_NONE &&
              pgk_vec_push(&build->funcs, f) &&
              pgk_index_add(&r->by_identity, hash, at) && pgk_build_index_func(build, at);
    return ok ? at : PGK_INDEX_NONE;
}

/* The function of this name that is declared in this file, which is NULL if any may be meant. */
static uint32_t find_func(struct reader *r, const char *name, const char *file)
{
    uint64_t hash = pgk_hash_pair((uintptr_t)name, (uintptr_t)file);
    PGK_INDEX_FOR (&r->named_index, hash, i)
        if (r->named.v[i].name == name && r->named.v[i].file == file)
            return r->named.v[i].func;
    uint32_t func = add_func(r, name, file);
    if (func == PGK_INDEX_NONE || !pgk_vec_push(&r->named, (struct named){name, file, func}) ||
        !pgk_index_add(&r->named_index, hash, (uint32_t)r->named.n - 1))
        return PGK_INDEX_NONE;
    return func;
}

/* Calls of a constructor may name it otherwise than its first body, whose name profiles have. */
static bool name_as_body(struct pgk_build *build, uint32_t func, const char *name)
{
    struct pgk_build_func *f = &build->funcs.v[func];
    size_t len = strlen(name);
    uint32_t linkage = pgk_intern(&build->strings, name, len);
    bool is_new = !f->has_body && linkage != f->linkage;
    f->has_body = true;
    if (!is_new)
        return linkage != PGK_INDEX_NONE;
    f->linkage = linkage;
    f->guid = pgk_build_guid(name, len);
    f->full_guid = pgk_heap_guid(name, len);
    return linkage != PGK_INDEX_NONE && pgk_build_index_func(build, func);
}

static int note_function(void *ctx, const struct pgk_sym_function *f)
{
    struct reader *r = ctx;
    uint32_t func = find_func(r, f->name, f->decl_file);
    if (func == PGK_INDEX_NONE || !name_as_body(r->build, func, f->name))
        return PGK_E_NOMEM;
    if (!r->build->funcs.v[func].decl_line)
        r->build->funcs.v[func].decl_line = f->decl_line;
    return 0;
}

static bool add_call(struct reader *r, const struct pgk_build_call *call)
{
    struct pgk_build *build = r->build;
    r->met++;
    uint64_t hash = pgk_hash_pair(
        pgk_hash_pair((uint64_t)call->func << 32 | call->callee, call->offset),
        (uint64_t)call->line << 32 | call->column);
    PGK_INDEX_FOR (&r->call_index, hash, i) {
        struct pgk_build_call *c = &build->calls.v[i];
        if (c->func == call->func && c->callee == call->callee && c->line == call->line &&
            c->offset == call->offset && c->column == call->column) {
            c->how |= call->how;
            return true;
        }
    }
    return pgk_vec_push(&build->calls, *call) &&
           pgk_index_add(&r->call_index, hash, (uint32_t)build->calls.n - 1);
}

/* A jump between the parts of one function calls nothing. */
static bool is_within(struct reader *r, const struct pgk_sym_chain *chain, uint32_t callee)
{
    const struct pgk_sym_frame *f = chain->count ? &chain->frames[chain->count - 1] : NULL;
    return f && f->function && callee != PGK_INDEX_NONE &&
           find_func(r, f->function, f->decl_file) == callee;
}

/* A call of `callee` at the innermost of these frames, and the inlined calls around it. */
static bool add_frames(struct reader *r, const struct pgk_sym_frame *frames, uint32_t n,
                       uint32_t callee, uint32_t how)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct pgk_sym_frame *f = &frames[i];
        if (!f->function)
            return true;
        struct pgk_build_call call = {
            .func = find_func(r, f->function, f->decl_file),
            .callee = callee,
            .line = f->line,
            .offset = f->line - f->decl_line,
            .column = f->line ? f->column : 0,
            .how = how,
        };
        if (call.func == PGK_INDEX_NONE || !add_call(r, &call))
            return false;
        struct pgk_build_func *func = &r->build->funcs.v[call.func];
        func->has_body = true;
        if (!func->decl_line)
            func->decl_line = f->decl_line;
        callee = call.func;
        how = PGK_HOW_INLINED;
    }
    return true;
}

static bool add_chain(struct reader *r, const struct pgk_sym_chain *chain, uint32_t callee,
                      bool is_tail)
{
    uint32_t how = PGK_HOW_CALL | (is_tail ? (uint32_t)PGK_HOW_TAIL : 0);
    return (is_tail && is_within(r, chain, callee)) ||
           add_frames(r, chain->frames, chain->count, callee, how);
}

static bool find_callee(struct reader *r, const struct pgk_sym_call *call, uint32_t *callee)
{
    *callee = PGK_INDEX_NONE;
    if (!call->callee)
        return true;
    *callee = find_func(r, call->callee, call->is_elsewhere ? NULL : call->callee_file);
    return *callee != PGK_INDEX_NONE;
}

/* Symbolises calls of ascending addresses, of which there may be doubles. */
static int add_batch(struct reader *r, struct pgk_symboliser *sym,
                     const struct pgk_sym_call *calls, size_t n, struct pgk_err *err)
{
    bool ok = true;
    r->addrs.n = 0;
    for (size_t i = 0; ok && i < n; i++)
        if (!i || calls[i].addr != calls[i - 1].addr)
            ok = pgk_vec_push(&r->addrs, calls[i].addr);
    struct pgk_sym_chain *chains =
        ok ? pgk_arena_alloc(&r->arena, r->addrs.n, sizeof *chains) : NULL;
    if (!chains)
        return pgk_fail_nomem(err);
    PGK_TRY(pgk_symbolise(sym, r->addrs.v, r->addrs.n, pgk_binaries_threads(r->set), &r->arena,
                          chains, err));
    for (size_t i = 0, at = 0; ok && i < n; i++) {
        uint32_t callee;
        at += calls[i].addr != r->addrs.v[at];
        ok = find_callee(r, &calls[i], &callee) &&
             add_chain(r, &chains[at], callee, calls[i].is_tail);
    }
    pgk_arena_free(&r->arena);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Frames of so many calls are in memory at a time. */
enum { AT_ONCE = 1 << 15 };

static int read_calls(struct reader *r, uint32_t binary, struct pgk_symboliser *sym,
                      struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_sym_call *calls;
    size_t n, end;
    int status = pgk_code_calls(r->set, binary, &arena, &calls, &n, err);
    for (size_t first = 0; !status && first < n; first = end) {
        end = n - first < AT_ONCE ? n : first + AT_ONCE;
        while (end < n && calls[end].addr == calls[end - 1].addr)
            end++;
        status = add_batch(r, sym, calls + first, end - first, err);
    }
    pgk_arena_free(&arena);
    return status;
}

/* ---- lines that there is code of ---- */

static int is_mark(void *ctx, const struct pgk_elf_entry *e)
{
    (void)ctx;
    return !strcmp(e->name, "__llvm_fs_discriminator__");
}

static bool add_place(struct pgk_build *build, struct pgk_build_place place)
{
    const struct pgk_build_place *last =
        build->places.n ? &build->places.v[build->places.n - 1] : NULL;
    return (last && last->func == place.func && last->offset == place.offset &&
            last->discriminator == place.discriminator) ||
           pgk_vec_push(&build->places, place);
}

/* Functions that call nothing where they were inlined are seen by their lines alone.
 *
 * gcc has no parts in its discriminators, and nothing says which compiler it was: such a place
 * stands for both readings. */
static bool add_places(struct reader *r, const struct pgk_sym_chain *chains,
                       const struct pgk_sym_place *places, size_t n, bool flow_sensitive)
{
    const struct pgk_sym_frame *leaf = NULL;
    uint32_t func = PGK_INDEX_NONE;
    for (size_t i = 0; i < n; i++) {
        if (!chains[i].count || !chains[i].frames->function || !places[i].line)
            continue;
        if (chains[i].frames != leaf) {
            leaf = chains[i].frames;
            func = find_func(r, leaf->function, leaf->decl_file);
            if (func == PGK_INDEX_NONE ||
                !add_frames(r, leaf + 1, chains[i].count - 1, func, PGK_HOW_INLINED))
                return false;
        }
        struct pgk_build_place p = {
            .func = func,
            .offset = (places[i].line - leaf->decl_line) & UINT16_MAX,
            .discriminator = pgk_discriminator_base(places[i].discriminator, flow_sensitive),
        };
        if (!add_place(r->build, p))
            return false;
        p.discriminator = places[i].discriminator;
        if (!add_place(r->build, p))
            return false;
    }
    return true;
}

enum { ROWS_AT_ONCE = 1 << 18 };

static int read_lines(struct reader *r, uint32_t binary, struct pgk_symboliser *sym,
                      struct pgk_err *err)
{
    bool flow_sensitive = pgk_elf_entries(pgk_binaries_elf(r->set, binary), is_mark, NULL) != 0;
    uint64_t *rows;
    size_t n_rows;
    PGK_TRY(pgk_symboliser_rows(sym, NULL, 0, &rows, &n_rows, err));
    size_t most = n_rows < ROWS_AT_ONCE ? n_rows : ROWS_AT_ONCE;
    struct pgk_sym_chain *chains = pgk_mem_alloc(most + 1, sizeof *chains);
    struct pgk_sym_place *places = pgk_mem_alloc(most + 1, sizeof *places);
    int status = chains && places ? 0 : pgk_fail_nomem(err);
    for (size_t first = 0; !status && first < n_rows; first += most) {
        size_t n = n_rows - first < most ? n_rows - first : most;
        status = pgk_symbolise_places(sym, rows + first, n, pgk_binaries_threads(r->set),
                                      &r->arena, chains, places, err);
        if (!status && !add_places(r, chains, places, n, flow_sensitive))
            status = pgk_fail_nomem(err);
        pgk_arena_free(&r->arena);
    }
    pgk_mem_free(rows);
    pgk_mem_free(chains);
    pgk_mem_free(places);
    return status;
}

static int read_binary(struct reader *r, uint32_t binary, struct pgk_err *err)
{
    struct pgk_symboliser *sym;
    PGK_TRY(pgk_binaries_symboliser(r->set, binary, &sym, err));
    const uint64_t before = r->met;
    int status = pgk_symboliser_functions(sym, note_function, r, err);
    if (status)
        return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : status;
    PGK_TRY(read_calls(r, binary, sym, err));
    if (r->met == before)
        return pgk_fail(err, PGK_E_NODEBUG, .file = pgk_elf_path(pgk_binaries_elf(r->set, binary)),
                        .format = "DWARF", .field = "calls", .found = "none",
                        .expected = "calls of functions with debug information",
                        .hint = "compile the program itself with -g");
    return r->lines ? read_lines(r, binary, sym, err) : 0;
}

static int by_place(const void *a, const void *b)
{
    const struct pgk_build_call *x = a, *y = b;
    if (x->func != y->func)
        return x->func < y->func ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_line(const void *a, const void *b)
{
    const struct pgk_build_place *x = a, *y = b;
    if (x->func != y->func)
        return x->func < y->func ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->discriminator < y->discriminator ? -1 : x->discriminator > y->discriminator;
}

/* Each place once. */
static void finish_places(struct pgk_build *build)
{
    size_t n = 0;
    if (build->places.n)
        qsort(build->places.v, build->places.n, sizeof *build->places.v, by_line);
    for (size_t i = 0; i < build->places.n; i++) {
        const struct pgk_build_place *p = &build->places.v[i];
        struct pgk_build_func *f = &build->funcs.v[p->func];
        if (n && !by_line(&build->places.v[n - 1], p))
            continue;
        if (!f->n_places++)
            f->first_place = (uint32_t)n;
        build->places.v[n++] = *p;
    }
    build->places.n = n;
}

/* The only function with this GUID and a body; `func` if there is none or several. */
static uint32_t only_body_of(const struct pgk_build *build, uint64_t guid, uint32_t func)
{
    uint32_t found = func, at = 0, n = 0;
    for (uint32_t f; (f = pgk_build_next(build, guid, &at)) != PGK_INDEX_NONE;) {
        found = f;
        n++;
    }
    return n == 1 ? found : func;
}

/* The only function of its name with a body, if it is the only one. */
static uint32_t only_body(const struct pgk_build *build, uint32_t func)
{
    const struct pgk_build_func *f = &build->funcs.v[func];
    if (f->has_body)
        return func;
    uint32_t found = only_body_of(build, f->guid, func);
    return found != func ? found : only_body_of(build, f->bare_guid, func);
}

/* Each call once. */
static void finish_calls(struct pgk_build *build)
{
    size_t n = 0;
    if (build->calls.n)
        qsort(build->calls.v, build->calls.n, sizeof *build->calls.v, by_place);
    for (size_t i = 0; i < build->calls.n; i++) {
        const struct pgk_build_call *c = &build->calls.v[i];
        struct pgk_build_func *f = &build->funcs.v[c->func];
        if (n && !by_place(&build->calls.v[n - 1], c)) {
            build->calls.v[n - 1].how |= c->how;
            continue;
        }
        if (!f->n_calls++)
            f->first_call = (uint32_t)n;
        build->calls.v[n++] = *c;
    }
    build->calls.n = n;
}

/* Callees that other units define get their bodies. */
void pgk_build_finish(struct pgk_build *build)
{
    for (size_t i = 0; i < build->calls.n; i++) {
        struct pgk_build_call *c = &build->calls.v[i];
        if (c->callee != PGK_INDEX_NONE)
            c->callee = only_body(build, c->callee);
    }
    finish_calls(build);
    finish_places(build);
}

int pgk_build_read(struct pgk_build *build, struct pgk_binaries *set, bool lines,
                   struct pgk_err *err)
{
    struct reader r = {.build = build, .set = set, .lines = lines};
    int status = 0;
    for (uint32_t i = 0; !status && i < pgk_binaries_count(set); i++)
        status = read_binary(&r, i, err);
    if (!status)
        pgk_build_finish(build);
    pgk_index_free(&r.by_identity);
    pgk_index_free(&r.named_index);
    pgk_index_free(&r.call_index);
    pgk_vec_free(&r.named);
    pgk_vec_free(&r.addrs);
    pgk_arena_free(&r.arena);
    return status;
}

void pgk_build_free(struct pgk_build *build)
{
    pgk_intern_free(&build->strings);
    pgk_vec_free(&build->funcs);
    pgk_vec_free(&build->calls);
    pgk_index_free(&build->by_guid);
    pgk_vec_free(&build->places);
}

uint32_t pgk_build_next(const struct pgk_build *build, uint64_t guid, uint32_t *at)
{
    for (uint32_t i; (i = pgk_index_next(&build->by_guid, guid, at)) != PGK_INDEX_NONE;) {
        const struct pgk_build_func *f = &build->funcs.v[i];
        if (f->has_body && (f->guid == guid || f->full_guid == guid || f->bare_guid == guid))
            return i;
    }
    return PGK_INDEX_NONE;
}

uint32_t pgk_build_next_internal(const struct pgk_build *build, uint64_t guid, uint32_t *at)
{
    for (uint32_t i; (i = pgk_index_next(&build->by_guid, guid, at)) != PGK_INDEX_NONE;)
        if (build->funcs.v[i].has_body && build->funcs.v[i].identifier_guid == guid)
            return i;
    return PGK_INDEX_NONE;
}

bool pgk_build_same_name(const struct pgk_build_func *a, const struct pgk_build_func *b)
{
    return a->bare_guid == b->bare_guid || a->identifier_guid == b->guid ||
           b->identifier_guid == a->guid;
}
