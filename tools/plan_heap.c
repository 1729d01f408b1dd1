/* pgokit plan for heap profiles. */
#include "plan_input.h"

#include <stdio.h>

static const char help[] =
    "A plan made from a raw profile is for the profiled build; only --explain needs\n"
    "its symbols (-b, or found by build id). Other profiles, and raw profiles of a\n"
    "build other than -b, are matched with the binary of -b, which needs debug\n"
    "information.\n\n";

static const char examples[] =
    "  pgokit plan memprof.profraw.1 -b ./app -o app.plan\n"
    "  pgokit plan memprof.profraw.1 -b ./app --explain\n"
    "  pgokit plan app.profdata -b ./app -b ./libapp.so -o app.plan\n"
    "  pgokit plan memprof.profraw.1 -b ./app --plan app.plan --explain \\\n"
    "      --alloc-stats app.stats\n";

struct plan {
    struct plan_input in;
    const char *output, *stats;
    bool explain;
};

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "the plan; - is standard output", OPTION_TEXT(struct plan, output),
     .is_output = true, .page = "see [its format](../formats/placement-plan.md)"},
    {"explain", 0, NULL, "print why each context is where it is, and what is expected of it",
     OPTION_FLAG(struct plan, explain),
     .page = "it has the memory of each group at the peak, mean lifetime and, where they are "
             "known, accesses for each byte"},
    {"groups", 0, "N",
     "groups at most, that of all other objects included, 2 to 14 (default 8)",
     OPTION_NUMBER(struct plan, in.opts.groups, 2, 14)},
    {"depth", 0, "N", "calls looked at when an object is allocated, at most, 1 to 16 (default 8)",
     OPTION_NUMBER(struct plan, in.opts.depth, 1, 16)},
    {"profiled-binary", 0, "FILE",
     "the program or a library as it was profiled, if -b is another build; may be repeated",
     OPTION_LIST(struct plan, in.profiled)},
    {"plan", 0, "FILE", "explain this plan with the profile's contexts, and make none",
     OPTION_TEXT(struct plan, in.file)},
    {"alloc-stats", 0, "FILE",
     "explain with what groups held: what the allocator wrote to standard error under pgokit run; "
     "- is standard input", OPTION_TEXT(struct plan, stats),
     .page = "if there are several times and processes, the one counts at which the group had "
             "most bytes of objects"},
    {0},
};
static const struct option_table table = {"plan", NULL, rows};
static const struct option_group groups[] = {
    {&table, 0, 0}, OPTION_GROUP(cli_common_options, struct plan, in.common), {0}};

static void parse(struct plan *p, int argc, char **argv)
{
    p->in.opts.struct_size = sizeof p->in.opts;
    option_parse(&cmd_plan, groups, argc, argv, p);
    p->in.names = p->explain;
    if (optind + 1 != argc)
        cli_usage(&cmd_plan, "plan takes one profile; pgokit merge adds up several");
    if (!p->output && !p->explain)
        cli_usage(&cmd_plan, "name the plan (-o FILE), or ask for --explain");
    if ((p->in.file || p->stats) && !p->explain)
        cli_usage(&cmd_plan, "--plan and --alloc-stats require --explain");
    if (p->in.file && (p->output || p->in.opts.groups || p->in.opts.depth))
        cli_usage(&cmd_plan,
                  "--plan reads an existing plan and cannot be combined with -o, --groups "
                  "or --depth");
    p->in.profile = argv[optind];
}

static int run(int argc, char **argv)
{
    struct plan p = {0};
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    p.in.verb = &cmd_plan;
    parse(&p, argc, argv);
    if (p.explain)
        cli_for_people(CLI_PEOPLE);
    int status = plan_input_make(&p.in, &plan, &err);
    if (!status && p.output)
        status = pgk_plan_write(plan, p.output, &err);
    if (!status && p.stats)
        status = pgk_plan_read_stats(plan, p.stats, &err);
    if (!status && p.explain)
        status = pgk_plan_print(plan, stdout, &err);
    const int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    pgk_plan_close(&plan);
    plan_input_free(&p.in);
    cli_common_free(&p.in.common);
    return exit_code;
}

const struct cli_action plan_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
