/* The table of formats as JSON. */
#include "json_out.h"
#include "pgokit/format.h"

void pgk_formats_print_json(FILE *out)
{
    struct pgk_text_out text;
    struct pgk_json j;
    const struct pgk_format *f;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_SPACED);
    pgk_json_array(&j, NULL);
    for (size_t i = 0; (f = pgk_format_at(i)); i++) {
        pgk_json_line(&j, 2);
        pgk_json_object(&j, NULL);
        pgk_json_text(&j, "name", f->name);
        pgk_json_text(&j, "kind", pgk_kind_name(f->kind));
        pgk_json_text(&j, "reads", f->reads);
        pgk_json_text(&j, "writes", f->writes);
        pgk_json_text(&j, "made_by", f->made_by);
        pgk_json_end_object(&j);
    }
    pgk_json_line(&j, 0);
    pgk_json_end_array(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
