/* Two heap profiles compared: the comparison, and its forms on a terminal and as JSON. */
#include "heap_diff.h"
#include "heap_stack_text.h"
#include "json_out.h"
#include "opts.h"
#include "percent.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static const struct pgk_mib *now_of(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                                    struct pgk_mib *space)
{
    return p->now == PGK_NO_CONTEXT ? NULL : pgk_heap_mib(d->now, p->now, space);
}

static const struct pgk_mib *before_of(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                                       struct pgk_mib *space)
{
    return p->before == PGK_NO_CONTEXT ? NULL : pgk_heap_mib(d->before, p->before, space);
}

static uint64_t value(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m ? m->v[id] : 0;
}

static double growth(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p)
{
    return (double)value(now_of(d, p, PGK_MIB_SPACE), PGK_MIB_TotalSize) -
           (double)value(before_of(d, p, PGK_MIB_SPACE), PGK_MIB_TotalSize);
}

void pgk_heap_diff_pair(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                        struct pgk_heap_diff_pair *pair)
{
    const struct pgk_mib *now = now_of(d, p, PGK_MIB_SPACE),
                         *before = before_of(d, p, PGK_MIB_SPACE);
    *pair = (struct pgk_heap_diff_pair){
        .change = pgk_heap_change(now, before),
        .bytes_before = value(before, PGK_MIB_TotalSize),
        .bytes = value(now, PGK_MIB_TotalSize),
        .objects_before = value(before, PGK_MIB_AllocCount),
        .objects = value(now, PGK_MIB_AllocCount),
        .growth = growth(d, p),
    };
}

static void count_changes(struct pgk_heap_diff *d)
{
    for (size_t i = 0; i < d->align.n; i++) {
        struct pgk_heap_diff_pair pair;
        pgk_heap_diff_pair(d, &d->align.pairs[i], &pair);
        d->changes[pair.change]++;
        d->change_bytes[pair.change] += pair.growth;
        if (pair.change == PGK_CHANGE_NEW)
            d->figures.new_bytes += pair.bytes;
    }
    d->figures.bytes = d->totals.v[PGK_MIB_TotalSize];
    d->figures.bytes_before = d->totals_before.v[PGK_MIB_TotalSize];
    d->figures.objects = d->totals.v[PGK_MIB_AllocCount];
    d->figures.objects_before = d->totals_before.v[PGK_MIB_AllocCount];
    d->figures.overlap = pgk_heap_overlap(&d->align, d->now, d->before);
    d->figures.growth_percent = pgk_growth_percent(d->figures.bytes_before, d->figures.bytes);
    d->figures.objects_growth_percent =
        pgk_growth_percent(d->figures.objects_before, d->figures.objects);
    d->figures.new_percent = pgk_percent((double)d->figures.new_bytes, d->figures.bytes_before);
}

/* Largest differences first, whatever their sign. */
static int by_growth(const void *a, const void *b, void *diff)
{
    const struct pgk_heap_diff *d = diff;
    const struct pgk_heap_pair *x = a, *y = b;
    double p = growth(d, x), q = growth(d, y);
    p = p < 0 ? -p : p;
    q = q < 0 ? -q : q;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->now != y->now)
        return x->now < y->now ? -1 : 1;
    return x->before < y->before ? -1 : x->before > y->before;
}

static bool both_know(const struct pgk_heap_diff *d, enum pgk_mib_id id)
{
    return d->totals.known >> id & d->totals_before.known >> id & 1;
}

/* The next total, with its name and its growth. */
static struct pgk_heap_diff_total *add_total(struct pgk_heap_diff_total totals[], size_t *n,
                                             const char *name, double before, double now)
{
    struct pgk_heap_diff_total *t = &totals[(*n)++];
    *t = (struct pgk_heap_diff_total){.name = name};
    if (before > 0)
        snprintf(t->growth, sizeof t->growth, "%+.1f %%", 100 * (now / before - 1));
    return t;
}

