/* The data of a sample report page: what web/src reads. docs/report.md describes the keys. */
#ifndef PGK_SAMPLE_PAGE_H
#define PGK_SAMPLE_PAGE_H

#include "json_out.h"
#include "page_table.h"
#include "pgokit/report.h"
#include "sample_figures.h"
#include "sample_tree.h"

/* A function or context with a profile of its own on some side, most samples first. */
struct pgk_sample_page_row {
    uint32_t node;                          /* of the tree */
    double weight;                          /* larger one of its shares on both sides */
    const struct pgk_sample_change *change; /* of a comparison */
};

/* One side of the page. */
struct pgk_sample_page_side {
    struct pgk_sample_summary summary;
    double density;
    uint64_t heads;           /* samples at their heads */
};

/* Where a function is, by the program's debug information. */
struct pgk_sample_page_place {
    uint32_t file; /* text id */
    uint32_t line; /* the first one of the function; 0: unknown */
};

struct pgk_sample_page {
    const struct pgk_sample_export_opts *opts;
    struct pgk_json *json;
    struct pgk_sample_tree tree;
    struct pgk_sample_page_side now, before;
    struct pgk_sample_diff *diff; /* NULL without a comparison */
    struct pgk_sample_coverage coverage;
    struct pgk_sample_page_row *rows;
    size_t n_rows, n_shown; /* the rows from n_shown on are summed up */
    size_t distinct;        /* functions with a profile in whatever context */
    struct pgk_page_table nodes, funcs, texts;
    struct pgk_sample_page_place *places; /* by function of the tree; of the first `n_places` */
    size_t n_places;
    uint64_t *own, *own_before; /* by node of the tree; with what is folded into the node */
    size_t inlinees_folded;     /* added to what they are inlined into */
    double folded_share;        /* none of them has more of the samples */
    uint64_t least_count;       /* lines, calls and types with fewer are left out */
    size_t records_left_out;
};

/* Chooses what is shown. End in any case with pgk_sample_page_free. */
PGK_MUST_USE int pgk_sample_page_make(struct pgk_sample_page *p, const struct pgk_sample *now,
                                      struct pgk_err *err);
void pgk_sample_page_free(struct pgk_sample_page *p);

/* Finds where functions are, and puts "sources": excerpts of their files. */
PGK_MUST_USE int pgk_sample_page_places(struct pgk_sample_page *p, struct pgk_err *err);
PGK_MUST_USE int pgk_sample_page_sources(struct pgk_sample_page *p, struct pgk_err *err);

static inline struct pgk_sample_page_place pgk_sample_page_place(const struct pgk_sample_page *p,
                                                                 uint32_t func)
{
    return func < p->n_places ? p->places[func] : (struct pgk_sample_page_place){0};
}

/* Lines, calls and types of a node; those of the older profile are not on the page. */
static inline const struct pgk_sample_recs *
pgk_sample_page_records(const struct pgk_sample_page *p, uint32_t node)
{
    static const struct pgk_sample_recs none;
    const struct pgk_sample_node *now = pgk_tree_now(&p->tree, node);
    return now ? &now->recs : &none;
}

#endif
