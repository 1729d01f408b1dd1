/* A heap profile on a terminal: totals, then the heaviest contexts. */
#include "heap_advice.h"
#include "heap_stack_text.h"
#include "heap_view.h"

#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct table {
    const struct pgk_heap *heap;
    const struct pgk_heap_print_opts *opts;
    FILE *out;
    struct pgk_heap_totals totals;
    struct pgk_text_style style;
};

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define MS(x)    pgk_human_ms((char[PGK_HUMAN_SIZE]){0}, (x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))
/* " (0.9 MB to 1.6 MB)" of an estimate. */
#define INTERVAL(e, figure) pgk_view_interval((char[PGK_INTERVAL_TEXT]){0}, (e), (figure))

static bool knows(uint64_t known, enum pgk_mib_id id)
{
    return known >> id & 1;
}

/* Share of the whole in per cent; 0 of 0 is 0. */
static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_labels(const struct table *t)
{
    uint64_t bytes = t->totals.v[PGK_MIB_TotalSize];
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++)
        if (l != PGK_LABEL_NONE && t->totals.label_contexts[l])
            fprintf(t->out, "  %s%-16s%s %s context%s, %s (%.1f %% of the bytes)%s\n",
                    pgk_style_on(&t->style, PGK_STYLE_LABEL), pgk_mib_label_name(l),
                    pgk_style_off(&t->style), COUNT(t->totals.label_contexts[l]),
                    pgk_plural(t->totals.label_contexts[l]), BYTES(t->totals.label_bytes[l]),
                    percent(t->totals.label_bytes[l], bytes),
                    l == PGK_LABEL_UNDECIDED ? ": more samples are needed" : "");
}

/* An indexed profile that was written with the compiler's fields only. */
static bool lacks_fields(const struct pgk_file_info *info)
{
    return info && pgk_file_info_fact(info, PGK_FACT_HEAP) &&
           !pgk_file_info_fact(info, PGK_FACT_FULL_SCHEMA);
}

/* Bytes of no object are of profiles that do not count objects. */
static void print_alive(const struct table *t, uint64_t bytes, uint64_t objects)
{
    fputs(BYTES(bytes), t->out);
    if (objects || !bytes)
        fprintf(t->out, " in %s object%s", COUNT(objects), pgk_plural(objects));
}

/* The heap over time, and temporary objects. */
static void print_times(const struct table *t)
{
    const struct pgk_heap_totals *s = &t->totals;
    struct pgk_heap_times times = {.struct_size = sizeof times};
    pgk_heap_over_time(t->heap, &times);
    if (!times.processes || s->no_times == s->contexts)
        return;
    fputs("  at the peak      ", t->out);
    if (times.processes > 1) {
        print_alive(t, s->v[PGK_MIB_PeakSize], s->v[PGK_MIB_PeakCount]);
        fprintf(t->out, ", of %s processes each at its own; the highest:\n                   ",
                COUNT(times.processes));
    }
    print_alive(t, times.peak_bytes, times.peak_objects);
    fprintf(t->out, ", after %s\n", MS((double)times.peak_ms));
    if (knows(s->some_know, PGK_MIB_ExitSize)) {
        fprintf(t->out, "  %-17s", pgk_view_last_moment(t->opts->info));
        print_alive(t, s->v[PGK_MIB_ExitSize], s->v[PGK_MIB_ExitCount]);
        fputc('\n', t->out);
    }
    if (knows(s->some_know, PGK_MIB_UnreachableSize)) {
        fputs("  unreachable      ", t->out);
        print_alive(t, s->v[PGK_MIB_UnreachableSize], s->v[PGK_MIB_UnreachableCount]);
        fputs(", at exit\n", t->out);
    }
    if (knows(s->some_know, PGK_MIB_TemporaryCount))
        fprintf(t->out, "  temporary        %s object%s (%.1f %%)\n",
                COUNT(s->v[PGK_MIB_TemporaryCount]), pgk_plural(s->v[PGK_MIB_TemporaryCount]),
                percent(s->v[PGK_MIB_TemporaryCount], s->v[PGK_MIB_AllocCount]));
    if (s->no_times)
        fprintf(t->out, "                   none of this is known of %s context%s\n",
                COUNT(s->no_times), pgk_plural(s->no_times));
}

