/* The data of a heap report page: what web/src reads. docs/report.md describes the keys. */
#ifndef PGK_HEAP_PAGE_H
#define PGK_HEAP_PAGE_H

#include "heap_advice.h"
#include "heap_align.h"
#include "heap_view.h"
#include "json_out.h"
#include "page_table.h"

/* A context on the page: contexts of both profiles, most bytes first. */
struct pgk_heap_page_row {
    struct pgk_heap_pair pair;
    double weight;  /* largest share of bytes, objects, accesses or lifetime it has */
    uint64_t bytes; /* in the profile; before, if it is gone */
};

struct pgk_heap_page_type {
    uint64_t id;   /* 0: not known */
    uint32_t name; /* text id */
};

struct pgk_heap_page {
    const struct pgk_heap *now, *before; /* before: NULL without a comparison */
    const struct pgk_heap_export_opts *opts;
    struct pgk_json *json;
    struct pgk_heap_alignment align;
    struct pgk_heap_totals totals, totals_before;
    struct pgk_advice_list advice;
    struct pgk_heap_page_row *rows;
    size_t n_rows, n_shown; /* the rows from n_shown on are summed up */
    uint32_t *row_of;       /* by context of `now` */
    uint32_t *row_of_before;
    struct pgk_page_table nodes, frames, funcs, texts;
    struct pgk_type_sums types, types_before;
    /* Both of these, each type once, those of `types` first; without any if no type is known. */
    PGK_VEC(struct pgk_heap_page_type) all_types;
    struct pgk_index type_index;
    struct pgk_page_table threads; /* numbers of pgk_frames_thread */
    uint32_t *thread_of;           /* by row that is shown */
    bool knows_threads;            /* of any but the first thread of a process */
};

/* Chooses rows and what they refer to. End in any case with pgk_heap_page_free. */
PGK_MUST_USE int pgk_heap_page_make(struct pgk_heap_page *p, struct pgk_err *err);
void pgk_heap_page_free(struct pgk_heap_page *p);

static inline const struct pgk_mib *pgk_heap_page_now(const struct pgk_heap_page *p, size_t row,
                                                 struct pgk_mib *space)
{
    uint32_t context = p->rows[row].pair.now;
    return context == PGK_NO_CONTEXT ? NULL : pgk_heap_mib(p->now, context, space);
}

static inline const struct pgk_mib *pgk_heap_page_before(const struct pgk_heap_page *p, size_t row,
                                                    struct pgk_mib *space)
{
    uint32_t context = p->rows[row].pair.before;
    return context == PGK_NO_CONTEXT ? NULL : pgk_heap_mib(p->before, context, space);
}

/* Finds types and their sums. */
PGK_MUST_USE int pgk_heap_page_types(struct pgk_heap_page *p, struct pgk_err *err);
void pgk_heap_page_types_free(struct pgk_heap_page *p);
/* Sums of a type, NULL where the profile does not have it. */
const struct pgk_mib *pgk_heap_page_type_now(const struct pgk_heap_page *p, size_t type,
                                             struct pgk_mib *space);
const struct pgk_mib *pgk_heap_page_type_before(const struct pgk_heap_page *p, size_t type,
                                                struct pgk_mib *space);
/* The type of the objects of a row. */
uint32_t pgk_heap_page_type_of(const struct pgk_heap_page *p, size_t row);

/* Finds the threads of the rows that are shown. */
PGK_MUST_USE int pgk_heap_page_threads(struct pgk_heap_page *p, struct pgk_err *err);
void pgk_heap_page_threads_free(struct pgk_heap_page *p);

/* Whether the name of a function is on the page, rather than the parts of an address: a number that
 * the page cannot hold exactly stays a text. */
static inline bool pgk_heap_page_named(const struct pgk_view_func *f)
{
    return !f->module || f->guid >> 53;
}

/* Number of a text on the page, put there if it is new; 0 is the unknown text. False when
 * out of memory. */
PGK_MUST_USE bool pgk_heap_page_text(struct pgk_heap_page *p, uint32_t id, uint32_t *number);

/* "sources": excerpts around the lines of the page's frames. */
PGK_MUST_USE int pgk_heap_page_sources(struct pgk_heap_page *p, struct pgk_err *err);

#endif
