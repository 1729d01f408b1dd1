/* What verbs share that work on heap profiles. */
#ifndef PGK_CLI_HEAP_H
#define PGK_CLI_HEAP_H

#include "cli.h"

/* Pruning: rows for a table of options, their help, and what they were set to. */
enum {
    CLI_OPT_MIN_BYTES = 512, CLI_OPT_MIN_COUNT, CLI_OPT_MAX_DEPTH, CLI_OPT_COLD_ONLY,
    CLI_OPT_HOT_ONLY, CLI_OPT_COLLAPSE, CLI_OPT_UNKNOWN_LEAF
};
#define CLI_PRUNE_LONG                                                  \
    {"min-bytes", required_argument, NULL, CLI_OPT_MIN_BYTES},          \
    {"min-count", required_argument, NULL, CLI_OPT_MIN_COUNT},          \
    {"max-depth", required_argument, NULL, CLI_OPT_MAX_DEPTH},          \
    {"cold-only", no_argument, NULL, CLI_OPT_COLD_ONLY},                \
    {"hot-only", no_argument, NULL, CLI_OPT_HOT_ONLY},                  \
    {"collapse-recursion", no_argument, NULL, CLI_OPT_COLLAPSE},        \
    {"drop-unknown-leaf", no_argument, NULL, CLI_OPT_UNKNOWN_LEAF}
#define CLI_PRUNE_HELP                                                                   \
    "      --min-bytes N        leave out contexts of fewer bytes; N may end in k, M, G\n" \
    "      --min-count N        leave out contexts of fewer objects\n"                  \
    "      --cold-only, --hot-only  leave out all others\n"                             \
    "      --drop-unknown-leaf  leave out contexts that no function of the binaries makes\n" \
    "      --collapse-recursion  keep one of frames that repeat\n"                      \
    "      --max-depth N        keep N frames of a stack, counted from the allocation\n"
struct cli_prune {
    struct pgk_heap_prune_opts opts;
    bool wanted, unknown_leaf;
};
/* Takes in an option; false if it is none of these. */
bool cli_prune_option(const struct cli_verb *verb, int c, struct cli_prune *prune);
/* Replaces the profile by the pruned one and says how much that left out; without such options
 * does nothing. */
int cli_prune(const struct cli_prune *prune, const struct cli_common *common,
              struct pgk_heap **heap, struct pgk_err *err);

/* What symbolised heap data are wanted for. */
enum cli_heap_for {
    CLI_HEAP_FOR_COMPILERS, /* LLVM's forms, with the fields that compilers use */
    CLI_HEAP_FOR_LLVM,      /* LLVM's forms, with all fields: types of objects, too */
    CLI_HEAP_FOR_PGOKIT,    /* all there is */
};
/* Replaces addresses by source frames, where there are any; they need binaries. */
int cli_symbolise_heap(const struct cli_verb *verb, const struct cli_common *common,
                       enum cli_heap_for wanted, struct pgk_heap **heap,
                       struct pgk_heap_symbolised *done, struct pgk_err *err);

/* What is said of heap data once it is written, when the profile itself may be gone. */
struct cli_heap_content {
    size_t callees, cold_by_default;
    bool data_access;
};
struct cli_heap_content cli_heap_content(const struct pgk_heap *heap);
/* Says what an indexed profile of this version does not hold; true if there is something. */
bool cli_warn_heap_lost(const struct cli_heap_content *content, uint32_t memprof_version);

#endif
