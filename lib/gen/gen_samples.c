/* Samples to counters: addresses of processes become those of binaries. */
#include "gen_bolt.h"
#include "gen_data.h"
#include "gen_place.h"
#include "gen_samples.h"
#include "gen_vtables.h"
#include "machine.h"
#include "perf_hardware.h"
#include "saturate.h"

#include <elf.h>
#include <inttypes.h>

/* ---- addresses ---- */

int pgk_gen_need_code(struct pgk_gen *g, struct pgk_gen_binary *b)
{
    if (b->has_code)
        return 0;
    PGK_TRY(pgk_code_open(&b->code, b->elf, g->err));
    b->has_code = true;
    return 0;
}

/* Remembers the file of samples that cannot be used, so that the error can suggest it for -b. */
static int note_elsewhere(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_process_place place = pgk_process_map_find(g->space.map, s->pid, s->time, s->ip);
    if (!place.mapping && s->n_branches)
        place = pgk_process_map_find(g->space.map, s->pid, s->time, s->branches[0].to);
    if (!place.mapping)
        return 0;
    while (g->outside_of.n <= place.mapping->file)
        if (!pgk_vec_push(&g->outside_of, 0))
            return pgk_fail_nomem(g->err);
    g->outside_of.v[place.mapping->file] += s->count;
    return 0;
}

/* The file at an address, for messages. */
static const char *file_at(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr)
{
    struct pgk_process_place place = pgk_process_map_find(g->space.map, s->pid, s->time, addr);
    size_t n;
    const struct pgk_process_file *files = pgk_process_map_files(g->space.map, &n);
    return place.mapping ? files[place.mapping->file].path : "nothing that was mapped";
}

/* The place of an address of code; elsewhere, if no instruction starts there. */
int pgk_gen_code_place(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr,
                       struct pgk_gen_place *place)
{
    *place = pgk_gen_place(g, s, addr);
    if (place->binary == PGK_NO_BINARY)
        return 0;
    struct pgk_gen_binary *b = &g->images.v[place->binary];
    PGK_TRY(pgk_gen_need_code(g, b));
    if (!pgk_code_is(&b->code, place->addr))
        place->binary = PGK_NO_BINARY;
    return 0;
}

/* ---- samples ---- */

static void branch_outside(struct pgk_gen *g, const struct pgk_perf_sample *s, size_t i)
{
    const struct pgk_perf_branch *b = &s->branches[i];
    g->stats.branches_outside += s->count;
    if (!*g->stats.examples[PGK_GEN_BRANCH_OUTSIDE])
        pgk_gen_example(&g->stats, PGK_GEN_BRANCH_OUTSIDE,
                        "from 0x%" PRIx64 " to 0x%" PRIx64 " in %s", b->from, b->to,
                        file_at(g, s, b->to));
}

static int sample_outside(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    g->stats.outside += s->count;
    if (!*g->stats.examples[PGK_GEN_OUTSIDE])
        pgk_gen_example(&g->stats, PGK_GEN_OUTSIDE, "at 0x%" PRIx64 " in %s", s->ip,
                        file_at(g, s, s->ip));
    return note_elsewhere(g, s);
}

/* ---- what does not fit the binary ---- */

/* A place in the code at which no instruction starts: so it is where the program is of another
 * build, and hardly ever else. */
static bool is_unfit(struct pgk_gen *g, struct pgk_gen_offset at)
{
    if (at.binary == PGK_NO_BINARY || at.off == PGK_STEP_OUT)
        return false;
    struct pgk_gen_binary *b = &g->images.v[at.binary];
    if (!b->has_code || !pgk_code_is_between(&b->code, b->code.base + at.off))
        return false;
    if (!*g->stats.examples[PGK_GEN_UNFIT])
        pgk_gen_example(&g->stats, PGK_GEN_UNFIT, "0x%" PRIx64 " in %s is in an instruction",
                        b->code.base + at.off, pgk_elf_path(b->elf));
    return true;
}

static void note_unfit_branch(struct pgk_gen *g, struct pgk_gen_offset from,
                              struct pgk_gen_offset to, uint64_t count)
{
    if (is_unfit(g, from) || is_unfit(g, to)) {
        g->stats.unfit += count;
        g->stats.in_code += count;
    }
}

/* ---- branches ---- */

static int find_offset(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr,
                       struct pgk_gen_offset *at)
{
    struct pgk_gen_place place = pgk_gen_place(g, s, addr);
    *at = (struct pgk_gen_offset){PGK_NO_BINARY, PGK_STEP_OUT};
    if (place.binary == PGK_NO_BINARY)
        return 0;
    PGK_TRY(pgk_gen_need_code(g, &g->images.v[place.binary]));
    at->off = pgk_code_offset(&g->images.v[place.binary].code, place.addr);
    if (at->off != PGK_STEP_OUT)
        at->binary = place.binary;
    return 0;
}

