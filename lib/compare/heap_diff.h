/* Compares two heap profiles: the figures that all forms of the comparison show. */
#ifndef PGK_HEAP_DIFF_H
#define PGK_HEAP_DIFF_H

#include "heap_align.h"
#include "heap_view.h"
#include "json_out.h"
#include "pgokit/human.h"
#include "text_out.h"

/* A type of objects whose bytes changed. */
struct pgk_heap_diff_type {
    uint64_t id;      /* 0: of contexts whose type is not known */
    const char *name; /* belongs to one of the profiles; "" unknown */
    enum pgk_heap_change change;
    uint64_t bytes_before, bytes, objects_before, objects;
    double growth; /* in bytes */
};

struct pgk_heap_diff {
    const struct pgk_heap *before, *now;
    const struct pgk_heap_diff_opts *opts;
    struct pgk_heap_alignment align; /* pairs in the order of what changed most */
    struct pgk_heap_totals totals, totals_before;
    struct pgk_heap_diff_figures figures;
    size_t changes[PGK_CHANGES];
    double change_bytes[PGK_CHANGES]; /* now less before */
    struct pgk_heap_pair *at_exit;    /* whose bytes alive at exit changed, the largest first */
    size_t n_at_exit;                 /* 0, too, if a profile does not know these */
    PGK_VEC(struct pgk_heap_diff_type) types; /* the largest first; none if a profile knows none */
};

/* A total of both profiles that both know. */
struct pgk_heap_diff_total {
    const char *name; /* "allocated" */
    char before[PGK_HUMAN_SIZE], now[PGK_HUMAN_SIZE];
    char growth[PGK_HUMAN_SIZE]; /* "+12.0 %"; "" if there is none */
};
enum { PGK_HEAP_DIFF_TOTALS = 7 };
/* How many there are. */
size_t pgk_heap_diff_totals(const struct pgk_heap_diff *d,
                            struct pgk_heap_diff_total totals[PGK_HEAP_DIFF_TOTALS]);

/* A context of one of them or of both. */
struct pgk_heap_diff_pair {
    enum pgk_heap_change change;
    uint64_t bytes_before, bytes, objects_before, objects;
    double growth; /* in bytes */
    uint64_t exit_bytes_before, exit_bytes, exit_objects_before, exit_objects;
    double exit_growth;
};
void pgk_heap_diff_pair(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                        struct pgk_heap_diff_pair *pair);

/* How many of the pairs, from the first one on, are to be listed one by one. */
size_t pgk_heap_diff_listed(const struct pgk_heap_diff *d);
/* The same of d->at_exit. */
size_t pgk_heap_diff_listed_at_exit(const struct pgk_heap_diff *d);
/* "new", "gone", "moved" or "": what there is to say of a pair in a list whose figures are not
 * those of the change. */
const char *pgk_heap_diff_found(const struct pgk_heap_pair *p);

/* Fills in d->types. */
PGK_MUST_USE int pgk_heap_diff_types(struct pgk_heap_diff *d, struct pgk_err *err);
/* A table of opts->top of them, if there are any. */
struct pgk_text_style;
void pgk_heap_diff_types_text(const struct pgk_heap_diff *d, const struct pgk_text_style *style);
void pgk_heap_diff_types_markdown(const struct pgk_heap_diff *d, struct pgk_text_out *out);
void pgk_heap_diff_types_json(const struct pgk_heap_diff *d, struct pgk_json *j);

PGK_MUST_USE int pgk_heap_diff_markdown(const struct pgk_heap_diff *d, struct pgk_text_out *out,
                                        struct pgk_err *err);

#endif