/* Not printed if only accesses in library functions were counted. */
static void print_touched(const struct table *t)
{
    const struct pgk_heap_totals *s = &t->totals;
    const uint64_t touched = s->v[PGK_MIB_TouchedSize],
                   all = touched + s->v[PGK_MIB_UntouchedSize];
    if (s->no_touched == s->contexts || pgk_view_some_accesses(t->opts->info))
        return;
    fprintf(t->out, "  ever touched     %s of %s (%.1f %%)", BYTES(touched), BYTES(all),
            percent(touched, all));
    if (s->no_touched)
        fprintf(t->out, "; not known of %s context%s", COUNT(s->no_touched),
                pgk_plural(s->no_touched));
    fputc('\n', t->out);
}

/* What ran, where and when, as far as the profile says it. */
static void print_recording(const struct table *t)
{
    struct pgk_heap_recording r = {.struct_size = sizeof r};
    char safe[1024], when[40] = "";
    const time_t seconds = pgk_heap_recording(t->heap, &r) ? (time_t)(r.start_ms / 1000) : 0;
    struct tm utc;
    if (*r.command_line || *r.program)
        fprintf(t->out, "  program          %s\n",
                pgk_human_text(safe, sizeof safe, *r.command_line ? r.command_line : r.program));
    if (seconds && gmtime_r(&seconds, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &utc);
    if (*when)
        fprintf(t->out, "  started          %s%s%s\n", when, *r.host ? " on " : "",
                pgk_human_text(safe, sizeof safe, r.host));
}

/* What the figures stand on. */
static void print_sampling(const struct table *t)
{
    const struct pgk_heap_sampling *s = &t->totals.sampling;
    if (!t->totals.sampled)
        return;
    fprintf(t->out, "  sampled          %s object%s drawn", COUNT(s->samples),
            pgk_plural(s->samples));
    if (s->sample_bytes)
        fprintf(t->out, ", one in at most %s", BYTES(s->sample_bytes));
    if (s->hits)
        fprintf(t->out, ", %s access%s seen", COUNT(s->hits), s->hits == 1 ? "" : "es");
    fputs("\n                   figures are estimates; in 95 of 100 cases the true one is in its "
          "interval\n", t->out);
}

/* Objects and bytes: by contexts, or of a sampled profile as processes counted them. */
static void print_made(const struct table *t)
{
    const struct pgk_heap_totals *s = &t->totals;
    const struct pgk_heap_sampling *of = &s->sampling;
    const double objects = s->sampled ? of->objects.value : (double)s->v[PGK_MIB_AllocCount],
                 bytes = s->sampled ? of->bytes.value : (double)s->v[PGK_MIB_TotalSize];
    char text[PGK_HUMAN_SIZE];
    const char *exact = s->sampled && of->exact ? ", exact" : "";
    fprintf(t->out, "  objects          %s%s%s\n",
            objects > 0 || knows(s->some_know, PGK_MIB_AllocCount) ? pgk_view_number(text, objects)
                                                                   : "not known",
            INTERVAL(&of->objects, pgk_view_number), exact);
    fprintf(t->out, "  allocated        %s%s%s", BYTES(bytes),
            INTERVAL(&of->bytes, pgk_human_bytes), exact);
    if (objects > 0)
        fprintf(t->out, ", %s per object", BYTES(bytes / objects));
    fputc('\n', t->out);
}

static void print_accesses(const struct table *t)
{
    const struct pgk_heap_totals *s = &t->totals;
    const uint64_t bytes = s->v[PGK_MIB_TotalSize];
    fputs("  accesses         ", t->out);
    if (s->no_accesses && s->no_accesses < s->contexts)
        fprintf(t->out, "%s; not known of %s context%s\n",
                COUNT(s->v[PGK_MIB_TotalAccessCount]), COUNT(s->no_accesses),
                pgk_plural(s->no_accesses));
    else if (s->sampled == s->contexts && s->contexts && !s->sampling.hits)
        fputs("none was seen, so that it is not known how many there were\n", t->out);
    else if (s->no_accesses)
        fputs(lacks_fields(t->opts->info)
                  ? "not in this profile (write it with --full-schema)\n"
                  : "not known\n",
              t->out);
    else
        fprintf(t->out, "%s%s, %.2f per byte%s\n", COUNT(s->v[PGK_MIB_TotalAccessCount]),
                INTERVAL(&s->sampling.accesses, pgk_view_number),
                bytes ? (double)s->v[PGK_MIB_TotalAccessCount] / (double)bytes : 0,
                pgk_view_some_accesses(t->opts->info)
                    ? ", by library functions alone: what is not used is not known"
                    : "");
}

static void print_totals(const struct table *t)
{
    const struct pgk_heap_totals *s = &t->totals;
    uint64_t objects = s->v[PGK_MIB_AllocCount], bytes = s->v[PGK_MIB_TotalSize];
    if (t->opts->title) {
        char text[160] = "";
        fprintf(t->out, "%s%s%s", pgk_style_on(&t->style, PGK_STYLE_BOLD), t->opts->title,
                pgk_style_off(&t->style));
        if (t->opts->info)
            fprintf(t->out, ": %s", pgk_file_info_text(t->opts->info, text, sizeof text));
        fputs("\n\n", t->out);
    }
    print_recording(t);
    fprintf(t->out, "  contexts         %s\n", COUNT(s->contexts));
    print_sampling(t);
    print_made(t);
    print_accesses(t);
    print_touched(t);
    if (objects && knows(s->known, PGK_MIB_TotalLifetime))
        fprintf(t->out, "  average life     %s\n",
                MS((double)s->v[PGK_MIB_TotalLifetime] / (double)objects));
    print_times(t);
    if (s->cut)
        fprintf(t->out, "  stacks cut       %s context%s, %s (%.1f %%): their outermost callers "
                        "were not kept\n",
                COUNT(s->cut), pgk_plural(s->cut), BYTES(s->v[PGK_MIB_CutSize]),
                percent(s->v[PGK_MIB_CutSize], bytes));
    print_labels(t);
}

/* "30 objects (20 to 44) of 40 B" */
static void print_objects(const struct table *t, const struct pgk_mib *m)
{
    const uint64_t objects = m->v[PGK_MIB_AllocCount], bytes = m->v[PGK_MIB_TotalSize];
    struct pgk_heap_estimate count;
    pgk_mib_estimate(m, PGK_MIB_AllocCount, &count);
    if (knows(m->known, PGK_MIB_AllocCount))
        fprintf(t->out, "  %s object%s%s", COUNT(objects), pgk_plural(objects),
                INTERVAL(&count, pgk_view_number));
    if (knows(m->known, PGK_MIB_MinSize) && m->v[PGK_MIB_MinSize] != m->v[PGK_MIB_MaxSize])
        fprintf(t->out, " of %s to %s", BYTES(m->v[PGK_MIB_MinSize]), BYTES(m->v[PGK_MIB_MaxSize]));
    else if (objects)
        fprintf(t->out, " of %s", BYTES((double)bytes / (double)objects));
}

static void print_numbers(const struct table *t, size_t rank, const struct pgk_mib *m)
{
    uint64_t objects = m->v[PGK_MIB_AllocCount], bytes = m->v[PGK_MIB_TotalSize];
    enum pgk_mib_label label = pgk_view_label(m, t->opts->info);
    struct pgk_heap_estimate size, accesses;
    pgk_mib_estimate(m, PGK_MIB_TotalSize, &size);
    pgk_mib_estimate(m, PGK_MIB_TotalAccessCount, &accesses);
    fprintf(t->out, "\n%s#%-3zu %s%s%s (%.1f %%)", pgk_style_on(&t->style, PGK_STYLE_BOLD), rank,
            BYTES(bytes), pgk_style_off(&t->style), INTERVAL(&size, pgk_human_bytes),
            percent(bytes, t->totals.v[PGK_MIB_TotalSize]));
    print_objects(t, m);
    if (knows(m->known, PGK_MIB_TotalAccessCount) && bytes &&
        (!pgk_mib_is_sampled(m) || pgk_mib_has_windows(m))) {
        accesses = pgk_view_each(accesses, (double)bytes);
        fprintf(t->out, "  %.2f accesses/B%s", accesses.value, INTERVAL(&accesses, pgk_view_ratio));
    }
    if (knows(m->known, PGK_MIB_TotalLifetime) && objects)
        fprintf(t->out, "  life %s", MS((double)m->v[PGK_MIB_TotalLifetime] / (double)objects));
    if (pgk_mib_is_sampled(m))
        fprintf(t->out, "  %s sample%s", COUNT(m->v[PGK_MIB_SampleCount]),
                pgk_plural(m->v[PGK_MIB_SampleCount]));
    if (label != PGK_LABEL_NONE)
        fprintf(t->out, "  %s%s%s", pgk_style_on(&t->style, PGK_STYLE_LABEL),
                pgk_mib_label_name(label), pgk_style_off(&t->style));
    fputc('\n', t->out);
}

static void print_context_touched(const struct table *t, const struct pgk_mib *m)
{
    const uint64_t touched = m->v[PGK_MIB_TouchedSize], least = m->v[PGK_MIB_MinTouched],
                   most = m->v[PGK_MIB_MaxTouched];
    if (!knows(m->known, PGK_MIB_TouchedSize) || pgk_view_some_accesses(t->opts->info))
        return;
    fprintf(t->out, "      ever touched %.1f %%",
            percent(touched, touched + m->v[PGK_MIB_UntouchedSize]));
    if (least != most)
        fprintf(t->out, ", of single objects %" PRIu64 " to %" PRIu64 " %%", least, most);
    fputc('\n', t->out);
}

static void print_context_times(const struct table *t, const struct pgk_mib *m)
{
    if (!knows(m->known, PGK_MIB_PeakSize))
        return;
    fputs("      at the peak ", t->out);
    print_alive(t, m->v[PGK_MIB_PeakSize], m->v[PGK_MIB_PeakCount]);
    if (knows(m->known, PGK_MIB_ExitSize)) {
        fprintf(t->out, "  %s ", pgk_view_last_moment(t->opts->info));
        print_alive(t, m->v[PGK_MIB_ExitSize], m->v[PGK_MIB_ExitCount]);
    }
    if (knows(m->known, PGK_MIB_UnreachableSize) && m->v[PGK_MIB_UnreachableCount]) {
        fputs(", unreachable ", t->out);
        print_alive(t, m->v[PGK_MIB_UnreachableSize], m->v[PGK_MIB_UnreachableCount]);
    }
    if (knows(m->known, PGK_MIB_TemporaryCount))
        fprintf(t->out, "  temporary %.1f %%",
                percent(m->v[PGK_MIB_TemporaryCount], m->v[PGK_MIB_AllocCount]));
    fputc('\n', t->out);
}

static const char *sort_text(enum pgk_heap_sort sort)
{
    static const char *const texts[PGK_HEAP_SORTS] = {
        [PGK_HEAP_SORT_DENSITY] = "accesses per byte",
        [PGK_HEAP_SORT_LIFETIME] = "average lifetime",
        [PGK_HEAP_SORT_COUNT] = "objects",
        [PGK_HEAP_SORT_PEAK] = "bytes alive at the peak",
        [PGK_HEAP_SORT_LEAKED] = "bytes alive at exit",
        [PGK_HEAP_SORT_TEMPORARY] = "temporary objects",
        [PGK_HEAP_SORT_UNREACHABLE] = "bytes that no pointer led to at exit",
    };
    return texts[sort] ? texts[sort] : pgk_heap_sort_name(sort);
}

enum { TYPE_AT = 11 };

static int print_context(const struct table *t, size_t rank, size_t context, struct pgk_err *err)
{
    const struct pgk_mib *m = pgk_heap_mib(t->heap, context, PGK_MIB_SPACE);
    print_numbers(t, rank, m);
    print_context_touched(t, m);
    print_context_times(t, m);
    const char *type = pgk_heap_type_name(t->heap, m->v[PGK_MIB_DataTypeId]);
    if (*type) {
        fputs("      type ", t->out);
        pgk_print_type_name(t->out, type, t->opts->width, TYPE_AT);
        fputc('\n', t->out);
    }
    return pgk_heap_print_stack(t->heap, context, &t->style, err);
}

static void print_rules(const struct table *t)
{
    bool any = false;
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++)
        if (l != PGK_LABEL_NONE && t->totals.label_contexts[l]) {
            fprintf(t->out, "%s%s: %s\n", any ? "" : "\n", pgk_mib_label_name(l),
                    pgk_mib_label_rule(l));
            any = true;
        }
}

