/* The work of the plugin with profiles, once it is registered with the compiler. */
#ifndef PGC_USE_PASS_H
#define PGC_USE_PASS_H

#include <llvm-c/Core.h>
#include <pgokit/use.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pgc_use_options {
    const char *const *profiles; /* files */
    size_t n;
    bool verify; /* stop the compiler if the module is not sound afterwards */
    struct pgk_use_limits limits; /* which objects are cold, or hot */
    bool as_llvm;       /* find only contexts that LLVM's own pass finds */
    const char *report; /* folder for records of what was used; NULL: none are written */
};

/* Gives the module what the sample profiles say of types. False: nothing has been changed. */
bool pgc_use_types(LLVMModuleRef module, const struct pgc_use_options *options);
/* Marks calls that allocate as the heap profiles say. */
bool pgc_use_heap(LLVMModuleRef module, const struct pgc_use_options *options);
/* Gives hints at marked calls, unless this is left to a link. */
bool pgc_use_hints(LLVMModuleRef module, const struct pgc_use_options *options);

#ifdef __cplusplus
}
#endif
#endif
