/* Two heap profiles compared, on a terminal or as JSON. */
#include "heap_align.h"
#include "heap_stack_text.h"
#include "heap_view.h"
#include "opts.h"
#include "pgokit/human.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))
#define MS(x)    pgk_human_ms((char[PGK_HUMAN_SIZE]){0}, (x))

struct diff {
    const struct pgk_heap *before, *now;
    const struct pgk_diff_opts *opts;
    struct pgk_text_style style;
    struct pgk_heap_alignment align;
    struct pgk_heap_totals totals, totals_before;
    struct pgk_diff_figures figures;
    size_t changes[PGK_CHANGES];
    double change_bytes[PGK_CHANGES]; /* now less before */
};

static const struct pgk_mib *now_of(const struct diff *d, const struct pgk_heap_pair *p,
                                    struct pgk_mib *room)
{
    return p->now == PGK_NO_CONTEXT ? NULL : pgk_heap_mib(d->now, p->now, room);
}

static const struct pgk_mib *before_of(const struct diff *d, const struct pgk_heap_pair *p,
                                       struct pgk_mib *room)
{
    return p->before == PGK_NO_CONTEXT ? NULL : pgk_heap_mib(d->before, p->before, room);
}

static uint64_t value(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m ? m->v[id] : 0;
}

static double growth(const struct diff *d, const struct pgk_heap_pair *p)
{
    return (double)value(now_of(d, p, PGK_MIB_ROOM), PGK_MIB_TotalSize) -
           (double)value(before_of(d, p, PGK_MIB_ROOM), PGK_MIB_TotalSize);
}

static void count_changes(struct diff *d)
{
    for (size_t i = 0; i < d->align.n; i++) {
        const struct pgk_heap_pair *p = &d->align.pairs[i];
        enum pgk_heap_change c = pgk_heap_change(now_of(d, p, PGK_MIB_ROOM),
                                                 before_of(d, p, PGK_MIB_ROOM));
        d->changes[c]++;
        d->change_bytes[c] += growth(d, p);
        if (c == PGK_CHANGE_NEW)
            d->figures.new_bytes += value(now_of(d, p, PGK_MIB_ROOM), PGK_MIB_TotalSize);
    }
    d->figures.bytes = d->totals.v[PGK_MIB_TotalSize];
    d->figures.bytes_before = d->totals_before.v[PGK_MIB_TotalSize];
    d->figures.objects = d->totals.v[PGK_MIB_AllocCount];
    d->figures.objects_before = d->totals_before.v[PGK_MIB_AllocCount];
    d->figures.overlap = pgk_heap_overlap(&d->align, d->now, d->before);
}

