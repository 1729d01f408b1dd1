/* The data of a heap report page as JSON, in columns: numbers that are alike stand side by
 * side, which compresses well and loads fast. docs/report.md describes the keys. */
#include "heap_page.h"

#include "exporters.h"
#include "heap_threads.h"
#include "mib.h"
#include "page_pack.h"
#include "page_titles.h"
#include "placement.h"

#include <math.h>
#include <string.h>

enum { ESTIMATE_DIGITS = 17, LIMIT_DIGITS = 4 };

static void put_titles(struct pgk_heap_page *p)
{
    const struct pgk_heap_export_opts *o = p->opts;
    pgk_page_titles(p->json, "heap", o->info, o->title, p->before != NULL, o->base_title);
    pgk_json_flag(p->json, "some_accesses", pgk_view_some_accesses(o->info));
    pgk_json_text(p->json, "last_moment", pgk_view_last_moment(o->info));
}

static void put_totals(struct pgk_json *j, const char *key, const struct pgk_heap_totals *t)
{
    static const enum pgk_mib_id sums[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                           PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime,
                                           PGK_MIB_ExitSize};
    static const enum pgk_mib_id of_leaks[] = {PGK_MIB_UnreachableSize,
                                               PGK_MIB_UnreachableCount};
    pgk_json_object(j, key);
    pgk_json_number(j, "contexts", t->contexts);
    for (size_t i = 0; i < PGK_COUNTOF(sums); i++)
        if (t->known >> sums[i] & 1)
            pgk_json_number(j, pgk_mib_info(sums[i], NULL, NULL), t->v[sums[i]]);
    /* As in tables: of those contexts that know it. */
    for (size_t i = 0; i < PGK_COUNTOF(of_leaks); i++)
        if (t->some_know >> of_leaks[i] & 1)
            pgk_json_number(j, pgk_mib_info(of_leaks[i], NULL, NULL), t->v[of_leaks[i]]);
    if (t->cut) {
        pgk_json_number(j, "cut", t->cut);
        pgk_json_number(j, pgk_mib_info(PGK_MIB_CutSize, NULL, NULL), t->v[PGK_MIB_CutSize]);
    }
    pgk_json_end_object(j);
}

/* The value, and from where to where it is; null: without limit. */
static void put_estimate(struct pgk_json *j, const char *key, const struct pgk_heap_estimate *e)
{
    pgk_json_array(j, key);
    pgk_json_digits(j, NULL, e->value, ESTIMATE_DIGITS);
    pgk_json_digits(j, NULL, e->low, ESTIMATE_DIGITS);
    if (isinf(e->high))
        pgk_json_null(j, NULL);
    else
        pgk_json_digits(j, NULL, e->high, ESTIMATE_DIGITS);
    pgk_json_end_array(j);
}

static void put_sampling(struct pgk_json *j, const struct pgk_heap_totals *t)
{
    const struct pgk_heap_sampling *s = &t->sampling;
    if (!t->sampled)
        return;
    pgk_json_object(j, "sampled");
    pgk_json_number(j, "samples", s->samples);
    pgk_json_number(j, "hits", s->hits);
    pgk_json_number(j, "sample_bytes", s->sample_bytes);
    pgk_json_flag(j, "exact", s->exact);
    put_estimate(j, "AllocCount", &s->objects);
    put_estimate(j, "TotalSize", &s->bytes);
    put_estimate(j, "TotalAccessCount", &s->accesses);
    pgk_json_end_object(j);
}

static void put_labels(struct pgk_json *j, const struct pgk_heap_totals *t)
{
    pgk_json_array(j, "labels");
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++) {
        pgk_json_object(j, NULL);
        pgk_json_number(j, "contexts", t->label_contexts[l]);
        pgk_json_number(j, "bytes", t->label_bytes[l]);
        pgk_json_text(j, "name", pgk_mib_label_name(l));
        pgk_json_text(j, "rule", pgk_mib_label_rule(l));
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
}

