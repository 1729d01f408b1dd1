/* Writing sample profiles as text. */
#include "sample_text.h"

#include "format_row.h"
#include "line_buffer.h"
#include "sample_format.h"
#include "sample_order.h"
#include "sample_partial.h"
#include "sample_spelling.h"

#include <stdlib.h>

struct writer {
    const struct pgk_sample *p;
    struct pgk_sample_order order;
    struct pgk_line line;
    struct pgk_sink *out;
    bool vtables;
};

static void put_str(struct pgk_line *l, const char *s)
{
    pgk_line_bytes(l, s, strlen(s));
}

static void put_name(const struct pgk_sample *p, uint32_t name, struct pgk_line *l)
{
    pgk_put_spelling(l, &p->names.list.v[name]);
}

static void indent(struct pgk_line *l, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        pgk_line_byte(l, ' ');
}

static void put_counts(struct writer *w, const struct pgk_sample_rec *v, size_t n,
                       bool blank_behind)
{
    for (size_t i = 0; i < n; i++) {
        if (!blank_behind)
            pgk_line_byte(&w->line, ' ');
        put_name(w->p, pgk_rec_name(&v[i]), &w->line);
        pgk_line_byte(&w->line, ':');
        pgk_line_decimal(&w->line, v[i].count);
        if (blank_behind)
            pgk_line_byte(&w->line, ' ');
    }
}

static void put_vtables(struct writer *w, const struct pgk_sample_place *place, unsigned depth)
{
    if (!w->vtables)
        return;
    indent(&w->line, depth);
    pgk_put_spelled_loc(&w->line, place->loc);
    put_str(&w->line, ": vtables ");
    put_counts(w, place->vtables, place->n_vtables, true);
    pgk_line_byte(&w->line, '\n');
}

static void put_body(struct writer *w, const struct pgk_sample_place *place, unsigned depth)
{
    indent(&w->line, depth);
    pgk_put_spelled_loc(&w->line, place->loc);
    put_str(&w->line, ": ");
    pgk_line_decimal(&w->line, place->samples);
    put_counts(w, place->targets, place->n_targets, false);
    pgk_line_byte(&w->line, '\n');
}

/* LLVM 22 prints the vtables of a place after its samples and after its inlinees, so twice if there
 * are both, and not at all if there are neither. Here each place has them once: after the samples,
 * otherwise after the inlinees, otherwise where the samples would be. */
static void put_node(struct writer *w, uint32_t node, unsigned depth);

static void put_records(struct writer *w, uint32_t node, unsigned depth)
{
    const struct pgk_sample_recs *recs = &w->p->nodes.v[node].recs;
    struct pgk_sample_place place;
    uint32_t inlinee = pgk_sample_first(w->p, node);
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        while (inlinee && w->p->nodes.v[inlinee].loc < place.loc)
            inlinee = pgk_sample_next(w->p, inlinee);
        bool behind_inlinees = inlinee && w->p->nodes.v[inlinee].loc == place.loc;
        if (place.has_body)
            put_body(w, &place, depth);
        if (place.n_vtables && (place.has_body || !behind_inlinees))
            put_vtables(w, &place, depth);
    }
}

/* The vtables of a place that has inlinees and no samples. */
static void put_late_vtables(struct writer *w, uint32_t node, uint64_t loc, unsigned depth)
{
    const struct pgk_sample_recs *recs = &w->p->nodes.v[node].recs;
    uint32_t i = pgk_order_find_place(recs, loc);
    struct pgk_sample_place place;
    if (i == recs->n || recs->v[i].loc != loc)
        return;
    pgk_order_place(&w->order, recs, i, &place);
    if (!place.has_body && place.n_vtables)
        put_vtables(w, &place, depth);
}

static void put_inlinees(struct writer *w, uint32_t node, unsigned depth)
{
    for (uint32_t c = pgk_sample_first(w->p, node); c;) {
        const struct pgk_sample_node *n = &w->p->nodes.v[c];
        indent(&w->line, depth);
        pgk_put_spelled_loc(&w->line, n->loc);
        put_str(&w->line, ": ");
        put_name(w->p, n->name, &w->line);
        pgk_line_byte(&w->line, ':');
        pgk_line_decimal(&w->line, n->total);
        pgk_line_byte(&w->line, '\n');
        put_node(w, c, depth + 1);
        c = n->next;
        if (!c || w->p->nodes.v[c].loc != n->loc)
            put_late_vtables(w, node, n->loc, depth);
    }
}

static void put_number(struct writer *w, const char *what, uint64_t v, unsigned depth)
{
    indent(&w->line, depth);
    put_str(&w->line, what);
    pgk_line_decimal(&w->line, v);
    pgk_line_byte(&w->line, '\n');
}

static void put_node(struct writer *w, uint32_t node, unsigned depth)
{
    const struct pgk_sample_node *n = &w->p->nodes.v[node];
    put_records(w, node, depth);
    put_inlinees(w, node, depth);
    if (w->p->kind.probes)
        put_number(w, "!CFGChecksum: ", n->checksum, depth);
    if (n->attributes)
        put_number(w, "!Attributes: ", n->attributes, depth);
    pgk_line_flush(&w->line, w->out, PGK_LINE_FLUSH_BYTES);
}

