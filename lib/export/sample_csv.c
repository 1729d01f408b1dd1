/* A row per function or context of a sample profile, RFC 4180: for spreadsheets and data
 * frames. */
#include "exporters.h"

#include "csv_out.h"
#include "saturate.h"
#include "sample_tree.h"

/* The sums of a function, with its inlinees. */
struct inside {
    uint64_t lines, samples, largest, inlinees;
};

static void add_inside(const struct pgk_sample *p, const struct pgk_sample_node *n,
                       struct inside *in)
{
    for (uint32_t i = 0; i < n->recs.n; i++) {
        const struct pgk_sample_rec *r = &n->recs.v[i];
        if (r->what != PGK_REC_BODY)
            continue;
        in->lines++;
        in->samples = pgk_add_saturated(in->samples, r->count);
        if (r->count > in->largest)
            in->largest = r->count;
    }
    for (uint32_t c = n->first_child; c; c = pgk_sample_next(p, c)) {
        in->inlinees++;
        add_inside(p, &p->nodes.v[c], in);
    }
}

static void put_callers(const struct pgk_sample_tree *t, uint32_t node, struct pgk_text_out *out)
{
    pgk_text_lit(out, "\"");
    for (uint32_t n = node; t->nodes.v[n].parent; n = t->nodes.v[n].parent) {
        uint64_t loc = t->nodes.v[n].loc;
        if (n != node)
            pgk_text_lit(out, " <- ");
        pgk_csv_text(out, pgk_sample_tree_name(t, t->nodes.v[n].parent));
        pgk_text_printf(out, ":%u", pgk_sample_line(loc));
        if (pgk_sample_discriminator(loc))
            pgk_text_printf(out, ".%u", pgk_sample_discriminator(loc));
    }
    pgk_text_lit(out, "\"");
}

static void put_row(const struct pgk_sample_tree *t, uint32_t node, struct pgk_text_out *out)
{
    const struct pgk_sample_func *f = &t->funcs.v[t->nodes.v[node].func];
    const struct pgk_sample_node *n = pgk_tree_now(t, node);
    struct inside in = {0};
    add_inside(t->now, n, &in);
    pgk_csv_cell(out, pgk_sample_tree_text(t, f->name));
    pgk_text_lit(out, ",");
    pgk_csv_cell(out, pgk_sample_tree_text(t, f->linkage ? f->linkage : f->name));
    const uint64_t numbers[] = {n->total, n->head, in.samples, in.largest, in.lines, in.inlinees};
    for (size_t i = 0; i < PGK_COUNTOF(numbers); i++) {
        pgk_text_lit(out, ",");
        pgk_text_u64(out, numbers[i]);
    }
    pgk_text_lit(out, ",");
    put_callers(t, node, out);
    pgk_text_lit(out, "\r\n");
}

int pgk_export_sample_csv(const struct pgk_sample *profile,
                          const struct pgk_sample_export_opts *opts, struct pgk_sink *out,
                          struct pgk_err *err)
{
    struct pgk_sample_tree tree;
    struct pgk_text_out text;
    (void)opts;
    int status = pgk_sample_tree_make(&tree, profile, NULL, err);
    pgk_text_to_sink(&text, out);
    pgk_text_lit(&text, "function,linkage name,total (samples),head (samples),"
                        "lines' sum (samples),largest line (samples),lines,inlinees,callers\r\n");
    for (uint32_t n = 1; n < tree.nodes.n && !status; n++)
        if (tree.nodes.v[n].top)
            put_row(&tree, n, &text);
    pgk_text_flush(&text);
    pgk_sample_tree_free(&tree);
    return status;
}
