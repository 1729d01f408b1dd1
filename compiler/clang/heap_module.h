/* The parts that a module has once, however many accesses it counts. */
#ifndef PGC_HEAP_MODULE_H
#define PGC_HEAP_MODULE_H

#include "heap_pass.h"

/* False: the module counts already, by this pass or by LLVM's. A build system may repeat the
 * option that loads a plugin, and the compiler then runs it as often. */
bool pgc_module_begin(LLVMModuleRef module, const struct pgc_options *options);

#endif