/* The two binaries with most addresses of a sample: programs leave their own code for that of a
 * library and come back. It is unpredictable in which of them an address is, so the code does not
 * branch on it. */
struct likely_ranges {
    uint64_t code_start, code_size;       /* of addresses in code of `binary` */
    uint64_t outside_start, outside_size; /* of addresses in no given binary */
    uint32_t first;                       /* offset of `code_start` from the base of the code */
    uint32_t binary;
    bool know_outside; /* there is an example of a branch outside of all binaries */
};

static struct likely_ranges find_likely(const struct pgk_gen *g)
{
    unsigned ours = g->last_of[true], other = g->last_of[false];
    const struct pgk_address_window *w = &g->windows[ours];
    struct likely_ranges likely = {.know_outside = *g->stats.examples[PGK_GEN_BRANCH_OUTSIDE],
                                   .binary = g->stats.no_mapping ? 0 : w->binary};
    if (likely.binary == PGK_NO_BINARY || !g->images.v[likely.binary].has_code)
        return (struct likely_ranges){0};
    const struct pgk_code *code = &g->images.v[likely.binary].code;
    if (g->stats.no_mapping) { /* addresses are those of the binary */
        likely.code_start = code->base;
        likely.code_size = code->span;
        likely.outside_size = UINT64_MAX;
        return likely;
    }
    uint64_t low = w->bias + code->base, high = low + code->span;
    likely.code_start = low > w->start ? low : w->start;
    likely.first = (uint32_t)(likely.code_start - low);
    if (g->window_size[ours] && likely.code_start < high && likely.code_start < w->end)
        likely.code_size = (high < w->end ? high : w->end) - likely.code_start;
    likely.outside_start = g->windows[other].start;
    likely.outside_size = g->windows[other].binary == PGK_NO_BINARY ? g->window_size[other] : 0;
    return likely;
}

/* False if it is neither here nor there. */
static inline bool likely_offset(const struct likely_ranges *likely, uint64_t addr, uint32_t *off)
{
    bool inside = addr - likely->code_start < likely->code_size;
    bool other = addr - likely->outside_start < likely->outside_size;
    *off = ((uint32_t)(addr - likely->code_start) + likely->first) | ((uint32_t)inside - 1);
    return inside | other;
}

/* Counts one in the binary that it leads to, whatever of it is no instruction being elsewhere.
 * `last` is where control left for the branch that was taken next; `known` is false if nothing of
 * the branch is an instruction. */
static int count_branch(struct pgk_gen *g, struct pgk_gen_offset from, struct pgk_gen_offset to,
                        uint64_t count, struct pgk_gen_offset *last, bool *known)
{
    uint32_t binary = to.binary == PGK_NO_BINARY ? from.binary : to.binary;
    *known = false;
    if (binary == PGK_NO_BINARY)
        return 0;
    struct pgk_gen_binary *b = &g->images.v[binary];
    uint32_t source = from.binary == binary ? from.off : PGK_STEP_OUT, target = to.off;
    uint32_t end = last->binary == binary && target != PGK_STEP_OUT ? last->off : PGK_STEP_OUT;
    if (!pgk_step_counts_add(&b->step_counts, &b->code, &b->counters, &source, &target, end,
                             count))
        return pgk_fail_nomem(g->err);
    if (target != to.off || (from.binary == binary && source != from.off))
        note_unfit_branch(g, from, to, count);
    struct pgk_gen_offset left = {source == PGK_STEP_OUT ? PGK_NO_BINARY : binary, source};
    if (from.binary != binary && from.binary != PGK_NO_BINARY) { /* one of ours called another */
        struct pgk_code *code = &g->images.v[from.binary].code;
        if (pgk_code_is(code, code->base + from.off))
            left = from;
    }
    *known = left.binary != PGK_NO_BINARY || target != PGK_STEP_OUT;
    if (*known)
        *last = left;
    return 0;
}

enum { BATCH = 32 }; /* as many as a branch stack has */

struct step_key {
    uint32_t from, to, end;
    uint32_t home;   /* where to begin in the table */
    uint32_t branch; /* which one of the sample it is */
};

/* Places branches from the i-th on as long as that is easy, and calls for their entries of the
 * table; returns how far it came. Branches from elsewhere to elsewhere are left out. */