/* Largest differences first, whichever way they go. */
static int by_growth(const void *a, const void *b, void *diff)
{
    const struct diff *d = diff;
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

static void print_change(FILE *out, double before, double now)
{
    if (before > 0)
        fprintf(out, "  %+.1f %%\n", 100 * (now / before - 1));
    else
        fputc('\n', out);
}

static bool both_know(const struct diff *d, enum pgk_mib_id id)
{
    return d->totals.known >> id & d->totals_before.known >> id & 1;
}

static void print_totals(const struct diff *d)
{
    FILE *out = d->style.out;
    const uint64_t *now = d->totals.v, *before = d->totals_before.v;
    char a[160], b[160];
    double objects = (double)now[PGK_MIB_AllocCount], bytes = (double)now[PGK_MIB_TotalSize];
    double old_objects = (double)before[PGK_MIB_AllocCount],
           old_bytes = (double)before[PGK_MIB_TotalSize];
    fprintf(out, "%sbefore: %s\nnow:    %s%s\n\n", pgk_style_on(&d->style, PGK_STYLE_BOLD),
            pgk_human_text(a, sizeof a, d->opts->before_title),
            pgk_human_text(b, sizeof b, d->opts->now_title), pgk_style_off(&d->style));
    fprintf(out, "  %-18s %14s %14s\n", "", "before", "now");
    fprintf(out, "  %-18s %14s %14s", "allocated", BYTES(old_bytes), BYTES(bytes));
    print_change(out, old_bytes, bytes);
    fprintf(out, "  %-18s %14s %14s", "objects", COUNT(before[PGK_MIB_AllocCount]),
            COUNT(now[PGK_MIB_AllocCount]));
    print_change(out, old_objects, objects);
    fprintf(out, "  %-18s %14s %14s\n", "contexts", COUNT(d->totals_before.contexts),
            COUNT(d->totals.contexts));
    if (both_know(d, PGK_MIB_TotalAccessCount) && bytes > 0 && old_bytes > 0) {
        double density = (double)now[PGK_MIB_TotalAccessCount] / bytes,
               old = (double)before[PGK_MIB_TotalAccessCount] / old_bytes;
        fprintf(out, "  %-18s %14.2f %14.2f", "accesses per byte", old, density);
        print_change(out, old, density);
    }
    if (both_know(d, PGK_MIB_TotalLifetime) && objects > 0 && old_objects > 0) {
        double life = (double)now[PGK_MIB_TotalLifetime] / objects,
               old = (double)before[PGK_MIB_TotalLifetime] / old_objects;
        fprintf(out, "  %-18s %14s %14s", "average life", MS(old), MS(life));
        print_change(out, old, life);
    }
    fprintf(out, "\n  %.1f %% of the bytes are allocated in the same places\n",
            100 * d->figures.overlap);
}

static void print_changes(const struct diff *d)
{
    FILE *out = d->style.out;
    for (enum pgk_heap_change c = 0; c < PGK_CHANGE_SAME; c++)
        if (d->changes[c])
            fprintf(out, "  %-8s %s context%s, %s%s\n", pgk_heap_change_name(c),
                    COUNT(d->changes[c]), d->changes[c] == 1 ? "" : "s",
                    d->change_bytes[c] > 0 ? "+" : "", BYTES(d->change_bytes[c]));
}

static int print_pair(const struct diff *d, size_t rank, const struct pgk_heap_pair *p,
                      struct pgk_err *err)
{
    FILE *out = d->style.out;
    const struct pgk_mib *now = now_of(d, p, PGK_MIB_ROOM), *before = before_of(d, p, PGK_MIB_ROOM);
    double change = growth(d, p);
    fprintf(out, "\n%s#%-3zu %s%s%s  %s -> %s  %s -> %s objects  %s%s%s%s\n",
            pgk_style_on(&d->style, PGK_STYLE_BOLD), rank, change > 0 ? "+" : "", BYTES(change),
            pgk_style_off(&d->style), BYTES(value(before, PGK_MIB_TotalSize)),
            BYTES(value(now, PGK_MIB_TotalSize)), COUNT(value(before, PGK_MIB_AllocCount)),
            COUNT(value(now, PGK_MIB_AllocCount)), pgk_style_on(&d->style, PGK_STYLE_LABEL),
            pgk_heap_change_name(pgk_heap_change(now, before)), p->moved ? ", moved" : "",
            pgk_style_off(&d->style));
    return now ? pgk_heap_print_stack(d->now, p->now, &d->style, err)
               : pgk_heap_print_stack(d->before, p->before, &d->style, err);
}

static int print_text(const struct diff *d, struct pgk_err *err)
{
    size_t shown = 0;
    int status = 0;
    print_totals(d);
    print_changes(d);
    for (size_t i = 0; i < d->align.n && !status; i++) {
        const struct pgk_heap_pair *p = &d->align.pairs[i];
        if (growth(d, p) == 0 || (d->opts->top && shown == d->opts->top))
            break;
        if (!shown)
            fprintf(d->style.out, "\n%sLargest changes%s\n",
                    pgk_style_on(&d->style, PGK_STYLE_BOLD), pgk_style_off(&d->style));
        status = print_pair(d, ++shown, p, err);
    }
    return status;
}

static void put(struct json_object *o, const char *key, struct json_object *v)
{
    json_object_object_add(o, key, v);
}

static struct json_object *totals_json(const struct pgk_heap_totals *t)
{
    static const enum pgk_mib_id sums[] = {PGK_MIB_AllocCount, PGK_MIB_TotalSize,
                                           PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime};
    struct json_object *o = json_object_new_object();
    put(o, "contexts", json_object_new_uint64(t->contexts));
    for (size_t i = 0; i < PGK_COUNTOF(sums); i++)
        if (t->known >> sums[i] & 1)
            put(o, pgk_mib_info(sums[i], NULL, NULL), json_object_new_uint64(t->v[sums[i]]));
    return o;
}

static struct json_object *pair_json(const struct diff *d, const struct pgk_heap_pair *p)
{
    static const enum pgk_mib_id fields[] = {PGK_MIB_TotalSize, PGK_MIB_AllocCount,
                                             PGK_MIB_TotalAccessCount, PGK_MIB_TotalLifetime};
    const struct pgk_mib *sides[] = {before_of(d, p, PGK_MIB_ROOM), now_of(d, p, PGK_MIB_ROOM)};
    static const char *const names[] = {"before", "now"};
    const uint32_t ids[] = {p->before, p->now};
    struct json_object *o = json_object_new_object();
    put(o, "change",
        json_object_new_string(pgk_heap_change_name(pgk_heap_change(sides[1], sides[0]))));
    put(o, "moved", json_object_new_boolean(p->moved));
    for (size_t s = 0; s < PGK_COUNTOF(sides); s++) {
        if (!sides[s])
            continue;
        struct json_object *side = json_object_new_object();
        put(side, "context", json_object_new_uint64(ids[s]));
        for (size_t i = 0; i < PGK_COUNTOF(fields); i++)
            if (sides[s]->known >> fields[i] & 1)
                put(side, pgk_mib_info(fields[i], NULL, NULL),
                    json_object_new_uint64(sides[s]->v[fields[i]]));
        put(o, names[s], side);
    }
    uint32_t site = pgk_frames_site(&d->align.frames, p->node);
    if (site) {
        const struct pgk_view_func *f = pgk_frames_func(&d->align.frames, site);
        put(o, "function", json_object_new_string(pgk_frames_text(&d->align.frames, f->name)));
    }
    return o;
}

static void print_json(const struct diff *d)
{
    struct json_object *o = json_object_new_object();
    FILE *out = d->style.out;
    put(o, "schema", json_object_new_string("pgokit-heap-diff-1"));
    put(o, "before", totals_json(&d->totals_before));
    put(o, "now", totals_json(&d->totals));
    put(o, "overlap", json_object_new_double(d->figures.overlap));
    put(o, "new_bytes", json_object_new_uint64(d->figures.new_bytes));
    const char *head = json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE);
    size_t n = d->opts->top && d->opts->top < d->align.n ? d->opts->top : d->align.n;
    /* The list goes out one by one: it may be long. */
    fprintf(out, "%.*s,\"contexts\":[", (int)(strlen(head) - 1), head);
    json_object_put(o);
    for (size_t i = 0; i < n; i++) {
        struct json_object *pair = pair_json(d, &d->align.pairs[i]);
        fprintf(out, "%s\n  %s", i ? "," : "",
                json_object_to_json_string_ext(pair, JSON_C_TO_STRING_NOSLASHESCAPE));
        json_object_put(pair);
    }
    fputs("\n]}\n", out);
}

int pgk_report_heap_diff(const struct pgk_heap *before, const struct pgk_heap *now,
                         const struct pgk_diff_opts *given, FILE *out,
                         struct pgk_diff_figures *figures, struct pgk_err *err)
{
    struct pgk_diff_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct diff d = {
        .before = before,
        .now = now,
        .opts = opts,
        .style = {out, opts->width ? opts->width : 100, opts->depth, opts->colour},
    };
    int status = 0;
    PGK_TRY(pgk_heap_align(&d.align, now, before, err));
    pgk_heap_totals(now, NULL, &d.totals);
    pgk_heap_totals(before, NULL, &d.totals_before);
    count_changes(&d);
    qsort_r(d.align.pairs, d.align.n, sizeof *d.align.pairs, by_growth, &d);
    if (opts->json)
        print_json(&d);
    else
        status = print_text(&d, err);
    pgk_heap_alignment_free(&d.align);
    if (!status && figures)
        *figures = d.figures;
    return status;
}
