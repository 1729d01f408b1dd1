/* Sample profiles from recordings: samples to counters of each binary, then to a profile. */
#include "pgokit/gen.h"

#include "address_space.h"
#include "gen_binary.h"
#include "mem.h"
#include "perf_hardware.h"
#include "perf_input.h"
#include "probes.h"

#include <stdio.h>
#include <string.h>

enum { WINDOWS = 4 };

struct pgk_gen {
    struct pgk_binaries *binaries;
    struct pgk_gen_opts opts;
    struct pgk_gen_stats stats;
    struct pgk_sample *profile;       /* names of vtables go there as they are met */
    PGK_VEC(struct pgk_gen_binary) v; /* parallel to the set of binaries */

    /* Of the input that is being read: */
    struct pgk_address_space space;
    struct pgk_address_window windows[WINDOWS]; /* that addresses were found in lately */
    unsigned next_window;
    struct pgk_err *err;
    struct pgk_perf_input *input;
};

int pgk_gen_new(struct pgk_gen **into, struct pgk_binaries *binaries,
                const struct pgk_gen_opts *opts, struct pgk_err *err)
{
    struct pgk_gen *g = pgk_mem_zalloc(1, sizeof *g);
    if (!g)
        return pgk_fail_nomem(err);
    g->binaries = binaries;
    if (opts)
        g->opts = *opts;
    size_t n = pgk_binaries_count(binaries);
    int status =
        n ? 0
          : pgk_fail(err, PGK_E_ARG, .field = "binaries", .found = "none",
                     .expected = "the program that was recorded", .hint = "give it with -b");
    if (!status && !pgk_vec_reserve(&g->v, n))
        status = pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < n; i++)
        g->v.v[g->v.n++] = (struct pgk_gen_binary){.elf = pgk_binaries_elf(binaries, (uint32_t)i)};
    if (!status)
        status = pgk_sample_new(&g->profile, err);
    if (status)
        pgk_gen_close(&g);
    else
        *into = g;
    return status;
}

void pgk_gen_close(struct pgk_gen **gen)
{
    struct pgk_gen *g = *gen;
    if (!g)
        return;
    for (size_t i = 0; i < g->v.n; i++) {
        if (g->v.v[i].has_code)
            pgk_code_close(&g->v.v[i].code);
        pgk_counters_free(&g->v.v[i].counters);
        pgk_pairs_free(&g->v.v[i].vtables);
        pgk_probes_close(&g->v.v[i].probes);
    }
    pgk_vec_free(&g->v);
    pgk_sample_close(&g->profile);
    pgk_mem_free(g);
    *gen = NULL;
}

const struct pgk_gen_stats *pgk_gen_stats(const struct pgk_gen *gen)
{
    return &gen->stats;
}

/* ---- addresses ---- */

/* A place in one of the binaries. */
struct place {
    uint32_t binary; /* PGK_NO_BINARY: elsewhere */
    uint64_t addr;
};

static const struct pgk_address_window *window_of(struct pgk_gen *g,
                                                  const struct pgk_perf_sample *s, uint64_t addr)
{
    for (unsigned i = 0; i < WINDOWS; i++)
        if (pgk_address_in_window(&g->windows[i], s->pid, s->time, addr))
            return &g->windows[i];
    struct pgk_address_window *w = &g->windows[g->next_window++ % WINDOWS];
    *w = pgk_address_window(&g->space, s->pid, s->time, addr);
    return w;
}

static struct place place_of(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr)
{
    if (g->stats.no_mapping)
        return (struct place){0, addr};
    const struct pgk_address_window *w = window_of(g, s, addr);
    return (struct place){w->binary, addr - w->bias};
}

static int need_code(struct pgk_gen *g, struct pgk_gen_binary *b)
{
    if (b->has_code)
        return 0;
    PGK_TRY(pgk_code_open(&b->code, b->elf, g->err));
    b->has_code = true;
    return 0;
}