static size_t place_likely(const struct likely_ranges *likely, const struct pgk_step_table *t,
                           const struct pgk_perf_sample *s, size_t i, uint32_t source,
                           struct step_key *keys, size_t *n_keys)
{
    size_t end = s->n_branches - i < BATCH ? s->n_branches : i + BATCH, n = 0;
    for (; i < end; i++) {
        uint32_t from, to;
        bool easy = likely_offset(likely, s->branches[i].from, &from);
        easy &= likely_offset(likely, s->branches[i].to, &to);
        bool outside = (from & to) == PGK_STEP_OUT;
        if (PGK_UNLIKELY(!(easy & (likely->know_outside | !outside))))
            break;
        struct step_key *key = &keys[n];
        key->from = from;
        key->to = to;
        key->end = source | -(uint32_t)(to == PGK_STEP_OUT);
        key->home = pgk_step_home(t, from, to, key->end);
        key->branch = (uint32_t)i;
        __builtin_prefetch(&t->v[key->home]);
        n += !outside;
        source = outside ? source : from;
    }
    *n_keys = n;
    return i;
}

/* Counts branches from the i-th on as long as all is known; returns how far it came. */
static size_t count_likely(struct pgk_gen *g, const struct pgk_perf_sample *s, size_t i,
                           struct pgk_gen_offset *last, bool *any)
{
    struct step_key keys[BATCH];
    const struct likely_ranges likely = find_likely(g);
    const struct pgk_step_table *t = &g->images.v[likely.binary].step_counts;
    uint32_t source = last->binary == likely.binary ? last->off : PGK_STEP_OUT;
    size_t n, k = 0;
    if (!likely.code_size || !t->v)
        return i;
    size_t reached = place_likely(&likely, t, s, i, source, keys, &n);
    for (; k < n; k++) {
        struct pgk_step_entry *e =
            pgk_step_table_find_at(t, keys[k].home, keys[k].from, keys[k].to, keys[k].end);
        if (PGK_UNLIKELY(!e->value || s->count > UINT32_MAX - e->value))
            break;
        e->value += (uint32_t)s->count;
    }
    if (k < n)
        reached = keys[k].branch;
    g->stats.branches_outside += s->count * (reached - i - k);
    if (k) {
        source = keys[k - 1].from;
        *last = (struct pgk_gen_offset){source == PGK_STEP_OUT ? PGK_NO_BINARY : likely.binary,
                                        source};
        *any = true;
    }
    return reached;
}

/* Between the target of a branch and the source of the next one, control ran straight on. */
static int count_branches(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_gen_offset last = {PGK_NO_BINARY, PGK_STEP_OUT};
    bool any = false;
    g->stats.branches += s->count * s->n_branches;
    for (size_t i = 0; i < s->n_branches; i++) {
        i = count_likely(g, s, i, &last, &any);
        if (i == s->n_branches)
            break;
        struct pgk_gen_offset from, to;
        bool known;
        PGK_TRY(find_offset(g, s, s->branches[i].from, &from));
        PGK_TRY(find_offset(g, s, s->branches[i].to, &to));
        PGK_TRY(count_branch(g, from, to, s->count, &last, &known));
        if (!known)
            branch_outside(g, s, i);
        any |= known;
    }
    return any ? 0 : sample_outside(g, s);
}

/* ---- samples with a call chain ---- */

size_t pgk_gen_user_chain(const struct pgk_perf_sample *s, const uint64_t **chain)
{
    const uint64_t user = (uint64_t)-512; /* PERF_CONTEXT_USER */
    bool marked = false;
    for (size_t i = 0; i < s->n_chain; i++) {
        if (s->chain[i] == user) {
            *chain = &s->chain[i + 1];
            size_t n = 0;
            while (i + 1 + n < s->n_chain && !pgk_perf_is_marker(s->chain[i + 1 + n]))
                n++;
            return n;
        }
        marked |= pgk_perf_is_marker(s->chain[i]);
    }
    *chain = s->chain;
    return marked ? 0 : s->n_chain;
}

static inline int offset_of(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr,
                            const struct likely_ranges *likely, struct pgk_gen_offset *at)
{
    if (PGK_UNLIKELY(!likely_offset(likely, addr, &at->off)))
        return find_offset(g, s, addr, at);
    at->binary = at->off == PGK_STEP_OUT ? PGK_NO_BINARY : likely->binary;
    return 0;
}

/* Where a call that a caller's place is in, or that it comes after, returns to: profilers other
 * than perf put callers into their calls, so that lines are those of the calls. */
static uint64_t returned_to(struct pgk_code *code, uint64_t addr)
{
    const uint64_t call = pgk_code_is(code, addr) ? addr : pgk_code_before(code, addr);
    const uint8_t mark = call == UINT64_MAX ? 0 : pgk_code_mark(code, call);
    const uint64_t after = call + (mark & PGK_CODE_LENGTH);
    return pgk_code_kind(mark) == PGK_INSN_CALL && addr < after ? after : addr;
}