size_t pgk_heap_diff_totals(const struct pgk_heap_diff *d,
                            struct pgk_heap_diff_total totals[PGK_HEAP_DIFF_TOTALS])
{
    const uint64_t *now = d->totals.v, *before = d->totals_before.v;
    double objects = (double)now[PGK_MIB_AllocCount], bytes = (double)now[PGK_MIB_TotalSize];
    double old_objects = (double)before[PGK_MIB_AllocCount],
           old_bytes = (double)before[PGK_MIB_TotalSize];
    size_t n = 0;
    struct pgk_heap_diff_total *t = add_total(totals, &n, "allocated", old_bytes, bytes);
    pgk_human_bytes(t->before, old_bytes);
    pgk_human_bytes(t->now, bytes);
    t = add_total(totals, &n, "objects", old_objects, objects);
    pgk_human_count(t->before, before[PGK_MIB_AllocCount]);
    pgk_human_count(t->now, now[PGK_MIB_AllocCount]);
    t = add_total(totals, &n, "contexts", 0, 0);
    pgk_human_count(t->before, d->totals_before.contexts);
    pgk_human_count(t->now, d->totals.contexts);
    if (both_know(d, PGK_MIB_TotalAccessCount) && bytes > 0 && old_bytes > 0) {
        double density = (double)now[PGK_MIB_TotalAccessCount] / bytes,
               old = (double)before[PGK_MIB_TotalAccessCount] / old_bytes;
        t = add_total(totals, &n, "accesses per byte", old, density);
        snprintf(t->before, sizeof t->before, "%.2f", old);
        snprintf(t->now, sizeof t->now, "%.2f", density);
    }
    if (both_know(d, PGK_MIB_TotalLifetime) && objects > 0 && old_objects > 0) {
        double life = (double)now[PGK_MIB_TotalLifetime] / objects,
               old = (double)before[PGK_MIB_TotalLifetime] / old_objects;
        t = add_total(totals, &n, "average life", old, life);
        pgk_human_ms(t->before, old);
        pgk_human_ms(t->now, life);
    }
    return n;
}

size_t pgk_heap_diff_listed(const struct pgk_heap_diff *d)
{
    size_t n = 0, top = d->opts->top ? d->opts->top : d->align.n;
    while (n < top && n < d->align.n && growth(d, &d->align.pairs[n]) != 0)
        n++;
    return n;
}

static void print_totals(const struct pgk_heap_diff *d, const struct pgk_text_style *style)
{
    FILE *out = style->out;
    struct pgk_heap_diff_total totals[PGK_HEAP_DIFF_TOTALS];
    char a[160], b[160];
    fprintf(out, "%sbefore: %s\nnow:    %s%s\n\n", pgk_style_on(style, PGK_STYLE_BOLD),
            pgk_human_text(a, sizeof a, d->opts->before_title),
            pgk_human_text(b, sizeof b, d->opts->now_title), pgk_style_off(style));
    fprintf(out, "  %-18s %14s %14s\n", "", "before", "now");
    size_t n = pgk_heap_diff_totals(d, totals);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  %-18s %*s %*s%s%s\n", totals[i].name,
                pgk_field_bytes(14, totals[i].before), totals[i].before,
                pgk_field_bytes(14, totals[i].now), totals[i].now,
                *totals[i].growth ? "  " : "", totals[i].growth);
    fprintf(out, "\n  %.1f %% of the bytes are allocated in the same places\n",
            100 * d->figures.overlap);
}

static void print_changes(const struct pgk_heap_diff *d, FILE *out)
{
    for (enum pgk_heap_change c = 0; c < PGK_CHANGE_SAME; c++)
        if (d->changes[c])
            fprintf(out, "  %-8s %s context%s, %s%s\n", pgk_heap_change_name(c),
                    COUNT(d->changes[c]), pgk_plural(d->changes[c]),
                    d->change_bytes[c] > 0 ? "+" : "", BYTES(d->change_bytes[c]));
}

