/* pgokit record: runs a program and records a profile. One file per kind, record_<kind>.c. */
#include "record.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: pgokit record KIND [OPTION]... -- PROGRAM [ARGUMENT]...\n\n"
    "Runs a program and records a profile of it. KIND is\n\n"
    "  heap      what is allocated where, how long it lives, how often it is accessed\n"
    "  branches  how often code runs and where it branches, on x86-64 with Linux\n";

static const struct cli_verb *const kinds[] = {&record_heap, &record_branches, NULL};

static int run(int argc, char **argv)
{
    if (argc < 2)
        cli_usage(&cmd_record, "name the kind of profile to record: heap or branches");
    for (size_t i = 0; kinds[i]; i++)
        if (!strcmp(argv[1], cli_kind_word(kinds[i])))
            return kinds[i]->run(argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_print_help(&cmd_record);
        return cli_finish_output(EXIT_DONE);
    }
    cli_refuse_value(&cmd_record, argv[1],
                     "record takes the kind of profile first (heap or branches)");
}

const struct cli_verb cmd_record = {
    .name = "record",
    .summary = "runs a program and records a profile",
    .help = help,
    .run = run,
    .kinds = kinds,
};
