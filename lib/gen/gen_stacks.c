/* The call stacks that were sampled. */
#include "gen_stacks.h"

#include "gen_empty.h"
#include "gen_place.h"
#include "gen_samples.h"
#include "hash.h"
#include "path.h"
#include "saturate.h"

const struct pgk_gen_stacks *pgk_gen_stacks(const struct pgk_gen *g)
{
    return &g->stacks_seen;
}

struct pgk_binaries *pgk_gen_binaries(const struct pgk_gen *g)
{
    return g->binaries;
}

int pgk_gen_no_stacks(const struct pgk_gen *g, struct pgk_err *err)
{
    return pgk_gen_no_samples(g, err);
}

static uint32_t place_number(struct pgk_gen_stacks *s, struct pgk_stack_place place)
{
    const uint64_t hash = pgk_hash_pair(place.addr, pgk_hash_pair(place.binary, place.file));
    PGK_INDEX_FOR (&s->index, hash, i) {
        const struct pgk_stack_place *p = &s->places.v[i];
        if (p->addr == place.addr && p->binary == place.binary && p->file == place.file)
            return i;
    }
    const uint32_t added = (uint32_t)s->places.n;
    return pgk_vec_push(&s->places, place) && pgk_index_add(&s->index, hash, added)
               ? added
               : PGK_INDEX_NONE;
}

/* Where an address is; in a file that is not of the set, all addresses are one place. */
static int place_at(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr,
                    uint32_t *number)
{
    const struct pgk_gen_place at = pgk_gen_place(g, s, addr);
    struct pgk_stack_place place = {.binary = at.binary};
    if (at.binary != PGK_NO_BINARY) {
        place.addr = at.addr;
    } else {
        size_t n;
        const struct pgk_process_file *files = pgk_process_map_files(g->space.map, &n);
        const struct pgk_process_place in =
            pgk_process_map_find(g->space.map, s->pid, s->time, addr);
        place.file = in.mapping ? pgk_intern_cstr(&g->stacks_seen.texts,
                                                  pgk_base_name(files[in.mapping->file].path))
                                : 0;
    }
    *number = place_number(&g->stacks_seen, place);
    return *number == PGK_INDEX_NONE || place.file == PGK_INDEX_NONE ? pgk_fail_nomem(g->err) : 0;
}

static int push(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr)
{
    uint32_t number;
    PGK_TRY(place_at(g, s, addr, &number));
    return pgk_vec_push(&g->stacks_seen.path, number) ? 0 : pgk_fail_nomem(g->err);
}

int pgk_gen_count_stack(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_gen_stacks *seen = &g->stacks_seen;
    const uint64_t *chain;
    const size_t n = pgk_gen_user_chain(s, &chain);
    seen->path.n = 0;
    PGK_TRY(push(g, s, s->ip));
    for (size_t i = 1; i < n; i++)
        if (chain[i])
            PGK_TRY(push(g, s, chain[i] - (s->chain_in_calls ? 0 : 1)));
    if (!seen->tree.nodes.n && !pgk_stack_tree_init(&seen->tree))
        return pgk_fail_nomem(g->err);
    const uint32_t node = pgk_stack_add(&seen->tree, seen->path.v, seen->path.n);
    if (node == PGK_NODE_NONE)
        return pgk_fail_nomem(g->err);
    while (seen->counts.n < seen->tree.nodes.n)
        if (!pgk_vec_push(&seen->counts, 0))
            return pgk_fail_nomem(g->err);
    seen->counts.v[node] = pgk_add_saturated(seen->counts.v[node], s->count);
    return 0;
}

void pgk_gen_stacks_free(struct pgk_gen_stacks *s)
{
    pgk_intern_free(&s->texts);
    pgk_vec_free(&s->places);
    pgk_index_free(&s->index);
    pgk_stack_tree_free(&s->tree);
    pgk_vec_free(&s->counts);
    pgk_vec_free(&s->path);
}
