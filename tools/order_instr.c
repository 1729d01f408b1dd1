/* pgokit order for instrumentation profiles with temporal traces. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "The traces are of -fprofile-generate -mllvm -pgo-temporal-instrumentation (clang\n"
    "17 or later); merge the profiles of many starts first.\n\n";

static const char examples[] =
    "  pgokit order app.profdata -o app.order\n"
    "  clang -ffunction-sections -fuse-ld=lld \\\n"
    "      -Wl,--symbol-ordering-file=app.order ...\n"
    "  pgokit order app.profdata --test-traces 10 -o /dev/null\n";

enum { MOST = 1000000000 };

struct order {
    struct cli_common common;
    struct pgk_function_order_opts opts;
    const char *path, *output;
};

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "where to write the order (default: standard output)",
     OPTION_TEXT(struct order, output), .is_output = true},
    {"test-traces", 0, "N", "learn nothing from the last N traces, but measure with them",
     OPTION_NUMBER(struct order, opts.test_traces, 1, MOST),
     .page = "a note says how many pages they touch, summed over all their calls, with 32 "
             "functions on a page"},
    {"llvm", 0, NULL, "comments as llvm-profdata order writes them",
     OPTION_FLAG(struct order, opts.llvm_text)},
    {"max-traces", 0, "N", "learn from the first N traces only",
     OPTION_NUMBER(struct order, opts.max_traces, 1, MOST)},
    {"max-trace-length", 0, "N", "use only the first N calls of each trace",
     OPTION_NUMBER(struct order, opts.max_trace_calls, 1, MOST)},
    {0},
};
static const struct option_table table = {"order", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct order), {0}};

static void parse(struct order *o, int argc, char **argv)
{
    o->opts.struct_size = sizeof o->opts;
    option_parse(&cmd_order, groups, argc, argv, o);
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

const struct cli_action order_instr = {
    PGK_KIND_INSTR, help, .run = run, .groups = groups, .examples = examples};