/* The place of an address of code; elsewhere, if no instruction starts there. */
static int code_place(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr,
                      struct place *place)
{
    *place = place_of(g, s, addr);
    if (place->binary == PGK_NO_BINARY)
        return 0;
    struct pgk_gen_binary *b = &g->v.v[place->binary];
    PGK_TRY(need_code(g, b));
    if (!pgk_code_is(&b->code, place->addr))
        place->binary = PGK_NO_BINARY;
    return 0;
}

/* ---- samples ---- */

/* Between the target of a branch and the source of the next one, control ran straight on. */
static int count_branches(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct place end = {.binary = PGK_NO_BINARY};
    bool any = false;
    for (size_t i = 0; i < s->n_branches; i++) {
        struct place from, to;
        PGK_TRY(code_place(g, s, s->branches[i].from, &from));
        PGK_TRY(code_place(g, s, s->branches[i].to, &to));
        g->stats.branches += s->count;
        if (from.binary == PGK_NO_BINARY && to.binary == PGK_NO_BINARY) {
            g->stats.branches_outside += s->count;
            continue;
        }
        any = true;
        if (to.binary != PGK_NO_BINARY) {
            struct pgk_counters *c = &g->v.v[to.binary].counters;
            uint64_t source = from.binary == to.binary ? from.addr : PGK_ADDR_EXTERNAL;
            if (!pgk_pairs_add(&c->branches, source, to.addr, s->count) ||
                (end.binary == to.binary &&
                 !pgk_pairs_add(&c->ranges, to.addr, end.addr, s->count)))
                return pgk_fail_nomem(g->err);
        }
        end = from;
    }
    if (!any)
        g->stats.outside += s->count;
    return 0;
}

/* The object that holds an address, if it is a vtable. */
static int find_vtable(struct pgk_gen *g, struct place at, uint32_t *name)
{
    const struct pgk_elf_sym *syms;
    size_t n, low = 0;
    PGK_TRY(pgk_elf_symbols(g->v.v[at.binary].elf, &syms, &n, g->err));
    for (size_t high = n; low < high;) { /* the first symbol behind the address */
        size_t mid = low + (high - low) / 2;
        if (syms[mid].addr > at.addr)
            high = mid;
        else
            low = mid + 1;
    }
    *name = 0;
    for (; low && at.addr - syms[low - 1].addr < syms[low - 1].size; low--) {
        const struct pgk_elf_sym *sym = &syms[low - 1];
        if (sym->function || strncmp(sym->name, "_ZTV", 4) != 0)
            continue;
        *name = pgk_sample_name(g->profile, sym->name, strlen(sym->name));
        return *name ? 0 : pgk_fail_nomem(g->err);
    }
    return 0;
}

/* A load from a vtable tells the type of the object whose function is about to be called. */
static int count_load(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t ip,
                      uint64_t addr)
{
    struct place code, data = place_of(g, s, addr);
    uint32_t name;
    g->stats.load_samples += s->count;
    PGK_TRY(code_place(g, s, ip, &code));
    if (code.binary == PGK_NO_BINARY || data.binary == PGK_NO_BINARY)
        return 0;
    PGK_TRY(find_vtable(g, data, &name));
    if (name && !pgk_pairs_add(&g->v.v[code.binary].vtables, code.addr, name, s->count))
        return pgk_fail_nomem(g->err);
    return 0;
}

/* PERF_MEM_OP_LOAD of the data source; samples without one are taken for loads. */
static bool is_load(const struct pgk_perf_sample *s)
{
    enum { NOT_AVAILABLE = 1, LOAD = 2 };
    return !(s->has & PGK_PERF_HAS_DATA_SRC) || s->data_src & (LOAD | NOT_AVAILABLE);
}

