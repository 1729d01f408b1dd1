/* What makes a profile with calling contexts fit for a compiler. */
#include "gen_binary.h"

#include "preinline.h"
#include "sample_merge.h"

enum { PPM_HOTTEST = 100000, PPM_HOT = 990000, PPM_COLD = 999999 };

static uint64_t count_at(const struct pgk_sample_summary *s, uint64_t ppm)
{
    for (size_t i = 0; i < s->n_cutoffs; i++)
        if (s->cutoffs[i].ppm == ppm)
            return s->cutoffs[i].min_count;
    return 0;
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
    struct pgk_preinline_limits limits = {.cold = count_at(summary, PPM_COLD),
                                          .hot = count_at(summary, PPM_HOTTEST)};
    int status = pgk_function_sizes_open(&sizes, *profile, err);
    for (size_t i = 0; i < n && !status; i++)
        if (binaries[i].functions.functions.n)
            status = pgk_function_sizes_add(&sizes, &binaries[i], opts->threads, err);
    if (!status)
        status = pgk_preinline(profile, &sizes, &limits, err);
    pgk_function_sizes_close(&sizes);
    return status;
}

int pgk_gen_finish_contexts(struct pgk_sample **profile, struct pgk_gen_binary *binaries, size_t n,
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
        trim.cold_below = count_at(&summary, PPM_HOT);
        if (trim.cold_below)
            PGK_TRY(pgk_sample_trim(profile, &trim, err));
    }
    return opts->keep_contexts ? 0 : pgk_sample_relayout(profile, PGK_SAMPLE_NESTED, err);
}

/* They are marked like profiles that gave way, which readers and writers pass over. */
void pgk_gen_drop_start_up(struct pgk_sample *p)
{
    for (size_t i = 1; i < p->nodes.n; i++) {
        const struct pgk_sample_name *name = &p->names.v.v[p->nodes.v[i].name];
        if (name->s && pgk_gen_is_start_up(name->s, name->len))
            p->nodes.v[i].flags |= PGK_NODE_LOST;
    }
}
