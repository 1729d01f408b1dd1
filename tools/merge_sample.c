/* pgokit merge for sample profiles. */
#include "output_sample.h"
#include "sample_input.h"

#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Sample profiles of any encoding become one. INPUT@N counts a file N times. Contexts, probes\n"
    "and plain profiles do not mix. Where functions differ in checksum, the build with the most\n"
    "samples stays.\n\n" SAMPLE_OUTPUT_HELP
    "      --partial            keep all there is, of all checksums: merging partial profiles of\n"
    "                           some inputs each gives the same as merging all "
    "inputs\n" CLI_FAILURE_HELP
    "\nExamples:\n"
    "  pgokit merge host1.afdo host2.afdo -o fleet.afdo\n"
    "  pgokit merge canary.afdo@10 rest.afdo --gen-partial -o lib.afdo\n"
    "  ls profiles/*.afdo | pgokit merge --files-from - --merge-cold --trim-cold -o all.afdo\n";

enum { OPT_SHARD = 256, OPT_FAILURE };
static const struct option options[] = {
    {"partial", no_argument, NULL, OPT_SHARD},
    {"failure-mode", required_argument, NULL, OPT_FAILURE},
    SAMPLE_OUTPUT_LONG,
    CLI_COMMON_LONG,
    {0},
};

struct merge {
    struct cli_common common;
    struct sample_output output;
    struct pgk_input *inputs;
    size_t n_inputs;
    bool partial;
    enum cli_failure_mode failure;
    size_t left_out; /* inputs that cannot be read */
};

static void parse(struct merge *m, int argc, char **argv)
{
    bool others = false;
    for (int c; (c = cli_next_option(&cmd_merge, argc, argv, "o:", options, &m->common)) != -1;) {
        m->partial |= c == OPT_SHARD;
        if (c == OPT_FAILURE)
            m->failure = cli_failure_mode(&cmd_merge, optarg);
        others |= sample_output_option(&m->output, &cmd_merge, c, optarg) && c != 'o';
    }
    if (optind == argc)
        cli_usage(&cmd_merge, "nothing to merge: name one input at least");
    if (!m->output.path)
        cli_usage(&cmd_merge, "no output: name it with -o");
    if (m->partial && others)
        cli_usage(&cmd_merge, "--partial keeps everything; give other options when the partial "
                              "profiles are merged");
    m->n_inputs = (size_t)(argc - optind);
    m->inputs = calloc(m->n_inputs, sizeof *m->inputs);
    if (!m->inputs)
        cli_usage(&cmd_merge, "out of memory");
    for (size_t i = 0; i < m->n_inputs; i++)
        m->inputs[i] = cli_input(&cmd_merge, argv[optind + (int)i]);
    m->left_out = cli_sift(m->failure, PGK_KIND_SAMPLE, m->inputs, &m->n_inputs);
    if (!m->n_inputs)
        cli_usage(&cmd_merge, "none of the inputs can be read");
}

static int write_partial(struct merge *m, struct pgk_sample *profile)
{
    struct pgk_err err = {0};
    int status = sample_spell(profile, NULL, &m->common, &err);
    if (!status)
        status = pgk_sample_write_partial(profile, m->output.path, &err);
    return status ? cli_fail(&err) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct merge m = {.output = {SAMPLE_OUTPUT_INIT}};
    struct pgk_sample *profile = NULL;
    struct pgk_err err = {0};
    parse(&m, argc, argv);
    int status = pgk_sample_read_all(&profile, m.inputs, m.n_inputs, m.common.threads, &err);
    int exit_code = status      ? cli_fail(&err)
                    : m.partial ? write_partial(&m, profile)
                                : sample_output_write(&m.output, &profile, &m.common);
    exit_code = cli_exit_with(exit_code, m.failure, m.left_out);
    pgk_sample_close(&profile);
    free(m.inputs);
    cli_common_free(&m.common);
    return exit_code;
}

const struct cli_action merge_sample = {PGK_KIND_SAMPLE, help, "o:", options, run};
