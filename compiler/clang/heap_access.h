/* Which instructions are accesses to memory that the heap profiler counts. */
#ifndef PGC_HEAP_ACCESS_H
#define PGC_HEAP_ACCESS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

struct pgc_access {
    LLVMValueRef at;      /* the instruction */
    LLVMValueRef pointer; /* to the first byte */
    LLVMValueRef mask;    /* of a masked vector access: its lanes; else NULL */
    LLVMTypeRef vector;   /* of a masked vector access */
};

/* Also of an expression of constants; LLVMRet of what is neither. */
LLVMOpcode pgc_opcode(LLVMValueRef value);

/* False: the instruction is not an access, or one that is never counted. */
bool pgc_access_of(LLVMValueRef instruction, struct pgc_access *access);

/* memcpy, memmove or memset of any kind, which the runtime counts in a function of its own: the
 * name of that; else NULL. */
const char *pgc_counting_function(LLVMValueRef instruction);

/* The pointer that address arithmetic started from. */
LLVMValueRef pgc_underlying(LLVMValueRef pointer);

#endif
