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

/* Room is asked for once a place. */
enum { PLACE_BYTES = 5 + 5 + PGK_ULEB_BYTES, NAME_BYTES = 5 + PGK_ULEB_BYTES };

static uint8_t *place_room(struct pgk_record_writer *w, size_t n_names)
{
    return pgk_line_room(w->line, PLACE_BYTES + PGK_ULEB_BYTES + n_names * NAME_BYTES);
}

static uint8_t *put_loc(uint8_t *to, uint64_t loc)
{
    return pgk_put_uleb(pgk_put_uleb(to, pgk_sample_line(loc)), pgk_sample_discriminator(loc));
}

static void put_names(struct pgk_record_writer *w, uint8_t *to, const struct pgk_sample_rec *v,
                      size_t n)
{
    to = pgk_put_uleb(to, n);
    for (size_t i = 0; i < n; i++) {
        to = pgk_put_uleb(to, w->names.index_of.v[pgk_rec_name(&v[i])]);
        to = pgk_put_uleb(to, v[i].count);
    }
    w->line->v.n = (size_t)(to - w->line->v.v);
}

static void put_lines(struct pgk_record_writer *w, const struct pgk_sample_recs *recs)
{
    struct pgk_sample_place place;
    pgk_line_uleb(w->line, count_places(recs, false));
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        uint8_t *to = place.has_body ? place_room(w, place.n_targets) : NULL;
        if (to)
            put_names(w, pgk_put_uleb(put_loc(to, place.loc), place.samples), place.targets,
                      place.n_targets);
    }
}

static void put_vtables(struct pgk_record_writer *w, const struct pgk_sample_recs *recs)
{
    struct pgk_sample_place place;
    uint64_t n = count_places(recs, true);
    pgk_line_uleb(w->line, n);
    for (uint32_t i = 0; n && i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        uint8_t *to = place.n_vtables ? place_room(w, place.n_vtables) : NULL;
        if (to)
            put_names(w, put_loc(to, place.loc), place.vtables, place.n_vtables);
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
