/* What every report page tells of itself: generator, title and format of the profile. */
#ifndef PGK_PAGE_TITLES_H
#define PGK_PAGE_TITLES_H

#include "pgokit/format.h"
#include "sink.h"

/* The first members of the page's data, without a comma before them. `info`, `title` and
 * `base_title` may be NULL; `compared` is true for a comparison, which has a base title. */
void pgk_page_titles(struct pgk_sink *out, const char *kind, const struct pgk_file_info *info,
                   const char *title, bool compared, const char *base_title);

#endif