/* Contexts of advice that are on the page: pairs of row and bytes, some hundreds at most. */
static void put_stakes(struct pgk_heap_page *p, const struct pgk_advice *a)
{
    enum { MOST = 200 };
    size_t put = 0;
    pgk_json_array(p->json, "rows");
    for (size_t i = 0; i < a->n && put < MOST; i++) {
        const struct pgk_advice_stake *s = &p->advice.stakes[a->first + i];
        if (p->row_of[s->context] >= p->n_shown)
            continue;
        pgk_json_array(p->json, NULL);
        pgk_json_number(p->json, NULL, p->row_of[s->context]);
        pgk_json_number(p->json, NULL, s->bytes);
        pgk_json_end_array(p->json);
        put++;
    }
    pgk_json_end_array(p->json);
}

static void put_advice(struct pgk_heap_page *p)
{
    struct pgk_json *j = p->json;
    pgk_json_array(j, "advice");
    for (size_t i = 0; i < p->advice.n; i++) {
        const struct pgk_advice *a = &p->advice.v[i];
        const struct pgk_advice_text *text = &pgk_advice_texts[a->rule];
        pgk_json_object(j, NULL);
        pgk_json_number(j, "contexts", a->n);
        pgk_json_number(j, "bytes", a->bytes);
        pgk_json_number(j, "objects", a->objects);
        pgk_json_text(j, "name", text->name);
        pgk_json_text(j, "title", text->title);
        pgk_json_text(j, "says", text->says);
        pgk_json_text(j, "action", text->action);
        pgk_json_text(j, "rule", text->rule);
        pgk_json_text(j, "example", text->example);
        put_stakes(p, a);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
}

static void put_times(struct pgk_heap_page *p, const char *key, const struct pgk_heap *heap,
                      const uint32_t *row_of)
{
    struct pgk_heap_times t = {.struct_size = sizeof t};
    pgk_heap_over_time(heap, &t);
    if (t.processes)
        pgk_view_put_times(p->json, key, heap, &t, &(struct pgk_view_rows){row_of, p->n_shown});
}

/* ---- columns: of a table's entries by their old numbers, of rows by their places ---- */

static const struct pgk_view_func *func_of(const void *page, uint32_t old)
{
    const struct pgk_heap_page *p = page;
    return &p->align.frames.funcs.v[old];
}

static uint64_t text_number(const void *page, uint32_t id)
{
    const struct pgk_heap_page *p = page;
    return p->texts.number_of[id] - 1;
}

/* The page makes names of addresses out of their parts, many of which are alike. */
static uint64_t func_name(const void *page, uint32_t old)
{
    const struct pgk_view_func *f = func_of(page, old);
    return pgk_heap_page_named(f) ? text_number(page, f->name) : 0;
}

static uint64_t func_address(const void *page, uint32_t old)
{
    const struct pgk_view_func *f = func_of(page, old);
    return pgk_heap_page_named(f) ? 0 : f->guid;
}

static uint64_t func_near(const void *page, uint32_t old)
{
    const struct pgk_view_func *f = func_of(page, old);
    return pgk_heap_page_named(f) ? 0 : text_number(page, f->near);
}

static uint64_t func_linkage(const void *page, uint32_t old)
{
    return text_number(page, func_of(page, old)->linkage);
}

static uint64_t func_file(const void *page, uint32_t old)
{
    return text_number(page, func_of(page, old)->file);
}

static uint64_t func_module(const void *page, uint32_t old)
{
    return text_number(page, func_of(page, old)->module);
}

static uint64_t func_path(const void *page, uint32_t old)
{
    return text_number(page, func_of(page, old)->path);
}

static uint64_t func_library(const void *page, uint32_t old)
{
    return func_of(page, old)->library;
}

static const struct pgk_view_frame *frame_of(const void *page, uint32_t old)
{
    const struct pgk_heap_page *p = page;
    return &p->align.frames.frames.v[old];
}

static uint64_t frame_func(const void *page, uint32_t old)
{
    const struct pgk_heap_page *p = page;
    return p->funcs.number_of[frame_of(p, old)->func] - 1;
}

static uint64_t frame_line(const void *page, uint32_t old)
{
    return frame_of(page, old)->line;
}

static uint64_t frame_line_offset(const void *page, uint32_t old)
{
    return frame_of(page, old)->line_offset;
}

static uint64_t frame_column(const void *page, uint32_t old)
{
    return frame_of(page, old)->column;
}

static uint64_t frame_inlined(const void *page, uint32_t old)
{
    return frame_of(page, old)->inlined;
}

/* Parents as a distance, which is 1 nearly always. */
static uint64_t node_parent(const void *page, uint32_t old)
{
    const struct pgk_heap_page *p = page;
    if (!old)
        return 0;
    uint32_t parent = p->align.frames.stacks.nodes.v[old].parent;
    return p->nodes.number_of[old] - p->nodes.number_of[parent];
}

static uint64_t node_frame(const void *page, uint32_t old)
{
    const struct pgk_heap_page *p = page;
    return old ? p->frames.number_of[p->align.frames.stacks.nodes.v[old].frame] - 1 : 0;
}

static const struct pgk_json_column func_columns[] = {
    {"name", func_name},     {"linkage", func_linkage}, {"file", func_file},
    {"module", func_module}, {"path", func_path},       {"library", func_library},
    {"near", func_near},     {"address", func_address},
};

static const struct pgk_json_column frame_columns[] = {
    {"func", frame_func},     {"line", frame_line},       {"line_offset", frame_line_offset},
    {"column", frame_column}, {"inlined", frame_inlined},
};

static const struct pgk_json_column node_columns[] = {{"parent", node_parent},
                                                      {"frame", node_frame}};

static void put_table(struct pgk_heap_page *p, const char *name, const struct pgk_page_table *t,
                      const struct pgk_json_column *columns, size_t n_columns)
{
    pgk_json_object(p->json, name);
    pgk_json_columns(p->json, columns, n_columns, p, t->old.v, t->old.n);
    pgk_json_end_object(p->json);
}

static void put_stacks(struct pgk_heap_page *p)
{
    put_table(p, "funcs", &p->funcs, func_columns, PGK_COUNTOF(func_columns));
    put_table(p, "frames", &p->frames, frame_columns, PGK_COUNTOF(frame_columns));
    put_table(p, "nodes", &p->nodes, node_columns, PGK_COUNTOF(node_columns));
}

typedef const struct pgk_mib *side_fn(const struct pgk_heap_page *p, size_t row,
                                       struct pgk_mib *space);

/* One column per field that some of `n` contexts or types know; null where one does not. */
static void put_fields(struct pgk_heap_page *p, const char *key, side_fn *side, size_t n)
{
    struct pgk_json *j = p->json;
    pgk_json_object(j, key);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        bool any = false;
        for (size_t i = 0; i < n && !any && !pgk_mib_is_of_histogram(id); i++)
            any = side(p, i, PGK_MIB_SPACE) && side(p, i, PGK_MIB_SPACE)->known >> id & 1;
        if (!any)
            continue;
        pgk_json_array(j, pgk_mib_info(id, NULL, NULL));
        for (size_t i = 0; i < n; i++) {
            const struct pgk_mib *m = side(p, i, PGK_MIB_SPACE);
            if (m && m->known >> id & 1)
                pgk_json_number(j, NULL, m->v[id]);
            else
                pgk_json_null(j, NULL);
        }
        pgk_json_end_array(j);
    }
    pgk_json_end_object(j);
}

