/* The places where an object may end, or become visible to another thread: calls, unless they are
 * known to neither free memory, nor wait for other threads, nor leave other than by returning;
 * atomic accesses, by which a thread may hand an object to another one that frees it; volatile
 * accesses, which programs older than atomic ones use for that. */
#include "heap_barrier.h"

#include "heap_access.h"

#include <string.h>

static LLVMAttributeRef attribute(LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(call));
    if (!kind) /* of another release */
        return NULL;
    LLVMAttributeRef found =
        LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);
    return found || !function
               ? found
               : LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

/* Two bits for each part of memory; the lower one is for reading, the first part is what arguments
 * point to. */
static bool memory_is(LLVMValueRef call, uint64_t allowed)
{
    LLVMAttributeRef memory = attribute(call, "memory");
    return memory && (LLVMGetEnumAttributeValue(memory) & ~allowed) == 0;
}

/* A call that does not write to memory that others see neither allocates nor hands over an
 * object. */
static bool keeps_to_itself(LLVMValueRef call)
{
    static const uint64_t reads = 0x5555555555555555, arguments = 3;
    return attribute(call, "nosync") || attribute(call, "readnone") ||
           attribute(call, "readonly") || attribute(call, "argmemonly") ||
           memory_is(call, reads) || memory_is(call, arguments);
}

static bool is_harmless_intrinsic(LLVMValueRef call)
{
    LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(call));
    if (!function || !LLVMGetIntrinsicID(function) || attribute(call, "noreturn"))
        return false;
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    return pgc_counting_function(call) || !strncmp(name, "llvm.dbg.", 9) ||
           !strncmp(name, "llvm.lifetime.", 14) || attribute(call, "readnone") ||
           memory_is(call, 0);
}

static bool is_harmless(LLVMValueRef call)
{
    return is_harmless_intrinsic(call) ||
           (attribute(call, "nofree") && attribute(call, "nounwind") &&
            attribute(call, "willreturn") && !attribute(call, "noreturn") &&
            !attribute(call, "returns_twice") && keeps_to_itself(call));
}

bool pgc_is_barrier(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad:
    case LLVMStore:
        return LLVMGetVolatile(instruction) ||
               LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMInvoke:
    case LLVMCallBr:
        return true;
    case LLVMCall:
        return !is_harmless(instruction);
    default:
        return false;
    }
}

bool pgc_returns_twice(LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return (opcode == LLVMCall || opcode == LLVMInvoke) &&
           attribute(instruction, "returns_twice");
}