static void print_piece(const struct table *t, const struct pgk_advice *a)
{
    const struct pgk_advice_text *text = &pgk_advice_texts[a->rule];
    fprintf(t->out, "  %s (%.1f %%) in %s context%s %s.\n      %s\n", BYTES(a->bytes),
            percent(a->bytes, t->totals.v[PGK_MIB_TotalSize]), COUNT(a->n), pgk_plural(a->n),
            text->says, text->action);
    if (a->rule == PGK_ADVICE_TOO_LARGE)
        fprintf(t->out, "      Of all %s there, %.1f %% is ever touched at most.\n",
                BYTES(a->whole), percent(a->whole - a->bytes, a->whole));
}

/* What to change, most bytes first; with the first `contexts` of each piece. */
static int print_advice(const struct table *t, size_t contexts, struct pgk_err *err)
{
    struct pgk_advice_list list;
    int status = 0;
    PGK_TRY(pgk_heap_advise(t->heap, t->opts->info, &list, err));
    if (list.n || contexts)
        fprintf(t->out, "\n%sWhat to change%s\n\n", pgk_style_on(&t->style, PGK_STYLE_BOLD),
                pgk_style_off(&t->style));
    for (size_t i = 0; i < list.n && !status; i++) {
        const struct pgk_advice *a = &list.v[i];
        print_piece(t, a);
        for (size_t c = 0; c < a->n && c < contexts && !status; c++)
            status = print_context(t, c + 1, list.stakes[a->first + c].context, err);
        if (contexts)
            fputc('\n', t->out);
    }
    if (!list.n && contexts)
        fputs("  nothing: no rule finds as much of any context\n", t->out);
    pgk_advice_free(&list);
    return status;
}

