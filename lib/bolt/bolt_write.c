/* Files that llvm-bolt and perf2bolt read. docs/formats/bolt.md */
#include "bolt_write.h"

#include "bolt_blocks.h"
#include "saturate.h"

#include <inttypes.h>
#include <stdlib.h>

enum kind { BRANCH, ENTRY, RUN, RUN_ENTERED, SAMPLE };

/* A line of the file. Sorting brings lines into the order of the file, and equal ones together. */
struct line {
    uint32_t owner; /* rank of the function that it is listed with, from 1 on */
    uint8_t kind;
    uint32_t other; /* rank of the function that a branch leads to, from 1 on; 0: unknown */
    uint64_t from, to;
    uint64_t count, mispredicted;
};

struct writer {
    const struct pgk_bolt_counts *counts;
    struct pgk_bolt_written *written;
    struct pgk_bolt_functions functions;
    struct pgk_bolt_blocks blocks;
    uint32_t cut; /* the function that `blocks` are of */
    PGK_VEC(struct line) lines;
};

/* ---- lines ---- */

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Readers take counts for signed numbers. */
static uint64_t limited(uint64_t count)
{
    return count < INT64_MAX ? count : INT64_MAX;
}

static void merge_lines(struct writer *w)
{
    size_t n = 0;
    if (w->lines.n)
        qsort(w->lines.v, w->lines.n, sizeof *w->lines.v, compare_lines);
    for (size_t i = 0; i < w->lines.n; i++) {
        const struct line *l = &w->lines.v[i];
        if (n && !compare_lines(&w->lines.v[n - 1], l)) {
            struct line *same = &w->lines.v[n - 1];
            same->count = pgk_add_saturated(same->count, l->count);
            same->mispredicted = pgk_add_saturated(same->mispredicted, l->mispredicted);
        } else {
            w->lines.v[n++] = *l;
        }
    }
    w->lines.n = n;
}

/* ---- branches ---- */

static const struct pgk_bolt_function *function_at(const struct writer *w, uint64_t addr,
                                                   uint32_t *number)
{
    *number = addr == PGK_TRACE_ELSEWHERE ? PGK_BOLT_NO_FUNCTION
                                          : pgk_bolt_functions_at(&w->functions, addr);
    return *number == PGK_BOLT_NO_FUNCTION ? NULL : &w->functions.list.v[*number];
}

static bool add_line(struct writer *w, const struct line *line)
{
    return pgk_vec_push(&w->lines, *line);
}

static bool add_branch(struct writer *w, const struct pgk_trace *t)
{
    uint32_t number;
    const struct pgk_bolt_function *from = function_at(w, t->from, &number);
    const struct pgk_bolt_function *to = function_at(w, t->to, &number);
    if (!from && !to)
        return true;
    struct line line = {.owner = 1 + (from ? from : to)->rank,
                        .kind = from ? BRANCH : ENTRY,
                        .other = to ? 1 + to->rank : 0,
                        .from = from ? t->from - from->low : 0,
                        .to = to ? t->to - to->low : 0,
                        .count = t->count,
                        .mispredicted = t->mispredicted};
    return add_line(w, &line);
}

/* ---- code between two branches ---- */

static bool is_return(const struct writer *w, uint64_t addr)
{
    return addr != PGK_TRACE_ELSEWHERE && addr != PGK_TRACE_NO_BRANCH &&
           pgk_code_kind(pgk_code_mark(w->counts->code, addr)) == PGK_INSN_RET;
}

static bool is_entered(const struct pgk_bolt_function *f, const struct pgk_trace *t)
{
    return t->from != PGK_TRACE_NO_BRANCH && (t->from < f->low || t->from >= f->high);
}

/* If a block begins after the call, the run begins with the block of the call: the edge between the
 * two was taken, too. */
static size_t first_block(const struct writer *w, const struct pgk_bolt_function *f,
                          const struct pgk_trace *t, size_t at)
{
    const struct pgk_bolt_block *b = &w->blocks.list.v[at];
    if (!at || !is_entered(f, t) || t->to != b->low || !b[-1].falls_through || !b[-1].ends_in_call)
        return at;
    return is_return(w, t->from) || !b->is_entry ? at - 1 : at;
}

