/* What every report page tells of itself. */
#include "page_titles.h"

#include "json_out.h"
#include "pgokit/human.h"

static void put_title(struct pgk_sink *out, const char *key, const char *title)
{
    char text[1024];
    pgk_json_member_text(out, key, pgk_human_text(text, sizeof text, title ? title : ""));
}

void pgk_page_titles(struct pgk_sink *out, const char *kind, const struct pgk_file_info *info,
                   const char *title, bool compared, const char *base_title)
{
    char format[256] = "";
    if (info)
        pgk_file_info_text(info, format, sizeof format);
    pgk_sink_printf(out, "\"schema\":\"pgokit-page-1\"");
    pgk_json_member_text(out, "kind", kind);
    pgk_json_member_text(out, "generator", "pgokit " PGK_VERSION);
    put_title(out, "title", title);
    pgk_json_member_text(out, "format", format);
    if (compared)
        put_title(out, "base", base_title);
}
