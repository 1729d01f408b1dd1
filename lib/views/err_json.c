/* An error as a line of JSON. */
#include "json_out.h"
#include "pgokit/err.h"

#include <stdio.h>

void pgk_err_print_json(const struct pgk_err *err, const char *file, FILE *out)
{
    struct pgk_text_out text;
    struct pgk_json j;
    char reason[2048] = "";
    FILE *in_memory = fmemopen(reason, sizeof reason, "w");
    if (in_memory) {
        pgk_err_print(err, in_memory);
        fclose(in_memory);
    }
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_SPACED);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "file", file ? file : err->file);
    if (err->offset == PGK_NO_OFFSET)
        pgk_json_null(&j, "offset");
    else
        pgk_json_number(&j, "offset", err->offset);
    pgk_json_text(&j, "status", pgk_status_text(err->status));
    pgk_json_text(&j, "reason", in_memory ? reason : pgk_status_text(err->status));
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
