/* pgokit diff for sample profiles. */
#include "cli.h"

#include <stdio.h>

static const char help[] =
    "Similarity and overlap as llvm-profdata overlap computes them, then the functions or\n"
    "contexts whose share of all samples moved most.\n\n"
    "      --top N          functions listed (default 20; 0: all)\n"
    "      --json           all of it as JSON\n"
    "\nExamples:\n"
    "  pgokit diff last-week.afdo today.afdo\n"
    "  pgokit diff a.afdo b.txt --json | jq .similarity\n";

enum { OPT_TOP = 256, OPT_JSON };

static const struct option options[] = {
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    CLI_COMMON_LONG,
    {0},
};

struct diff {
    struct cli_common common;
    const char *paths[2];
    size_t top;
    bool json;
};

static void parse(struct diff *d, int argc, char **argv)
{
    bool top_given = false;
    for (int c; (c = cli_next_option(&cmd_diff, argc, argv, "", options, &d->common)) != -1;) {
        if (c == OPT_TOP) {
            d->top = cli_number("--top", optarg, 0, 1000000000);
            top_given = true;
        }
        d->json |= c == OPT_JSON;
    }
    if (optind + 2 != argc)
        cli_usage(&cmd_diff, "diff takes two files");
    d->paths[0] = argv[optind];
    d->paths[1] = argv[optind + 1];
    if (!top_given && !d->json)
        d->top = 20;
}

static void print_split(const char *what, uint64_t both, uint64_t base, uint64_t test)
{
    char b[PGK_HUMAN_SIZE], x[PGK_HUMAN_SIZE], y[PGK_HUMAN_SIZE];
    uint64_t all = both + base + test;
    printf("%-16s%6.3f %%  in both %s, in base only %s, in test only %s\n", what,
           all ? 100 * (double)both / (double)all : 0, pgk_human_count(b, both),
           pgk_human_count(x, base), pgk_human_count(y, test));
}

static void print_table(const struct pgk_sample_diff *diff, size_t top)
{
    const struct pgk_sample_overlap *o = pgk_sample_diff_overlap(diff);
    char b[PGK_HUMAN_SIZE], t[PGK_HUMAN_SIZE], safe[1024];
    size_t n;
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(diff, &n);
    printf("similarity      %6.3f %%  base has %s samples, test %s\n", 100 * o->similarity,
           pgk_human_count(b, o->base_samples), pgk_human_count(t, o->test_samples));
    printf("sample overlap  %6.3f %%  in base only %.3f %%, in test only %.3f %%\n",
           100 * o->sample_overlap, 100 * o->base_unique, 100 * o->test_unique);
    print_split("functions", o->functions_both, o->functions_base, o->functions_test);
    print_split("hot functions", o->hot_functions_both, o->hot_functions_base,
                o->hot_functions_test);
    print_split("hot lines", o->hot_lines_both, o->hot_lines_base, o->hot_lines_test);
    printf("\n%9s %9s %9s %10s %15s %15s  function\n", "moved", "base", "test", "similar",
           "base samples", "test samples");
    for (size_t i = 0; i < n && (!top || i < top); i++)
        printf("%+7.2f %% %7.2f %% %7.2f %% %8.2f %% %15s %15s  %s\n",
               100 * (changes[i].test_share - changes[i].base_share), 100 * changes[i].base_share,
               100 * changes[i].test_share, 100 * changes[i].similarity,
               pgk_human_count(b, changes[i].base_samples),
               pgk_human_count(t, changes[i].test_samples),
               pgk_human_text(safe, sizeof safe, changes[i].function));
}

static int read_both(const struct diff *d, struct pgk_sample *profiles[2], struct pgk_err *err)
{
    int status = 0;
    for (int i = 0; i < 2 && !status; i++) {
        status = pgk_sample_new(&profiles[i], err);
        if (!status)
            status = pgk_sample_read(profiles[i], d->paths[i], 1, NULL, err);
        if (!status)
            status = pgk_sample_finish(profiles[i], err);
    }
    return status;
}

static int run(int argc, char **argv)
{
    struct diff d = {0};
    struct pgk_sample *profiles[2] = {NULL, NULL};
    struct pgk_sample_diff *diff = NULL;
    struct pgk_err err = {0};
    parse(&d, argc, argv);
    int status = read_both(&d, profiles, &err);
    if (!status)
        status = pgk_sample_compare(&diff, profiles[0], profiles[1], &err);
    if (!status && d.json)
        status = pgk_report_sample_diff_json(diff, d.top, stdout, &err);
    else if (!status)
        print_table(diff, d.top);
    pgk_sample_diff_close(&diff);
    pgk_sample_close(&profiles[0]);
    pgk_sample_close(&profiles[1]);
    cli_common_free(&d.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_action diff_sample = {PGK_KIND_SAMPLE, help, "", options, run};