/* From where to where figures of contexts are, in two columns each; null: it is exact, or without
 * upper limit. */
static void put_limits(struct pgk_heap_page *p, enum pgk_mib_id figure, bool high)
{
    pgk_json_array(p->json, NULL);
    for (size_t i = 0; i < p->n_shown; i++) {
        const struct pgk_mib *m = pgk_heap_page_now(p, i, PGK_MIB_SPACE);
        struct pgk_heap_estimate e;
        if (m && pgk_mib_estimate(m, figure, &e) && !(high && isinf(e.high)))
            pgk_json_digits(p->json, NULL, high ? e.high : e.low, LIMIT_DIGITS);
        else
            pgk_json_null(p->json, NULL);
    }
    pgk_json_end_array(p->json);
}

static void put_intervals(struct pgk_heap_page *p)
{
    static const enum pgk_mib_id figures[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                              PGK_MIB_TotalAccessCount};
    if (!p->totals.sampled)
        return;
    pgk_json_object(p->json, "intervals");
    for (size_t f = 0; f < PGK_COUNTOF(figures); f++) {
        pgk_json_array(p->json, pgk_mib_info(figures[f], NULL, NULL));
        put_limits(p, figures[f], false);
        put_limits(p, figures[f], true);
        pgk_json_end_array(p->json);
    }
    pgk_json_end_object(p->json);
}