/* What the sample says of data; AMD's raw data is used where the kernel does not decode it. */
static int count_data(struct pgk_gen *g, const struct pgk_perf_sample *s, bool *used)
{
    struct pgk_hw_op op;
    const struct pgk_perf_info *info = pgk_perf_input_info(g->input);
    *used = false;
    if (g->opts.no_vtables)
        return 0;
    if (s->has & PGK_PERF_HAS_ADDR && s->addr && is_load(s)) {
        *used = true;
        return count_load(g, s, s->ip, s->addr);
    }
    if (s->raw_size && s->event < info->n_events &&
        !strncmp(info->events[s->event].pmu, "ibs_op", 6) &&
        pgk_hw_ibs_op(s->raw, s->raw_size, &op) && op.is_load && op.addr) {
        *used = true;
        return count_load(g, s, op.pc, op.addr);
    }
    return 0;
}

static int on_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct pgk_gen *g = ctx;
    bool used;
    g->stats.samples += s->count;
    if (g->opts.pid && s->pid != PGK_PID_UNKNOWN && s->pid != g->opts.pid) {
        g->stats.other_process += s->count;
        return 0;
    }
    PGK_TRY(pgk_process_map_ready(g->space.map, g->err));
    g->stats.no_mapping = !g->space.any_matched;
    PGK_TRY(count_data(g, s, &used));
    if (s->n_branches)
        return count_branches(g, s);
    if (!used)
        g->stats.without_branches += s->count;
    return 0;
}

/* ARM's unit writes no samples, but operations: loads, and branches of one entry. */
static int on_op(void *ctx, const struct pgk_hw_op *op)
{
    struct pgk_gen *g = ctx;
    struct pgk_perf_branch branches[2] = {{op->pc, op->target, 0},
                                          {PGK_ADDR_EXTERNAL, op->earlier_target, 0}};
    struct pgk_perf_sample s = {
        .pid = op->context ? (int32_t)op->context : PGK_PID_UNKNOWN,
        .time = UINT64_MAX - 1,
        .count = 1,
        .branches = branches,
        .n_branches = op->earlier_target ? 2 : 1,
    };
    g->stats.samples++;
    if (op->in_kernel) {
        g->stats.in_kernel++;
        return 0;
    }
    if (op->is_load && op->addr && !g->opts.no_vtables)
        return count_load(g, &s, op->pc, op->addr);
    if (op->is_branch && op->target)
        return count_branches(g, &s);
    g->stats.without_branches++;
    return 0;
}

static int on_trace(void *ctx, const struct pgk_perf_trace *t)
{
    struct pgk_gen *g = ctx;
    struct pgk_source src = {.file = "trace", .format = "ARM SPE", .base_off = t->file_offset};
    if (t->type != PGK_PERF_TRACE_SPE)
        return 0;
    PGK_TRY(pgk_process_map_ready(g->space.map, g->err));
    g->stats.no_mapping = !g->space.any_matched;
    return pgk_hw_spe(t->bytes, t->size, &src, on_op, g, g->err);
}

static int on_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    struct pgk_gen *g = ctx;
    if (g->opts.pid && m->pid != g->opts.pid && m->pid != PGK_PID_KERNEL)
        return 0;
    memset(g->windows, 0, sizeof g->windows);
    return pgk_address_space_add(&g->space, m, g->err);
}

static int on_task(void *ctx, const struct pgk_perf_task *t)
{
    struct pgk_gen *g = ctx;
    return pgk_process_map_task(g->space.map, t, g->err);
}

static void take_info(struct pgk_gen *g)
{
    const struct pgk_perf_info *info = pgk_perf_input_info(g->input);
    struct pgk_gen_stats *s = &g->stats;
    s->lost += info->lost_samples;
    if (info->unreadable.n && !s->unreadable) {
        s->unreadable_line = info->unreadable.first;
        memcpy(s->unreadable_example, info->unreadable.example, sizeof s->unreadable_example);
    }
    s->unreadable += info->unreadable.n;
}

