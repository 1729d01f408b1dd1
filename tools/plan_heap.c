/* pgokit plan for heap profiles. */
#include "heap_input.h"

#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "A raw profile holds addresses, and its plan is for the build that was profiled, of which\n"
    "only --explain needs names: by -b, or found by its build id. Other profiles, and raw ones of\n"
    "another build than that of -b, are matched with that of -b, which needs debug information.\n\n"
    "  -o, --output FILE    the plan; - is standard output\n"
    "      --explain        print why each context is where it is, and what is expected of it\n"
    "      --groups N       groups at most, that of all other objects included, 2 to 14\n"
    "                       (default 8)\n"
    "      --depth N        calls looked at when an object is allocated, at most, 1 to 16\n"
    "                       (default 8)\n"
    "      --profiled-binary FILE  the program or a library as it was profiled, if -b is another\n"
    "                       build; may be repeated\n"
    "\nExamples:\n"
    "  pgokit plan memprof.profraw.1 -b ./app -o app.plan\n"
    "  pgokit plan memprof.profraw.1 -b ./app --explain\n"
    "  pgokit plan app.profdata -b ./app -b ./libapp.so -o app.plan\n";

enum { OPT_EXPLAIN = 256, OPT_GROUPS, OPT_DEPTH, OPT_PROFILED };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"explain", no_argument, NULL, OPT_EXPLAIN},
    {"groups", required_argument, NULL, OPT_GROUPS},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"profiled-binary", required_argument, NULL, OPT_PROFILED},
    CLI_COMMON_LONG,
    {0},
};

struct plan {
    struct cli_common common;
    struct cli_list profiled;
    struct pgk_plan_opts opts;
    char *found; /* one of `profiled` that was found; NULL: none */
    const char *profile, *output;
    bool explain;
};

static void parse(struct plan *p, int argc, char **argv)
{
    p->opts.struct_size = sizeof p->opts;
    for (int c; (c = cli_next_option(&cmd_plan, argc, argv, "o:", options, &p->common)) != -1;) {
        switch (c) {
        case 'o':
            p->output = optarg;
            break;
        case OPT_EXPLAIN:
            p->explain = true;
            break;
        case OPT_GROUPS:
            p->opts.groups = (unsigned)cli_number("--groups", optarg, 2, 14);
            break;
        case OPT_DEPTH:
            p->opts.depth = (unsigned)cli_number("--depth", optarg, 1, 16);
            break;
        case OPT_PROFILED:
            cli_list_add(&p->profiled, optarg);
            break;
        }
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_plan, "plan takes one profile; pgokit merge adds up several");
    if (!p->output && !p->explain)
        cli_usage(&cmd_plan, "name the plan (-o FILE), or ask for --explain");
    p->profile = argv[optind];
}

/* Names for --explain, where nobody gave the build and it is found by its build id. */
static int find_names(const struct plan *p, const struct pgk_heap *heap,
                      struct pgk_binaries **binaries, struct pgk_err *err)
{
    return p->explain && !*binaries ? cli_find_binaries(&p->common, heap, binaries, err) : 0;
}

static int read_profiled(const struct plan *p, struct heap_input *in, struct pgk_err *err)
{
    struct cli_common profiled = p->common;
    profiled.binaries = p->profiled;
    return heap_input_read(in, p->profile, &profiled, err);
}

/* The plan for the build that was profiled, whose addresses need no matching; done unless -b is
 * another build, and that which was profiled is found. */
static int plan_addresses(struct plan *p, struct pgk_plan **plan, struct heap_input *in,
                          struct pgk_binaries **binaries, bool *done, struct pgk_err *err)
{
    struct pgk_err why;
    *done = true;
    int status = find_names(p, in->heap, binaries, err);
    status = status ? status : pgk_plan_heap(plan, in->heap, NULL, *binaries, &p->opts, err);
    if (status != PGK_E_MISMATCH || p->common.binaries.n != 1)
        return status;
    if (cli_find_program(&p->common, in->heap, &p->found, &why) || !p->found)
        return status;
    cli_list_add(&p->profiled, p->found);
    *done = false;
    return 0;
}

static int make(struct plan *p, struct pgk_plan **plan, struct heap_input *in,
                struct pgk_binaries **binaries, struct pgk_err *err)
{
    struct pgk_match *match = NULL;
    int status = heap_input_read_addresses(in, p->profile, err);
    if (!status) /* accesses of library functions alone are too few to compare contexts by */
        p->opts.lifetimes_only = pgk_file_info_fact(in->info, PGK_FACT_LIBRARY_ACCESSES);
    if (!status && pgk_heap_needs_binaries(in->heap) && !p->profiled.n) {
        bool done;
        status = plan_addresses(p, plan, in, binaries, &done, err);
        if (done)
            return status;
    }
    if (!status && !*binaries)
        cli_usage(&cmd_plan, "the plan of this profile needs the build that it is for (-b BINARY)");
    if (!status && p->profiled.n)
        status = read_profiled(p, in, err);
    if (!status)
        status = pgk_match_heap(&match, in->heap, *binaries, NULL, err);
    if (!status)
        status = pgk_plan_heap(plan, in->heap, match, *binaries, &p->opts, err);
    pgk_match_close(&match);
    return status;
}

static int run(int argc, char **argv)
{
    struct plan p = {0};
    struct heap_input in = {0};
    struct pgk_binaries *binaries = NULL;
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    parse(&p, argc, argv);
    int status = p.common.binaries.n ? cli_open_binaries(&p.common, &binaries, &err) : 0;
    if (!status)
        status = make(&p, &plan, &in, &binaries, &err);
    if (!status && p.output)
        status = pgk_plan_write(plan, p.output, &err);
    if (!status && p.explain)
        status = pgk_plan_print(plan, stdout, &err);
    const int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    pgk_plan_close(&plan);
    pgk_binaries_close(&binaries);
    pgk_heap_close(&in.heap);
    cli_list_free(&p.profiled);
    free(p.found);
    cli_common_free(&p.common);
    return exit_code;
}

const struct cli_action plan_heap = {PGK_KIND_HEAP, help, "o:", options, run};
