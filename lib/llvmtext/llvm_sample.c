/* Samples as `llvm-profdata show --sample` of LLVM 22 prints them. */
#include "llvm_words.h"

#include "json_out.h"
#include "mem.h"
#include "opts.h"
#include "sample_order.h"
#include "sample_spelling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    const struct pgk_sample *p;
    const struct pgk_llvm_print_opts *o;
    struct pgk_sample_order order;
    struct pgk_line line;
    FILE *out;
};

/* The text that pgk_put_... functions make; valid until the next call. "" when out of memory. */
static const char *taken(struct printer *w)
{
    pgk_line_byte(&w->line, '\0');
    w->line.bytes.n = 0;
    return w->line.failed ? "" : (const char *)w->line.bytes.v;
}

static const char *place_text(struct printer *w, uint64_t loc)
{
    pgk_put_spelled_loc(&w->line, loc);
    return taken(w);
}

static const char *name_text(struct printer *w, uint32_t name)
{
    pgk_put_spelling(&w->line, &w->p->names.list.v[name]);
    return taken(w);
}

static const char *identity_text(struct printer *w, uint32_t top)
{
    pgk_sample_put_identity(w->p, top, &w->line);
    return taken(w);
}

/* ---- functions ---- */

static void put_vtables(struct printer *w, const struct pgk_sample_place *place, int indent)
{
    fprintf(w->out, "%*s%s: vtables: ", indent, "", place_text(w, place->loc));
    for (size_t i = 0; i < place->n_vtables; i++)
        fprintf(w->out, "%s:%" PRIu64 " ", name_text(w, pgk_rec_name(&place->vtables[i])),
                place->vtables[i].count);
    fputc('\n', w->out);
}

static void put_place(struct printer *w, const struct pgk_sample_place *place, int indent)
{
    fprintf(w->out, "%*s%s: %" PRIu64, indent, "", place_text(w, place->loc), place->samples);
    for (size_t i = 0; i < place->n_targets; i++)
        fprintf(w->out, "%s %s:%" PRIu64, i ? "" : ", calls:",
                name_text(w, pgk_rec_name(&place->targets[i])), place->targets[i].count);
    fputc('\n', w->out);
    if (place->n_vtables)
        put_vtables(w, place, indent);
}

static size_t sampled_places(const struct pgk_sample_recs *recs)
{
    size_t n = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n += recs->v[i].what == PGK_REC_BODY;
    return n;
}

static void put_body(struct printer *w, const struct pgk_sample_recs *recs, int indent)
{
    struct pgk_sample_place place;
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        if (place.has_body)
            put_place(w, &place, indent);
    }
}

/* The types of a place, which follow its inlinees. */
static void put_late_vtables(struct printer *w, const struct pgk_sample_recs *recs, uint64_t loc,
                             int indent)
{
    struct pgk_sample_place place;
    uint32_t i = pgk_order_find_place(recs, loc);
    if (i == recs->n || recs->v[i].loc != loc)
        return;
    pgk_order_place(&w->order, recs, i, &place);
    if (place.n_vtables)
        put_vtables(w, &place, indent);
}

static void put_node(struct printer *w, uint32_t node, int indent);

static void put_inlinees(struct printer *w, const struct pgk_sample_node *n, int indent)
{
    for (uint32_t c = n->first_child; c;) {
        const struct pgk_sample_node *inlinee = pgk_sample_node(w->p, c);
        fprintf(w->out, "%*s%s: inlined callee: ", indent, "", place_text(w, inlinee->loc));
        fprintf(w->out, "%s: ", name_text(w, inlinee->name));
        put_node(w, c, indent + 2);
        c = inlinee->next;
        if (!c || pgk_sample_node(w->p, c)->loc != inlinee->loc)
            put_late_vtables(w, &n->recs, inlinee->loc, indent);
    }
}

/* After its name; the first line is not indented. */
static void put_node(struct printer *w, uint32_t node, int indent)
{
    static const struct pgk_sample_node none;
    const struct pgk_sample_node *n = node ? pgk_sample_node(w->p, node) : &none;
    size_t places = sampled_places(&n->recs);
    if (n->checksum)
        fprintf(w->out, "CFG checksum %" PRIu64 "\n", n->checksum);
    fprintf(w->out, "%" PRIu64 ", %" PRIu64 ", %zu sampled lines\n", n->total, n->head, places);
    fprintf(w->out, "%*s%s\n", indent, "", places ? "Samples collected in the function's body {"
                                                  : "No samples collected in the function's body");
    put_body(w, &n->recs, indent + 2);
    if (places)
        fprintf(w->out, "%*s}\n", indent, "");
    fprintf(w->out, "%*s%s\n", indent, "", n->first_child
                ? "Samples collected in inlined callsites {"
                : "No inlined callsites in this function");
    put_inlinees(w, n, indent + 2);
    if (n->first_child)
        fprintf(w->out, "%*s}\n", indent, "");
}