static void put_top(struct writer *w, uint32_t top, bool flat_marks)
{
    const struct pgk_sample_node *n = &w->p->nodes.v[top];
    bool bracket = w->p->kind.contexts;
    if (bracket)
        pgk_line_byte(&w->line, '[');
    pgk_sample_put_identity(w->p, top, &w->line);
    put_str(&w->line, bracket ? "]:" : ":");
    pgk_line_decimal(&w->line, n->total);
    pgk_line_byte(&w->line, ':');
    pgk_line_decimal(&w->line, n->head);
    pgk_line_byte(&w->line, '\n');
    /* LLVM puts the mark last, where its own reader takes it to clear the attributes. */
    if (flat_marks && !n->first_child && n->attributes) {
        put_records(w, top, 1);
        if (w->p->kind.probes)
            put_number(w, "!CFGChecksum: ", n->checksum, 1);
        put_str(&w->line, " !Flat\n");
        put_number(w, "!Attributes: ", n->attributes, 1);
        return;
    }
    put_node(w, top, 1);
    if (flat_marks && !n->first_child)
        put_str(&w->line, " !Flat\n");
}

static int write_tops(const struct pgk_sample *p, const uint32_t *tops, size_t n, bool flat_marks,
                      bool vtables, struct pgk_sink *out, struct pgk_err *err)
{
    struct writer w = {.p = p, .out = out, .order = {.p = p}, .vtables = vtables};
    for (size_t i = 0; i < n; i++) {
        pgk_sample_prefetch_behind(p, i, n);
        put_top(&w, tops[i], flat_marks);
    }
    pgk_line_flush(&w.line, out, 1);
    bool failed = w.line.failed || w.order.failed;
    pgk_line_free(&w.line);
    pgk_order_free(&w.order);
    return failed ? pgk_fail_nomem(err) : 0;
}

int pgk_sample_text_write(const struct pgk_sample *p, size_t n, bool flat_marks,
                          bool vtables, struct pgk_sink *out, struct pgk_err *err)
{
    return write_tops(p, p->by_heat.v, n, flat_marks, vtables, out, err);
}

/* ---- by name ---- */

struct ranked {
    uint32_t rank, top;
    size_t heat; /* its place by heat, which decides between contexts of a function */
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->heat > y->heat) - (x->heat < y->heat);
}

static bool sort_by_name(const struct pgk_sample *p, size_t n, uint32_t *tops)
{
    uint32_t *rank = pgk_mem_alloc(p->names.list.n + 1, sizeof *rank);
    struct ranked *order = pgk_mem_alloc(n + 1, sizeof *order);
    const bool ok = rank && order && pgk_sample_names_rank(&p->names, rank);
    for (size_t i = 0; ok && i < n; i++) {
        const uint32_t top = p->by_heat.v[i];
        order[i] = (struct ranked){rank[p->nodes.v[top].name], top, i};
    }
    if (ok)
        qsort(order, n, sizeof *order, by_rank);
    for (size_t i = 0; ok && i < n; i++)
        tops[i] = order[i].top;
    pgk_mem_free(rank);
    pgk_mem_free(order);
    return ok;
}

/* So that two texts of a program have their functions at the same places. */
static int write_by_name(const struct pgk_sample *p, size_t n,
                         const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                         struct pgk_err *err)
{
    uint32_t *tops = pgk_mem_alloc(n + 1, sizeof *tops);
    const bool ok = tops && sort_by_name(p, n, tops);
    int status = ok ? write_tops(p, tops, n, opts->split_layout, opts->vtables, out, err)
                    : pgk_fail_nomem(err);
    pgk_mem_free(tops);
    return status;
}

/* ---- among the formats ---- */

static int read(struct pgk_sample *profile, const struct pgk_file_bytes *file, uint64_t weight,
                struct pgk_file_info *info, struct pgk_err *err)
{
    const char *text = (const char *)file->bytes;
    const bool before = profile->has_vtables; /* of other files */
    profile->has_vtables = false;
    PGK_TRY(pgk_sample_text_read(profile, file->bytes, file->size, file->src, weight, err));
    info->facts[PGK_FACT_SHARD] = pgk_sample_is_partial(text, text + file->size);
    info->facts[PGK_FACT_VTABLES] = profile->has_vtables;
    profile->has_vtables |= before;
    return 0;
}

static int write(const struct pgk_sample *profile, size_t n,
                 const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                 struct pgk_err *err)
{
    if (opts->by_name)
        return write_by_name(profile, n, opts, out, err);
    return pgk_sample_text_write(profile, n, opts->split_layout, opts->vtables, out, err);
}

static void describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_SHARD])
        pgk_info_add(text, ", partial");
    if (info->facts[PGK_FACT_VTABLES])
        pgk_info_add(text, ", with vtables");
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    if (info->facts[PGK_FACT_SHARD])
        pgk_info_add(text, "pgokit");
    else
        pgk_info_add_releases(text, info->facts[PGK_FACT_VTABLES] ? PGK_SAMPLE_VTABLES_SINCE : 14,
                              PGK_LLVM_NOW);
}

const struct pgk_format_row pgk_format_sample_text = {
    .format = {.name = "text sample profile",
               .kind = PGK_KIND_SAMPLE,
               .reads = "of LLVM 13 to " PGK_LLVM_NOW_TEXT,
               .writes = "of LLVM 13 to " PGK_LLVM_NOW_TEXT,
               .made_by = "llvm-profdata, llvm-profgen, pgokit",
               .page = "sample-text.md"},
    .sniff = pgk_sample_text_sniff,
    .read_sample = read,
    .sample_writer = {.encoding = PGK_SAMPLE_TEXT,
                      .name = "text",
                      .write = write,
                      .vtables = true,
                      .checksums = true,
                      .attributes = true,
                      .guids = true},
    .describe = describe,
    .readers = readers,
};