static uint64_t row_node(const void *page, uint32_t row)
{
    const struct pgk_heap_page *p = page;
    return p->nodes.number_of[p->rows[row].pair.node] - 1;
}

static uint64_t row_label(const void *page, uint32_t row)
{
    const struct pgk_heap_page *p = page;
    const struct pgk_mib *now = pgk_heap_page_now(p, row, PGK_MIB_SPACE);
    return pgk_view_label(now ? now : pgk_heap_page_before(p, row, PGK_MIB_SPACE), p->opts->info);
}

static uint64_t row_change(const void *page, uint32_t row)
{
    return pgk_heap_change(pgk_heap_page_now(page, row, PGK_MIB_SPACE),
                           pgk_heap_page_before(page, row, PGK_MIB_SPACE));
}

static uint64_t row_moved(const void *page, uint32_t row)
{
    const struct pgk_heap_page *p = page;
    return p->rows[row].pair.moved;
}

/* The last two are of a comparison. */
static const struct pgk_json_column row_columns[] = {
    {"node", row_node}, {"label", row_label}, {"change", row_change}, {"moved", row_moved}};

static uint64_t row_type(const void *page, uint32_t row)
{
    return pgk_heap_page_type_of(page, row);
}

/* Where types are known. */
static const struct pgk_json_column row_type_column = {"type", row_type};

static uint64_t type_name(const void *page, uint32_t type)
{
    const struct pgk_heap_page *p = page;
    return text_number(p, p->all_types.v[type].name);
}

/* Types of the first profile come first, as their sums do. */
static uint64_t type_contexts(const void *page, uint32_t type)
{
    const struct pgk_heap_page *p = page;
    return type < p->types.all.n ? p->types.all.v[type].contexts : 0;
}

static const struct pgk_json_column type_columns[] = {{"name", type_name},
                                                      {"contexts", type_contexts}};

/* Sums of all contexts, also of those that are not on the page one by one. */
static void put_types(struct pgk_heap_page *p)
{
    if (!p->all_types.n)
        return;
    pgk_json_object(p->json, "types");
    pgk_json_columns(p->json, type_columns, PGK_COUNTOF(type_columns), p, NULL, p->all_types.n);
    put_fields(p, "now", pgk_heap_page_type_now, p->all_types.n);
    if (p->before)
        put_fields(p, "before", pgk_heap_page_type_before, p->all_types.n);
    pgk_json_end_object(p->json);
}

static uint64_t row_thread(const void *page, uint32_t row)
{
    const struct pgk_heap_page *p = page;
    return p->thread_of[row];
}

/* Where several threads are known. */
static const struct pgk_json_column row_thread_column = {"thread", row_thread};

static uint64_t thread_main(const void *page, uint32_t thread)
{
    (void)page;
    return thread == PGK_THREAD_MAIN;
}

/* Counted from 1. */
static uint64_t thread_func(const void *page, uint32_t thread)
{
    const struct pgk_heap_page *p = page;
    return thread < PGK_THREAD_FUNC ? 0 : p->funcs.number_of[thread - PGK_THREAD_FUNC];
}

static const struct pgk_json_column thread_columns[] = {{"main", thread_main},
                                                        {"func", thread_func}};

static void put_histograms(struct pgk_heap_page *p)
{
    pgk_json_object(p->json, "histograms");
    for (size_t i = 0; i < p->n_shown; i++) {
        const struct pgk_mib *m = pgk_heap_page_now(p, i, PGK_MIB_SPACE);
        char key[24];
        if (!m || !m->hist_count)
            continue;
        snprintf(key, sizeof key, "%zu", i);
        pgk_json_array(p->json, key);
        for (uint32_t w = 0; w < m->hist_count; w++)
            pgk_json_number(p->json, NULL, m->hist[w]);
        pgk_json_end_array(p->json);
    }
    pgk_json_end_object(p->json);
}