static void put_top(struct printer *w, uint32_t top)
{
    fprintf(w->out, "Function: %s: ", top ? identity_text(w, top) : "");
    put_node(w, top, 0);
}

/* ---- as JSON ---- */

static void json_place(struct pgk_json *j, uint64_t loc)
{
    pgk_json_number(j, "line", pgk_sample_line(loc));
    if (pgk_sample_discriminator(loc))
        pgk_json_number(j, "discriminator", pgk_sample_discriminator(loc));
}

static void json_body(struct printer *w, struct pgk_json *j, const struct pgk_sample_recs *recs)
{
    struct pgk_sample_place place;
    pgk_json_array(j, "body");
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        if (!place.has_body)
            continue;
        pgk_json_object(j, NULL);
        json_place(j, place.loc);
        pgk_json_number(j, "samples", place.samples);
        if (place.n_targets)
            pgk_json_array(j, "calls");
        for (size_t k = 0; k < place.n_targets; k++) {
            pgk_json_object(j, NULL);
            pgk_json_text(j, "function", name_text(w, pgk_rec_name(&place.targets[k])));
            pgk_json_number(j, "samples", place.targets[k].count);
            pgk_json_end_object(j);
        }
        if (place.n_targets)
            pgk_json_end_array(j);
        pgk_json_end_object(j);
    }
    pgk_json_end_array(j);
}