/* Its place, as perf would have it. */
static int caller_place(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t addr,
                        struct pgk_gen_place *place)
{
    *place = pgk_gen_place(g, s, addr);
    if (place->binary == PGK_NO_BINARY)
        return 0;
    struct pgk_gen_binary *b = &g->images.v[place->binary];
    PGK_TRY(pgk_gen_need_code(g, b));
    place->addr = returned_to(&b->code, place->addr);
    if (!pgk_code_is(&b->code, place->addr))
        place->binary = PGK_NO_BINARY;
    return 0;
}

/* Whether branches are of instructions is seen when their steps are looked up. */
static int place_sample(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    const uint64_t *chain;
    size_t n_chain = pgk_gen_user_chain(s, &chain);
    g->branches.n = g->chain.n = g->seen.n = 0;
    if (!pgk_vec_reserve(&g->branches, 2 * s->n_branches) ||
        !pgk_vec_reserve(&g->seen, s->n_branches) || !pgk_vec_reserve(&g->chain, n_chain))
        return pgk_fail_nomem(g->err);
    const struct likely_ranges likely = find_likely(g);
    for (size_t i = 0; i < s->n_branches; i++) {
        PGK_TRY(offset_of(g, s, s->branches[i].from, &likely, &g->branches.v[g->branches.n++]));
        PGK_TRY(offset_of(g, s, s->branches[i].to, &likely, &g->branches.v[g->branches.n++]));
        g->seen.v[g->seen.n++] = 0;
    }
    for (size_t i = 0; i < n_chain; i++) {
        struct pgk_gen_place *at = &g->chain.v[g->chain.n++];
        PGK_TRY(i && s->chain_in_calls ? caller_place(g, s, chain[i], at)
                                       : pgk_gen_code_place(g, s, chain[i], at));
    }
    return 0;
}

static uint64_t seen_from(const struct pgk_gen_place *place, uint32_t binary)
{
    return place->binary == binary ? place->addr : PGK_ADDR_EXTERNAL;
}

/* The calls that lead to the sampled instruction. What is no return address, and all outside of
 * it, comes of code without frame pointers. */
static bool list_callers(struct pgk_gen *g, uint32_t binary, uint64_t count)
{
    struct pgk_code *code = &g->images.v[binary].code;
    g->sample.callers.n = 0;
    bool elsewhere = g->chain.n && g->chain.v[0].binary != binary;
    for (size_t i = 1; i < g->chain.n; i++) {
        uint64_t at = seen_from(&g->chain.v[i], binary);
        bool was_elsewhere = elsewhere;
        elsewhere = at == PGK_ADDR_EXTERNAL;
        if (elsewhere && was_elsewhere)
            continue;
        uint64_t call = elsewhere ? at : pgk_code_call_before(code, at);
        if (!call) {
            g->stats.stacks_cut += count;
            pgk_gen_example(&g->stats, PGK_GEN_STACK_CUT,
                            "0x%" PRIx64
                            " in %s does not follow a call: frame pointers are missing",
                            at, pgk_elf_path(g->images.v[binary].elf));
            break;
        }
        if (!pgk_vec_push(&g->sample.callers, call))
            return false;
    }
    if (g->sample.callers.n && g->sample.callers.v[g->sample.callers.n - 1] == PGK_ADDR_EXTERNAL)
        g->sample.callers.n--;
    return true;
}

/* PGK_STEP_OUT for what is not in it. */
static inline uint32_t offset_in(uint32_t binary, struct pgk_gen_offset at)
{
    return at.binary == binary ? at.off : PGK_STEP_OUT;
}

static bool list_steps(struct pgk_gen *g, uint32_t binary)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    uint32_t last = PGK_STEP_OUT;
    g->sample.steps.n = 0;
    if (!pgk_vec_reserve(&g->sample.steps, g->seen.n))
        return false;
    for (size_t i = 0; i < g->seen.n; i++) {
        uint32_t source = offset_in(binary, g->branches.v[2 * i]);
        uint32_t target = offset_in(binary, g->branches.v[2 * i + 1]);
        if (source == PGK_STEP_OUT && target == PGK_STEP_OUT)
            continue;
        uint32_t end = target == PGK_STEP_OUT ? PGK_STEP_OUT : last;
        uint32_t step = pgk_steps_find(&b->steps, source, target, end);
        if (PGK_UNLIKELY(step == PGK_STEP_NONE)) {
            g->seen.v[i] |= PGK_GEN_SEEN_FIRST;
            if (!pgk_steps_need(&b->steps, &b->code, source, target, end, &step))
                return false;
            if (step == PGK_STEP_NONE)
                continue;
            source = b->steps.list.v[step].from;
        }
        g->seen.v[i] |= PGK_GEN_SEEN_IN_BINARY;
        g->sample.steps.v[g->sample.steps.n++] = step;
        last = source;
    }
    return true;
}

/* The call that entered the code of the sample, from branches; 0 if they do not go back so far.
 * Calls that have returned are skipped, and so is code that jumped to the function. */
