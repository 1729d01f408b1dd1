/* Shared by verbs that work on heap profiles. */
#ifndef PGK_CLI_HEAP_H
#define PGK_CLI_HEAP_H

#include "cli.h"

/* Pruning. `wanted` is that any of the options was given. */
struct cli_prune {
    struct pgk_heap_prune_opts opts;
    bool wanted, unknown_leaf;
};
extern const struct option_table cli_prune_options;
#define CLI_PRUNE(type) OPTION_GROUP_GIVEN(cli_prune_options, type, prune, prune.wanted)
/* Replaces the profile by the pruned one and says how much that left out; without such options
 * does nothing. */
/* An option's whole number of bytes with an optional unit: 4096, 64k. The field is the number. */
void cli_take_bytes(const struct option_given *given);
int cli_prune(const struct cli_prune *prune, const struct cli_common *common,
              struct pgk_heap **heap, struct pgk_err *err);

/* The purpose of symbolised heap data. */
enum cli_heap_for {
    CLI_HEAP_FOR_COMPILERS, /* LLVM's forms, with the fields that compilers use */
    CLI_HEAP_FOR_LLVM,      /* LLVM's forms, with all fields: types of objects, too */
    CLI_HEAP_FOR_PGOKIT,    /* all there is */
};
/* Replaces addresses by source frames, where there are any; they need binaries. */
int cli_symbolise_heap(const struct cli_verb *verb, const struct cli_common *common,
                       enum cli_heap_for wanted, struct pgk_heap **heap,
                       struct pgk_heap_symbolised *done, struct pgk_err *err);

/* Notes about heap data, printed once it is written, when the profile itself may be gone. */
struct cli_heap_content {
    size_t callees, cold_by_default;
    bool data_access;
};
struct cli_heap_content cli_heap_content(const struct pgk_heap *heap);
/* Says what an indexed profile of this version does not hold; true if there is something. */
bool cli_warn_heap_lost(const struct cli_heap_content *content, uint32_t memprof_version);

#endif
