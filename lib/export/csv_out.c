/* Tables as RFC 4180 has them. */
#include "csv_out.h"

void pgk_csv_text(struct pgk_text_out *o, const char *text)
{
    if (*text && strchr("=+-@", *text))
        pgk_text_lit(o, " ");
    for (; *text; text++) {
        if (*text == '"')
            pgk_text_lit(o, "\"");
        pgk_text_bytes(o, text, 1);
    }
}

void pgk_csv_cell(struct pgk_text_out *o, const char *text)
{
    pgk_text_lit(o, "\"");
    pgk_csv_text(o, text);
    pgk_text_lit(o, "\"");
}
