/* The data of a heap report page as JSON, in columns: numbers that are alike stand side by
 * side, which compresses well and loads fast. docs/report.md tells the keys. */
#include "heap_page.h"

#include "json_out.h"
#include "mib.h"
#include "page_titles.h"

#include <string.h>

static void put_titles(struct pgk_page *p)
{
    const struct pgk_export_opts *o = p->opts;
    pgk_page_titles(p->out, "heap", o->info, o->title, p->before != NULL, o->base_title);
    pgk_sink_printf(p->out, ",\"some_accesses\":%s",
                    pgk_view_some_accesses(o->info) ? "true" : "false");
}

static void put_totals(struct pgk_sink *out, const char *key, const struct pgk_heap_totals *t)
{
    static const enum pgk_mib_id sums[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                           PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime};
    pgk_sink_printf(out, ",\"%s\":{\"contexts\":%zu", key, t->contexts);
    for (size_t i = 0; i < PGK_COUNTOF(sums); i++)
        if (t->known >> sums[i] & 1)
            pgk_json_member_number(out, pgk_mib_info(sums[i], NULL, NULL), t->v[sums[i]]);
    pgk_sink_printf(out, "}");
}

static void put_labels(struct pgk_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"labels\":[");
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++) {
        pgk_json_comma(p->out, &first);
        pgk_sink_printf(p->out, "{\"contexts\":%zu", p->totals.label_contexts[l]);
        pgk_json_member_number(p->out, "bytes", p->totals.label_bytes[l]);
        pgk_json_member_text(p->out, "name", pgk_mib_label_name(l));
        pgk_json_member_text(p->out, "rule", pgk_mib_label_rule(l));
        pgk_sink_printf(p->out, "}");
    }
    pgk_sink_printf(p->out, "]");
}

/* Contexts of advice that are on the page: pairs of row and bytes, some hundreds at most. */
static void put_stakes(struct pgk_page *p, const struct pgk_advice *a)
{
    enum { MOST = 200 };
    bool first = true;
    size_t put = 0;
    pgk_sink_printf(p->out, ",\"rows\":[");
    for (size_t i = 0; i < a->n && put < MOST; i++) {
        const struct pgk_advice_stake *s = &p->advice.stakes[a->first + i];
        if (p->row_of[s->context] >= p->n_shown)
            continue;
        pgk_json_comma(p->out, &first);
        pgk_sink_printf(p->out, "[%u,", p->row_of[s->context]);
        pgk_json_number(p->out, s->bytes);
        pgk_sink_printf(p->out, "]");
        put++;
    }
    pgk_sink_printf(p->out, "]");
}

static void put_advice(struct pgk_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"advice\":[");
    for (size_t i = 0; i < p->advice.n; i++) {
        const struct pgk_advice *a = &p->advice.v[i];
        const struct pgk_advice_text *text = &pgk_advice_texts[a->rule];
        pgk_json_comma(p->out, &first);
        pgk_sink_printf(p->out, "{\"contexts\":%zu", a->n);
        pgk_json_member_number(p->out, "bytes", a->bytes);
        pgk_json_member_number(p->out, "objects", a->objects);
        pgk_json_member_text(p->out, "name", text->name);
        pgk_json_member_text(p->out, "title", text->title);
        pgk_json_member_text(p->out, "says", text->says);
        pgk_json_member_text(p->out, "action", text->action);
        pgk_json_member_text(p->out, "rule", text->rule);
        put_stakes(p, a);
        pgk_sink_printf(p->out, "}");
    }
    pgk_sink_printf(p->out, "]");
}

/* ---- columns: of a table's entries by their old numbers, of rows by their places ---- */

static const struct pgk_view_func *func_of(const void *page, uint32_t old)
{
    const struct pgk_page *p = page;
    return &p->align.frames.funcs.v[old];
}

static uint64_t text_number(const void *page, uint32_t id)
{
    const struct pgk_page *p = page;
    return p->texts.number_of[id] - 1;
}

