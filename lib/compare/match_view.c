/* What the views of matches share. */
#include "match_view.h"

#include "pgokit/human.h"

#include <inttypes.h>
#include <string.h>

/* "      CALLER calls CALLEE" */
enum { AROUND = 14, LEAST = 12 };

void pgk_match_view_begin(struct pgk_match_view *v, FILE *out)
{
    v->opts.title = v->opts.title ? v->opts.title : "profile";
    v->opts.against = v->opts.against ? v->opts.against : "build";
    v->style = (struct pgk_text_style){out, v->opts.width, 0, v->opts.colour};
    v->names.whole = !v->opts.width;
    v->names.columns = v->opts.width > AROUND + 2 * LEAST ? (v->opts.width - AROUND) / 2
                       : v->opts.width ? LEAST : 0;
}

void pgk_match_view_title(const struct pgk_match_view *v, double percent, const char *of_what,
                          const char *rest)
{
    char a[160], b[160];
    bool md = v->opts.markdown;
    fprintf(v->style.out, "%s%s in %s: %.1f %% of %s found, %s%s\n\n",
            md ? "### " : pgk_style_on(&v->style, PGK_STYLE_BOLD),
            pgk_human_text(a, sizeof a, v->opts.title),
            pgk_human_text(b, sizeof b, v->opts.against), percent, of_what, rest,
            md ? "" : pgk_style_off(&v->style));
}

void pgk_match_view_heading(const struct pgk_match_view *v, const char *text)
{
    fprintf(v->style.out, "\n%s%s%s\n", pgk_style_on(&v->style, PGK_STYLE_BOLD), text,
            pgk_style_off(&v->style));
}

const char *pgk_match_view_name(struct pgk_match_view *v, const char *linkage, uint64_t guid)
{
    char unknown[32];
    snprintf(unknown, sizeof unknown, "0x%016" PRIx64, guid);
    const char *name = linkage && *linkage ? linkage : unknown;
    return pgk_shown_name(&v->names, name, strlen(name));
}

void pgk_match_view_meaning(const struct pgk_match_view *v, const char *meaning)
{
    enum { ROW_LEAST = 120, BELOW = 6 };
    const bool below = v->opts.width && v->opts.width < ROW_LEAST;
    if (v->opts.markdown)
        fprintf(v->style.out, " | %s |\n", meaning);
    else if (below)
        fprintf(v->style.out, "\n%*s%s\n", BELOW, "", meaning);
    else
        fprintf(v->style.out, "  %s\n", meaning);
}

void pgk_match_view_left(const struct pgk_match_view *v, size_t left)
{
    if (left)
        fprintf(v->style.out, "\n%s%zu more\n", v->opts.markdown ? "" : "  ", left);
}

int pgk_match_view_end(struct pgk_match_view *v, struct pgk_err *err)
{
    bool failed = v->names.failed;
    pgk_shown_names_free(&v->names);
    return failed ? pgk_fail_nomem(err) : 0;
}

static void put_levels(struct pgk_json *j, const void *match, pgk_match_totals_fn *put_totals)
{
    pgk_json_array(j, "levels");
    for (enum pgk_match_level level = 0; level < PGK_MATCH_LEVELS; level++) {
        pgk_json_line(j, 2);
        pgk_json_object(j, NULL);
        pgk_json_text(j, "level", pgk_match_level_name(level));
        pgk_json_flag(j, "found", level <= PGK_MATCH_FOUND);
        put_totals(j, match, level);
        pgk_json_end_object(j);
    }
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
}

void pgk_match_json_begin(struct pgk_match_json *m, const char *schema, double found_percent,
                          const void *match, pgk_match_totals_fn *put_totals, FILE *out)
{
    pgk_text_to_file(&m->text, out);
    pgk_json_begin(&m->j, &m->text, PGK_JSON_TIGHT);
    pgk_json_object(&m->j, NULL);
    pgk_json_text(&m->j, "schema", schema);
    pgk_json_double(&m->j, "found_percent", found_percent);
    pgk_json_object(&m->j, "totals");
    put_totals(&m->j, match, PGK_MATCH_LEVELS);
    pgk_json_end_object(&m->j);
    put_levels(&m->j, match, put_totals);
}

void pgk_match_json_call(struct pgk_json *j, const char *key, const char *function, uint64_t guid,
                         const char *callee, uint64_t callee_guid)
{
    pgk_json_text(j, key, function);
    pgk_json_hex(j, "guid", guid, 16);
    if (callee) {
        pgk_json_text(j, "callee", callee);
        pgk_json_hex(j, "callee_guid", callee_guid, 16);
    }
}

void pgk_match_json_end(struct pgk_match_json *m)
{
    pgk_json_end_object(&m->j);
    pgk_text_lit(&m->text, "\n");
    pgk_text_flush(&m->text);
}
