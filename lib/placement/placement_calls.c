/* The calls of a build by what debug information says of them: where a context that was matched by
 * source positions is in the code. */
#include "placement_calls.h"

#include "binary_set.h"
#include "build_index.h"
#include "code_calls.h"
#include "hash.h"

#include <stdlib.h>

/* Adds a frame to the hash of a chain. If code has no line, its offset means nothing. */
static uint64_t add_place(uint64_t chain, const char *function, uint32_t offset, uint32_t column)
{
    const uint64_t guid = pgk_build_guid(function, strlen(function));
    return pgk_hash_pair(chain, pgk_hash_pair(guid, (uint64_t)offset << 32 | column));
}

static bool hash_chain(const struct pgk_sym_chain *chain, uint64_t *hash)
{
    *hash = 0;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct pgk_sym_frame *f = &chain->frames[i];
        if (!f->function)
            return false;
        *hash = add_place(*hash, f->function, f->line - f->decl_line, f->column);
    }
    return chain->count > 0;
}

/* Sorted by address, without doubles. */
static size_t addresses_of(const struct pgk_sym_call *calls, size_t n, uint64_t *addresses)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || addresses[kept - 1] != calls[i].addr)
            addresses[kept++] = calls[i].addr;
    return kept;
}

static int compare_calls(const void *a, const void *b)
{
    const struct pgk_sym_call *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool add_chains(struct pgk_plan_places *places, uint32_t module,
                       const struct pgk_sym_call *calls, size_t n_calls,
                       const uint64_t *addresses, const struct pgk_sym_chain *chains, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        struct pgk_plan_place p = {.call = {addresses[i], module}};
        while (at < n_calls && calls[at].addr < addresses[i])
            at++;
        p.is_tail = at < n_calls && calls[at].is_tail;
        if (!hash_chain(&chains[i], &p.chain))
            continue;
        if (!pgk_vec_push(&places->all, p) ||
            !pgk_index_add(&places->index, p.chain, (uint32_t)places->all.n - 1))
            return false;
    }
    return true;
}

static int read_binary(struct pgk_plan_places *places, struct pgk_plan *plan,
                       struct pgk_binaries *binaries, uint32_t pos, struct pgk_err *err)
{
    struct pgk_arena arena = {0};
    struct pgk_sym_call *calls;
    size_t n_calls, id_size;
    const uint8_t *id = pgk_elf_build_id(pgk_binaries_elf(binaries, pos), &id_size);
    if (!id_size)
        return pgk_fail(err, PGK_E_ARG, .file = pgk_elf_path(pgk_binaries_elf(binaries, pos)),
                        .field = "build id", .found = "none",
                        .hint = "link it with -Wl,--build-id, by which the allocator knows it");
    const uint32_t module = pgk_plan_module(plan, id, id_size);
    int status = module == UINT32_MAX ? pgk_fail_nomem(err)
                                      : pgk_code_calls(binaries, pos, &arena, &calls, &n_calls,
                                                       err);
    if (!status) {
        uint64_t *addresses = pgk_arena_alloc(&arena, n_calls + 1, sizeof *addresses);
        struct pgk_sym_chain *chains = pgk_arena_alloc(&arena, n_calls + 1, sizeof *chains);
        if (n_calls)
            qsort(calls, n_calls, sizeof *calls, compare_calls);
        const size_t n = addresses ? addresses_of(calls, n_calls, addresses) : 0;
        status = !addresses || !chains ? pgk_fail_nomem(err)
                                       : pgk_binaries_symbolise(binaries, pos, addresses, n, &arena,
                                                                chains, err);
        if (!status && !add_chains(places, module, calls, n_calls, addresses, chains, n))
            status = pgk_fail_nomem(err);
    }
    pgk_arena_free(&arena);
    return status;
}

int pgk_plan_places_read(struct pgk_plan_places *places, struct pgk_plan *plan,
                         struct pgk_binaries *binaries, struct pgk_err *err)
{
    const size_t n = pgk_binaries_count(binaries);
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(read_binary(places, plan, binaries, i, err));
    return 0;
}

void pgk_plan_places_free(struct pgk_plan_places *places)
{
    pgk_vec_free(&places->all);
    pgk_index_free(&places->index);
}

/* The frames up to the one that is not inlined are one call of the build, or several. */
static size_t take_chain(const struct pgk_heap_frame *frames, size_t n, uint64_t *chain)
{
    size_t at = 0;
    bool inlined = true;
    for (*chain = 0; at < n && inlined; at++) {
        *chain = add_place(*chain, frames[at].function, frames[at].line_offset, frames[at].column);
        inlined = frames[at].inlined;
    }
    return at;
}

bool pgk_plan_add_places(struct pgk_plan *plan, const struct pgk_plan_places *places,
                         const struct pgk_heap_frame *frames, size_t n)
{
    enum { ALTERNATIVES = 8 };
    uint64_t chain;
    uint32_t steps = 0;
    for (size_t at = 0; at < n && steps < plan->depth;) {
        struct pgk_plan_step step = {.first = (uint32_t)plan->calls.n};
        bool known = false;
        at += take_chain(frames + at, n - at, &chain);
        PGK_INDEX_FOR(&places->index, chain, i) {
            const struct pgk_plan_place *p = &places->all.v[i];
            if (p->chain != chain || step.n == ALTERNATIVES)
                continue;
            known = true;
            if (p->is_tail)
                continue;
            if (!pgk_vec_push(&plan->calls, p->call))
                return false;
            step.n++;
        }
        if (!known)
            return true;
        if (step.n && !pgk_vec_push(&plan->steps, step))
            return false;
        steps += step.n != 0;
    }
    return true;
}
