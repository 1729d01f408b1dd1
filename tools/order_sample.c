/* pgokit order for sample profiles: callers near what they call, hot functions together. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Calls are those that the profile has targets of; sizes of functions are those\n"
    "of the program (-b). From the recording itself, pgokit gen makes a better order.\n\n";

static const char examples[] =
    "  pgokit order app.afdo -b app -o app.order\n"
    "  pgokit order app.afdo -b app --form order-ld -o app.ld\n";

struct order {
    struct cli_common common;
    const char *path, *output;
    enum pgk_order_form form;
};

static const struct option_choice forms[] = {
    {"order", PGK_ORDER_LLD}, {"order-gold", PGK_ORDER_GOLD}, {"order-ld", PGK_ORDER_LD},
    {"order-calls", PGK_ORDER_CALLS}, {0}};

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "where to write the order (default: standard output)",
     OPTION_TEXT(struct order, output), .is_output = true},
    {"form", 0, "NAME",
     "order, for ld.lld (default); order-gold; order-ld, for GNU ld; order-calls, for ld.lld "
     "--call-graph-ordering-file", OPTION_CHOICE(struct order, form, forms),
     .page = "see [orders of functions](../formats/function-order.md)"},
    {0},
};
static const struct option_table table = {"order samples", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct order), {0}};

static void parse(struct order *o, int argc, char **argv)
{
    option_parse(&cmd_order, groups, argc, argv, o);
    if (optind + 1 != argc)
        cli_usage(&cmd_order, "order takes one file; pgokit merge adds up several");
    if (o->common.binaries.n != 1)
        cli_usage(&cmd_order, "name the program that the profile is of: -b BINARY");
    o->path = argv[optind];
}

static int read(struct pgk_sample **profile, const char *path, struct pgk_err *err)
{
    struct pgk_file *file = NULL;
    int status = cli_open(&file, path, err);
    if (!status)
        status = pgk_sample_new(profile, err);
    if (!status)
        status = pgk_sample_read_file(*profile, file, 1, err);
    return status ? status : pgk_sample_finish(*profile, err);
}

static int run(int argc, char **argv)
{
    struct order o = {0};
    struct pgk_sample *profile = NULL;
    struct pgk_binaries *binaries = NULL;
    struct pgk_err err = {0};
    size_t n = 0;
    parse(&o, argc, argv);
    int status = cli_open_binaries(&o.common, &binaries, &err);
    if (!status)
        status = read(&profile, o.path, &err);
    if (!status)
        status = pgk_sample_write_order(profile, binaries, o.form, o.output ? o.output : "-", &n,
                                        &err);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE;
    if (!status && !o.common.quiet)
        fprintf(stderr, "pgokit: %zu functions ran, of those in the program\n", n);
    pgk_sample_close(&profile);
    pgk_binaries_close(&binaries);
    cli_common_free(&o.common);
    return exit_code;
}

const struct cli_action order_sample = {
    PGK_KIND_SAMPLE, help, .run = run, .groups = groups, .examples = examples};
