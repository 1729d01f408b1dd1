/* A sample profile for people: totals, functions by heat, and their lines as a tree. */
#include "demangle.h"
#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"
#include "path.h"
#include "pgokit/report.h"
#include "sample_declared.h"
#include "sample_lookup.h"
#include "sample_order.h"
#include "sample_spelling.h"
#include "saturate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function, or a context of one, and the samples of its lines with its inlinees: the unit of the
 * whole table. What profiles call the total counts instructions. */
struct row {
    uint64_t samples;
    uint32_t top;
};

struct view {
    const struct pgk_sample *p;
    const struct pgk_sample_print_opts *opts;
    struct pgk_sample_summary summary;
    struct row *rows; /* most samples first */
    struct pgk_sample_order order;
    struct pgk_sample_declared declared;
    PGK_VEC(struct pgk_sample_rec) line; /* of one, whatever the discriminators */
    struct pgk_line text; /* of a name */
    FILE *out;
};

enum { NAME_SIZE = 4096, NAME_LEAST = 16, LOC_SIZE = 280 };

/* The name as a person reads it, in the columns from `at` on without the last `after`. */
static const char *name_text(struct view *v, uint32_t name, char safe[NAME_SIZE], unsigned at,
                             unsigned after)
{
    const struct pgk_sample_name *n = &v->p->names.list.v[name];
    char *readable = n->s && !v->opts->linkage_names ? pgk_demangle(n->s) : NULL;
    v->text.bytes.n = 0;
    pgk_put_spelling(&v->text, n);
    pgk_line_byte(&v->text, '\0');
    const char *text = readable ? readable : v->text.failed ? "" : (const char *)v->text.bytes.v;
    if (v->opts->width) {
        const unsigned taken = at + after + NAME_LEAST;
        const unsigned more = v->opts->width > taken ? v->opts->width - taken : 0;
        readable = readable ? readable : pgk_mem_strdup(text);
        if (readable)
            text = readable = pgk_fit_name(readable, NAME_LEAST + more);
    }
    pgk_human_text(safe, NAME_SIZE, text);
    pgk_mem_free(readable);
    return safe;
}

/* "orders.c:125" of a function whose declaration is known, else "+12" from its first line. */
static const char *line_text(const struct view *v, uint32_t function, char buf[LOC_SIZE],
                             uint32_t offset)
{
    const uint64_t guid = pgk_name_guid(&v->p->names.list.v[function]);
    const struct pgk_declared_func *f = pgk_sample_declared_find(&v->declared, guid);
    const int64_t distance = pgk_sample_line_distance(offset);
    if (!f) {
        snprintf(buf, LOC_SIZE, "%+" PRId64, distance);
        return buf;
    }
    const char *file = pgk_base_name(pgk_intern_str(&v->declared.files, f->file));
    const uint32_t line = pgk_sample_file_line(f->line, offset);
    if (line)
        snprintf(buf, LOC_SIZE, "%s:%" PRIu32, file, line);
    else /* as compilers make it */
        snprintf(buf, LOC_SIZE, "no line");
    return buf;
}

static const char *loc_text(const struct view *v, uint32_t function, char buf[LOC_SIZE],
                            uint32_t offset)
{
    if (!v->p->kind.probes)
        return line_text(v, function, buf, offset);
    snprintf(buf, LOC_SIZE, "%" PRIu32, offset);
    return buf;
}

/* Columns of places. */
static int loc_width(const struct view *v)
{
    return v->declared.files.strs.n ? 22 : 10;
}

static void put_counts(struct view *v, const char *label, const struct pgk_sample_rec *recs,
                       size_t n, int indent)
{
    char safe[NAME_SIZE], count[PGK_HUMAN_SIZE];
    const unsigned at = (unsigned)(indent + loc_width(v)) + 2;
    for (size_t i = 0; i < n; i++) {
        pgk_human_count(count, recs[i].count);
        name_text(v, pgk_rec_name(&recs[i]), safe, at + (unsigned)strlen(label) + 1,
                  (unsigned)strlen(count) + 2);
        fprintf(v->out, "%*s%s %s: %s\n", (int)at, "", label, safe, count);
    }
}