static void put_rows(struct pgk_heap_page *p)
{
    size_t n_columns = PGK_COUNTOF(row_columns) - (p->before ? 0 : 2);
    pgk_json_object(p->json, "contexts");
    pgk_json_columns(p->json, row_columns, n_columns, p, NULL, p->n_shown);
    if (p->all_types.n)
        pgk_json_columns(p->json, &row_type_column, 1, p, NULL, p->n_shown);
    if (p->knows_threads)
        pgk_json_columns(p->json, &row_thread_column, 1, p, NULL, p->n_shown);
    pgk_json_end_object(p->json);
    put_fields(p, "now", pgk_heap_page_now, p->n_shown);
    put_intervals(p);
    if (p->before)
        put_fields(p, "before", pgk_heap_page_before, p->n_shown);
    put_histograms(p);
}

static void put_diff(struct pgk_heap_page *p)
{
    pgk_json_digits(p->json, "overlap", pgk_heap_overlap(&p->align, p->now, p->before), 17);
    pgk_json_array(p->json, "changes");
    for (enum pgk_heap_change c = 0; c < PGK_CHANGES; c++)
        pgk_json_text(p->json, NULL, pgk_heap_change_name(c));
    pgk_json_end_array(p->json);
}

static void put_rest(struct pgk_heap_page *p)
{
    struct pgk_mib sum = {0};
    double largest = 0;
    for (size_t i = p->n_shown; i < p->n_rows; i++) {
        const struct pgk_mib *m = pgk_heap_page_now(p, i, PGK_MIB_SPACE);
        if (p->rows[i].weight > largest)
            largest = p->rows[i].weight;
        for (enum pgk_mib_id id = 0; m && id < PGK_MIB_FIELDS; id++)
            if (pgk_mib_is_sum(id))
                sum.v[id] += m->v[id];
    }
    pgk_json_object(p->json, "rest");
    pgk_json_number(p->json, "contexts", p->n_rows - p->n_shown);
    pgk_json_number(p->json, "TotalSize", sum.v[PGK_MIB_TotalSize]);
    pgk_json_number(p->json, "AllocCount", sum.v[PGK_MIB_AllocCount]);
    pgk_json_number(p->json, "TotalAccessCount", sum.v[PGK_MIB_TotalAccessCount]);
    pgk_json_digits(p->json, "largest_share", largest, 17);
    pgk_json_end_object(p->json);
}

static void put_units(struct pgk_json *j)
{
    pgk_json_object(j, "fields");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        if (pgk_mib_is_of_histogram(id))
            continue;
        const char *unit, *meaning, *name = pgk_mib_info(id, &unit, &meaning);
        pgk_json_array(j, name);
        pgk_json_text(j, NULL, unit);
        pgk_json_text(j, NULL, meaning);
        pgk_json_end_array(j);
    }
    pgk_json_end_object(j);
}

/* Last, because others add to them. */
static void put_texts(struct pgk_heap_page *p)
{
    pgk_json_array(p->json, "texts");
    for (size_t i = 0; i < p->texts.old.n; i++)
        pgk_json_text(p->json, NULL, pgk_frames_text(&p->align.frames, p->texts.old.v[i]));
    pgk_json_end_array(p->json);
}

static int put_page(void *page, struct pgk_json *j, struct pgk_err *err)
{
    struct pgk_heap_page *p = page;
    p->json = j;
    pgk_json_object(j, NULL);
    put_titles(p);
    put_totals(j, "totals", &p->totals);
    if (p->before)
        put_totals(j, "totals_before", &p->totals_before);
    put_sampling(j, &p->totals);
    put_labels(j, &p->totals);
    put_times(p, "over_time", p->now, p->row_of);
    if (p->before)
        put_times(p, "over_time_before", p->before, p->row_of_before);
    put_advice(p);
    if (p->opts->plan)
        pgk_plan_put(p->opts->plan, j);
    put_units(j);
    put_stacks(p);
    put_rows(p);
    put_types(p);
    if (p->knows_threads)
        put_table(p, "threads", &p->threads, thread_columns, PGK_COUNTOF(thread_columns));
    if (p->before)
        put_diff(p);
    put_rest(p);
    PGK_TRY(pgk_heap_page_sources(p, err));
    put_texts(p);
    pgk_json_end_object(j);
    return 0;
}

int pgk_export_heap_page(const struct pgk_heap *heap, const struct pgk_heap_export_opts *opts,
                         struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_heap_page page = {.now = heap, .opts = opts};
    int status = pgk_heap_page_make(&page, err);
    if (!status)
        status = pgk_page_write(out, put_page, &page, err);
    pgk_heap_page_free(&page);
    return status;
}
