/* Calls that allocate, and those of them that get a hint. */
#ifndef PGC_USE_HINT_H
#define PGC_USE_HINT_H

#include "use_report.h"

/* Does the call allocate by a function that has a form with a hint? `as_llvm`: only if LLVM knows
 * it. */
bool pgc_allocates(LLVMValueRef call, bool as_llvm);

/* May the compiler let the call, which allocates, call another function? */
bool pgc_may_hint(LLVMValueRef call);

/* Is the module to be optimised again, in a link? */
bool pgc_is_for_link(LLVMModuleRef module);

/* Replaces functions at calls that are marked as cold or hot by such with a hint. */
bool pgc_add_hints(LLVMModuleRef module, struct pgc_report *report);
/* Reports the virtual tables that are compared in a module that a link optimised. */
void pgc_report_tables(LLVMModuleRef module, struct pgc_report *report);

#endif