static void put_place(struct view *v, const struct pgk_sample_node *function,
                      const struct pgk_sample_place *place, int indent)
{
    char loc[LOC_SIZE], count[PGK_HUMAN_SIZE];
    loc_text(v, function->name, loc, pgk_sample_line(place->loc));
    if (place->has_body)
        fprintf(v->out, "%*s%-*s  %s\n", indent, "", loc_width(v), loc,
                pgk_human_count(count, place->samples));
    else
        fprintf(v->out, "%*s%s\n", indent, "", loc);
    put_counts(v, "calls", place->targets, place->n_targets, indent);
    put_counts(v, "type", place->vtables, place->n_vtables, indent);
}

static void put_lines(struct view *v, uint32_t node, int indent);

static void put_inlinee(struct view *v, uint32_t node, int indent)
{
    const struct pgk_sample_node *n = &v->p->nodes.v[node];
    const uint32_t caller = v->p->nodes.v[n->parent].name;
    uint64_t samples = pgk_sample_line_total(v->p, node);
    char loc[LOC_SIZE], safe[NAME_SIZE], count[PGK_HUMAN_SIZE];
    pgk_human_count(count, samples);
    name_text(v, n->name, safe, (unsigned)(indent + loc_width(v)) + 10,
              (unsigned)strlen(count) + 10);
    fprintf(v->out, "%*s%-*s  inlined %s: %s sample%s\n", indent, "", loc_width(v),
            loc_text(v, caller, loc, pgk_sample_line(n->loc)), safe, count, pgk_plural(samples));
    put_lines(v, node, indent + 4);
}

static int by_what(const void *a, const void *b)
{
    const struct pgk_sample_rec *x = a, *y = b;
    return x->what < y->what ? -1 : x->what > y->what;
}

/* What all parts of a line have, from record `i` on, which is its first; returns where the next
 * line begins. */
static uint32_t take_line(struct view *v, const struct pgk_sample_recs *recs, uint32_t i)
{
    const uint32_t line = pgk_sample_line(recs->v[i].loc);
    v->line.n = 0;
    for (; i < recs->n && pgk_sample_line(recs->v[i].loc) == line; i++) {
        struct pgk_sample_rec r = recs->v[i];
        r.loc = pgk_sample_loc(line, 0);
        v->order.failed |= !pgk_vec_push(&v->line, r);
    }
    qsort(v->line.v, v->line.n, sizeof *v->line.v, by_what);
    size_t n = 0;
    for (size_t at = 0; at < v->line.n; at++) {
        const struct pgk_sample_rec r = v->line.v[at];
        if (n && v->line.v[n - 1].what == r.what)
            v->line.v[n - 1].count = pgk_add_saturated(v->line.v[n - 1].count, r.count);
        else
            v->line.v[n++] = r;
    }
    v->line.n = n;
    return i;
}

/* Lines and inlinees in one order of places, of those from `first` to `last`. */
static void put_range(struct view *v, uint32_t node, uint32_t first, uint32_t last, int indent)
{
    const struct pgk_sample_node *n = &v->p->nodes.v[node];
    const uint64_t end = pgk_sample_loc(last, UINT32_MAX);
    struct pgk_sample_place place;
    uint32_t inlinee = pgk_sample_first(v->p, node);
    while (inlinee && v->p->nodes.v[inlinee].loc < pgk_sample_loc(first, 0))
        inlinee = pgk_sample_next(v->p, inlinee);
    for (uint32_t i = pgk_order_find_place(&n->recs, pgk_sample_loc(first, 0));
         i < n->recs.n && n->recs.v[i].loc <= end;) {
        const uint64_t line = pgk_sample_loc(pgk_sample_line(n->recs.v[i].loc), 0);
        for (; inlinee && v->p->nodes.v[inlinee].loc < line;
             inlinee = pgk_sample_next(v->p, inlinee))
            put_inlinee(v, inlinee, indent);
        i = take_line(v, &n->recs, i);
        if (!v->line.n) /* out of memory */
            return;
        const struct pgk_sample_recs whole = {.v = v->line.v, .n = (uint32_t)v->line.n,
                                              .sorted = (uint32_t)v->line.n};
        pgk_order_place(&v->order, &whole, 0, &place);
        put_place(v, n, &place, indent);
    }
    for (; inlinee && v->p->nodes.v[inlinee].loc <= end; inlinee = pgk_sample_next(v->p, inlinee))
        put_inlinee(v, inlinee, indent);
}