static uint64_t func_name(const void *page, uint32_t old)
{
    return text_number(page, func_of(page, old)->name);
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

static uint64_t func_library(const void *page, uint32_t old)
{
    return func_of(page, old)->library;
}

static const struct pgk_view_frame *frame_of(const void *page, uint32_t old)
{
    const struct pgk_page *p = page;
    return &p->align.frames.frames.v[old];
}

static uint64_t frame_func(const void *page, uint32_t old)
{
    const struct pgk_page *p = page;
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
    const struct pgk_page *p = page;
    if (!old)
        return 0;
    uint32_t parent = p->align.frames.stacks.nodes.v[old].parent;
    return p->nodes.number_of[old] - p->nodes.number_of[parent];
}

static uint64_t node_frame(const void *page, uint32_t old)
{
    const struct pgk_page *p = page;
    return old ? p->frames.number_of[p->align.frames.stacks.nodes.v[old].frame] - 1 : 0;
}

static const struct pgk_json_column func_columns[] = {
    {"name", func_name},     {"linkage", func_linkage}, {"file", func_file},
    {"module", func_module}, {"library", func_library},
};

static const struct pgk_json_column frame_columns[] = {
    {"func", frame_func},     {"line", frame_line},       {"line_offset", frame_line_offset},
    {"column", frame_column}, {"inlined", frame_inlined},
};

static const struct pgk_json_column node_columns[] = {{"parent", node_parent},
                                                      {"frame", node_frame}};

static void put_table(struct pgk_page *p, const char *name, const struct pgk_page_table *t,
                      const struct pgk_json_column *columns, size_t n_columns)
{
    pgk_json_columns(p->out, name, columns, n_columns, p, t->old.v, t->old.n);
    pgk_sink_u8(p->out, '}');
}

static void put_stacks(struct pgk_page *p)
{
    put_table(p, "funcs", &p->funcs, func_columns, PGK_COUNTOF(func_columns));
    put_table(p, "frames", &p->frames, frame_columns, PGK_COUNTOF(frame_columns));
    put_table(p, "nodes", &p->nodes, node_columns, PGK_COUNTOF(node_columns));
}

typedef const struct pgk_mib *side_fn(const struct pgk_page *p, size_t row, struct pgk_mib *room);

/* One column per field that some context knows; null where a context does not. */
static void put_fields(struct pgk_page *p, const char *key, side_fn *side)
{
    bool first_field = true;
    pgk_sink_printf(p->out, ",\"%s\":{", key);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        bool any = false, first = true;
        for (size_t i = 0; i < p->n_shown && !any && !pgk_mib_is_of_histogram(id); i++)
            any = side(p, i, PGK_MIB_ROOM) && side(p, i, PGK_MIB_ROOM)->known >> id & 1;
        if (!any)
            continue;
        pgk_json_key(p->out, &first_field, pgk_mib_info(id, NULL, NULL));
        pgk_sink_printf(p->out, "[");
        for (size_t i = 0; i < p->n_shown; i++) {
            const struct pgk_mib *m = side(p, i, PGK_MIB_ROOM);
            pgk_json_comma(p->out, &first);
            if (m && m->known >> id & 1)
                pgk_json_number(p->out, m->v[id]);
            else
                pgk_sink_bytes(p->out, "null", 4);
        }
        pgk_sink_printf(p->out, "]");
    }
    pgk_sink_printf(p->out, "}");
}

static uint64_t row_context(const void *page, uint32_t row)
{
    const struct pgk_page *p = page;
    const struct pgk_heap_pair *pair = &p->rows[row].pair;
    return pair->now == PGK_NO_CONTEXT ? pair->before : pair->now;
}

static uint64_t row_node(const void *page, uint32_t row)
{
    const struct pgk_page *p = page;
    return p->nodes.number_of[p->rows[row].pair.node] - 1;
}

static uint64_t row_site(const void *page, uint32_t row)
{
    const struct pgk_page *p = page;
    return p->nodes.number_of[pgk_frames_site(&p->align.frames, p->rows[row].pair.node)] - 1;
}

static uint64_t row_label(const void *page, uint32_t row)
{
    const struct pgk_page *p = page;
    const struct pgk_mib *now = pgk_page_now(p, row, PGK_MIB_ROOM);
    return pgk_view_label(now ? now : pgk_page_before(p, row, PGK_MIB_ROOM), p->opts->info);
}

static uint64_t row_change(const void *page, uint32_t row)
{
    return pgk_heap_change(pgk_page_now(page, row, PGK_MIB_ROOM),
                           pgk_page_before(page, row, PGK_MIB_ROOM));
}

static uint64_t row_moved(const void *page, uint32_t row)
{
    const struct pgk_page *p = page;
    return p->rows[row].pair.moved;
}

/* The last two tell of a comparison. */
static const struct pgk_json_column row_columns[] = {
    {"id", row_context},  {"node", row_node},     {"site", row_site},
    {"label", row_label}, {"change", row_change}, {"moved", row_moved},
};

