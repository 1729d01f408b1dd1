/* Adds a window to the table: where its tick came, branches, straight runs and loads, under the
 * open calls if contexts are requested. Open calls are those of the stack at the start of the
 * window, updated by the window's own calls and returns. */
#include "recorder_modules.h"
#include "recorder_options.h"
#include "recorder_perf.h"
#include "recorder_table.h"
#include "recorder_thread.h"

/* Open calls, outermost first: where they return to, and their numbers in the table. */
struct calls {
    u32 n, deeper; /* deeper: calls beyond the limit of those that are distinguished */
    u64 back[PGBR_CALLERS_MAX];
    u32 number[PGBR_CALLERS_MAX];
};

static struct calls calls; /* under pgbr_lock */

static u32 innermost(void)
{
    return calls.deeper || !calls.n ? 0 : calls.number[calls.n - 1];
}

static void open_call(u64 back)
{
    bool gone = false;
    if (calls.n == PGBR_CALLERS_MAX) {
        calls.deeper++;
        return;
    }
    const u32 number = pgbr_table_add(PGK_BRANCH_CALLED, pgbr_module_name(back, &gone), 0,
                                      innermost());
    calls.back[calls.n] = back;
    calls.number[calls.n++] = number;
}

static void close_to(u64 back)
{
    u32 n = calls.n;
    if (calls.deeper) {
        calls.deeper--;
        return;
    }
    while (n && calls.back[n - 1] != back)
        n--;
    calls.n = n ? n - 1 : 0; /* to no call that is known: so is none above it */
}

static void open_chain(const struct pgbr_engine *x)
{
    calls.n = calls.deeper = 0;
    for (u32 i = x->chain_n; i > 1; i--) {
        pgbr_modules_learn(x->chain[i - 1]);
        open_call(x->chain[i - 1] + 1);
    }
}

static u64 count_loads(const struct pgbr_engine *x, u64 from, u64 branches)
{
    bool gone = false;
    for (; from < x->loads_n && x->loads[from].branches <= branches; from++) {
        const u64 pc = pgbr_module_name(x->loads[from].pc, &gone),
                  addr = pgbr_module_data_name(x->loads[from].addr, &gone);
        if (pc && addr)
            pgbr_table_add(PGK_BRANCH_LOADED, pc, addr, innermost());
    }
    return from;
}

static bool is_all_loaded(const struct pgbr_engine *x)
{
    bool gone = false;
    pgbr_modules_check();
    for (u64 i = 0; i < x->n && !gone; i++)
        pgbr_module_name(x->branches[i].from, &gone);
    return !gone;
}

/* The run before the first branch is incomplete, and is not counted, unless the window begins at
 * the target of a branch. */
void pgbr_count_window(struct pgbr_engine *x)
{
    u64 started = 0, loads = 0;
    bool gone = false;
    if (!is_all_loaded(x)) {
        pgbr_count(PGK_BRANCH_UNLOADED);
        return;
    }
    const u64 ticked = pgbr_module_name(x->ticked_pc, &gone);
    if (ticked)
        pgbr_table_add(PGK_BRANCH_TICKED, ticked, 0, 0);
    open_chain(x);
    if (x->began_pc)
        started = pgbr_module_name(x->began_pc, &gone);
    for (u64 i = 0; i < x->n; i++) {
        const struct pgbr_branch *b = &x->branches[i];
        const u64 from = pgbr_module_name(b->from, &gone), to = pgbr_module_name(b->to, &gone);
        loads = count_loads(x, loads, i);
        if (started && from)
            pgbr_table_add(PGK_BRANCH_RAN, started, from, innermost());
        if (from)
            pgbr_table_add(PGK_BRANCH_TAKEN, from, to, innermost());
        if (x->chain_n && b->back == PGBR_RETURNED)
            close_to(b->to);
        else if (x->chain_n && b->back)
            open_call(b->back);
        started = to;
    }
    count_loads(x, loads, x->n);
    if (pgbr_options.perf)
        pgbr_perf_add(x);
    pgbr_count(PGK_BRANCH_WINDOWS);
    pgbr_count_n(PGK_BRANCH_BRANCHES, x->n);
    pgbr_count_n(PGK_BRANCH_LOADS, x->loads_n);
}
