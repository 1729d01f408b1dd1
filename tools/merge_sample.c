/* pgokit merge for sample profiles. */
#include "merge_inputs.h"
#include "output_sample.h"
#include "sample_input.h"

#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Sample profiles of any encoding become one. INPUT@N counts a file N times.\n"
    "Contexts, probes and plain profiles do not mix. Where functions differ in\n"
    "checksum, the build with the most samples stays.\n\n";

static const char examples[] =
    "  pgokit merge host1.afdo host2.afdo -o fleet.afdo\n"
    "  pgokit merge canary.afdo@10 rest.afdo --gen-partial -o lib.afdo\n"
    "  ls profiles/*.afdo | pgokit merge --files-from - --merge-cold --trim-cold \\\n"
    "      -o all.afdo\n";

struct merge {
    struct cli_common common;
    struct sample_output output;
    struct pgk_input *inputs;
    size_t n_inputs;
    bool partial, others; /* others: options of the output were given */
    struct merge_inputs shared;
};

static const struct option_row rows[] = {
    {"partial", 0, NULL,
     "keep all there is, of all checksums: merging partial profiles of some inputs each gives the "
     "same as merging all inputs", OPTION_FLAG(struct merge, partial)},
    {0},
};
static const struct option_table table = {"merge samples", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(cli_output_option, struct merge, output.path),
    OPTION_GROUP(merge_files_option, struct merge, shared),
    OPTION_GROUP_GIVEN(sample_file_options, struct merge, output, others),
    OPTION_GROUP_GIVEN(sample_output_options, struct merge, output, others),
    {&table, 0, 0},
    OPTION_GROUP(merge_inputs_options, struct merge, shared),
    CLI_COMMON(struct merge),
    {0},
};

static void parse(struct merge *m, int argc, char **argv)
{
    option_parse(&cmd_merge, groups, argc, argv, m);
    merge_inputs_check(&m->shared);
    if (optind == argc)
        cli_usage(&cmd_merge, "nothing to merge: name one input at least");
    if (!m->output.path)
        cli_usage(&cmd_merge, "no output: name it with -o");
    if (m->partial && m->others)
        cli_usage(&cmd_merge, "--partial keeps everything; give other options when the partial "
                              "profiles are merged");
    m->n_inputs = (size_t)(argc - optind);
    m->inputs = calloc(m->n_inputs, sizeof *m->inputs);
    if (!m->inputs)
        cli_usage(&cmd_merge, "out of memory");
    for (size_t i = 0; i < m->n_inputs; i++)
        m->inputs[i] = cli_input(&cmd_merge, argv[optind + (int)i]);
    merge_inputs_sift(&m->shared, PGK_KIND_SAMPLE, m->inputs, &m->n_inputs);
    merge_inputs_need_some(&m->shared, m->n_inputs);
}

static int read_inputs(struct merge *m, struct pgk_sample **profile, struct pgk_err *err)
{
    unsigned threads = m->common.threads;
    int status = pgk_sample_read_all(profile, m->inputs, m->n_inputs, threads, err);
    if (!status || !merge_inputs_skip(&m->shared, PGK_KIND_SAMPLE, m->inputs, &m->n_inputs, err))
        return status;
    merge_inputs_need_some(&m->shared, m->n_inputs);
    return pgk_sample_read_all(profile, m->inputs, m->n_inputs, threads, err);
}

static int write_partial(struct merge *m, struct pgk_sample *profile)
{
    struct pgk_err err = {0};
    int status = sample_spell(profile, NULL, &m->common, &err);
    if (!status)
        status = pgk_sample_write_partial(profile, m->output.path, &err);
    return status ? cli_fail(&err) : EXIT_DONE;
}

/* Whether a line, a call or what entered it has the largest number that there is. */
static bool is_full(const struct pgk_sample *p, uint32_t node)
{
    struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
    struct pgk_sample_function f = {.struct_size = sizeof f};
    if (pgk_sample_get(p, node, &f) && (f.total == UINT64_MAX || f.head == UINT64_MAX))
        return true;
    while (pgk_sample_next_record(p, &r))
        if (r.count == UINT64_MAX)
            return true;
    for (uint32_t c = pgk_sample_first_inlinee(p, node); c; c = pgk_sample_next_inlinee(p, c))
        if (is_full(p, c))
            return true;
    return false;
}

/* Sums that reached it. */
static void warn_of_sums(const struct merge *m, const struct pgk_sample *profile)
{
    char safe[256];
    for (size_t i = 0; m->n_inputs > 1 && i < pgk_sample_functions(profile); i++) {
        struct pgk_sample_function f = {.struct_size = sizeof f};
        struct pgk_err err = {.status = PGK_E_LIMIT, .record = "merged", .format = "samples"};
        uint32_t node = pgk_sample_function_at(profile, i);
        if (!is_full(profile, node) || !pgk_sample_get(profile, node, &f))
            continue;
        fprintf(stderr, "pgokit: warning: %s: its samples reached the largest number, 2^64 - 1, "
                "and stay there\n", pgk_human_text(safe, sizeof safe, f.name));
        snprintf(err.file, sizeof err.file, "%s", m->inputs[m->n_inputs - 1].path);
        snprintf(err.found, sizeof err.found, "%s", f.name);
        cli_said(&err, true);
    }
}

static int run(int argc, char **argv)
{
    struct merge m = {.output = {SAMPLE_OUTPUT_INIT}};
    struct pgk_sample *profile = NULL;
    struct pgk_err err = {0};
    parse(&m, argc, argv);
    int status = read_inputs(&m, &profile, &err);
    int exit_code = status      ? merge_inputs_fail(&m.shared, &err)
                    : m.partial ? write_partial(&m, profile)
                                : sample_output_write(&m.output, &profile, &m.common);
    if (!status && exit_code != EXIT_FAILED && !m.partial)
        warn_of_sums(&m, profile);
    exit_code = merge_inputs_exit(&m.shared, exit_code);
    pgk_sample_close(&profile);
    free(m.inputs);
    cli_common_free(&m.common);
    return exit_code;
}

const struct cli_action merge_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
