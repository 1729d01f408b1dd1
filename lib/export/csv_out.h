/* Tables as RFC 4180 has them. Names come from files: text that a spreadsheet would take for a
 * formula gets a blank before it. */
#ifndef PGK_CSV_OUT_H
#define PGK_CSV_OUT_H

#include "text_out.h"

/* Inside of a quoted cell, and such a cell. */
void pgk_csv_text(struct pgk_text_out *o, const char *text);
void pgk_csv_cell(struct pgk_text_out *o, const char *text);

#endif
