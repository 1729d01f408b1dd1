/* A table of which only some entries are on a page, under new numbers. */
#ifndef PGK_PAGE_TABLE_H
#define PGK_PAGE_TABLE_H

#include "compiler.h"
#include "vec.h"

#include <stdint.h>

struct pgk_page_table {
    uint32_t *number_of;   /* by old number: new number + 1; 0: not on the page */
    PGK_VEC(uint32_t) old; /* by new number */
};

/* Reserves space for `n` entries; false when out of memory. */
PGK_MUST_USE bool pgk_page_table_init(struct pgk_page_table *t, size_t n);
/* Gives the entry the next number unless it has one; false when out of memory. */
PGK_MUST_USE bool pgk_page_table_add(struct pgk_page_table *t, uint32_t old);
/* Accepts a zeroed struct. */
void pgk_page_table_free(struct pgk_page_table *t);

#endif
