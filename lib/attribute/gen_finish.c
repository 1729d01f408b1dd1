/* Prepares a profile for a compiler: leaves out cold parts and, in profiles with calling contexts,
 * selects those to keep. */
#include "gen_binary.h"

#include "preinline.h"
#include "sample_merge.h"

enum { PPM_HOTTEST = 100000, PPM_HOT = 990000, PPM_COLD = 999999 };

static uint64_t hot_count(const struct pgk_gen_opts *opts, const struct pgk_sample_summary *s)
{
    return opts->hot_count || opts->hot_count_given
               ? opts->hot_count
               : pgk_sample_count_at(s, opts->hot_share ? opts->hot_share : PPM_HOT);
}

static uint64_t cold_count(const struct pgk_gen_opts *opts, const struct pgk_sample_summary *s)
{
    return opts->cold_count || opts->cold_count_given
               ? opts->cold_count
               : pgk_sample_count_at(s, opts->cold_share ? opts->cold_share : PPM_COLD);
}

/* The summary of the profile without contexts. */
static int summarise(struct pgk_sample *profile, struct pgk_sample_summary *summary,
                     struct pgk_err *err)
{
    struct pgk_sample *flat;
    PGK_TRY(pgk_sample_finish(profile, err));
    PGK_TRY(pgk_sample_new(&flat, err));
    int status = pgk_sample_merge_contexts(flat, profile, profile->by_heat.n, err);
    if (!status)
        status = pgk_sample_finish(flat, err);
    if (!status)
        status = pgk_sample_summarise(flat, summary, err);
    pgk_sample_close(&flat);
    return status;
}

static int preinline(struct pgk_sample **profile, struct pgk_gen_binary *binaries, size_t n,
                     const struct pgk_gen_opts *opts, const struct pgk_sample_summary *summary,
                     struct pgk_err *err)
{
    struct pgk_function_sizes sizes;
    struct pgk_preinline_limits limits = {.cold = cold_count(opts, summary),
                                          .hot = pgk_sample_count_at(summary, PPM_HOTTEST),
                                          .hot_size = opts->inline_hot_size,
                                          .cold_size = opts->inline_cold_size};
    int status = pgk_function_sizes_open(&sizes, *profile, err);
    for (size_t i = 0; i < n && !status; i++)
        if (binaries[i].functions.functions.n)
            status = pgk_function_sizes_add(&sizes, &binaries[i], opts->threads, err);
    if (!status)
        status = pgk_preinline(profile, &sizes, &limits, err);
    pgk_function_sizes_close(&sizes);
    return status;
}

static int finish_contexts(struct pgk_sample **profile, struct pgk_gen_binary *binaries, size_t n,
                            const struct pgk_gen_opts *opts, struct pgk_err *err)
{
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    struct pgk_sample_trim_opts trim = {.struct_size = sizeof trim,
                                        .trim = opts->trim_cold,
                                        .merge = opts->no_preinliner && !opts->keep_cold_contexts,
                                        .depth = opts->cold_depth,
                                        .functions_only = !opts->no_preinliner};
    if (!opts->no_preinliner || trim.trim || trim.merge)
        PGK_TRY(summarise(*profile, &summary, err));
    if (!opts->no_preinliner)
        PGK_TRY(preinline(profile, binaries, n, opts, &summary, err));
    if (trim.trim || trim.merge) {
        trim.cold_below = hot_count(opts, &summary);
        if (trim.cold_below)
            PGK_TRY(pgk_sample_trim(profile, &trim, err));
    }
    return opts->keep_contexts ? 0 : pgk_sample_relayout(profile, PGK_SAMPLE_NESTED, err);
}

/* Functions are cold as lines are, unlike contexts, of which only the hot ones stay. */
static int trim_functions(struct pgk_sample *p, const struct pgk_gen_opts *opts,
                          struct pgk_err *err)
{
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    PGK_TRY(pgk_sample_finish(p, err));
    PGK_TRY(pgk_sample_summarise(p, &summary, err));
    uint64_t least = cold_count(opts, &summary);
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (p->nodes.v[id].total < least)
            p->nodes.v[id].flags &= ~(uint32_t)PGK_NODE_TOP;
    p->finished = false;
    return 0;
}

static void mark_inlined(struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (pgk_sample_is_top(p, id) || !(p->nodes.v[id].flags & PGK_NODE_CONTEXT))
            p->nodes.v[id].attributes |= PGK_SAMPLE_SHOULD_INLINE;
    p->preinlined = true;
}

int pgk_gen_finish(struct pgk_sample **profile, struct pgk_gen_binary *binaries, size_t n,
                   const struct pgk_gen_opts *opts, struct pgk_err *err)
{
    int status = (*profile)->kind.contexts ? finish_contexts(profile, binaries, n, opts, err)
                 : opts->trim_cold         ? trim_functions(*profile, opts, err)
                                           : 0;
    if (!status && opts->mark_inlined)
        mark_inlined(*profile);
    if (!status && opts->sum_totals && !(*profile)->kind.contexts) {
        (*profile)->finished = false;
        status = pgk_sample_build_totals(*profile, err);
    }
    return status;
}

/* They are marked like replaced profiles, which readers and writers skip. */
void pgk_gen_drop_start_up(struct pgk_sample *p)
{
    for (size_t i = 1; i < p->nodes.n; i++) {
        const struct pgk_sample_name *name = &p->names.list.v[p->nodes.v[i].name];
        if (name->s && pgk_gen_is_start_up(name->s, name->len))
            p->nodes.v[i].flags |= PGK_NODE_LOST;
    }
}
