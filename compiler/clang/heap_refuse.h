/* Modules with other instrumentation that cannot be in one program with the heap profiler. */
#ifndef PGC_HEAP_REFUSE_H
#define PGC_HEAP_REFUSE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* True: the compiler has reported an error that names the option. */
bool pgc_is_refused(LLVMModuleRef module);

#endif
