/* The titles of a report page. */
#include "page_titles.h"

#include "pgokit/human.h"

static void put_title(struct pgk_json *j, const char *key, const char *title)
{
    char text[1024];
    pgk_json_text(j, key, pgk_human_text(text, sizeof text, title ? title : ""));
}

void pgk_page_titles(struct pgk_json *j, const char *kind, const struct pgk_file_info *info,
                     const char *title, bool compared, const char *base_title)
{
    char format[256] = "";
    if (info)
        pgk_file_info_text(info, format, sizeof format);
    pgk_json_text(j, "schema", "pgokit-page-1");
    pgk_json_text(j, "kind", kind);
    pgk_json_text(j, "generator", "pgokit " PGK_VERSION);
    put_title(j, "title", title);
    pgk_json_text(j, "format", format);
    if (compared)
        put_title(j, "base", base_title);
}
