/* Function records, name tables and summaries for the binary formats. */
#include "record_writer.h"

#include "sample_format.h"
#include "sample_spelling.h"

uint64_t pgk_count_inlinees(const struct pgk_sample *p, uint32_t node)
{
    uint64_t n = 0;
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        n++;
    return n;
}

/* Space is reserved once for each place. */
enum { PLACE_BYTES = 5 + 5 + PGK_ULEB_BYTES, NAME_BYTES = 5 + PGK_ULEB_BYTES };

static uint8_t *reserve_place(struct pgk_record_writer *w, size_t n_names)
{
    return pgk_line_reserve(w->line, PLACE_BYTES + PGK_ULEB_BYTES + n_names * NAME_BYTES);
}

static uint8_t *put_loc(uint8_t *to, uint64_t loc)
{
    return pgk_put_uleb(pgk_put_uleb(to, pgk_sample_line(loc)), pgk_sample_discriminator(loc));
}

/* Names and counts, n of them from v on, appended at `to`. */
static void put_values(struct pgk_record_writer *w, uint8_t *to, const struct pgk_sample_rec *v,
                       size_t n)
{
    v = pgk_order_values(&w->order, v, n);
    to = pgk_put_uleb(to, n);
    for (size_t i = 0; i < n && v; i++) {
        to = pgk_put_uleb(to, w->names.index_of.v[pgk_rec_name(&v[i])]);
        to = pgk_put_uleb(to, v[i].count);
    }
    w->line->bytes.n = (size_t)(to - w->line->bytes.v);
}

/* Records after v[0] of its place and of the kind: targets, or vtables. */
static size_t count_values(const struct pgk_sample_rec *v, const struct pgk_sample_rec *end,
                           uint32_t kind)
{
    const struct pgk_sample_rec *next = v + 1;
    while (next < end && next->loc == v->loc && (next->what & PGK_REC_VTABLE) == kind)
        next++;
    return (size_t)(next - v) - 1;
}

static void put_lines(struct pgk_record_writer *w, const struct pgk_sample_recs *recs)
{
    const struct pgk_sample_rec *v = recs->v, *end = v + recs->n;
    uint64_t n_lines = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n_lines += v[i].what == PGK_REC_BODY;
    pgk_line_uleb(w->line, n_lines);
    for (size_t n; v < end; v += n + 1) {
        n = 0;
        if (v->what != PGK_REC_BODY)
            continue;
        n = count_values(v, end, 0);
        uint8_t *to = reserve_place(w, n);
        if (to)
            put_values(w, pgk_put_uleb(put_loc(to, v->loc), v->count), v + 1, n);
    }
}

static void put_vtables(struct pgk_record_writer *w, const struct pgk_sample_recs *recs)
{
    const struct pgk_sample_rec *v = recs->v, *end = v + recs->n;
    uint64_t n_places = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n_places += pgk_rec_is_vtable(&v[i]) &&
                    (!i || !pgk_rec_is_vtable(&v[i - 1]) || v[i - 1].loc != v[i].loc);
    pgk_line_uleb(w->line, n_places);
    for (size_t n; n_places && v < end; v += n) {
        n = 1;
        if (!pgk_rec_is_vtable(v))
            continue;
        n += count_values(v, end, PGK_REC_VTABLE);
        uint8_t *to = reserve_place(w, n);
        if (to)
            put_values(w, put_loc(to, v->loc), v, n);
    }
}

/* The bytes from `start` on become a block: their size goes before them. */
static void close_block(struct pgk_line *line, size_t start)
{
    uint8_t prefix[PGK_ULEB_BYTES];
    size_t size = line->bytes.n - start, n_prefix = (size_t)(pgk_put_uleb(prefix, size) - prefix);
    uint8_t *end = pgk_line_reserve(line, n_prefix);
    if (!end)
        return;
    uint8_t *block = line->bytes.v + start;
    memmove(block + n_prefix, block, size);
    memcpy(block, prefix, n_prefix);
    line->bytes.n += n_prefix;
}

static bool has_line(const struct pgk_sample_recs *recs)
{
    for (uint32_t i = 0; i < recs->n; i++)
        if (recs->v[i].what == PGK_REC_BODY)
            return true;
    return false;
}

/* As LLVM, none for what has no samples and no lines. */
static void put_block(struct pgk_record_writer *w, const struct pgk_sample_node *n, bool top)
{
    bool any = n->total || (top && n->head) || has_line(&n->recs);
    pgk_line_uleb(w->line, any);
    if (!any)
        return;
    pgk_line_uleb(w->line, PGK_BLOCK_LINES);
    size_t start = w->line->bytes.n;
    if (top)
        pgk_line_uleb(w->line, n->head);
    pgk_line_uleb(w->line, n->total);
    put_lines(w, &n->recs);
    close_block(w->line, start);
}

static void put_node(struct pgk_record_writer *w, uint32_t node, bool top)
{
    const struct pgk_sample_node *n = &w->p->nodes.v[node];
    if (w->composite) {
        put_block(w, n, top);
    } else {
        pgk_line_uleb(w->line, n->total);
        put_lines(w, &n->recs);
    }
    pgk_line_uleb(w->line, pgk_count_inlinees(w->p, node));
    for (uint32_t c = pgk_sample_first(w->p, node); c; c = pgk_sample_next(w->p, c)) {
        pgk_put_loc(w->line, w->p->nodes.v[c].loc);
        pgk_put_name_index(w, w->p->nodes.v[c].name);
        put_node(w, c, false);
    }
    if (w->vtables)
        put_vtables(w, &n->recs);
}

void pgk_put_record(struct pgk_record_writer *w, uint32_t node)
{
    put_node(w, node, true);
}

void pgk_put_string_names(struct pgk_record_writer *w, struct pgk_sink *out)
{
    pgk_line_uleb(w->line, w->names.ids.n);
    for (size_t i = 0; i < w->names.ids.n; i++) {
        pgk_put_spelling(w->line, &w->p->names.list.v[w->names.ids.v[i]]);
        pgk_line_byte(w->line, '\0');
        if (out)
            pgk_line_flush(w->line, out, PGK_LINE_FLUSH_BYTES);
    }
}

int pgk_put_summary(struct pgk_record_writer *w, size_t n, struct pgk_err *err)
{
    struct pgk_sample_summary s;
    PGK_TRY(pgk_sample_summarise_hottest(w->p, n, &s, err));
    pgk_line_uleb(w->line, s.total_count);
    pgk_line_uleb(w->line, s.max_count);
    pgk_line_uleb(w->line, s.max_function_count);
    pgk_line_uleb(w->line, s.num_counts);
    pgk_line_uleb(w->line, s.num_functions);
    pgk_line_uleb(w->line, s.n_cutoffs);
    for (size_t i = 0; i < s.n_cutoffs; i++) {
        pgk_line_uleb(w->line, s.cutoffs[i].ppm);
        pgk_line_uleb(w->line, s.cutoffs[i].min_count);
        pgk_line_uleb(w->line, s.cutoffs[i].num_counts);
    }
    return 0;
}