int pgk_gen_add(struct pgk_gen *g, const char *path, struct pgk_err *err)
{
    g->err = err;
    PGK_TRY(pgk_perf_input_open(&g->input, path, err));
    memset(g->windows, 0, sizeof g->windows);
    int status = pgk_address_space_open(&g->space, g->binaries, err);
    if (!status)
        status = pgk_perf_input_read(g->input,
                                     &(struct pgk_perf_handler){.ctx = g,
                                                                .mapping = on_mapping,
                                                                .task = on_task,
                                                                .sample = on_sample,
                                                                .trace = on_trace},
                                     err);
    take_info(g);
    if (!status && !g->space.any_matched && g->space.foreign)
        status = pgk_fail(err, PGK_E_MISMATCH, .file = path, .field = "build id",
                          .found = g->space.foreign_text, .expected = "the binary that was run",
                          .hint = "give the very file that was recorded with -b");
    pgk_address_space_close(&g->space);
    pgk_perf_input_close(&g->input);
    return status;
}

/* ---- the profile ---- */

static bool has_counts(const struct pgk_gen_binary *b)
{
    return b->counters.ranges.v.n || b->counters.branches.v.n || b->vtables.v.n;
}

static int find_mark(void *ctx, const struct pgk_elf_entry *e)
{
    (void)ctx;
    return !strcmp(e->name, "__llvm_fs_discriminator__");
}

const char *pgk_gen_mode_name(enum pgk_gen_mode mode)
{
    static const char *const names[PGK_GEN_MODES] = {"auto", "autofdo", "probe"};
    return names[mode];
}

/* Probes that are there are used, unless lines were asked for. */
static int open_probes(struct pgk_gen *g, struct pgk_gen_binary *b, struct pgk_err *err)
{
    struct pgk_err why = {0};
    if (g->opts.mode == PGK_GEN_LINES)
        return 0;
    int status = pgk_probes_open_elf(&b->probes, b->elf, &why);
    if (status == PGK_E_EMPTY && g->opts.mode == PGK_GEN_AUTO)
        return 0;
    if (status && err)
        *err = why;
    return status;
}

static int add_binary(struct pgk_gen *g, uint32_t number, bool by_probes, struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->v.v[number];
    int status = pgk_binaries_symboliser(g->binaries, number, &b->sym, err);
    if (status == PGK_E_NODEBUG && by_probes) /* probes and symbols are enough */
        status = 0;
    PGK_TRY(status);
    b->flow_sensitive = pgk_elf_entries(b->elf, find_mark, NULL);
    pgk_gen_settle(b, &g->stats);
    return by_probes ? pgk_gen_probes(g->profile, b, g->opts.threads, &g->stats, err)
                     : pgk_gen_lines(g->profile, b, g->opts.threads, &g->stats, err);
}

int pgk_gen_profile(struct pgk_gen *g, struct pgk_sample **profile, struct pgk_err *err)
{
    bool any = false, by_probes = false;
    for (uint32_t i = 0; i < g->v.n; i++) {
        struct pgk_gen_binary *b = &g->v.v[i];
        if (!has_counts(b))
            continue;
        PGK_TRY(open_probes(g, b, err));
        if (any && by_probes != !!b->probes)
            continue; /* a profile has lines or probes; the first binary decides */
        by_probes = b->probes;
        any = true;
        PGK_TRY(add_binary(g, i, by_probes, err));
    }
    if (!any)
        return pgk_fail(err, PGK_E_EMPTY, .field = "samples",
                        .found = PGK_F("%llu, none with a branch in a given binary",
                                       (unsigned long long)g->stats.samples),
                        .expected = "samples with branch stacks (perf record -b)",
                        .hint = "pgokit perf-check tells what can be recorded here");
    PGK_TRY(pgk_sample_set_kind(g->profile, false, by_probes, "recording", err));
    PGK_TRY(pgk_sample_finish(g->profile, err));
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(g->profile, &info);
    g->stats.functions = info.functions;
    *profile = g->profile;
    g->profile = NULL;
    return 0;
}
