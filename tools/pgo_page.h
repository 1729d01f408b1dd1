/* pgokit pgo --page: what became faster and why. */
#ifndef PGK_PGO_PAGE_H
#define PGK_PGO_PAGE_H

#include "pgo_layers.h"

struct pgo_page {
    const char *path;         /* NULL: no page is asked for */
    struct pgk_built *before; /* what is known about the plain build; NULL: nothing */
};

/* Without a page these do nothing. The first reads what was recorded of the files in the tree. */
void pgo_page_before(struct pgo_page *page, const struct pgo_files *files,
                     const struct record_files *recordings);
/* Records the build that was kept, if any was, and writes the page. */
void pgo_page_write(const struct pgo_page *page, const struct pgk_trial *trial,
                    const struct pgo_layering *layering, bool kept, bool quiet);
void pgo_page_free(struct pgo_page *page);

#endif