static struct table table_of(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                             FILE *out)
{
    struct table t = {.heap = heap,
                      .opts = opts,
                      .out = out,
                      .style = {out, opts->width, opts->depth, opts->colour}};
    pgk_heap_totals(heap, opts->info, &t.totals);
    return t;
}

int pgk_heap_print_table(const struct pgk_heap *heap, const struct pgk_heap_print_opts *given,
                         FILE *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct table t = table_of(heap, opts, out);
    size_t *order, n;
    PGK_TRY(pgk_heap_ranking(heap, opts, &order, &n, err));
    print_totals(&t);
    if (n)
        fprintf(out, "\n%s%zu of %s context%s, by %s%s\n",
                pgk_style_on(&t.style, PGK_STYLE_BOLD), n, COUNT(t.totals.contexts),
                pgk_plural(t.totals.contexts), sort_text(opts->sort), pgk_style_off(&t.style));
    int status = 0;
    for (size_t i = 0; i < n && !status; i++)
        status = print_context(&t, i + 1, order[i], err);
    print_rules(&t);
    pgk_mem_free(order);
    /* Advice is about the whole program. */
    return status || opts->function ? status : print_advice(&t, 0, err);
}

int pgk_heap_print_advice(const struct pgk_heap *heap, const struct pgk_heap_print_opts *given,
                          FILE *out, struct pgk_err *err)
{
    struct pgk_heap_print_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    struct table t = table_of(heap, opts, out);
    print_totals(&t);
    return print_advice(&t, opts->top ? opts->top : SIZE_MAX, err);
}