static void json_node(struct printer *w, struct pgk_json *j, uint32_t node, bool is_top)
{
    const struct pgk_sample_node *n = pgk_sample_node(w->p, node);
    pgk_json_object(j, NULL);
    pgk_json_text(j, "name", name_text(w, n->name));
    pgk_json_number(j, "total", n->total);
    if (is_top)
        pgk_json_number(j, "head", n->head);
    if (sampled_places(&n->recs))
        json_body(w, j, &n->recs);
    if (n->first_child)
        pgk_json_array(j, "callsites");
    for (uint32_t c = n->first_child; c; c = pgk_sample_next(w->p, c)) {
        pgk_json_object(j, NULL);
        json_place(j, pgk_sample_node(w->p, c)->loc);
        pgk_json_array(j, "samples");
        json_node(w, j, c, false);
        pgk_json_end_array(j);
        pgk_json_end_object(j);
    }
    if (n->first_child)
        pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static void put_json(struct printer *w)
{
    struct pgk_text_out text;
    struct pgk_json j;
    pgk_text_to_file(&text, w->out);
    pgk_json_begin(&j, &text, PGK_JSON_AIRY);
    pgk_json_array(&j, NULL);
    for (size_t i = 0; i < w->p->by_heat.n; i++)
        json_node(w, &j, w->p->by_heat.v[i], true);
    pgk_json_end_array(&j);
    pgk_text_flush(&text);
    fputc('\n', w->out);
}

/* ---- hot functions ---- */

static uint64_t largest_count(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(p, node);
    uint64_t max = 0;
    for (uint32_t i = 0; i < n->recs.n; i++)
        if (n->recs.v[i].what == PGK_REC_BODY && n->recs.v[i].count > max)
            max = n->recs.v[i].count;
    for (uint32_t c = n->first_child; c; c = pgk_sample_next(p, c)) {
        uint64_t inner = largest_count(p, c);
        max = inner > max ? inner : max;
    }
    return max;
}

/* How often the function was entered, as LLVM guesses it: the samples of its first line. */
static uint64_t entries(const struct pgk_sample *p, uint32_t node)
{
    const struct pgk_sample_node *n = pgk_sample_node(p, node);
    if (p->kind.contexts && n->head)
        return n->head;
    uint64_t count = 0, first_inlinee = n->first_child ? pgk_sample_node(p, n->first_child)->loc
                                                       : UINT64_MAX;
    uint32_t i = 0;
    while (i < n->recs.n && n->recs.v[i].what != PGK_REC_BODY)
        i++;
    if (i < n->recs.n && (!n->first_child || n->recs.v[i].loc < first_inlinee))
        count = n->recs.v[i].count;
    else
        for (uint32_t c = n->first_child; c && pgk_sample_node(p, c)->loc == first_inlinee;
             c = pgk_sample_next(p, c))
            count = pgk_add_saturated(count, entries(p, c));
    return count ? count : n->total > 0;
}

/* Moves to a column, at least one blank on. */
static int pad(FILE *out, int at, int column)
{
    int blanks = column > at ? column - at : 1;
    fprintf(out, "%*s", blanks, "");
    return at + blanks;
}

static void put_hot_row(struct printer *w, uint32_t top, double all)
{
    enum { MAX = 24, ENTRY = 42, NAME = 58 };
    const struct pgk_sample_node *n = pgk_sample_node(w->p, top);
    int at = fprintf(w->out, " %" PRIu64 " (%.2f%%)", n->total,
                     all > 0 ? (double)n->total * 100.0 / all : 0);
    at = pad(w->out, at, MAX);
    at += fprintf(w->out, "%" PRIu64, largest_count(w->p, top));
    at = pad(w->out, at, ENTRY);
    at += fprintf(w->out, "%" PRIu64, entries(w->p, top));
    pad(w->out, at, NAME);
    fprintf(w->out, "%s\n", identity_text(w, top));
}

static void put_hot(struct printer *w, const struct pgk_sample_summary *s)
{
    const struct pgk_sample *p = w->p;
    uint64_t threshold = pgk_sample_hot_count(s), hot = 0, hot_samples = 0, samples = 0, shown = 0;
    for (size_t i = 0; i < p->by_heat.n; i++) {
        uint32_t top = p->by_heat.v[i];
        bool is_hot = largest_count(p, top) >= threshold;
        samples += pgk_sample_node(p, top)->total;
        hot_samples += is_hot ? pgk_sample_node(p, top)->total : 0;
        hot += is_hot;
    }
    size_t n = p->by_heat.n ? p->by_heat.n : 1;
    fprintf(w->out, "%" PRIu64 " out of %zu functions with profile (%.2f%%) are considered hot "
            "functions (max sample >= %" PRIu64 ").\n", hot, p->by_heat.n,
            (double)hot / (double)n * 100, threshold);
    fprintf(w->out, "%" PRIu64 " out of %" PRIu64 " profile counts (%.2f%%) are from hot "
            "functions.\n", hot_samples, samples,
            samples ? (double)hot_samples / (double)samples * 100 : 0);
    fputs(" Total sample (%)       Max sample        Entry sample    Function name\n", w->out);
    for (size_t i = 0; i < p->by_heat.n && (!w->o->top || shown < w->o->top); i++)
        if (largest_count(p, p->by_heat.v[i]) >= threshold) {
            put_hot_row(w, p->by_heat.v[i], (double)samples);
            shown++;
        }
}

/* ---- the whole ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int put_symbols(const struct pgk_sample *p, FILE *out, struct pgk_err *err)
{
    size_t n = 0;
    while (pgk_sample_symbol_at(p, n))
        n++;
    const char **sorted = pgk_mem_alloc(n + 1, sizeof *sorted);
    if (!sorted)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = pgk_sample_symbol_at(p, i);
    if (n)
        qsort(sorted, n, sizeof *sorted, by_text);
    fputs("======== Dump profile symbol list ========\n", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n", sorted[i]);
    pgk_mem_free(sorted);
    return 0;
}

static void put_functions(struct printer *w)
{
    if (w->o->parts & PGK_LLVM_JSON)
        put_json(w);
    else if (w->o->parts & PGK_LLVM_ALL_FUNCTIONS || !w->o->function || !*w->o->function)
        for (size_t i = 0; i < w->p->by_heat.n; i++)
            put_top(w, w->p->by_heat.v[i]);
    else
        put_top(w, pgk_sample_find_function(w->p, w->o->function));
}

int pgk_sample_print_llvm(const struct pgk_sample *p, const struct pgk_llvm_print_opts *given,
                          FILE *out, struct pgk_err *err)
{
    struct pgk_llvm_print_opts o;
    struct pgk_sample_summary summary;
    PGK_TRY(PGK_OPTS_TAKE(&o, given, err));
    PGK_TRY(pgk_llvm_sample_summary(p, o.info, &summary, err));
    struct printer w = {.p = p, .o = &o, .order = {.p = p}, .out = out};
    put_functions(&w);
    int status = o.parts & PGK_LLVM_SYMBOLS ? put_symbols(p, out, err) : 0;
    if (o.parts & PGK_LLVM_SUMMARY)
        pgk_llvm_put_sample_summary(&summary, o.release, out);
    if (o.parts & PGK_LLVM_HOT || o.top)
        put_hot(&w, &summary);
    bool failed = w.line.failed || w.order.failed;
    pgk_line_free(&w.line);
    pgk_order_free(&w.order);
    return status ? status : failed ? pgk_fail_nomem(err) : 0;
}
