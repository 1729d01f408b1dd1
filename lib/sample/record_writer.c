/* Function records, name tables and summaries for the binary formats. */
#include "record_writer.h"

static uint64_t count_places(const struct pgk_sample_recs *recs, bool vtables)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < recs->n; i++) {
        const struct pgk_sample_rec *r = &recs->v[i];
        if (!vtables)
            n += r->what == PGK_REC_BODY;
        else
            n += pgk_rec_is_vtable(r) &&
                 (!i || !pgk_rec_is_vtable(r - 1) || r[-1].loc != r->loc);
    }
    return n;
}

uint64_t pgk_count_inlinees(const struct pgk_sample *p, uint32_t node)
{
    uint64_t n = 0;
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        n++;
    return n;
}

static void put_names(struct pgk_record_writer *w, const struct pgk_sample_rec *v, size_t n)
{
    pgk_line_uleb(w->line, n);
    for (size_t i = 0; i < n; i++) {
        pgk_put_name_index(w, pgk_rec_name(&v[i]));
        pgk_line_uleb(w->line, v[i].count);
    }
}

static void put_lines(struct pgk_record_writer *w, const struct pgk_sample_recs *recs)
{
    struct pgk_sample_place place;
    pgk_line_uleb(w->line, count_places(recs, false));
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        if (!place.has_body)
            continue;
        pgk_put_loc(w->line, place.loc);
        pgk_line_uleb(w->line, place.samples);
        put_names(w, place.targets, place.n_targets);
    }
}

static void put_vtables(struct pgk_record_writer *w, const struct pgk_sample_recs *recs)
{
    struct pgk_sample_place place;
    uint64_t n = count_places(recs, true);
    pgk_line_uleb(w->line, n);
    for (uint32_t i = 0; n && i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        if (!place.n_vtables)
            continue;
        pgk_put_loc(w->line, place.loc);
        put_names(w, place.vtables, place.n_vtables);
    }
}

void pgk_put_record(struct pgk_record_writer *w, uint32_t node)
{
    const struct pgk_sample_node *n = &w->p->nodes.v[node];
    pgk_line_uleb(w->line, n->total);
    put_lines(w, &n->recs);
    pgk_line_uleb(w->line, pgk_count_inlinees(w->p, node));
    for (uint32_t c = pgk_sample_first(w->p, node); c; c = pgk_sample_next(w->p, c)) {
        pgk_put_loc(w->line, w->p->nodes.v[c].loc);
        pgk_put_name_index(w, w->p->nodes.v[c].name);
        pgk_put_record(w, c);
    }
    if (w->vtables)
        put_vtables(w, &n->recs);
}

void pgk_put_string_names(struct pgk_record_writer *w)
{
    pgk_line_uleb(w->line, w->names.ids.n);
    for (size_t i = 0; i < w->names.ids.n; i++) {
        pgk_put_spelling(w->line, &w->p->names.v.v[w->names.ids.v[i]]);
        pgk_line_byte(w->line, '\0');
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