static uint64_t entered_by(struct pgk_gen *g, uint32_t binary)
{
    struct pgk_code *code = &g->images.v[binary].code;
    size_t returned = 0;
    for (size_t i = 0; i + 1 < g->branches.n; i += 2) {
        uint32_t from = offset_in(binary, g->branches.v[i]),
                 to = offset_in(binary, g->branches.v[i + 1]);
        enum pgk_insn_kind kind = from != PGK_STEP_OUT
                                      ? pgk_code_kind(pgk_code_mark(code, code->base + from))
                                      : PGK_INSN_RET;
        if (from == PGK_STEP_OUT && to == PGK_STEP_OUT)
            continue;
        if (from == PGK_STEP_OUT && !pgk_code_call_before(code, code->base + to))
            return 0;
        if (kind == PGK_INSN_CALL && !returned)
            return to == PGK_STEP_OUT ? 0 : code->base + from;
        returned += (kind == PGK_INSN_RET) - (size_t)(kind == PGK_INSN_CALL);
    }
    return 0;
}

/* Code of AArch64 may run long without a frame. The chain then lacks the caller, unless who
 * recorded it looked for the return address elsewhere, too. */
static bool add_missing_caller(struct pgk_gen *g, uint64_t call)
{
    if (g->sample.callers.n && g->sample.callers.v[0] == call)
        return true;
    if (!pgk_vec_push(&g->sample.callers, call))
        return false;
    uint64_t *v = g->sample.callers.v;
    memmove(v + 1, v, (g->sample.callers.n - 1) * sizeof *v);
    v[0] = call;
    return true;
}

/* A chain that was taken where a frame is being set up or taken down lacks the caller. */
static bool is_between_frames(struct pgk_gen *g, uint32_t binary)
{
    return g->chain.n && g->chain.v[0].binary == binary &&
           pgk_code_is_frame_edge(&g->images.v[binary].code, g->chain.v[0].addr);
}

static int unwind_in(struct pgk_gen *g, uint32_t binary, uint64_t count)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    bool any = false;
    for (size_t i = 0; i < g->branches.n && !any; i++)
        any = g->branches.v[i].binary == binary;
    if (!any)
        return 0;
    PGK_TRY(pgk_gen_need_code(g, b));
    if (!list_steps(g, binary))
        return pgk_fail_nomem(g->err);
    if (!g->sample.steps.n)
        return 0;
    uint64_t missing = 0;
    bool between = is_between_frames(g, binary);
    if (between && b->code.decoder.machine->link_register)
        missing = entered_by(g, binary);
    if (between && !missing) {
        g->stats.between_frames += count;
        pgk_gen_example(&g->stats, PGK_GEN_BETWEEN_FRAMES, "0x%" PRIx64 " in %s",
                        g->chain.v[0].addr, pgk_elf_path(b->elf));
        return 0;
    }
    g->sample.count = count;
    return list_callers(g, binary, count) && (!missing || add_missing_caller(g, missing)) &&
                   pgk_call_trie_unwind(&b->calls, &b->steps, &g->sample)
               ? 0
               : pgk_fail_nomem(g->err);
}

static int count_stack(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    bool any = false;
    PGK_TRY(place_sample(g, s));
    g->stats.branches += s->count * s->n_branches;
    for (uint32_t i = 0; i < g->images.n; i++)
        PGK_TRY(unwind_in(g, i, s->count));
    for (size_t i = 0; i < g->seen.n; i++) {
        bool in_binary = g->seen.v[i] & PGK_GEN_SEEN_IN_BINARY;
        any |= in_binary;
        if (!in_binary)
            branch_outside(g, s, i);
        if (g->seen.v[i] & PGK_GEN_SEEN_FIRST)
            note_unfit_branch(g, g->branches.v[2 * i], g->branches.v[2 * i + 1], s->count);
    }
    return any ? 0 : sample_outside(g, s);
}

/* ---- loads ---- */

/* A load from a vtable shows the type of the object whose function is about to be called. */
int pgk_gen_count_load(struct pgk_gen *g, const struct pgk_perf_sample *s, uint64_t ip,
                       uint64_t addr)
{
    struct pgk_gen_place code, data = pgk_gen_place(g, s, addr);
    uint32_t name;
    if (g->opts.data)
        return pgk_gen_count_access(g, s, ip, addr);
    g->stats.load_samples += s->count;
    PGK_TRY(pgk_gen_code_place(g, s, ip, &code));
    if (code.binary == PGK_NO_BINARY || data.binary == PGK_NO_BINARY)
        return 0;
    PGK_TRY(pgk_gen_find_vtable(g, data, &name));
    if (!name)
        return 0;
    g->loads += s->count;
    g->load_period = pgk_add_saturated(g->load_period, pgk_multiply_saturated(s->period, s->count));
    struct pgk_gen_binary *b = &g->images.v[code.binary];
    g->sample.callers.n = 0;
    if (s->n_chain && g->contexts) {
        PGK_TRY(place_sample(g, s));
        if (!is_between_frames(g, code.binary) && !list_callers(g, code.binary, s->count))
            return pgk_fail_nomem(g->err);
    }
    uint32_t node = pgk_call_trie_find(&b->calls, g->sample.callers.v, g->sample.callers.n);
    return node != PGK_INDEX_NONE &&
                   pgk_call_counts_add(&b->calls.vtables, node, code.addr, name, s->count)
               ? 0
               : pgk_fail_nomem(g->err);
}

