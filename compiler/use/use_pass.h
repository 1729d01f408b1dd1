/* What the plugin does with profiles, behind its registration with the compiler. */
#ifndef PGC_USE_PASS_H
#define PGC_USE_PASS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pgc_use_options {
    const char *const *profiles; /* files */
    size_t n;
    bool verify; /* stop the compiler if the module is not sound afterwards */
    /* Objects are cold that live for so many seconds on average, and are accessed less often, for
     * each byte, than this share of the mean of all bytes; or, if the density is given, fewer times
     * per second. They are hot if accessed more often per second than that, if it is given. */
    double cold_lifetime, cold_share, cold_density, hot_density;
    bool as_llvm; /* find only contexts that LLVM's own pass finds */
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
