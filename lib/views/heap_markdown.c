/* A heap profile in Markdown: totals, the heaviest contexts, and what to change. */
#include "profile_markdown.h"

#include "heap_advice.h"
#include "heap_frames.h"
#include "heap_view.h"
#include "markdown_out.h"
#include "markdown_stack.h"
#include "pgokit/human.h"

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define MS(x)    pgk_human_ms((char[PGK_HUMAN_SIZE]){0}, (x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

struct page {
    const struct pgk_heap *heap;
    const struct pgk_heap_print_opts *opts;
    struct pgk_heap_totals totals;
    struct pgk_text_out *out;
};

static double share(const struct page *p, uint64_t bytes)
{
    uint64_t all = p->totals.v[PGK_MIB_TotalSize];
    return all ? 100.0 * (double)bytes / (double)all : 0;
}

static void put_accesses(const struct page *p)
{
    const struct pgk_heap_totals *t = &p->totals;
    pgk_text_lit(p->out, "| accesses | ");
    if (t->no_accesses && t->no_accesses == t->contexts) {
        pgk_text_lit(p->out, "not known |\n");
        return;
    }
    pgk_text_str(p->out, COUNT(t->v[PGK_MIB_TotalAccessCount]));
    if (t->no_accesses)
        pgk_text_printf(p->out, "; not known of %s context%s", COUNT(t->no_accesses),
                        pgk_plural(t->no_accesses));
    else if (pgk_view_some_accesses(p->opts->info))
        pgk_text_lit(p->out, ", by library functions alone");
    pgk_text_lit(p->out, " |\n");
}

/* Bytes of no object are of profiles that do not count objects. */
static void put_alive(const struct page *p, const char *when, uint64_t bytes, uint64_t objects)
{
    pgk_text_printf(p->out, "| %s | %s", when, BYTES(bytes));
    if (objects || !bytes)
        pgk_text_printf(p->out, " in %s object%s", COUNT(objects), pgk_plural(objects));
    pgk_text_lit(p->out, " |\n");
}

/* Of one process or several, each at its own peak. */
static void put_times(const struct page *p)
{
    const struct pgk_heap_totals *t = &p->totals;
    struct pgk_heap_times times = {.struct_size = sizeof times};
    pgk_heap_over_time(p->heap, &times);
    if (!times.processes || t->no_times == t->contexts)
        return;
    put_alive(p, "at the peak", t->v[PGK_MIB_PeakSize], t->v[PGK_MIB_PeakCount]);
    if (t->some_know >> PGK_MIB_ExitSize & 1)
        put_alive(p, pgk_view_last_moment(p->opts->info), t->v[PGK_MIB_ExitSize],
                  t->v[PGK_MIB_ExitCount]);
}

/* What the figures stand on. */
static void put_sampling(const struct page *p)
{
    const struct pgk_heap_sampling *s = &p->totals.sampling;
    if (!p->totals.sampled)
        return;
    pgk_text_printf(p->out, "| sampled | %s object%s drawn", COUNT(s->samples),
                    pgk_plural(s->samples));
    if (s->sample_bytes)
        pgk_text_printf(p->out, ", one in at most %s", BYTES(s->sample_bytes));
    pgk_text_lit(p->out, "; figures are estimates |\n");
}

static void put_totals(const struct page *p)
{
    const struct pgk_heap_totals *t = &p->totals;
    uint64_t objects = t->v[PGK_MIB_AllocCount];
    pgk_text_lit(p->out, "## Heap profile\n\n| profile | ");
    pgk_md_code(p->out, p->opts->title ? p->opts->title : "profile");
    pgk_text_printf(p->out, " |\n|---|--:|\n| allocated | %s |\n| objects | %s |\n"
                            "| contexts | %s |\n",
                    BYTES(t->v[PGK_MIB_TotalSize]),
                    objects || t->some_know >> PGK_MIB_AllocCount & 1 ? COUNT(objects)
                                                                      : "not known",
                    COUNT(t->contexts));
    put_sampling(p);
    put_accesses(p);
    if (objects && t->known >> PGK_MIB_TotalLifetime & 1)
        pgk_text_printf(p->out, "| average life | %s |\n",
                        MS((double)t->v[PGK_MIB_TotalLifetime] / (double)objects));
    put_times(p);
    if (t->cut)
        pgk_text_printf(p->out, "| stacks cut | %s, %.1f %% |\n", BYTES(t->v[PGK_MIB_CutSize]),
                        share(p, t->v[PGK_MIB_CutSize]));
    for (enum pgk_mib_label l = 0; l < PGK_LABELS; l++)
        if (l != PGK_LABEL_NONE && t->label_contexts[l])
            pgk_text_printf(p->out, "| %s | %s, %.1f %% |\n", pgk_mib_label_name(l),
                            BYTES(t->label_bytes[l]), share(p, t->label_bytes[l]));
}

static void put_context(const struct page *p, size_t context, struct pgk_md_stacks *listed,
                        uint32_t stack)
{
    const struct pgk_mib *m = pgk_heap_mib(p->heap, context, PGK_MIB_SPACE);
    enum pgk_mib_label label = pgk_view_label(m, p->opts->info);
    double density = pgk_heap_sort_value(m, PGK_HEAP_SORT_DENSITY),
           life = pgk_heap_sort_value(m, PGK_HEAP_SORT_LIFETIME);
    struct pgk_heap_estimate size;
    pgk_mib_estimate(m, PGK_MIB_TotalSize, &size);
    pgk_text_printf(p->out, "| %s%s | %.1f %% | %s | ", BYTES(m->v[PGK_MIB_TotalSize]),
                    pgk_view_interval((char[PGK_INTERVAL_TEXT]){0}, &size, pgk_human_bytes),
                    share(p, m->v[PGK_MIB_TotalSize]),
                    m->known >> PGK_MIB_AllocCount & 1 ? COUNT(m->v[PGK_MIB_AllocCount]) : "");
    if (density >= 0)
        pgk_text_printf(p->out, "%.2f ", density);
    pgk_text_printf(p->out, "| %s | %s | ", life >= 0 ? MS(life) : "",
                    label == PGK_LABEL_NONE ? "" : pgk_mib_label_name(label));
    pgk_md_stacks_put(listed, stack, p->out);
    pgk_text_lit(p->out, " |\n");
}

/* Contexts by rank, with stacks[context]. */
static int put_table(const struct page *p, const size_t *order, size_t n,
                     const struct pgk_heap_frames *frames, const uint32_t *stacks,
                     struct pgk_err *err)
{
    struct pgk_md_stacks listed;
    PGK_TRY(pgk_md_stacks_init(&listed, frames, p->opts->depth, err));
    pgk_text_printf(p->out, "\n### %s of %s context%s, by bytes\n\n"
                            "| allocated | share | objects | accesses per byte | life | label "
                            "| in |\n|--:|--:|--:|--:|--:|---|---|\n",
                    COUNT(n), COUNT(p->totals.contexts), pgk_plural(p->totals.contexts));
    for (size_t i = 0; i < n; i++)
        pgk_md_stacks_add(&listed, stacks[order[i]]);
    for (size_t i = 0; i < n; i++)
        put_context(p, order[i], &listed, stacks[order[i]]);
    int status = listed.failed ? pgk_fail_nomem(err) : 0;
    pgk_md_stacks_free(&listed);
    return status;
}

static int put_contexts(const struct page *p, struct pgk_err *err)
{
    struct pgk_heap_frames frames;
    uint32_t *stacks; /* by context */
    size_t *order, n;
    PGK_TRY(pgk_heap_ranking(p->heap, p->opts, &order, &n, err));
    int status = pgk_heap_frames_make(&frames, p->heap, &stacks, err);
    if (!status) {
        status = put_table(p, order, n, &frames, stacks, err);
        pgk_heap_frames_free(&frames);
        pgk_mem_free(stacks);
    }
    pgk_mem_free(order);
    return status;
}

static int put_advice(const struct page *p, struct pgk_err *err)
{
    struct pgk_advice_list list;
    PGK_TRY(pgk_heap_advise(p->heap, p->opts->info, &list, err));
    if (list.n)
        pgk_text_lit(p->out, "\n### What to change\n\n");
    for (size_t i = 0; i < list.n; i++) {
        const struct pgk_advice *a = &list.v[i];
        const struct pgk_advice_text *text = &pgk_advice_texts[a->rule];
        pgk_text_printf(p->out, "- %s (%.1f %%) in %s context%s %s. %s\n", BYTES(a->bytes),
                        share(p, a->bytes), COUNT(a->n), pgk_plural(a->n), text->says,
                        text->action);
    }
    pgk_advice_free(&list);
    return 0;
}

int pgk_heap_markdown(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                      struct pgk_text_out *out, struct pgk_err *err)
{
    struct page p = {.heap = heap, .opts = opts, .out = out};
    pgk_heap_totals(heap, opts->info, &p.totals);
    put_totals(&p);
    int status = put_contexts(&p, err);
    if (!status)
        status = put_advice(&p, err);
    pgk_text_flush(out);
    return status;
}