static int print_pair(const struct pgk_heap_diff *d, size_t rank, const struct pgk_heap_pair *p,
                      const struct pgk_text_style *style, struct pgk_err *err)
{
    struct pgk_heap_diff_pair pair;
    pgk_heap_diff_pair(d, p, &pair);
    fprintf(style->out, "\n%s#%-3zu %s%s%s  %s -> %s  %s -> %s objects  %s%s%s%s\n",
            pgk_style_on(style, PGK_STYLE_BOLD), rank, pair.growth > 0 ? "+" : "",
            BYTES(pair.growth), pgk_style_off(style), BYTES(pair.bytes_before), BYTES(pair.bytes),
            COUNT(pair.objects_before), COUNT(pair.objects), pgk_style_on(style, PGK_STYLE_LABEL),
            pgk_heap_change_name(pair.change), p->moved ? ", moved" : "", pgk_style_off(style));
    return p->now == PGK_NO_CONTEXT ? pgk_heap_print_stack(d->before, p->before, style, err)
                                    : pgk_heap_print_stack(d->now, p->now, style, err);
}

static int print_text(const struct pgk_heap_diff *d, FILE *out, struct pgk_err *err)
{
    const struct pgk_heap_diff_opts *o = d->opts;
    const struct pgk_text_style style = {out, o->width, o->depth, o->colour};
    size_t n = pgk_heap_diff_listed(d);
    int status = 0;
    print_totals(d, &style);
    print_changes(d, out);
    if (n)
        fprintf(out, "\n%sLargest changes%s\n", pgk_style_on(&style, PGK_STYLE_BOLD),
                pgk_style_off(&style));
    for (size_t i = 0; i < n && !status; i++)
        status = print_pair(d, i + 1, &d->align.pairs[i], &style, err);
    return status;
}

/* The fields of `m` that are sums, as far as `known` has them. */
static void put_sums(struct pgk_json *j, const uint64_t *values, uint64_t known,
                     const enum pgk_mib_id *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (known >> ids[i] & 1)
            pgk_json_number(j, pgk_mib_info(ids[i], NULL, NULL), values[ids[i]]);
}

static void put_totals(struct pgk_json *j, const char *key, const struct pgk_heap_totals *t)
{
    static const enum pgk_mib_id sums[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                           PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime};
    pgk_json_object(j, key);
    pgk_json_number(j, "contexts", t->contexts);
    put_sums(j, t->v, t->known, sums, PGK_COUNTOF(sums));
    pgk_json_end_object(j);
}

static void put_pair(struct pgk_json *j, const struct pgk_heap_diff *d,
                     const struct pgk_heap_pair *p)
{
    static const enum pgk_mib_id fields[] = {PGK_MIB_TotalSize, PGK_MIB_AllocCount,
                                             PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime};
    const struct pgk_mib *sides[] = {before_of(d, p, PGK_MIB_SPACE), now_of(d, p, PGK_MIB_SPACE)};
    static const char *const names[] = {"before", "now"};
    const uint32_t ids[] = {p->before, p->now};
    pgk_json_object(j, NULL);
    pgk_json_text(j, "change", pgk_heap_change_name(pgk_heap_change(sides[1], sides[0])));
    pgk_json_flag(j, "moved", p->moved);
    for (size_t s = 0; s < PGK_COUNTOF(sides); s++) {
        if (!sides[s])
            continue;
        pgk_json_object(j, names[s]);
        pgk_json_number(j, "context", ids[s]);
        put_sums(j, sides[s]->v, sides[s]->known, fields, PGK_COUNTOF(fields));
        pgk_json_end_object(j);
    }
    uint32_t site = pgk_frames_site(&d->align.frames, p->node);
    if (site)
        pgk_json_text(
            j, "function",
            pgk_frames_text(&d->align.frames, pgk_frames_func(&d->align.frames, site)->name));
    pgk_json_end_object(j);
}