static void put_lines(struct view *v, uint32_t node, int indent)
{
    const uint64_t checksum = v->p->nodes.v[node].checksum;
    if (checksum)
        fprintf(v->out, "%*schecksum 0x%016" PRIx64 "\n", indent, "", checksum);
    if (v->p->kind.probes) {
        put_range(v, node, 0, UINT32_MAX, indent);
        return;
    }
    /* Those before the function's first line stand in front. */
    put_range(v, node, PGK_SAMPLE_LINE_BEFORE, PGK_SAMPLE_MAX_LINE, indent);
    put_range(v, node, 0, PGK_SAMPLE_LINE_BEFORE - 1, indent);
    put_range(v, node, PGK_SAMPLE_MAX_LINE + 1, UINT32_MAX, indent);
}

/* After the name, or where names are shortened below it from column `at` on. */
static void put_attributes(struct view *v, uint32_t attributes, int at)
{
    static const struct { uint32_t bit; const char *text; } known[] = {
        {PGK_SAMPLE_WAS_INLINED, "was inlined"},
        {PGK_SAMPLE_SHOULD_INLINE, "should be inlined"},
        {PGK_SAMPLE_IN_BASE, "also in its function"},
    };
    bool below = v->opts->width;
    for (size_t i = 0; i < PGK_COUNTOF(known); i++) {
        if (!(attributes & known[i].bit))
            continue;
        if (below)
            fprintf(v->out, "\n%*s%s", at, "", known[i].text);
        else
            fprintf(v->out, ", %s", known[i].text);
        below = false;
    }
}

static bool has_summary(const struct view *v)
{
    return v->opts->of_one && v->opts->info && pgk_file_info_summary(v->opts->info);
}

static double share_of(const struct view *v, uint64_t samples)
{
    double all = (double)v->summary.total_count;
    return all > 0 ? 100 * (double)samples / all : 0;
}

static int by_samples(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->top < y->top ? -1 : x->top > y->top;
}

static bool order_rows(struct view *v)
{
    v->rows = pgk_mem_alloc(v->p->by_heat.n + 1, sizeof *v->rows);
    for (uint32_t i = 0; v->rows && i < v->p->by_heat.n; i++)
        v->rows[i] = (struct row){pgk_sample_line_total(v->p, v->p->by_heat.v[i]), i};
    if (v->rows) /* of equal ones as by heat */
        qsort(v->rows, v->p->by_heat.n, sizeof *v->rows, by_samples);
    return v->rows;
}

/* Callers stand below, one a line, as they are long. */
static void put_function(struct view *v, const struct row *row)
{
    uint32_t top = v->p->by_heat.v[row->top];
    const struct pgk_sample_node *n = &v->p->nodes.v[top];
    enum { NAME_AT = 43, CALLER_AT = 45 };
    char safe[NAME_SIZE], samples[PGK_HUMAN_SIZE], head[PGK_HUMAN_SIZE], loc[LOC_SIZE];
    fprintf(v->out, "%15s  %5.1f %%  %15s  %s", pgk_human_count(samples, row->samples),
            share_of(v, row->samples), pgk_human_count(head, n->head),
            name_text(v, n->name, safe, NAME_AT, 0));
    put_attributes(v, n->attributes, CALLER_AT);
    fputc('\n', v->out);
    for (uint32_t id = top; v->p->nodes.v[id].parent; id = v->p->nodes.v[id].parent) {
        const uint32_t caller = v->p->nodes.v[v->p->nodes.v[id].parent].name;
        const char *before = v->p->kind.probes ? ", probe " : ", ";
        loc_text(v, caller, loc, pgk_sample_line(v->p->nodes.v[id].loc));
        name_text(v, caller, safe, CALLER_AT + 3, (unsigned)(strlen(before) + strlen(loc)));
        fprintf(v->out, "%*s<- %s%s%s\n", CALLER_AT, "", safe, before, loc);
    }
    if (v->opts->lines)
        put_lines(v, top, 4);
}

/* "3 lines", and what separates it from what stands before it. */
static void put_number(struct view *v, const char *before, uint64_t n, const char *one,
                       const char *many)
{
    char count[PGK_HUMAN_SIZE];
    fprintf(v->out, "%s%s %s", before, pgk_human_count(count, n), n == 1 ? one : many);
}

static void put_some(struct view *v, uint64_t n, const char *one, const char *many)
{
    if (n)
        put_number(v, ", ", n, one, many);
}