static void note_impossible(struct writer *w, const struct pgk_trace *t)
{
    if (!w->written->ranges_bad) {
        w->written->bad_from = t->to;
        w->written->bad_to = t->end;
    }
    w->written->ranges_bad = pgk_add_saturated(w->written->ranges_bad, t->count);
}

/* The edges along which control fell from block to block. */
static bool add_run(struct writer *w, const struct pgk_trace *t)
{
    uint32_t number, end_number;
    const struct pgk_bolt_function *f = function_at(w, t->to, &number);
    w->written->ranges = pgk_add_saturated(w->written->ranges, t->count);
    if (!f || !function_at(w, t->end, &end_number))
        return true;
    if (number != w->cut) {
        if (!pgk_bolt_blocks_make(&w->blocks, w->counts->code, &w->functions, number))
            return false;
        w->cut = number;
    }
    size_t at = pgk_bolt_blocks_at(&w->blocks, t->to), end = pgk_bolt_blocks_at(&w->blocks, t->end);
    bool sound = number == end_number && t->to <= t->end && at != SIZE_MAX;
    if (sound)
        at = first_block(w, f, t, at);
    for (size_t i = at; sound && i < end; i++)
        sound = w->blocks.list.v[i].falls_through;
    if (!sound)
        note_impossible(w, t);
    for (; sound && at < end; at++) {
        const struct pgk_bolt_block *b = &w->blocks.list.v[at];
        struct line line = {.owner = 1 + f->rank, .kind = BRANCH, .other = 1 + f->rank,
                            .from = b->last - f->low, .to = b[1].low - f->low, .count = t->count};
        if (!add_line(w, &line))
            return false;
    }
    return true;
}

static bool add_traces(struct writer *w)
{
    for (size_t i = 0; i < w->counts->traces->list.n; i++) {
        const struct pgk_trace *t = &w->counts->traces->list.v[i];
        if (t->from != PGK_TRACE_NO_BRANCH && !is_return(w, t->from) && !add_branch(w, t))
            return false;
        if (t->to != PGK_TRACE_ELSEWHERE && t->end != PGK_TRACE_ELSEWHERE && !add_run(w, t))
            return false;
    }
    return true;
}

/* ---- samples without branches ---- */

static bool add_samples(struct writer *w)
{
    uint32_t number;
    for (size_t i = 0; i < w->counts->samples->list.n; i++) {
        const struct pgk_pair *p = &w->counts->samples->list.v[i];
        const struct pgk_bolt_function *f = function_at(w, p->from, &number);
        if (f && !add_line(w, &(struct line){.owner = 1 + f->rank, .kind = SAMPLE,
                                             .from = p->from - f->low, .count = p->count}))
            return false;
    }
    return true;
}

/* ---- text ---- */

static int open_writer(struct writer *w, const struct pgk_bolt_counts *counts,
                       struct pgk_bolt_written *written, struct pgk_err *err)
{
    *w = (struct writer){.counts = counts, .written = written, .cut = PGK_BOLT_NO_FUNCTION};
    *written = (struct pgk_bolt_written){0};
    PGK_TRY(pgk_bolt_functions_open(&w->functions, counts->elf, err));
    if (pgk_bolt_add_entries(&w->functions, counts->code))
        return 0;
    pgk_bolt_functions_close(&w->functions);
    return pgk_fail_nomem(err);
}

static void close_writer(struct writer *w)
{
    pgk_bolt_functions_close(&w->functions);
    pgk_bolt_blocks_free(&w->blocks);
    pgk_vec_free(&w->lines);
}

static void put_place(const struct writer *w, struct pgk_sink *out, uint32_t function, uint64_t off)
{
    if (function)
        pgk_sink_printf(out, "1 %s %" PRIx64 " ",
                        w->functions.list.v[w->functions.by_name.v[function - 1]].name, off);
    else
        pgk_sink_printf(out, "0 [unknown] 0 ");
}

static void put_events(const struct writer *w, struct pgk_sink *out)
{
    const struct pgk_intern *events = w->counts->events;
    pgk_sink_printf(out, "no_lbr");
    for (uint32_t id = 1; id < events->strs.n; id++)
        pgk_sink_printf(out, " %s", pgk_intern_str(events, id));
    pgk_sink_printf(out, "\n");
}

