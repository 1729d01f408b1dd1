/* The pass that makes a program count its loads and stores for the heap profiler. */
#ifndef PGC_HEAP_PASS_H
#define PGC_HEAP_PASS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which counts are added up before they are written. */
enum pgc_merge {
    PGC_MERGE_NONE,
    PGC_MERGE_NEAR, /* of accesses that begin within 64 bytes, at fixed distances */
    PGC_MERGE_ALL,  /* of accesses to one object */
};

struct pgc_options {
    enum pgc_merge merge;
    bool histogram; /* counters of bytes, one per 8 bytes of memory; else of words, one per 64 */
    bool tally;     /* count updates, too, in two variables of the program */
    bool verify;    /* stop the compiler if the module is not sound afterwards */
    const char *file; /* the beginning of the names of profiles */
};

/* False: nothing has been changed, as in a module that counts already, or that has been refused. */
bool pgc_instrument_heap(LLVMModuleRef module, const struct pgc_options *options);

/* Writes the types of allocated objects into a section next to the debug information; for a module
 * as it came from the front end. In heap_types.cc. */
void pgc_write_heap_types(LLVMModuleRef module);

/* Functions that the C interface of LLVM lacks; in plugin.cc. */
void pgc_report_error(LLVMModuleRef module, const char *text);
void pgc_set_dso_local(LLVMValueRef global);
/* The pointer that another one is at a fixed distance from, and the distance in bytes. */
LLVMValueRef pgc_base_of(LLVMModuleRef module, LLVMValueRef pointer, int64_t *distance);
/* The block is reached from other ones than before, each over one edge instead of all from that. */
void pgc_change_predecessors(LLVMBasicBlockRef block, const LLVMBasicBlockRef *before,
                             const LLVMBasicBlockRef *now, unsigned n);

#ifdef __cplusplus
}
#endif
#endif
