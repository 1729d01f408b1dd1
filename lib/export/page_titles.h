/* The titles of a report page: generator, title and format of the profile. */
#ifndef PGK_PAGE_TITLES_H
#define PGK_PAGE_TITLES_H

#include "json_out.h"
#include "pgokit/format.h"

/* The first members of the page's data. `info`, `title` and `base_title` may be NULL; `compared` is
 * true for a comparison, which has a base title. */
void pgk_page_titles(struct pgk_json *j, const char *kind, const struct pgk_file_info *info,
                     const char *title, bool compared, const char *base_title);

#endif
