/* pgokit plan for heap profiles. */
#include "plan_input.h"

#include <stdio.h>

static const char help[] =
    "A plan made from a raw profile is for the profiled build; only --explain needs its symbols\n"
    "(-b, or found by build id). Other profiles, and raw profiles of a build other than -b, are\n"
    "matched with the binary of -b, which needs debug information.\n\n"
    "  -o, --output FILE    the plan; - is standard output\n"
    "      --explain        print why each context is where it is, and what is expected of it\n"
    "      --groups N       groups at most, that of all other objects included, 2 to 14\n"
    "                       (default 8)\n"
    "      --depth N        calls looked at when an object is allocated, at most, 1 to 16\n"
    "                       (default 8)\n"
    "      --profiled-binary FILE  the program or a library as it was profiled, if -b is another\n"
    "                       build; may be repeated\n"
    "      --plan FILE      explain this plan with the profile's contexts, and make none\n"
    "      --alloc-stats FILE  explain with what groups held: what the allocator wrote to\n"
    "                       standard error under pgokit run; - is standard input\n"
    "\nExamples:\n"
    "  pgokit plan memprof.profraw.1 -b ./app -o app.plan\n"
    "  pgokit plan memprof.profraw.1 -b ./app --explain\n"
    "  pgokit plan app.profdata -b ./app -b ./libapp.so -o app.plan\n"
    "  pgokit plan memprof.profraw.1 -b ./app --plan app.plan --explain --alloc-stats app.stats\n";

enum { OPT_EXPLAIN = 256, OPT_GROUPS, OPT_DEPTH, OPT_PROFILED, OPT_PLAN, OPT_STATS };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"explain", no_argument, NULL, OPT_EXPLAIN},
    {"groups", required_argument, NULL, OPT_GROUPS},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"profiled-binary", required_argument, NULL, OPT_PROFILED},
    {"plan", required_argument, NULL, OPT_PLAN},
    {"alloc-stats", required_argument, NULL, OPT_STATS},
    CLI_COMMON_LONG,
    {0},
};

struct plan {
    struct plan_input in;
    const char *output, *stats;
    bool explain;
};

static void parse(struct plan *p, int argc, char **argv)
{
    p->in.opts.struct_size = sizeof p->in.opts;
    for (int c; (c = cli_next_option(&cmd_plan, argc, argv, "o:", options, &p->in.common)) != -1;) {
        switch (c) {
        case 'o':
            p->output = optarg;
            break;
        case OPT_EXPLAIN:
            p->explain = p->in.names = true;
            break;
        case OPT_PLAN:
            p->in.file = optarg;
            break;
        case OPT_STATS:
            p->stats = optarg;
            break;
        case OPT_GROUPS:
            p->in.opts.groups = (unsigned)cli_number("--groups", optarg, 2, 14);
            break;
        case OPT_DEPTH:
            p->in.opts.depth = (unsigned)cli_number("--depth", optarg, 1, 16);
            break;
        case OPT_PROFILED:
            cli_list_add(&p->in.profiled, optarg);
            break;
        }
    }
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

const struct cli_action plan_heap = {PGK_KIND_HEAP, help, "o:", options, run};