static void put_histograms(struct pgk_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"histograms\":{");
    for (size_t i = 0; i < p->n_shown; i++) {
        const struct pgk_mib *m = pgk_page_now(p, i, PGK_MIB_ROOM);
        bool first_word = true;
        char key[24];
        if (!m || !m->hist_count)
            continue;
        snprintf(key, sizeof key, "%zu", i);
        pgk_json_key(p->out, &first, key);
        pgk_sink_printf(p->out, "[");
        for (uint32_t w = 0; w < m->hist_count; w++) {
            pgk_json_comma(p->out, &first_word);
            pgk_json_number(p->out, m->hist[w]);
        }
        pgk_sink_printf(p->out, "]");
    }
    pgk_sink_printf(p->out, "}");
}

static void put_rows(struct pgk_page *p)
{
    size_t n_columns = PGK_COUNTOF(row_columns) - (p->before ? 0 : 2);
    pgk_json_columns(p->out, "contexts", row_columns, n_columns, p, NULL, p->n_shown);
    pgk_sink_u8(p->out, '}');
    put_fields(p, "now", pgk_page_now);
    if (p->before)
        put_fields(p, "before", pgk_page_before);
    put_histograms(p);
}

static void put_diff(struct pgk_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"overlap\":");
    pgk_json_double(p->out, pgk_heap_overlap(&p->align, p->now, p->before));
    pgk_sink_printf(p->out, ",\"changes\":[");
    for (enum pgk_heap_change c = 0; c < PGK_CHANGES; c++) {
        pgk_json_comma(p->out, &first);
        pgk_json_text(p->out, pgk_heap_change_name(c));
    }
    pgk_sink_printf(p->out, "]");
}

static void put_rest(struct pgk_page *p)
{
    struct pgk_mib sum = {0};
    double largest = 0;
    for (size_t i = p->n_shown; i < p->n_rows; i++) {
        const struct pgk_mib *m = pgk_page_now(p, i, PGK_MIB_ROOM);
        if (p->rows[i].weight > largest)
            largest = p->rows[i].weight;
        for (enum pgk_mib_id id = 0; m && id < PGK_MIB_FIELDS; id++)
            if (pgk_mib_fields[id].across == PGK_RULE_SUM)
                sum.v[id] += m->v[id];
    }
    pgk_sink_printf(p->out, ",\"rest\":{\"contexts\":%zu", p->n_rows - p->n_shown);
    pgk_json_member_number(p->out, "TotalSize", sum.v[PGK_MIB_TotalSize]);
    pgk_json_member_number(p->out, "AllocCount", sum.v[PGK_MIB_AllocCount]);
    pgk_json_member_number(p->out, "TotalAccessCount", sum.v[PGK_MIB_TotalAccessCount]);
    pgk_sink_printf(p->out, ",\"largest_share\":");
    pgk_json_double(p->out, largest);
    pgk_sink_printf(p->out, "}");
}

static void put_units(struct pgk_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"fields\":{");
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        if (pgk_mib_is_of_histogram(id))
            continue;
        const char *unit, *meaning, *name = pgk_mib_info(id, &unit, &meaning);
        pgk_json_key(p->out, &first, name);
        pgk_sink_printf(p->out, "[");
        pgk_json_text(p->out, unit);
        pgk_sink_printf(p->out, ",");
        pgk_json_text(p->out, meaning);
        pgk_sink_printf(p->out, "]");
    }
    pgk_sink_printf(p->out, "}");
}

/* Last, because others add to them. */
static void put_texts(struct pgk_page *p)
{
    bool first = true;
    pgk_sink_printf(p->out, ",\"texts\":[");
    for (size_t i = 0; i < p->texts.old.n; i++) {
        pgk_json_comma(p->out, &first);
        pgk_json_text(p->out, pgk_frames_text(&p->align.frames, p->texts.old.v[i]));
    }
    pgk_sink_printf(p->out, "]");
}

int pgk_page_json(struct pgk_page *p, struct pgk_err *err)
{
    pgk_sink_printf(p->out, "{");
    put_titles(p);
    put_totals(p->out, "totals", &p->totals);
    if (p->before)
        put_totals(p->out, "totals_before", &p->totals_before);
    put_labels(p);
    put_advice(p);
    put_units(p);
    put_stacks(p);
    put_rows(p);
    if (p->before)
        put_diff(p);
    put_rest(p);
    PGK_TRY(pgk_page_sources(p, err));
    put_texts(p);
    pgk_sink_printf(p->out, "}");
    return 0;
}
