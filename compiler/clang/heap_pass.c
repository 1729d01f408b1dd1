/* The pass that makes a program count its loads and stores for the heap profiler. It runs where
 * LLVM's own pass does, after all optimisation, so that what was optimised away is not counted. */
#include "heap_pass.h"

#include "heap_count.h"
#include "heap_merge.h"
#include "heap_module.h"
#include "heap_refuse.h"
#include "plan_memory.h"

#include <llvm-c/Analysis.h>
#include <string.h>

/* Instructions that are followed by others in code that is being changed. */
struct instructions {
    LLVMValueRef *all;
    size_t n, capacity;
};

/* Code of other modules, of the runtime's interface, and without a frame of its own stays. */
static bool is_instrumented(LLVMValueRef function)
{
    static const char own[] = "__memprof_", naked[] = "naked", ctor[] = "memprof.module_ctor";
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    unsigned kind = LLVMGetEnumAttributeKindForName(naked, strlen(naked));
    return !LLVMIsDeclaration(function) &&
           LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
           strncmp(name, own, strlen(own)) != 0 && strcmp(name, ctor) != 0 &&
           !LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

static void find(struct instructions *found, LLVMValueRef function)
{
    struct pgc_access access;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (pgc_access_of(i, &access) || pgc_counting_function(i))
                PGC_PUSH(found->all, found->n, found->capacity, i);
}

/* Each access where it is. */
static void count_each(struct pgc_counting *counting, LLVMValueRef function)
{
    struct instructions found = {0};
    find(&found, function);
    for (size_t i = 0; i < found.n; i++) {
        struct pgc_access access;
        const char *by = pgc_counting_function(found.all[i]);
        if (by)
            pgc_count_in_function(counting, found.all[i], by);
        else if (pgc_access_of(found.all[i], &access))
            pgc_count_access(counting, &access);
    }
    free(found.all);
}

bool pgc_instrument_heap(LLVMModuleRef module, const struct pgc_options *options)
{
    if (pgc_is_refused(module) || !pgc_module_begin(module, options))
        return false;
    struct pgc_counting counting;
    /* A counter of a byte is for the 8 bytes that were accessed. */
    bool merges = options->merge != PGC_MERGE_NONE && !options->histogram;
    pgc_counting_begin(&counting, module, options);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (is_instrumented(f)) {
            pgc_counting_function_is(&counting, f);
            (merges ? pgc_count_merged : count_each)(&counting, f);
        }
    pgc_counting_end(&counting);
    if (options->verify)
        LLVMVerifyModule(module, LLVMAbortProcessAction, NULL);
    return true;
}
