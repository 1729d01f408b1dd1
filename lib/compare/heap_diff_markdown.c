/* Two heap profiles compared, in Markdown: for the summary of a job. */
#include "heap_diff.h"

#include "markdown_out.h"
#include "markdown_stack.h"

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static void put_totals(const struct pgk_heap_diff *d, struct pgk_text_out *o)
{
    struct pgk_heap_diff_total totals[PGK_HEAP_DIFF_TOTALS];
    size_t n = pgk_heap_diff_totals(d, totals);
    pgk_text_lit(o, "| | before | now | growth |\n|---|--:|--:|--:|\n| profile | ");
    pgk_md_code(o, d->opts->before_title);
    pgk_text_lit(o, " | ");
    pgk_md_code(o, d->opts->now_title);
    pgk_text_lit(o, " | |\n");
    for (size_t i = 0; i < n; i++)
        pgk_text_printf(o, "| %s | %s | %s | %s |\n", totals[i].name, totals[i].before,
                        totals[i].now, totals[i].growth);
    pgk_text_printf(o, "\n%.1f %% of the bytes are allocated in the same places.\n",
                    100 * d->figures.overlap);
}

static void put_changes(const struct pgk_heap_diff *d, struct pgk_text_out *o)
{
    bool some = false;
    for (enum pgk_heap_change c = 0; c < PGK_CHANGE_SAME; c++) {
        if (!d->changes[c])
            continue;
        if (!some)
            pgk_text_lit(o, "\n| change | contexts | bytes |\n|---|--:|--:|\n");
        some = true;
        pgk_text_printf(o, "| %s | %s | %s%s |\n", pgk_heap_change_name(c), COUNT(d->changes[c]),
                        d->change_bytes[c] > 0 ? "+" : "", BYTES(d->change_bytes[c]));
    }
}

static void put_pair(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                     struct pgk_md_stacks *stacks, struct pgk_text_out *o)
{
    struct pgk_heap_diff_pair pair;
    pgk_heap_diff_pair(d, p, &pair);
    pgk_text_printf(o, "| %s%s | %s | %s | %s | %s | %s%s | ", pair.growth > 0 ? "+" : "",
                    BYTES(pair.growth), BYTES(pair.bytes_before), BYTES(pair.bytes),
                    COUNT(pair.objects_before), COUNT(pair.objects),
                    pgk_heap_change_name(pair.change), p->moved ? ", moved" : "");
    pgk_md_stacks_put(stacks, p->node, o);
    pgk_text_lit(o, " |\n");
}

static void put_pair_at_exit(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                             struct pgk_md_stacks *stacks, struct pgk_text_out *o)
{
    struct pgk_heap_diff_pair pair;
    pgk_heap_diff_pair(d, p, &pair);
    pgk_text_printf(o, "| %s%s | %s | %s | %s | %s | %s | ", pair.exit_growth > 0 ? "+" : "",
                    BYTES(pair.exit_growth), BYTES(pair.exit_bytes_before),
                    BYTES(pair.exit_bytes), COUNT(pair.exit_objects_before),
                    COUNT(pair.exit_objects), pgk_heap_diff_found(p));
    pgk_md_stacks_put(stacks, p->node, o);
    pgk_text_lit(o, " |\n");
}

/* A table of these pairs, with a row as `put` writes it. */
static int put_pairs(const struct pgk_heap_diff *d, const char *title,
                     const struct pgk_heap_pair *pairs, size_t n,
                     void (*put)(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                                 struct pgk_md_stacks *stacks, struct pgk_text_out *o),
                     struct pgk_text_out *o, struct pgk_err *err)
{
    struct pgk_md_stacks stacks;
    if (!n)
        return 0;
    PGK_TRY(pgk_md_stacks_init(&stacks, &d->align.frames, d->opts->depth, err));
    pgk_text_printf(o, "\n### %s\n\n"
                       "| growth | bytes before | bytes now | objects before | objects now | "
                       "change | allocated in |\n|--:|--:|--:|--:|--:|---|---|\n", title);
    for (size_t i = 0; i < n; i++)
        pgk_md_stacks_add(&stacks, pairs[i].node);
    for (size_t i = 0; i < n; i++)
        put(d, &pairs[i], &stacks, o);
    int status = stacks.failed ? pgk_fail_nomem(err) : 0;
    pgk_md_stacks_free(&stacks);
    return status;
}

int pgk_heap_diff_markdown(const struct pgk_heap_diff *d, struct pgk_text_out *o,
                           struct pgk_err *err)
{
    pgk_text_lit(o, "## Heap profiles compared\n\n");
    put_totals(d, o);
    put_changes(d, o);
    PGK_TRY(put_pairs(d, "Largest changes", d->align.pairs, pgk_heap_diff_listed(d), put_pair, o,
                      err));
    PGK_TRY(put_pairs(d, "Left at exit", d->at_exit, pgk_heap_diff_listed_at_exit(d),
                      put_pair_at_exit, o, err));
    pgk_heap_diff_types_markdown(d, o);
    return 0;
}
