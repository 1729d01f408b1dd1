/* The JSON of DHAT (https://valgrind.org/docs/manual/dh-manual.html), which dh_view and the Firefox
 * Profiler show: a row for each call stack, whose frames are positions in a table of texts.
 *
 * Lifetimes, the peak and the end come together or not at all there ("bklt"), and so do loads and
 * stores ("bkacc"), which pgokit's profiles do not distinguish. The most that a context ever held
 * is not recorded: the largest known value stands for it, a lower bound. */
#include "exporters.h"

#include "heap_frames.h"
#include "json_out.h"
#include "pgokit/human.h"
#include "saturate.h"
#include "valgrind_place.h"

#include <string.h>

enum { US_PER_MS = 1000, SHORT_LIVED_US = 1000 }; /* lifetimes are known in milliseconds */

/* Contexts with one stack: sums, but for `most`. */
struct row {
    uint32_t node;
    uint64_t bytes, objects, lifetime_ms, peak_bytes, peak_objects, end_bytes, end_objects;
    uint64_t most_bytes;
};

struct dhat {
    const struct pgk_heap *heap;
    const char *title;
    struct pgk_heap_times times;
    struct pgk_heap_frames frames;
    uint32_t *nodes;  /* stacks of `frames`, by context */
    uint32_t *row_of; /* position in `rows` + 1, by node */
    PGK_VEC(struct row) rows;
    bool with_times;
    pgk_place_text place;
};

/* Row of a context, added if its stack is new; NULL when out of memory. */
static struct row *row_at(struct dhat *d, size_t context)
{
    const uint32_t node = d->nodes[context];
    if (!d->row_of[node]) {
        if (!pgk_vec_push(&d->rows, (struct row){.node = node}))
            return NULL;
        d->row_of[node] = (uint32_t)d->rows.n;
    }
    return &d->rows.v[d->row_of[node] - 1];
}

static bool knows_times(const struct dhat *d)
{
    static const enum pgk_mib_id fields[] = {PGK_MIB_TotalLifetime, PGK_MIB_PeakSize,
                                             PGK_MIB_PeakCount, PGK_MIB_ExitSize,
                                             PGK_MIB_ExitCount};
    if (!d->times.processes)
        return false;
    for (size_t c = 0; c < pgk_heap_contexts(d->heap); c++)
        for (size_t i = 0; i < PGK_COUNTOF(fields); i++)
            if (!pgk_heap_knows(d->heap, c, fields[i]))
                return false;
    return true;
}

static int add_context(struct dhat *d, size_t c, struct pgk_err *err)
{
    static const enum pgk_mib_id needed[] = {PGK_MIB_TotalSize, PGK_MIB_AllocCount};
    for (size_t i = 0; i < PGK_COUNTOF(needed); i++)
        if (!pgk_heap_knows(d->heap, c, needed[i]))
            return pgk_fail(err, PGK_E_ARG, .file = d->title, .format = "dhat",
                            .record = PGK_F("context %zu", c),
                            .field = pgk_mib_info(needed[i], NULL, NULL), .found = "unknown",
                            .expected = "a number, which each row of DHAT has",
                            .hint = "choose another format");
    struct row *r = row_at(d, c);
    if (!r)
        return pgk_fail_nomem(err);
    const struct {
        uint64_t *sum;
        enum pgk_mib_id field;
    } sums[] = {
        {&r->bytes, PGK_MIB_TotalSize},         {&r->objects, PGK_MIB_AllocCount},
        {&r->lifetime_ms, PGK_MIB_TotalLifetime}, {&r->peak_bytes, PGK_MIB_PeakSize},
        {&r->peak_objects, PGK_MIB_PeakCount},  {&r->end_bytes, PGK_MIB_ExitSize},
        {&r->end_objects, PGK_MIB_ExitCount},
    };
    for (size_t i = 0; i < PGK_COUNTOF(sums); i++)
        *sums[i].sum =
            pgk_add_saturated(*sums[i].sum, pgk_heap_value(d->heap, c, sums[i].field));
    return 0;
}

/* The most that is known of a row, at the peak, in the end and at points that name it. */
static void find_most(struct dhat *d)
{
    for (size_t i = 0; i < d->rows.n; i++) {
        struct row *r = &d->rows.v[i];
        r->most_bytes = r->peak_bytes > r->end_bytes ? r->peak_bytes : r->end_bytes;
    }
    for (size_t i = 0; i < d->times.n_shares; i++) {
        const struct pgk_heap_share s = pgk_heap_point_share(d->heap, i);
        struct row *r = &d->rows.v[d->row_of[d->nodes[s.context]] - 1];
        r->most_bytes = s.bytes > r->most_bytes ? s.bytes : r->most_bytes;
    }
}

