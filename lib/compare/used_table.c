/* Prints what compiles used of a profile: on a terminal, or as tables of Markdown. */
#include "used_view.h"

#include "opts.h"
#include "pgokit/human.h"

#include <inttypes.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

enum { CALLS_SHOWN = 4 };

struct table {
    const struct pgk_used *used;
    struct pgk_match_view view;
};

static const char *weight_text(const struct table *t, char buf[PGK_HUMAN_SIZE], uint64_t weight)
{
    return t->used->heap ? pgk_human_bytes(buf, (double)weight) : pgk_human_count(buf, weight);
}
#define WEIGHT(t, x) weight_text((t), (char[PGK_HUMAN_SIZE]){0}, (x))

static void print_title(const struct table *t)
{
    const struct pgk_match_view *v = &t->view;
    const struct pgk_used_calls *calls = &t->used->calls;
    char a[160], b[160];
    bool md = v->opts.markdown;
    fprintf(v->style.out, "%s%s in %s: %.1f %% of the %s used%s\n\n",
            md ? "### " : pgk_style_on(&v->style, PGK_STYLE_BOLD),
            pgk_human_text(a, sizeof a, v->opts.title),
            pgk_human_text(b, sizeof b, v->opts.against), pgk_used_percent(t->used),
            t->used->heap ? "cold bytes" : "objects at virtual calls",
            md ? "" : pgk_style_off(&v->style));
    fprintf(v->style.out, "%s%s module%s: %s call%s %s, %s not, %s without a line",
            md ? "" : "  ", COUNT(calls->modules), calls->modules == 1 ? "" : "s",
            COUNT(calls->given), calls->given == 1 ? "" : "s",
            t->used->heap ? "marked" : "given types", COUNT(calls->missed),
            COUNT(calls->unlocated));
    if (calls->links)
        fprintf(v->style.out, "; in links %s %s", COUNT(calls->linked),
                t->used->heap ? "calls hinted" : "tables compared");
    if (calls->others)
        fprintf(v->style.out, "; %s records of other profiles left out", COUNT(calls->others));
    fputs("\n\n", v->style.out);
}

static void print_uses(const struct table *t)
{
    const struct pgk_match_view *v = &t->view;
    const char *items = t->used->heap ? "contexts" : "types";
    const char *weight = t->used->heap ? "bytes" : "objects";
    if (v->opts.markdown)
        fprintf(v->style.out, "| outcome | %s | %s | share | meaning |\n|---|--:|--:|--:|---|\n",
                items, weight);
    else
        fprintf(v->style.out, "  %-15s %9s %12s\n", "", items, weight);
    for (enum pgk_use use = 0; use < PGK_USES; use++) {
        const struct pgk_used_totals *totals = &t->used->totals[use];
        const char *format = v->opts.markdown ? "| %s | %s | %s | %.1f %%"
                                              : "  %-15s %9s %12s %7.1f %%";
        if (!totals->items)
            continue;
        fprintf(v->style.out, format, pgk_use_name(use), COUNT(totals->items),
                WEIGHT(t, totals->weight),
                pgk_match_share(totals->weight, t->used->totals[PGK_USES].weight));
        pgk_match_view_meaning(v, pgk_use_meaning(use));
    }
}

/* "parse +3:7", "draw +4.1" */
static void print_call(struct table *t, const struct pgk_used_call *call)
{
    FILE *out = t->view.style.out;
    bool md = t->view.opts.markdown;
    fprintf(out, "%s%s%s +%" PRIu32, md ? "`" : "",
            pgk_match_view_name(&t->view, call->function, call->guid), md ? "`" : "", call->line);
    if (call->column)
        fprintf(out, ":%" PRIu32, call->column);
    if (call->discriminator)
        fprintf(out, ".%" PRIu32, call->discriminator);
}

static bool print_left(struct table *t, const struct pgk_used_left *left)
{
    struct pgk_match_view *v = &t->view;
    bool md = v->opts.markdown;
    size_t n = 0;
    struct pgk_used_call *calls = pgk_used_chain(t->used, left, &n);
    if (!calls)
        return false;
    fprintf(v->style.out, md ? "| %s | %s%s%s | " : "  %12s  %s%s%s\n", WEIGHT(t, left->weight),
            md ? "" : pgk_style_on(&v->style, PGK_STYLE_LABEL), pgk_use_name(left->use),
            md ? "" : pgk_style_off(&v->style));
    if (!t->used->heap)
        fprintf(v->style.out, md ? "`%s`: " : "      %s\n",
                pgk_match_view_name(v, left->type, 0));
    for (size_t i = 0; i < n && i < CALLS_SHOWN; i++) {
        fputs(md ? (i ? ", from " : "") : "      ", v->style.out);
        print_call(t, &calls[i]);
        fputs(md ? "" : "\n", v->style.out);
    }
    if (n > CALLS_SHOWN)
        fprintf(v->style.out, "%sand %zu more", md ? ", " : "      ", n - CALLS_SHOWN);
    fputs(md ? " |\n" : n > CALLS_SHOWN ? "\n" : "", v->style.out);
    pgk_mem_free(calls);
    return true;
}

static bool print_all_left(struct table *t)
{
    size_t all = t->used->left.n, n = pgk_match_top(&t->view.opts, all);
    if (!n)
        return true;
    if (t->view.opts.markdown)
        fprintf(t->view.style.out, "\n| %s | outcome | calls |\n|--:|---|---|\n",
                t->used->heap ? "bytes" : "objects");
    else
        pgk_match_view_heading(&t->view, "Not used, and how it is called");
    for (size_t i = 0; i < n; i++)
        if (!print_left(t, &t->used->left.v[i]))
            return false;
    pgk_match_view_left(&t->view, all - n);
    return true;
}

int pgk_used_print(const struct pgk_used *used, const struct pgk_match_print_opts *given, FILE *out,
                   struct pgk_err *err)
{
    struct table t = {.used = used};
    PGK_TRY(PGK_OPTS_TAKE(&t.view.opts, given, err));
    pgk_match_view_begin(&t.view, out);
    if (t.view.opts.json) {
        pgk_used_json(used, &t.view.opts, out);
        return 0;
    }
    print_title(&t);
    print_uses(&t);
    bool fits = print_all_left(&t);
    int status = pgk_match_view_end(&t.view, err);
    return fits || status ? status : pgk_fail_nomem(err);
}