/* PERF_MEM_OP_LOAD of the data source; samples without one are taken for loads. */
static bool is_load(const struct pgk_perf_sample *s)
{
    enum { NOT_AVAILABLE = 1, LOAD = 2 };
    return !(s->has & PGK_PERF_HAS_DATA_SRC) || s->data_src & (LOAD | NOT_AVAILABLE);
}

/* The data access of the sample; AMD's raw data is used where the kernel does not decode it. */
static int count_data(struct pgk_gen *g, const struct pgk_perf_sample *s, bool *used)
{
    struct pgk_hw_op op;
    const struct pgk_perf_info *info = pgk_perf_input_info(g->input);
    *used = false;
    if (g->opts.no_vtables)
        return 0;
    if (s->has & PGK_PERF_HAS_ADDR && s->addr && (g->opts.data || is_load(s))) {
        *used = true;
        return pgk_gen_count_load(g, s, s->ip, s->addr);
    }
    if (s->raw_size && s->event < info->n_events &&
        !strncmp(info->events[s->event].pmu, "ibs_op", 6) &&
        pgk_hw_ibs_op(s->raw, s->raw_size, &op) && op.addr &&
        (op.is_load || (op.is_store && g->opts.data))) {
        *used = true;
        return pgk_gen_count_load(g, s, op.pc, op.addr);
    }
    return 0;
}

/* Of a sample whose call chain is ignored. */
static int is_frameless(struct pgk_gen *g, const struct pgk_perf_sample *s, bool *frameless)
{
    struct pgk_gen_place leaf;
    PGK_TRY(pgk_gen_code_place(g, s, s->chain[0], &leaf));
    *frameless = leaf.binary != PGK_NO_BINARY &&
                 pgk_code_is_frame_edge(&g->images.v[leaf.binary].code, leaf.addr);
    if (*frameless) {
        g->stats.between_frames += s->count;
        pgk_gen_example(&g->stats, PGK_GEN_BETWEEN_FRAMES, "0x%" PRIx64 " in %s", leaf.addr,
                        pgk_elf_path(g->images.v[leaf.binary].elf));
    }
    return 0;
}

/* The first sample with branches shows whether there are call chains, too. */
int pgk_gen_count_taken(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    if (!g->decided) {
        g->contexts = s->n_chain && !g->opts.ignore_chains;
        g->decided = true;
    }
    bool frameless = false;
    if (g->opts.skip_frameless && !g->contexts && s->n_chain)
        PGK_TRY(is_frameless(g, s, &frameless));
    if (frameless)
        return 0;
    g->stacks += s->count;
    g->stack_branches += s->count * s->n_branches;
    g->stack_period =
        pgk_add_saturated(g->stack_period, pgk_multiply_saturated(s->period, s->count));
    return g->contexts ? count_stack(g, s) : count_branches(g, s);
}

void pgk_gen_without_branches(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    g->stats.without_branches += s->count;
    pgk_gen_example(&g->stats, PGK_GEN_WITHOUT_BRANCHES, "at 0x%" PRIx64, s->ip);
}

/* While a frame is being set up or removed, the chain lacks the caller. If the caller's own caller
 * calls it directly, that call identifies it. */
static bool count_frameless(struct pgk_gen *g, uint32_t binary, uint64_t count)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    struct pgk_insn insn;
    if (!g->sample.callers.n || g->sample.callers.v[0] == PGK_ADDR_EXTERNAL ||
        !pgk_code_insn(&b->code, g->sample.callers.v[0], &insn) || insn.indirect)
        return true;
    return pgk_pairs_add(&b->hit_frameless, insn.target, g->chain.v[0].addr, count);
}

/* Under which calls the instruction ran. */
static bool count_context(struct pgk_gen *g, uint32_t binary, uint64_t count)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    const uint32_t node =
        pgk_call_trie_find(&b->calls, g->sample.callers.v, g->sample.callers.n);
    return node != PGK_INDEX_NONE && g->chain.v[0].binary == binary &&
           pgk_call_counts_add(&b->hit_contexts, node, g->chain.v[0].addr, 0, count);
}

