/* Texts of files in Markdown with tables, as GitHub and GitLab show it. They stand in spans of code
 * in the cells of tables, where nothing in them is taken for markup. */
#ifndef PGK_MARKDOWN_OUT_H
#define PGK_MARKDOWN_OUT_H

#include "text_out.h"

/* `text`, for a cell: of one line, and cut if it is long. Nothing for "". */
void pgk_md_code(struct pgk_text_out *o, const char *text);

#endif
