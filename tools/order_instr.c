/* pgokit order for instrumentation profiles with temporal traces. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "The traces are of -fprofile-generate -mllvm -pgo-temporal-instrumentation (clang 17 or\n"
    "later); merge the profiles of many starts first.\n\n"
    "      --test-traces N      learn nothing from the last N traces, but measure with them\n"
    "      --max-traces N       learn from the first N traces only\n"
    "      --max-trace-length N  use only the first N calls of each trace\n"
    "\nExamples:\n"
    "  pgokit order app.profdata -o app.order && clang -ffunction-sections -fuse-ld=lld \\\n"
    "      -Wl,--symbol-ordering-file=app.order ...\n"
    "  pgokit order app.profdata --test-traces 10 -o /dev/null\n";

enum { OPT_TEST = 256, OPT_TRACES, OPT_LENGTH };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"test-traces", required_argument, NULL, OPT_TEST},
    {"max-traces", required_argument, NULL, OPT_TRACES},
    {"max-trace-length", required_argument, NULL, OPT_LENGTH},
    CLI_COMMON_LONG,
    {0},
};

enum { MOST = 1000000000 };

struct order {
    struct cli_common common;
    struct pgk_function_order_opts opts;
    const char *path, *output;
};

static void parse(struct order *o, int argc, char **argv)
{
    o->opts.struct_size = sizeof o->opts;
    for (int c; (c = cli_next_option(&cmd_order, argc, argv, "o:", options, &o->common)) != -1;) {
        switch (c) {
        case 'o':
            o->output = optarg;
            break;
        case OPT_TEST:
            o->opts.test_traces = cli_number("--test-traces", optarg, 1, MOST);
            break;
        case OPT_TRACES:
            o->opts.max_traces = cli_number("--max-traces", optarg, 1, MOST);
            break;
        case OPT_LENGTH:
            o->opts.max_trace_calls = cli_number("--max-trace-length", optarg, 1, MOST);
            break;
        }
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_order, "order takes one file; pgokit merge adds up several");
    o->path = argv[optind];
}

/* What was said of it goes to standard error. */
static int report(const struct order *o, const struct pgk_function_order *order)
{
    size_t unnamed = pgk_function_order_unnamed(order);
    if (o->opts.test_traces && !o->common.quiet)
        fprintf(stderr,
                "pgokit: note: measured with the last %zu trace%s: %llu pages touched, summed up "
                "over all calls; the fewer, the better\n",
                o->opts.test_traces, o->opts.test_traces == 1 ? "" : "s",
                (unsigned long long)pgk_function_order_fault_area(order));
    if (unnamed)
        fprintf(stderr,
                "pgokit: warning: %zu functions of the traces are not in the output, because "
                "the profile does not hold their names\n",
                unnamed);
    return unnamed ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct order o = {0};
    struct pgk_instr *instr = NULL;
    struct pgk_function_order *order = NULL;
    struct pgk_file *file = NULL;
    struct pgk_err err = {0};
    parse(&o, argc, argv);
    int status = cli_open(&file, o.path, &err);
    if (!status)
        status = pgk_instr_new(&instr, &err);
    if (!status)
        status = pgk_instr_read_file(instr, file, 1, &err);
    if (!status)
        status = pgk_instr_order_functions(&order, instr, &o.opts, &err);
    if (!status)
        status = pgk_function_order_write(order, o.output ? o.output : "-", &err);
    int exit_code = status ? cli_fail(&err) : report(&o, order);
    pgk_function_order_close(&order);
    pgk_instr_close(&instr);
    cli_common_free(&o.common);
    return exit_code;
}

const struct cli_action order_instr = {PGK_KIND_INSTR, help, "o:", options, run};