static void put_sizes(struct view *v)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    const struct pgk_sample_sizes sizes = pgk_sample_sizes(v->p);
    pgk_sample_info(v->p, &info);
    if (!has_summary(v))
        put_number(v, "", v->summary.total_count, "sample in ", "samples in ");
    put_number(v, "", sizes.lines, "line of ", "lines of ");
    if (info.contexts)
        put_number(v, "", info.functions, "context", "contexts");
    else
        put_number(v, "", info.functions, "function", "functions");
    put_some(v, sizes.inlinees, "inlinee", "inlinees");
    put_some(v, sizes.targets, "call target", "call targets");
    put_some(v, sizes.vtables, "type", "types");
    if (!v->opts->of_one)
        put_some(v, info.n_symbols, "symbol", "symbols");
    fputc('\n', v->out);
}

/* Further facts about the profile. */
static void put_marks(struct view *v)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(v->p, &info);
    const char *before = "";
    const struct { bool is; const char *text; } marks[] = {
        {info.probes, "places are probes"},
        {info.preinlined, "preinlined"},
        {info.flow_discriminators, "discriminators are flow-sensitive"},
        {info.partial, "of code that programs share"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(marks); i++) {
        if (marks[i].is)
            fprintf(v->out, "%s%s", before, marks[i].text);
        before = marks[i].is ? "; " : before;
    }
    if (*before)
        fputc('\n', v->out);
}

static void put_totals(struct view *v)
{
    char safe[512], text[160], a[PGK_HUMAN_SIZE], b[PGK_HUMAN_SIZE];
    if (v->opts->title)
        fprintf(v->out, "%s%s%s", v->opts->colour ? "\033[1m" : "",
                pgk_human_text(safe, sizeof safe, v->opts->title),
                v->opts->colour ? "\033[0m" : "");
    if (v->opts->info)
        fprintf(v->out, ": %s", pgk_file_info_text(v->opts->info, text, sizeof text));
    fputc('\n', v->out);
    put_sizes(v);
    put_marks(v);
    fprintf(v->out, "hot: lines with %s samples or more; cold: with %s or fewer\n",
            pgk_human_count(a, pgk_sample_hot_count(&v->summary)),
            pgk_human_count(b, pgk_sample_cold_count(&v->summary)));
    fprintf(v->out, "\n%s%15s  %7s  %15s  %s%s\n", v->opts->colour ? "\033[1m" : "", "samples",
            "share", "at its head", v->p->kind.contexts ? "function and callers" : "function",
            v->opts->colour ? "\033[0m" : "");
    if (v->opts->lines)
        fprintf(v->out, "    %-*s  %s\n", loc_width(v), v->p->kind.probes ? "probe" : "line",
                "samples");
}

/* Where the functions of the profile are in their files; probes have no lines. */
static int find_declared(struct view *v, struct pgk_err *err)
{
    if (!v->opts->binaries || v->p->kind.probes)
        return 0;
    for (uint32_t id = 1; id < v->p->names.list.n; id++)
        if (!pgk_sample_declared_want(&v->declared, pgk_name_guid(&v->p->names.list.v[id])))
            return pgk_fail_nomem(err);
    return pgk_sample_declared_read(&v->declared, v->opts->binaries, err);
}

static void free_view(struct view *v)
{
    pgk_mem_free(v->rows);
    pgk_line_free(&v->text);
    pgk_order_free(&v->order);
    pgk_vec_free(&v->line);
    pgk_sample_declared_free(&v->declared);
}

int pgk_sample_print_table(const struct pgk_sample *p, const struct pgk_sample_print_opts *given,
                           FILE *out, struct pgk_err *err)
{
    struct pgk_sample_print_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct view v = {.p = p, .opts = opts, .out = out, .order = {.p = p}};
    v.summary.struct_size = sizeof v.summary;
    if (has_summary(&v))
        v.summary = *pgk_file_info_summary(opts->info);
    else
        PGK_TRY(pgk_sample_summarise(p, &v.summary, err));
    size_t n = opts->top && opts->top < p->by_heat.n ? opts->top : p->by_heat.n;
    int status = order_rows(&v) ? find_declared(&v, err) : pgk_fail_nomem(err);
    if (!status)
        put_totals(&v);
    for (size_t i = 0; i < n && !status; i++)
        put_function(&v, &v.rows[i]);
    if (!status && (v.text.failed || v.order.failed))
        status = pgk_fail_nomem(err);
    free_view(&v);
    return status;
}
