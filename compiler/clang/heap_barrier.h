/* The places where an object may end, or become visible to another thread. */
#ifndef PGC_HEAP_BARRIER_H
#define PGC_HEAP_BARRIER_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* All accesses up to and including this instruction must have been counted before it. */
bool pgc_is_barrier(LLVMValueRef instruction);

/* A function with such a call may go on there once more: setjmp. */
bool pgc_returns_twice(LLVMValueRef instruction);

#endif
