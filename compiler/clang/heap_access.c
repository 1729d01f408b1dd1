/* Which instructions are accesses: loads, stores, atomic ones and masked vectors, in memory that
 * the heap may be in. The same ones are counted as by LLVM's own pass. */
#include "heap_access.h"

#include <string.h>

enum { MOST_STEPS = 64 };

static bool begins_with(const char *text, size_t n, const char *with)
{
    size_t length = strlen(with);
    return n >= length && !memcmp(text, with, length);
}

/* The name of the intrinsic that is called, and its length; NULL if none is. */
static const char *intrinsic_name(LLVMValueRef instruction, size_t *n)
{
    if (LLVMGetInstructionOpcode(instruction) != LLVMCall)
        return NULL;
    LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(instruction));
    return function && LLVMGetIntrinsicID(function) ? LLVMGetValueName2(function, n) : NULL;
}

static bool is_pointer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static bool is_mask(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return false;
    LLVMTypeRef lane = LLVMGetElementType(type);
    return LLVMGetTypeKind(lane) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(lane) == 1;
}

/* Operands are known by their types, because LLVM 22 has taken the alignment out of them. A vector
 * of bits is stored after its own value. */
static bool masked_access(LLVMValueRef call, struct pgc_access *access)
{
    size_t n;
    const char *name = intrinsic_name(call, &n);
    bool loads = name && begins_with(name, n, "llvm.masked.load.");
    if (!loads && !(name && begins_with(name, n, "llvm.masked.store.")))
        return false;
    access->vector = LLVMTypeOf(loads ? call : LLVMGetOperand(call, 0));
    for (unsigned i = loads ? 0 : 1; i < LLVMGetNumArgOperands(call) && !access->mask; i++) {
        LLVMValueRef operand = LLVMGetOperand(call, i);
        if (is_pointer(operand))
            access->pointer = operand;
        else if (is_mask(operand))
            access->mask = operand;
    }
    return access->pointer && access->mask &&
           LLVMGetTypeKind(access->vector) == LLVMVectorTypeKind;
}

static bool pointer_of(LLVMValueRef instruction, struct pgc_access *access)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        access->pointer = LLVMGetOperand(instruction, 0);
        return true;
    case LLVMStore:
        access->pointer = LLVMGetOperand(instruction, 1);
        return true;
    case LLVMCall:
        return masked_access(instruction, access);
    default:
        return false;
    }
}

LLVMOpcode pgc_opcode(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value))
        return LLVMGetInstructionOpcode(value);
    return LLVMIsAConstantExpr(value) ? LLVMGetConstOpcode(value) : LLVMRet;
}

LLVMValueRef pgc_underlying(LLVMValueRef pointer)
{
    for (int i = 0; i < MOST_STEPS; i++) {
        LLVMOpcode opcode = pgc_opcode(pointer);
        bool same = opcode == LLVMPHI && LLVMCountIncoming(pointer) == 1;
        if (opcode != LLVMGetElementPtr && opcode != LLVMBitCast &&
            opcode != LLVMAddrSpaceCast && !same)
            break;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

/* Locals, which are not on the heap, counters of PGO, and variables that LLVM made. */
static bool is_left_out(LLVMValueRef pointer)
{
    LLVMValueRef object = pgc_underlying(pointer);
    if (LLVMIsAAllocaInst(object))
        return true;
    if (!LLVMIsAGlobalVariable(object))
        return false;
    size_t n;
    const char *name = LLVMGetValueName2(object, &n), *section = LLVMGetSection(object);
    return begins_with(name, n, "__llvm") || (section && strstr(section, "__llvm_prf_"));
}

static bool is_swift_error(LLVMValueRef pointer)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("swifterror", strlen("swifterror"));
    LLVMValueRef argument = LLVMIsAArgument(pointer);
    if (!argument)
        return false;
    LLVMValueRef function = LLVMGetParamParent(argument);
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        if (LLVMGetParam(function, i) == argument)
            return LLVMGetEnumAttributeAtIndex(function, i + 1, kind);
    return false;
}

bool pgc_access_of(LLVMValueRef instruction, struct pgc_access *access)
{
    *access = (struct pgc_access){.at = instruction};
    return pointer_of(instruction, access) &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(access->pointer)) == 0 &&
           !is_swift_error(access->pointer) && !is_left_out(access->pointer);
}

const char *pgc_counting_function(LLVMValueRef instruction)
{
    size_t n;
    const char *name = intrinsic_name(instruction, &n);
    if (!name || strstr(name, ".element."))
        return NULL;
    if (begins_with(name, n, "llvm.memcpy."))
        return "__memprof_memcpy";
    if (begins_with(name, n, "llvm.memmove."))
        return "__memprof_memmove";
    return begins_with(name, n, "llvm.memset.") ? "__memprof_memset" : NULL;
}
