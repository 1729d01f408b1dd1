/* Prepares merged heap data for compilers, alone or with counters: names for addresses, and notes
 * about it. */
#include "cli_heap.h"

#include <stdio.h>

int cli_symbolise_heap(const struct cli_verb *verb, const struct cli_common *common,
                       enum cli_heap_for wanted, struct pgk_heap **heap,
                       struct pgk_heap_symbolised *done, struct pgk_err *err)
{
    struct pgk_binaries *binaries;
    struct cli_common for_all = *common;
    if (!pgk_heap_needs_binaries(*heap))
        return 0;
    /* Compilers can do nothing with what is not instrumented, people can. */
    for_all.symbols_suffice = pgk_heap_lacks_accesses(*heap);
    int status = cli_find_binaries(&for_all, *heap, &binaries, err);
    if (status)
        return status;
    if (!binaries)
        cli_not_found(verb, *heap,
                      "raw heap profiles hold addresses: give the binary that was run");
    done->struct_size = sizeof *done;
    const struct pgk_heap_symbolise_opts opts = {.struct_size = sizeof opts,
                                                 .for_llvm = wanted != CLI_HEAP_FOR_PGOKIT};
    status = pgk_heap_symbolise(heap, binaries, &opts, done, err);
    if (!status && wanted != CLI_HEAP_FOR_COMPILERS)
        status = pgk_heap_find_types(*heap, binaries, false, err);
    pgk_binaries_close(&binaries);
    return status;
}

struct cli_heap_content cli_heap_content(const struct pgk_heap *heap)
{
    return (struct cli_heap_content){pgk_heap_callees(heap), pgk_heap_cold_by_default(heap),
                                     pgk_heap_has_data_access(heap)};
}

bool cli_warn_heap_lost(const struct cli_heap_content *c, uint32_t memprof_version)
{
    if (pgk_memprof_holds_callees(memprof_version))
        return false;
    if (c->callees)
        fprintf(stderr,
                "pgokit: warning: %zu targets of indirect calls are not written, because MemProf "
                "V%u cannot hold them; --to llvm22 keeps them\n",
                c->callees, memprof_version);
    if (c->data_access)
        fprintf(stderr,
                "pgokit: warning: the data access profile is not written, because MemProf V%u "
                "cannot hold it; --to llvm22 keeps it\n",
                memprof_version);
    return c->callees || c->data_access;
}
