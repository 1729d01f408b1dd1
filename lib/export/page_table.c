/* A table of which only some entries are on a page, under new numbers. */
#include "page_table.h"

bool pgk_page_table_init(struct pgk_page_table *t, size_t n)
{
    t->number_of = pgk_mem_zalloc(n + 1, sizeof *t->number_of);
    return t->number_of != NULL;
}

void pgk_page_table_free(struct pgk_page_table *t)
{
    pgk_mem_free(t->number_of);
    pgk_vec_free(&t->old);
}

bool pgk_page_table_add(struct pgk_page_table *t, uint32_t old)
{
    if (t->number_of[old])
        return true;
    if (!pgk_vec_push(&t->old, old))
        return false;
    t->number_of[old] = (uint32_t)t->old.n;
    return true;
}
