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

static double growth_of(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                        enum pgk_mib_id id)
{
    return (double)value(now_of(d, p, PGK_MIB_SPACE), id) -
           (double)value(before_of(d, p, PGK_MIB_SPACE), id);
}

static double growth(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p)
{
    return growth_of(d, p, PGK_MIB_TotalSize);
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
        .exit_bytes_before = value(before, PGK_MIB_ExitSize),
        .exit_bytes = value(now, PGK_MIB_ExitSize),
        .exit_objects_before = value(before, PGK_MIB_ExitCount),
        .exit_objects = value(now, PGK_MIB_ExitCount),
        .exit_growth = growth_of(d, p, PGK_MIB_ExitSize),
    };
}

/* What was alive, of each profile that knows it of all its contexts; those that do not. */
static uint32_t compare_alive(const struct pgk_heap_diff *d, enum pgk_mib_id id, uint64_t *before,
                              uint64_t *now, double *percent)
{
    const bool was = d->totals_before.known >> id & 1, is = d->totals.known >> id & 1;
    *before = was ? d->totals_before.v[id] : 0;
    *now = is ? d->totals.v[id] : 0;
    *percent = was && is ? pgk_growth_percent(*before, *now) : 0;
    return (was ? 0 : PGK_HEAP_DIFF_BEFORE) | (is ? 0 : PGK_HEAP_DIFF_NOW);
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
    d->figures.peak_unknown =
        compare_alive(d, PGK_MIB_PeakSize, &d->figures.peak_bytes_before, &d->figures.peak_bytes,
                      &d->figures.peak_growth_percent);
    d->figures.exit_unknown =
        compare_alive(d, PGK_MIB_ExitSize, &d->figures.exit_bytes_before, &d->figures.exit_bytes,
                      &d->figures.exit_growth_percent);
}

/* Largest differences first, whatever their sign. */
static int by_growth_of(const struct pgk_heap_diff *d, enum pgk_mib_id id,
                        const struct pgk_heap_pair *x, const struct pgk_heap_pair *y)
{
    double p = growth_of(d, x, id), q = growth_of(d, y, id);
    p = p < 0 ? -p : p;
    q = q < 0 ? -q : q;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->now != y->now)
        return x->now < y->now ? -1 : 1;
    return x->before < y->before ? -1 : x->before > y->before;
}

static int by_growth(const void *a, const void *b, void *diff)
{
    return by_growth_of(diff, PGK_MIB_TotalSize, a, b);
}

