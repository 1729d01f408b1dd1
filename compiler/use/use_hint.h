/* Calls that allocate, and those of them that get a hint. */
#ifndef PGC_USE_HINT_H
#define PGC_USE_HINT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Does the call allocate by a function that has a form with a hint? `as_llvm`: only if LLVM knows
 * it. */
bool pgc_allocates(LLVMValueRef call, bool as_llvm);

/* Is the module to be optimised again, in a link? */
bool pgc_is_for_link(LLVMModuleRef module);

/* Replaces functions at calls that are marked as cold or hot by such with a hint. */
bool pgc_add_hints(LLVMModuleRef module);

#endif