/* Without branches, only call chains show which functions indirect calls enter. */
static int count_hit_calls(struct pgk_gen *g, const struct pgk_perf_sample *s, uint32_t binary)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    PGK_TRY(place_sample(g, s));
    if (!list_callers(g, binary, s->count))
        return pgk_fail_nomem(g->err);
    const bool frameless = is_between_frames(g, binary);
    if (g->contexts && !frameless && !count_context(g, binary, s->count))
        return pgk_fail_nomem(g->err);
    uint64_t callee = g->chain.n && !frameless ? seen_from(&g->chain.v[0], binary)
                                               : PGK_ADDR_EXTERNAL;
    if (frameless && !count_frameless(g, binary, s->count))
        return pgk_fail_nomem(g->err);
    for (size_t i = 0; i < g->sample.callers.n; i++) {
        uint64_t call = g->sample.callers.v[i];
        if (callee != PGK_ADDR_EXTERNAL && pgk_code_mark(&b->code, call) & PGK_CODE_INDIRECT &&
            !pgk_pairs_add(&b->hit_calls, call, callee, s->count))
            return pgk_fail_nomem(g->err);
        callee = call;
    }
    return 0;
}

/* A sample of an instruction alone is good for something if there are no branch stacks at all,
 * which is known at the end. */
int pgk_gen_count_hit(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_gen_place at;
    PGK_TRY(pgk_gen_code_place(g, s, s->ip, &at));
    if (at.binary == PGK_NO_BINARY) {
        struct pgk_gen_offset place;
        PGK_TRY(find_offset(g, s, s->ip, &place));
        g->hits_unfit += is_unfit(g, place) ? s->count : 0;
        PGK_TRY(note_elsewhere(g, s));
        g->hits_outside += s->count;
        g->hits_nowhere += s->ip ? 0 : s->count;
        if (!*g->hit_outside)
            snprintf(g->hit_outside, sizeof g->hit_outside, "at 0x%" PRIx64 " in %s", s->ip,
                     file_at(g, s, s->ip));
        return 0;
    }
    g->hits += s->count;
    if (!pgk_pairs_add(&g->images.v[at.binary].hits, at.addr, 0, s->count))
        return pgk_fail_nomem(g->err);
    return s->n_chain && !g->opts.ignore_chains ? count_hit_calls(g, s, at.binary) : 0;
}

static bool is_named(const struct pgk_perf_name *name, const char *text)
{
    return strlen(text) == name->n && !memcmp(name->s, text, name->n);
}

/* A text has the name, if any, next to the sample. */
static struct pgk_perf_name process_name(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    if (s->comm.n || s->pid == PGK_PID_UNKNOWN)
        return s->comm;
    const char *name = pgk_process_map_name(g->space.map, s->pid);
    return (struct pgk_perf_name){name, strlen(name)};
}

static bool is_other_process(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_perf_name name = {"", 0};
    if (g->opts.comm)
        name = process_name(g, s);
    bool known = s->pid != PGK_PID_UNKNOWN;
    if ((!g->opts.pid || !known || s->pid == g->opts.pid) &&
        (!g->opts.comm || (!known && !name.n) || is_named(&name, g->opts.comm)))
        return false;
    g->stats.other_process += s->count;
    pgk_gen_example(&g->stats, PGK_GEN_OTHER_PROCESS, "of process %d%s%.*s", s->pid,
                    name.n ? ", " : "", (int)name.n, name.s ? name.s : "");
    return true;
}

static bool is_other_event(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    const struct pgk_perf_info *info = pgk_perf_input_info(g->input);
    struct pgk_perf_name name = s->event_name;
    if (!g->opts.n_events)
        return false;
    if (!pgk_perf_input_is_text(g->input) && s->event < info->n_events)
        name = (struct pgk_perf_name){info->events[s->event].name,
                                      strlen(info->events[s->event].name)};
    for (size_t i = 0; name.n && i < g->opts.n_events; i++)
        if (is_named(&name, g->opts.events[i]))
            return false;
    g->stats.other_event += s->count;
    pgk_gen_example(&g->stats, PGK_GEN_OTHER_EVENT, name.n ? "of the event %.*s" :
                    "without the name of an event: print it with perf script -F event,ip,brstack",
                    (int)name.n, name.s);
    return true;
}

static bool is_in_kernel(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    if (s->mode != PGK_PERF_KERNEL || g->opts.kernel)
        return false;
    g->stats.in_kernel += s->count;
    pgk_gen_example(&g->stats, PGK_GEN_IN_KERNEL, "at 0x%" PRIx64, s->ip);
    return true;
}

static bool has_label(const struct pgk_perf_sample *s, const struct pgk_gen_label *wanted)
{
    for (size_t i = 0; i < s->n_labels; i++)
        if (is_named(&s->labels[i].key, wanted->key) &&
            is_named(&s->labels[i].value, wanted->value))
            return true;
    return false;
}