static int by_growth_at_exit(const void *a, const void *b, void *diff)
{
    return by_growth_of(diff, PGK_MIB_ExitSize, a, b);
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

/* If both know it. Of two profiles without contexts there is nothing to know. */
static void add_alive(const struct pgk_heap_diff *d, struct pgk_heap_diff_total totals[],
                      size_t *n, const char *name, enum pgk_mib_id id)
{
    if (!both_know(d, id) || !((d->totals.some_know | d->totals_before.some_know) >> id & 1))
        return;
    const double before = (double)d->totals_before.v[id], now = (double)d->totals.v[id];
    struct pgk_heap_diff_total *t = add_total(totals, n, name, before, now);
    pgk_human_bytes(t->before, before);
    pgk_human_bytes(t->now, now);
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
    add_alive(d, totals, &n, "at the peak", PGK_MIB_PeakSize);
    add_alive(d, totals, &n, "at exit", PGK_MIB_ExitSize);
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

size_t pgk_heap_diff_listed_at_exit(const struct pgk_heap_diff *d)
{
    const size_t top = d->opts->top;
    return top && top < d->n_at_exit ? top : d->n_at_exit;
}

const char *pgk_heap_diff_found(const struct pgk_heap_pair *p)
{
    return p->before == PGK_NO_CONTEXT ? pgk_heap_change_name(PGK_CHANGE_NEW)
         : p->now == PGK_NO_CONTEXT    ? pgk_heap_change_name(PGK_CHANGE_GONE)
         : p->moved                    ? "moved"
                                       : "";
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

static int print_stack(const struct pgk_heap_diff *d, const struct pgk_heap_pair *p,
                       const struct pgk_text_style *style, struct pgk_err *err)
{
    return p->now == PGK_NO_CONTEXT ? pgk_heap_print_stack(d->before, p->before, style, err)
                                    : pgk_heap_print_stack(d->now, p->now, style, err);
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
    return print_stack(d, p, style, err);
}

static int print_pair_at_exit(const struct pgk_heap_diff *d, size_t rank,
                              const struct pgk_heap_pair *p, const struct pgk_text_style *style,
                              struct pgk_err *err)
{
    struct pgk_heap_diff_pair pair;
    const char *found = pgk_heap_diff_found(p);
    pgk_heap_diff_pair(d, p, &pair);
    fprintf(style->out, "\n%s#%-3zu %s%s%s  %s -> %s  %s -> %s objects%s%s%s%s\n",
            pgk_style_on(style, PGK_STYLE_BOLD), rank, pair.exit_growth > 0 ? "+" : "",
            BYTES(pair.exit_growth), pgk_style_off(style), BYTES(pair.exit_bytes_before),
            BYTES(pair.exit_bytes), COUNT(pair.exit_objects_before), COUNT(pair.exit_objects),
            *found ? "  " : "", pgk_style_on(style, PGK_STYLE_LABEL), found, pgk_style_off(style));
    return print_stack(d, p, style, err);
}

static void print_title(const char *title, const struct pgk_text_style *style)
{
    fprintf(style->out, "\n%s%s%s\n", pgk_style_on(style, PGK_STYLE_BOLD), title,
            pgk_style_off(style));
}

static int print_text(const struct pgk_heap_diff *d, FILE *out, struct pgk_err *err)
{
    const struct pgk_heap_diff_opts *o = d->opts;
    const struct pgk_text_style style = {out, o->width, o->depth, o->colour};
    size_t n = pgk_heap_diff_listed(d), n_at_exit = pgk_heap_diff_listed_at_exit(d);
    int status = 0;
    print_totals(d, &style);
    print_changes(d, out);
    if (n)
        print_title("Largest changes", &style);
    for (size_t i = 0; i < n && !status; i++)
        status = print_pair(d, i + 1, &d->align.pairs[i], &style, err);
    if (n_at_exit)
        print_title("Left at exit", &style);
    for (size_t i = 0; i < n_at_exit && !status; i++)
        status = print_pair_at_exit(d, i + 1, &d->at_exit[i], &style, err);
    if (!status)
        pgk_heap_diff_types_text(d, &style);
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

/* Of a profile without contexts there is nothing to know. */
#define OVER_TIME                                                             \
    (UINT64_C(1) << PGK_MIB_PeakSize | UINT64_C(1) << PGK_MIB_PeakCount |     \
     UINT64_C(1) << PGK_MIB_ExitSize | UINT64_C(1) << PGK_MIB_ExitCount)

static void put_totals(struct pgk_json *j, const char *key, const struct pgk_heap_totals *t)
{
    static const enum pgk_mib_id sums[] = {
        PGK_MIB_AllocCount, PGK_MIB_TotalSize, PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime,
        PGK_MIB_PeakSize,   PGK_MIB_PeakCount, PGK_MIB_ExitSize,         PGK_MIB_ExitCount};
    pgk_json_object(j, key);
    pgk_json_number(j, "contexts", t->contexts);
    put_sums(j, t->v, t->known & (t->some_know | ~OVER_TIME), sums, PGK_COUNTOF(sums));
    pgk_json_end_object(j);
}

static void put_pair(struct pgk_json *j, const struct pgk_heap_diff *d,
                     const struct pgk_heap_pair *p)
{
    static const enum pgk_mib_id fields[] = {
        PGK_MIB_TotalSize, PGK_MIB_AllocCount, PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime,
        PGK_MIB_PeakSize,  PGK_MIB_PeakCount,  PGK_MIB_ExitSize,         PGK_MIB_ExitCount};
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
    pgk_heap_diff_types_json(d, &j);
    pgk_json_end_object(&j);
    pgk_text_lit(text, "\n");
}

/* Of a context that one side does not have, nothing was left there. */
static int find_at_exit(struct pgk_heap_diff *d, struct pgk_err *err)
{
    if (d->figures.exit_unknown)
        return 0;
    d->at_exit = pgk_mem_alloc(d->align.n + 1, sizeof *d->at_exit);
    if (!d->at_exit)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < d->align.n; i++)
        if (growth_of(d, &d->align.pairs[i], PGK_MIB_ExitSize) != 0)
            d->at_exit[d->n_at_exit++] = d->align.pairs[i];
    qsort_r(d->at_exit, d->n_at_exit, sizeof *d->at_exit, by_growth_at_exit, d);
    return 0;
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
    int status = find_at_exit(&d, err);
    if (!status)
        status = pgk_heap_diff_types(&d, err);
    if (!status)
        status = print(&d, form, out, err);
    pgk_vec_free(&d.types);
    pgk_mem_free(d.at_exit);
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
