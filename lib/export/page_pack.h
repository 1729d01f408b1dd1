/* The HTML page: a template that was bundled from web/, with data inside. */
#ifndef PGK_PAGE_PACK_H
#define PGK_PAGE_PACK_H

#include "json_out.h"

/* The template before and after the place of the data; made from web/bundle at build time. */
extern const unsigned char pgk_page_head[], pgk_page_tail[];
extern const size_t pgk_page_head_size, pgk_page_tail_size;

/* Writes the data of a page. */
typedef int pgk_page_data_fn(void *page, struct pgk_json *j, struct pgk_err *err);

/* Writes the page around what `data` writes, which is compressed (zlib) and written in base64:
 * nothing of it can be taken for markup. */
PGK_MUST_USE int pgk_page_write(struct pgk_sink *out, pgk_page_data_fn *data, void *page,
                                struct pgk_err *err);

#endif