const struct pgk_gen_label *pgk_gen_missing_label(const struct pgk_gen_opts *opts,
                                                  const struct pgk_perf_sample *s)
{
    for (size_t i = 0; i < opts->n_labels; i++)
        if (!has_label(s, &opts->labels[i]))
            return &opts->labels[i];
    return NULL;
}

bool pgk_gen_is_other_time(const struct pgk_gen_opts *opts, const struct pgk_perf_sample *s)
{
    return (opts->since_ns || opts->until_ns) &&
           (!s->unix_ns || s->unix_ns < opts->since_ns ||
            (opts->until_ns && s->unix_ns >= opts->until_ns));
}

static bool is_other_label(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    const struct pgk_gen_label *missing = pgk_gen_missing_label(&g->opts, s);
    if (!missing && !pgk_gen_is_other_time(&g->opts, s))
        return false;
    g->stats.other_label += s->count;
    if (missing)
        pgk_gen_example(&g->stats, PGK_GEN_OTHER_LABEL, "not of %s %s", missing->key,
                        missing->value);
    else if (s->unix_ns)
        pgk_gen_example(&g->stats, PGK_GEN_OTHER_LABEL, "%" PRIu64 " s after 1970",
                        s->unix_ns / 1000000000);
    else
        pgk_gen_example(&g->stats, PGK_GEN_OTHER_LABEL, "without a time");
    return true;
}

/* The instruction itself, whatever led to it. */
static int count_leading(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    struct pgk_gen_place at;
    if (is_in_kernel(g, s))
        return 0;
    PGK_TRY(pgk_gen_code_place(g, s, s->ip, &at));
    if (at.binary == PGK_NO_BINARY || !(s->has & PGK_PERF_HAS_IP)) {
        sample_outside(g, s);
        return 0;
    }
    return pgk_pairs_add(&g->images.v[at.binary].counters.ranges, at.addr, at.addr, s->count)
               ? 0
               : pgk_fail_nomem(g->err);
}

/* When code ran first: that of the sampled instruction, and where its branches led. */
static int note_first_runs(struct pgk_gen *g, const struct pgk_perf_sample *s)
{
    g->start = s->time < g->start ? s->time : g->start;
    for (size_t i = 0; i <= s->n_branches; i++) {
        uint64_t addr = i < s->n_branches ? s->branches[i].to : s->ip;
        struct pgk_gen_place at = pgk_gen_place(g, s, addr);
        if (at.binary != PGK_NO_BINARY &&
            !pgk_first_runs_see(&g->images.v[at.binary].first_runs_here, at.addr, s->time))
            return pgk_fail_nomem(g->err);
    }
    return 0;
}

int pgk_gen_on_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct pgk_gen *g = ctx;
    bool used;
    g->stats.samples += s->count;
    PGK_TRY(pgk_process_map_ready(g->space.map, g->err));
    pgk_gen_choose_windows(g, s);
    if (is_other_process(g, s) || is_other_event(g, s) || is_other_label(g, s))
        return 0;
    g->stats.no_mapping = !g->space.any_matched && !pgk_perf_input_is_stacks(g->input);
    if (g->opts.stacks)
        return is_in_kernel(g, s) ? 0 : pgk_gen_count_stack(g, s);
    if (g->opts.traces)
        return pgk_gen_count_traces(g, s);
    if (g->ticks.wanted && s->has & PGK_PERF_HAS_IP)
        PGK_TRY(pgk_gen_tick_sample(g, s));
    if (g->opts.first_runs)
        PGK_TRY(note_first_runs(g, s));
    if (g->opts.leading_ip_only)
        return count_leading(g, s);
    PGK_TRY(count_data(g, s, &used));
    if (s->n_branches && !g->opts.data)
        return pgk_gen_count_taken(g, s);
    if (used)
        return 0;
    if (is_in_kernel(g, s))
        return 0;
    if (s->has & PGK_PERF_HAS_IP && !g->opts.data)
        return pgk_gen_count_hit(g, s);
    pgk_gen_without_branches(g, s);
    return 0;
}

int pgk_gen_on_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    struct pgk_gen *g = ctx;
    /* In a text, only mappings identify samples; otherwise a process has those of its parent. */
    if (g->opts.pid && m->pid != g->opts.pid && m->pid != PGK_PID_KERNEL &&
        pgk_perf_input_is_text(g->input))
        return 0;
    memset(g->windows, 0, sizeof g->windows);
    return pgk_address_space_add(&g->space, m, g->err);
}

int pgk_gen_on_task(void *ctx, const struct pgk_perf_task *t)
{
    struct pgk_gen *g = ctx;
    memset(g->windows, 0, sizeof g->windows);
    return pgk_process_map_task(g->space.map, t, g->err);
}