static void put_lines(const struct writer *w, struct pgk_sink *out)
{
    uint32_t last = 0;
    for (size_t i = 0; i < w->lines.n; i++) {
        const struct line *l = &w->lines.v[i];
        w->written->functions += l->owner != last;
        last = l->owner;
        put_place(w, out, l->kind == ENTRY ? 0 : l->owner, l->from);
        if (l->kind != SAMPLE) {
            put_place(w, out, l->other, l->to);
            pgk_sink_printf(out, "%" PRIu64 " ", limited(l->mispredicted));
        }
        pgk_sink_printf(out, "%" PRIu64 "\n", limited(l->count));
    }
}

int pgk_bolt_write_fdata(const struct pgk_bolt_counts *counts, struct pgk_sink *out,
                         struct pgk_bolt_written *written, struct pgk_err *err)
{
    struct writer w;
    bool branches = counts->traces->list.n;
    PGK_TRY(open_writer(&w, counts, written, err));
    bool ok = branches ? add_traces(&w) : add_samples(&w);
    if (ok) {
        merge_lines(&w);
        if (!branches)
            put_events(&w, out);
        put_lines(&w, out);
    }
    close_writer(&w);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* ---- by address ---- */

/* Returns count, too: readers know them by the instruction. */
static bool add_addresses(struct writer *w)
{
    uint32_t number;
    for (size_t i = 0; i < w->counts->traces->list.n; i++) {
        const struct pgk_trace *t = &w->counts->traces->list.v[i];
        struct line branch = {.kind = BRANCH, .from = t->from, .to = t->to, .count = t->count,
                              .mispredicted = t->mispredicted};
        if (t->from != PGK_TRACE_NO_BRANCH && !add_line(w, &branch))
            return false;
        const struct pgk_bolt_function *f = function_at(w, t->to, &number);
        struct line run = {.kind = f && is_entered(f, t) ? RUN_ENTERED : RUN, .from = t->to,
                           .to = t->end, .count = t->count};
        if (t->to != PGK_TRACE_ELSEWHERE && t->end != PGK_TRACE_ELSEWHERE && !add_line(w, &run))
            return false;
    }
    for (size_t i = 0; !w->counts->traces->list.n && i < w->counts->samples->list.n; i++) {
        const struct pgk_pair *p = &w->counts->samples->list.v[i];
        if (!add_line(w, &(struct line){.kind = SAMPLE, .from = p->from, .count = p->count}))
            return false;
    }
    return true;
}

static void put_addresses(const struct writer *w, struct pgk_sink *out)
{
    static const char letters[] = {[BRANCH] = 'B', [RUN] = 'F', [RUN_ENTERED] = 'f',
                                   [SAMPLE] = 'S'};
    for (uint32_t id = 1; !w->counts->traces->list.n && id < w->counts->events->strs.n; id++)
        pgk_sink_printf(out, "E %s\n", pgk_intern_str(w->counts->events, id));
    for (size_t i = 0; i < w->lines.n; i++) {
        const struct line *l = &w->lines.v[i];
        pgk_sink_printf(out, "%c %" PRIx64, letters[l->kind], l->from);
        if (l->kind != SAMPLE)
            pgk_sink_printf(out, " %" PRIx64, l->to);
        pgk_sink_printf(out, " %" PRIu64, limited(l->count));
        if (l->kind == BRANCH)
            pgk_sink_printf(out, " %" PRIu64, limited(l->mispredicted));
        pgk_sink_printf(out, "\n");
    }
}

int pgk_bolt_write_preaggregated(const struct pgk_bolt_counts *counts, struct pgk_sink *out,
                                 struct pgk_bolt_written *written, struct pgk_err *err)
{
    struct writer w;
    PGK_TRY(open_writer(&w, counts, written, err));
    bool ok = add_addresses(&w);
    if (ok) {
        merge_lines(&w);
        put_addresses(&w, out);
    }
    close_writer(&w);
    return ok ? 0 : pgk_fail_nomem(err);
}
