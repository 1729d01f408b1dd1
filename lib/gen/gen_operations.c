/* Operations that ARM's Statistical Profiling Extension picked, to counters.
 * docs/formats/profile-generation.md section 9 */
#include "gen_bolt.h"
#include "gen_place.h"
#include "gen_samples.h"
#include "perf_hardware.h"

#include <inttypes.h>

/* An operation is a sample of its instruction; an indirect call also says whom it enters. */
static int count_op(struct pgk_gen *g, const struct pgk_perf_sample *s, const struct pgk_hw_op *op)
{
    struct pgk_gen_place at, to;
    PGK_TRY(pgk_gen_count_hit(g, s));
    PGK_TRY(pgk_gen_code_place(g, s, op->pc, &at));
    PGK_TRY(pgk_gen_code_place(g, s, op->target, &to));
    if (!op->is_branch || at.binary == PGK_NO_BINARY || to.binary != at.binary)
        return 0;
    struct pgk_gen_binary *b = &g->images.v[at.binary];
    uint8_t mark = pgk_code_mark(&b->code, at.addr);
    if (!(mark & PGK_CODE_INDIRECT) || pgk_code_kind(mark) != PGK_INSN_CALL)
        return 0;
    b->hit_calls_sampled = true;
    return pgk_pairs_add(&b->hit_calls, at.addr, to.addr, s->count) ? 0 : pgk_fail_nomem(g->err);
}

/* ARM's unit writes no samples, but operations: loads, branches and others, as requested. If it
 * records the branch before, the code in between is known, as from a stack of two; otherwise all
 * operations are samples of instructions, loads only if there are others than these. */
static int on_op(void *ctx, const struct pgk_hw_op *op)
{
    struct pgk_gen *g = ctx;
    struct pgk_perf_branch branches[2] = {{op->pc, op->target, op->mispredicted},
                                          {PGK_ADDR_EXTERNAL, op->earlier_target, 0}};
    struct pgk_perf_sample s = {
        .pid = op->context ? (int32_t)op->context : PGK_PID_UNKNOWN,
        .ip = op->pc,
        .time = UINT64_MAX - 1,
        .count = 1,
        .branches = branches,
        .n_branches = op->earlier_target ? 2 : 1,
    };
    g->stats.samples++;
    pgk_gen_choose_windows(g, &s);
    if (op->in_kernel) {
        g->stats.in_kernel++;
        pgk_gen_example(&g->stats, PGK_GEN_IN_KERNEL, "at 0x%" PRIx64, op->pc);
        return 0;
    }
    if (op->is_branch && op->target && g->opts.traces)
        return pgk_gen_count_traces(g, &s);
    g->any_operations |= !op->is_load && !op->is_store && !op->is_branch;
    if ((op->is_load || (op->is_store && g->opts.data)) && op->addr && !g->opts.traces &&
        !g->opts.no_vtables) {
        PGK_TRY(pgk_gen_count_load(g, &s, op->pc, op->addr));
        return g->any_operations && !g->opts.data ? count_op(g, &s, op) : 0;
    }
    if (op->is_branch && op->target && !g->opts.data && (op->earlier_target || g->stacks))
        return pgk_gen_count_taken(g, &s);
    if (!g->opts.data && !g->opts.traces && (op->is_branch || g->any_operations))
        return count_op(g, &s, op);
    pgk_gen_without_branches(g, &s);
    return 0;
}

int pgk_gen_on_trace(void *ctx, const struct pgk_perf_trace *t)
{
    struct pgk_gen *g = ctx;
    struct pgk_source src = {.file = "trace", .format = "ARM SPE", .base_off = t->file_offset};
    if (t->type != PGK_PERF_TRACE_SPE)
        return 0;
    PGK_TRY(pgk_process_map_ready(g->space.map, g->err));
    g->stats.no_mapping = !g->space.any_matched;
    return pgk_hw_spe(t->bytes, t->size, &src, on_op, g, g->err);
}
