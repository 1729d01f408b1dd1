/* The first functions of each context of a plan, with their lines, as people read them. */
#include "placement_calls.h"

#include "binary_set.h"
#include "elf_file.h"
#include "heap_match.h"
#include "path.h"
#include "search.h"
#include "shown_names.h"
#include "symboliser.h"
#include "u64_set.h"

#include <inttypes.h>
#include <stdio.h>

enum { FRAMES_MAX = 256, NAMES = 3 };

/* The addresses of a binary that are named. */
struct module {
    PGK_VEC(uint64_t) addrs; /* a set, once all are there */
    struct pgk_sym_chain *chains;
};

struct naming {
    struct pgk_plan *plan;
    const struct pgk_heap *heap;
    const struct pgk_match *match;
    struct pgk_binaries *binaries; /* NULL: addresses stay numbers */
    struct module *modules;        /* by binary */
    struct pgk_arena arena;
    struct pgk_shown_names shown;
};

/* The text that grows frame by frame. */
struct text {
    char bytes[600];
    size_t used;
    unsigned frames;
};

static size_t frames_of(const struct naming *n, size_t context, struct pgk_heap_frame *frames)
{
    size_t got = n->match ? pgk_match_stack(n->match, context, frames, FRAMES_MAX)
                          : pgk_heap_stack(n->heap, context, frames, FRAMES_MAX);
    return got < NAMES ? got : NAMES;
}

static uint32_t module_of(const struct naming *n, const struct pgk_heap_frame *f)
{
    return n->binaries && f->is_address && f->build_id_size
               ? pgk_binaries_find(n->binaries, f->build_id, f->build_id_size)
               : PGK_INDEX_NONE;
}

static int collect(struct naming *n, size_t contexts, struct pgk_err *err)
{
    struct pgk_heap_frame frames[FRAMES_MAX];
    for (size_t c = 0; c < contexts; c++)
        for (size_t i = 0, got = frames_of(n, c, frames); i < got; i++) {
            uint32_t module = module_of(n, &frames[i]);
            if (module != PGK_INDEX_NONE &&
                !pgk_vec_push(&n->modules[module].addrs, frames[i].address))
                return pgk_fail_nomem(err);
        }
    return 0;
}

/* Without debug information symbols have to do. */
static int symbolise(struct naming *n, uint32_t pos, struct pgk_err *err)
{
    struct module *m = &n->modules[pos];
    struct pgk_err ignored = {0};
    m->addrs.n = pgk_u64_set(m->addrs.v, m->addrs.n);
    if (!m->addrs.n)
        return 0;
    m->chains = pgk_arena_alloc(&n->arena, m->addrs.n, sizeof *m->chains);
    if (!m->chains)
        return pgk_fail_nomem(err);
    int status = pgk_binaries_symbolise(n->binaries, pos, m->addrs.v, m->addrs.n, &n->arena,
                                        m->chains, &ignored);
    if (status)
        m->chains = NULL;
    return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : 0;
}

/* The symbol that an address is in, or NULL. */
static const char *symbol_at(struct naming *n, uint32_t module, uint64_t address)
{
    const struct pgk_elf_sym *syms;
    size_t count;
    struct pgk_err ignored;
    if (module == PGK_INDEX_NONE ||
        pgk_elf_symbols(pgk_binaries_elf(n->binaries, module), &syms, &count, &ignored))
        return NULL;
    PGK_SEARCH(at, count, mid, syms[mid].addr <= address)
    return at && address - syms[at - 1].addr < syms[at - 1].size ? syms[at - 1].name : NULL;
}

/* "make (app.cpp:12)"; without a line the name alone. */
static void put_frame(struct naming *n, struct text *t, const char *name, const char *file,
                      uint32_t line)
{
    int more;
    if (t->frames++ >= NAMES)
        return;
    const char *before = t->frames > 1 ? " < " : "",
               *shown = pgk_shown_name(&n->shown, name, strlen(name));
    size_t left = sizeof t->bytes - t->used;
    if (file && *file && line)
        more = snprintf(t->bytes + t->used, left, "%s%s (%s:%" PRIu32 ")", before, shown,
                        pgk_base_name(file), line);
    else
        more = snprintf(t->bytes + t->used, left, "%s%s", before, shown);
    t->used = more > 0 && (size_t)more < left ? t->used + (size_t)more : sizeof t->bytes - 1;
}

static void put_number(struct naming *n, struct text *t, uint64_t number)
{
    char name[32];
    snprintf(name, sizeof name, "0x%" PRIx64, number);
    put_frame(n, t, name, NULL, 0);
}

static void put_address(struct naming *n, struct text *t, const struct pgk_heap_frame *f)
{
    uint32_t module = module_of(n, f);
    const struct module *m = module == PGK_INDEX_NONE ? NULL : &n->modules[module];
    size_t at = m && m->chains ? pgk_u64_find(m->addrs.v, m->addrs.n, f->address) : 0;
    const struct pgk_sym_chain *chain = m && m->chains && at < m->addrs.n ? &m->chains[at] : NULL;
    bool named = false;
    for (uint32_t i = 0; chain && i < chain->count; i++) {
        const struct pgk_sym_frame *s = &chain->frames[i];
        if (!s->function)
            continue;
        put_frame(n, t, s->function, s->file, s->line);
        named = true;
    }
    const char *symbol = named ? NULL : symbol_at(n, module, f->address);
    if (symbol && *symbol)
        put_frame(n, t, symbol, NULL, 0);
    else if (!named)
        put_number(n, t, f->address);
}

static const char *names_of(struct naming *n, size_t context)
{
    struct pgk_heap_frame frames[FRAMES_MAX];
    struct text t = {.used = 0};
    for (size_t i = 0, got = frames_of(n, context, frames); i < got; i++) {
        const struct pgk_heap_frame *f = &frames[i];
        if (f->is_address)
            put_address(n, &t, f);
        else if (f->function && *f->function)
            put_frame(n, &t, f->function, f->file,
                      f->decl_line ? f->decl_line + f->line_offset : 0);
        else
            put_number(n, &t, f->guid);
    }
    return pgk_arena_copy(&n->plan->arena, t.bytes, t.used);
}

int pgk_plan_name_contexts(struct pgk_plan *plan, const struct pgk_heap *heap,
                           const struct pgk_match *match, struct pgk_binaries *binaries,
                           struct pgk_err *err)
{
    struct naming n = {.plan = plan, .heap = heap, .match = match, .binaries = binaries};
    size_t modules = binaries ? pgk_binaries_count(binaries) : 0;
    n.modules = pgk_mem_zalloc(modules + 1, sizeof *n.modules);
    int status = n.modules ? collect(&n, plan->contexts.n, err) : pgk_fail_nomem(err);
    for (uint32_t pos = 0; pos < modules && !status; pos++)
        status = symbolise(&n, pos, err);
    for (size_t i = 0; i < plan->contexts.n && !status; i++) {
        plan->contexts.v[i].names = names_of(&n, i);
        if (!plan->contexts.v[i].names || n.shown.failed)
            status = pgk_fail_nomem(err);
    }
    for (size_t pos = 0; n.modules && pos < modules; pos++)
        pgk_vec_free(&n.modules[pos].addrs);
    pgk_mem_free(n.modules);
    pgk_arena_free(&n.arena);
    pgk_shown_names_free(&n.shown);
    return status;
}