static void print_json(const struct pgk_heap_diff *d, struct pgk_text_out *text)
{
    struct pgk_json j;
    size_t n = d->opts->top && d->opts->top < d->align.n ? d->opts->top : d->align.n;
    pgk_json_begin(&j, text, PGK_JSON_TIGHT);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-heap-diff-1");
    put_totals(&j, "before", &d->totals_before);
    put_totals(&j, "now", &d->totals);
    pgk_json_double(&j, "overlap", d->figures.overlap);
    pgk_json_number(&j, "new_bytes", d->figures.new_bytes);
    pgk_json_array(&j, "contexts");
    for (size_t i = 0; i < n; i++) {
        pgk_json_line(&j, 2);
        put_pair(&j, d, &d->align.pairs[i]);
    }
    pgk_json_line(&j, 0);
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(text, "\n");
}

/* Free d->align after success. */
static int compare(struct pgk_heap_diff *d, struct pgk_err *err)
{
    PGK_TRY(pgk_heap_align(&d->align, d->now, d->before, err));
    pgk_heap_totals(d->now, NULL, &d->totals);
    pgk_heap_totals(d->before, NULL, &d->totals_before);
    count_changes(d);
    return 0;
}

int pgk_heap_compare(const struct pgk_heap *before, const struct pgk_heap *now,
                     struct pgk_heap_diff_figures *figures, struct pgk_err *err)
{
    struct pgk_heap_diff d = {.before = before, .now = now};
    PGK_TRY(compare(&d, err));
    pgk_heap_alignment_free(&d.align);
    PGK_RESULT_GIVE(figures, &d.figures);
    return 0;
}

enum form { TEXT, JSON, MARKDOWN };

static int print(const struct pgk_heap_diff *d, enum form form, FILE *out, struct pgk_err *err)
{
    struct pgk_text_out text;
    int status = 0;
    if (form == TEXT)
        return print_text(d, out, err);
    pgk_text_to_file(&text, out);
    if (form == JSON)
        print_json(d, &text);
    else
        status = pgk_heap_diff_markdown(d, &text, err);
    pgk_text_flush(&text);
    return status;
}

/* `opts` are complete. */
static int compare_and_print(const struct pgk_heap *before, const struct pgk_heap *now,
                             struct pgk_heap_diff_opts *opts, enum form form, FILE *out,
                             struct pgk_heap_diff_figures *figures, struct pgk_err *err)
{
    opts->before_title = opts->before_title ? opts->before_title : "before";
    opts->now_title = opts->now_title ? opts->now_title : "now";
    struct pgk_heap_diff d = {.before = before, .now = now, .opts = opts};
    PGK_TRY(compare(&d, err));
    qsort_r(d.align.pairs, d.align.n, sizeof *d.align.pairs, by_growth, &d);
    int status = print(&d, form, out, err);
    pgk_heap_alignment_free(&d.align);
    if (!status)
        PGK_RESULT_GIVE(figures, &d.figures);
    return status;
}

int pgk_heap_print_diff(const struct pgk_heap *before, const struct pgk_heap *now,
                        const struct pgk_heap_diff_opts *given, FILE *out,
                        struct pgk_heap_diff_figures *figures, struct pgk_err *err)
{
    struct pgk_heap_diff_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    return compare_and_print(before, now, &opts, opts.json ? JSON : TEXT, out, figures, err);
}

int pgk_heap_print_diff_markdown(const struct pgk_heap *before, const struct pgk_heap *now,
                                 const struct pgk_heap_diff_opts *given, FILE *out,
                                 struct pgk_heap_diff_figures *figures, struct pgk_err *err)
{
    struct pgk_heap_diff_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    return compare_and_print(before, now, &opts, MARKDOWN, out, figures, err);
}
