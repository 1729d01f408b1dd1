/* pgokit plan: which objects of a program belong together, for the allocator. */
#include "cli.h"

static const char help[] =
    "usage: pgokit plan PROFILE [-b BINARY]... -o FILE\n\n"
    "Makes a plan of a heap profile: which objects get memory apart from others, and\n"
    "by which calls they are known. pgokit run --plan FILE uses it.\n";

static const struct cli_action *const actions[] = {
    &plan_heap,
    NULL,
};

const struct cli_verb cmd_plan = {
    .name = "plan",
    .summary = "computes a heap layout for libpgokit_alloc",
    .help = help,
    .actions = actions,
};
