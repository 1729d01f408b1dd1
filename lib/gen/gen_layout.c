/* How hot code of a binary lies, and how it would in a new order. docs/formats/propeller.md
 * section 5 */
#include "bolt_blocks.h"
#include "code_places.h"
#include "gen_empty.h"
#include "gen_priv.h"
#include "opts.h"

/* ---- blocks from instructions, of a binary without a map ---- */

struct cutter {
    struct pgk_gen_binary *b;
    struct pgk_bolt_functions functions;
    struct pgk_bolt_blocks blocks;
    struct pgk_block_map *map;
    bool *ran; /* by function */
};

static void note(const struct cutter *c, uint64_t addr)
{
    uint32_t f = pgk_bolt_functions_at(&c->functions, addr);
    if (f != PGK_BOLT_NO_FUNCTION)
        c->ran[f] = true;
}

static void note_all(const struct cutter *c)
{
    const struct pgk_counters *counters = &c->b->counters;
    for (size_t i = 0; i < counters->ranges.list.n; i++)
        note(c, counters->ranges.list.v[i].from);
    for (size_t i = 0; i < counters->branches.list.n; i++) {
        note(c, counters->branches.list.v[i].from);
        note(c, counters->branches.list.v[i].to);
    }
}

static uint32_t flags_of(const struct cutter *c, const struct pgk_bolt_block *b)
{
    bool returns = pgk_code_kind(pgk_code_mark(&c->b->code, b->last)) == PGK_INSN_RET;
    return (returns ? PGK_BLOCK_RETURNS : 0u) | (b->falls_through ? PGK_BLOCK_FALLS_THROUGH : 0u);
}

static bool cut(struct cutter *c, uint32_t function)
{
    const struct pgk_bolt_function *f = &c->functions.list.v[function];
    struct pgk_map_function new = {f->low, (uint32_t)c->map->blocks.n, 0};
    if (!pgk_bolt_blocks_make(&c->blocks, &c->b->code, &c->functions, function))
        return false;
    new.n = (uint32_t)c->blocks.list.n;
    for (uint32_t i = 0; i < new.n; i++) {
        const struct pgk_bolt_block *b = &c->blocks.list.v[i];
        uint64_t end = i + 1 < new.n ? b[1].low : f->high;
        struct pgk_map_block block = {b->low, (uint32_t)(end - b->low), i,
                                      (uint32_t)c->map->functions.n, flags_of(c, b)};
        if (!pgk_vec_push(&c->map->blocks, block))
            return false;
    }
    return pgk_vec_push(&c->map->functions, new);
}

static int cut_all(struct pgk_gen *g, struct pgk_gen_binary *b, struct pgk_block_map *map,
                   struct pgk_err *err)
{
    struct cutter c = {.b = b, .map = map};
    PGK_TRY(pgk_gen_need_code(g, b));
    PGK_TRY(pgk_bolt_functions_open(&c.functions, b->elf, err));
    c.ran = pgk_mem_zalloc(c.functions.list.n, sizeof *c.ran);
    bool ok = c.ran && pgk_bolt_add_entries(&c.functions, &b->code);
    if (ok)
        note_all(&c);
    for (uint32_t i = 0; ok && i < c.functions.list.n; i++)
        ok = !c.ran[i] || cut(&c, i);
    ok = ok && pgk_block_map_sort(map);
    pgk_bolt_functions_close(&c.functions);
    pgk_bolt_blocks_free(&c.blocks);
    pgk_mem_free(c.ran);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* ---- all of it ---- */

static int measure(struct pgk_gen *g, struct pgk_gen_binary *b, const struct pgk_block_map *map,
                   struct pgk_gen_layout *layout, struct pgk_err *err)
{
    struct pgk_block_flow flow;
    struct pgk_block_order order;
    if (!pgk_block_flow_count(&flow, map, &b->counters.ranges, &b->counters.branches))
        return pgk_fail_nomem(err);
    bool ok = pgk_block_order_make(&order, &flow);
    int status = ok ? 0 : pgk_fail_nomem(err);
    if (ok && !order.functions.n)
        status = pgk_gen_no_samples(g, err);
    if (!status && !pgk_code_places(layout, &flow, &order))
        status = pgk_fail_nomem(err);
    if (ok)
        pgk_block_order_free(&order);
    pgk_block_flow_free(&flow);
    return status;
}

static void count_code(struct pgk_gen_layout *layout, const struct pgk_elf *elf)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    for (size_t i = 0; i < n; i++)
        layout->code_bytes += s[i].executable ? s[i].memsz : 0;
}

int pgk_gen_layout(struct pgk_gen *g, uint32_t binary, struct pgk_gen_layout *layout,
                   struct pgk_err *err)
{
    struct pgk_gen_layout made = {0};
    struct pgk_block_map map;
    PGK_TRY(pgk_gen_need_counters(g, err));
    if (!pgk_gen_counted(g, binary))
        return pgk_gen_no_samples(g, err);
    if (g->contexts)
        return pgk_fail(err, PGK_E_ARG, .field = "counters", .found = "of calling contexts",
                        .expected = "plain ones, for an order of code",
                        .hint = "leave contexts out, as with --mode autofdo");
    PGK_TRY(pgk_gen_settle_counters(g, binary, err));
    struct pgk_gen_binary *b = &g->images.v[binary];
    struct pgk_err no_map = {0};
    int status = pgk_block_map_open(&map, b->elf, &no_map);
    made.mapped = !status;
    if (status && status != PGK_E_NODEBUG && err)
        *err = no_map;
    g->err = err;
    if (status == PGK_E_NODEBUG)
        status = cut_all(g, b, &map, err);
    if (!status)
        status = measure(g, b, &map, &made, err);
    pgk_block_map_close(&map);
    count_code(&made, b->elf);
    if (!status)
        PGK_RESULT_GIVE(layout, &made);
    return status;
}
