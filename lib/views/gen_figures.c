/* The samples that a profile was made of: each part with its share of the whole, and an example of
 * the samples left out. */
#include "json_out.h"
#include "opts.h"
#include "pgokit/report.h"

static uint64_t kept(const struct pgk_gen_stats *s)
{
    uint64_t dropped = s->other_process + s->other_event + s->in_kernel +
                       s->without_branches + s->outside + s->between_frames + s->other_label;
    return s->samples > dropped ? s->samples - dropped : 0;
}

bool pgk_gen_figure_at(const struct pgk_gen_stats *s, size_t i, struct pgk_gen_figure *figure)
{
    char(*e)[PGK_GEN_EXAMPLE_SIZE] = s->examples;
    const struct pgk_gen_figure all[] = { /* struct_size stays that of the caller */
        {0, "samples", "samples", s->samples, 0, NULL},
        {0, "files", "files", s->files, 0, NULL},
        {0, "not recordings", "other_files", s->other_files, s->files + s->other_files, NULL},
        {0, "used", "used", kept(s), s->samples, NULL},
        {0, "of instructions alone", "inferred", s->inferred, s->samples, NULL},
        {0, "call chain cut", "stacks_cut", s->stacks_cut, s->samples, e[PGK_GEN_STACK_CUT]},
        {0, "other process", "other_process", s->other_process, s->samples,
         e[PGK_GEN_OTHER_PROCESS]},
        {0, "other event", "other_event", s->other_event, s->samples, e[PGK_GEN_OTHER_EVENT]},
        {0, "other label or time", "other_label", s->other_label, s->samples,
         e[PGK_GEN_OTHER_LABEL]},
        {0, "in the kernel", "in_kernel", s->in_kernel, s->samples, e[PGK_GEN_IN_KERNEL]},
        {0, "without branches", "without_branches", s->without_branches, s->samples,
         e[PGK_GEN_WITHOUT_BRANCHES]},
        {0, "outside the binary", "outside", s->outside, s->samples, e[PGK_GEN_OUTSIDE]},
        {0, "frame not set up", "between_frames", s->between_frames, s->samples,
         e[PGK_GEN_BETWEEN_FRAMES]},
        {0, "recordings of others", "other_builds", s->other_builds, 0, NULL},
        {0, "lost by perf", "lost", s->lost, s->samples, NULL},
        {0, "branches in other code", "branches_outside", s->branches_outside, s->branches,
         e[PGK_GEN_BRANCH_OUTSIDE]},
        {0, "impossible ranges", "ranges_bad", s->ranges_bad, s->ranges, e[PGK_GEN_BAD_RANGE]},
        {0, "unlike the program", "unfit", s->unfit, s->in_code, e[PGK_GEN_UNFIT]},
        {0, "loads of vtables", "vtable_samples", s->vtable_samples, s->load_samples, NULL},
        {0, "types recovered", "recovered_types", s->recovered_types,
         s->recovered_types + s->vtable_samples, NULL},
        {0, "comparisons of types", "type_tests", s->type_tests, 0, NULL},
        {0, "without a branch", "type_choices", s->type_choices, s->type_tests, NULL},
        {0, "of static data", "data_samples", s->data_samples, s->load_samples, NULL},
        {0, "code with a source", "symbolised", s->symbolised, s->instructions, NULL},
        {0, "unreadable lines", "unreadable", s->unreadable, s->lines, NULL},
        {0, "settled functions", "settled", s->settled, s->settling, NULL},
        {0, "functions", "functions", s->functions, 0, NULL},
        {0, "pages with 90 %", "hot_pages", s->hot_pages, 0, NULL},
        {0, "pages in this order", "ordered_pages", s->ordered_pages, s->hot_pages, NULL},
        {0, "of no name of their own", "functions_nameless", s->functions_nameless, 0,
         e[PGK_GEN_NAMELESS]},
        {0, "with copies of blocks", "functions_repeated", s->functions_repeated, 0, NULL},
        {0, "blocks", "blocks", s->blocks_listed, 0, NULL},
        {0, "ways between blocks", "ways", s->ways, 0, NULL},
        {0, "by taken jumps", "ways_taken", s->ways_taken, s->ways, NULL},
        {0, "in this order", "ways_taken_ordered", s->ways_taken_ordered, s->ways, NULL},
        {0, "ext-TSP score", "score", s->score_now, s->ways, NULL},
        {0, "in this order", "score_ordered", s->score_ordered, s->ways, NULL},
    };
    if (i >= PGK_COUNTOF(all))
        return false;
    PGK_RESULT_GIVE(figure, &all[i]);
    return true;
}

static void put_examples(struct pgk_json *j, const struct pgk_gen_stats *s)
{
    struct pgk_gen_figure f = {.struct_size = sizeof f};
    pgk_json_line(j, 1);
    pgk_json_object(j, "examples");
    for (size_t i = 0; pgk_gen_figure_at(s, i, &f); i++) {
        if (!f.example || !*f.example)
            continue;
        pgk_json_line(j, 2);
        pgk_json_text(j, f.key, f.example);
    }
    pgk_json_end_object(j);
}

static void put_number(struct pgk_json *j, const char *key, uint64_t v)
{
    pgk_json_line(j, 1);
    pgk_json_number(j, key, v);
}

void pgk_gen_print_json(const struct pgk_gen_stats *s, FILE *out)
{
    struct pgk_text_out text;
    struct pgk_gen_figure f = {.struct_size = sizeof f};
    struct pgk_json j;
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_SPACED);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "format", "pgokit-gen");
    pgk_json_number(&j, "version", 1);
    for (size_t i = 0; pgk_gen_figure_at(s, i, &f); i++)
        put_number(&j, f.key, f.n);
    put_number(&j, "settling", s->settling);
    pgk_json_line(&j, 1);
    pgk_json_fixed(&j, "record_more", s->record_more, 1);
    put_number(&j, "branches", s->branches);
    put_number(&j, "ranges", s->ranges);
    put_number(&j, "loads", s->load_samples);
    put_number(&j, "instructions", s->instructions);
    pgk_json_line(&j, 1);
    pgk_json_fixed(&j, "density", s->density, 1);
    put_number(&j, "branch_scale", s->branch_scale);
    pgk_json_line(&j, 1);
    pgk_json_digits(&j, "vtable_scale", s->vtable_scale, 6);
    pgk_json_line(&j, 1);
    pgk_json_flag(&j, "no_mapping", s->no_mapping);
    pgk_json_line(&j, 1);
    pgk_json_flag(&j, "misfit", s->misfit);
    put_examples(&j, s);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