static int build(struct dhat *d, struct pgk_err *err)
{
    PGK_TRY(pgk_heap_frames_make(&d->frames, d->heap, &d->nodes, err));
    d->row_of = pgk_mem_zalloc(d->frames.stacks.nodes.n, sizeof *d->row_of);
    if (!d->row_of)
        return pgk_fail_nomem(err);
    for (size_t c = 0; c < pgk_heap_contexts(d->heap); c++)
        PGK_TRY(add_context(d, c, err));
    find_most(d);
    d->with_times = knows_times(d);
    return 0;
}

/* When the last process ended, as far as is known. */
static uint64_t end_ms(const struct dhat *d)
{
    const struct pgk_heap_times *t = &d->times;
    uint64_t end = t->n_points ? t->points[t->n_points - 1].ms : 0;
    end = end > t->peak_ms ? end : t->peak_ms;
    for (size_t c = 0; c < pgk_heap_contexts(d->heap); c++) {
        const uint64_t ms = pgk_heap_value(d->heap, c, PGK_MIB_DeallocTimestamp);
        end = end > ms ? end : ms;
    }
    return end;
}

static uint64_t in_us(uint64_t ms)
{
    return pgk_multiply_saturated(ms, US_PER_MS);
}

static void put_head(struct dhat *d, struct pgk_json *j)
{
    char text[1024];
    pgk_json_number(j, "dhatFileVersion", 2);
    pgk_json_text(j, "mode", "heap");
    pgk_json_text(j, "verb", "Allocated");
    pgk_json_flag(j, "bklt", d->with_times);
    pgk_json_flag(j, "bkacc", false);
    pgk_json_text(j, "tu", "µs");
    pgk_json_text(j, "Mtu", "s");
    if (d->with_times)
        pgk_json_number(j, "tuth", SHORT_LIVED_US);
    pgk_json_text(j, "cmd", pgk_human_text(text, sizeof text, d->title ? d->title : ""));
    pgk_json_number(j, "pid", 0);
    pgk_json_number(j, "te", in_us(end_ms(d)));
    if (d->with_times)
        pgk_json_number(j, "tg", in_us(d->times.peak_ms));
}

static void put_row(struct dhat *d, struct pgk_json *j, const struct row *r)
{
    const struct pgk_stack_node *nodes = d->frames.stacks.nodes.v;
    pgk_json_line(j, 1);
    pgk_json_object(j, NULL);
    pgk_json_number(j, "tb", r->bytes);
    pgk_json_number(j, "tbk", r->objects);
    if (d->with_times) {
        pgk_json_number(j, "tl", in_us(r->lifetime_ms));
        pgk_json_number(j, "mb", r->most_bytes);
        pgk_json_number(j, "mbk",
                        r->peak_objects > r->end_objects ? r->peak_objects : r->end_objects);
        pgk_json_number(j, "gb", r->peak_bytes);
        pgk_json_number(j, "gbk", r->peak_objects);
        pgk_json_number(j, "eb", r->end_bytes);
        pgk_json_number(j, "ebk", r->end_objects);
    }
    pgk_json_array(j, "fs");
    for (uint32_t node = r->node; node; node = nodes[node].parent)
        pgk_json_number(j, NULL, nodes[node].frame + 1); /* 0 is the root */
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static int put_all(struct dhat *d, struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_text_out text;
    struct pgk_json j;
    const char *place = "";
    pgk_text_to_sink(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    put_head(d, &j);
    pgk_json_array(&j, "pps");
    for (size_t i = 0; i < d->rows.n; i++)
        put_row(d, &j, &d->rows.v[i]);
    pgk_json_end_array(&j);
    pgk_json_array(&j, "ftbl");
    pgk_json_text(&j, NULL, "[root]");
    for (size_t i = 0; i < d->frames.frames.n && place; i++) {
        place = pgk_valgrind_place(&d->place, &d->frames, &d->frames.frames.v[i]);
        pgk_json_line(&j, 1);
        pgk_json_text(&j, NULL, place ? place : "");
    }
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
    return place ? 0 : pgk_fail_nomem(err);
}

int pgk_export_dhat(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                    struct pgk_sink *out, struct pgk_err *err)
{
    struct dhat d = {.heap = heap, .title = opts->title, .times = {.struct_size = sizeof d.times}};
    pgk_heap_over_time(heap, &d.times);
    int status = build(&d, err);
    if (!status)
        status = put_all(&d, out, err);
    pgk_heap_frames_free(&d.frames);
    pgk_mem_free(d.nodes);
    pgk_mem_free(d.row_of);
    pgk_vec_free(&d.rows);
    pgk_vec_free(&d.place);
    return status;
}
