/* Code that counts: one counter of 8 bytes for each granule of 64 bytes, or, for histograms, one
 * byte for each 8 bytes. counter = base + granule * 8 is what an instruction of the processor
 * can add to by itself once it has the number of the granule: mov, shr, inc. */
#include "heap_count.h"

#include <string.h>

enum { GRANULE_SHIFT = 6, CELL_SHIFT = 3 };

void pgc_counting_begin(struct pgc_counting *c, LLVMModuleRef module,
                        const struct pgc_options *options)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    *c = (struct pgc_counting){.module = module,
                               .context = context,
                               .builder = LLVMCreateBuilderInContext(context),
                               .byte = LLVMInt8TypeInContext(context),
                               .word = LLVMInt64TypeInContext(context),
                               .histogram = options->histogram,
                               .tally = options->tally,
                               .near = options->merge == PGC_MERGE_NEAR};
}

void pgc_counting_end(struct pgc_counting *c)
{
    LLVMDisposeBuilder(c->builder);
}

void pgc_counting_function_is(struct pgc_counting *c, LLVMValueRef function)
{
    c->function = function;
    c->base = NULL;
}

LLVMValueRef pgc_word(const struct pgc_counting *c, unsigned long long value)
{
    return LLVMConstInt(c->word, value, false);
}

/* The base is fixed before any code of the program runs, so it may be read again at any time
 * instead of being kept on the stack. */
LLVMValueRef pgc_base(struct pgc_counting *c, LLVMBasicBlockRef first)
{
    if (c->base)
        return c->base;
    static const char name[] = "__memprof_shadow_memory_dynamic_address";
    static const char fixed[] = "invariant.load";
    LLVMBuilderRef entry = LLVMCreateBuilderInContext(c->context);
    LLVMPositionBuilderBefore(entry, LLVMGetFirstInstruction(first));
    c->base = LLVMBuildLoad2(entry, c->word, LLVMGetNamedGlobal(c->module, name), "");
    LLVMSetMetadata(c->base, LLVMGetMDKindIDInContext(c->context, fixed, strlen(fixed)),
                    LLVMMDNodeInContext(c->context, NULL, 0));
    LLVMDisposeBuilder(entry);
    return c->base;
}

/* The counter of a cell of memory, whose number is an integer. */
static LLVMValueRef counter_of(struct pgc_counting *c, LLVMTypeRef type, LLVMValueRef cell)
{
    LLVMValueRef base = pgc_base(c, LLVMGetEntryBasicBlock(c->function));
    base = LLVMBuildIntToPtr(c->builder, base, LLVMPointerType(type, 0), "");
    return LLVMBuildGEP2(c->builder, type, base, &cell, 1, "");
}

static LLVMValueRef cell_of(struct pgc_counting *c, LLVMValueRef address, int shift)
{
    return LLVMBuildLShr(c->builder, address, pgc_word(c, shift), "");
}

LLVMValueRef pgc_address(struct pgc_counting *c, LLVMValueRef pointer)
{
    return LLVMBuildPtrToInt(c->builder, pointer, c->word, "");
}

LLVMValueRef pgc_further(struct pgc_counting *c, LLVMValueRef at, LLVMValueRef pointer,
                         unsigned bytes)
{
    LLVMValueRef by = pgc_word(c, bytes);
    LLVMPositionBuilderBefore(c->builder, at);
    pointer = LLVMBuildPointerCast(c->builder, pointer, LLVMPointerType(c->byte, 0), "");
    return LLVMBuildInBoundsGEP2(c->builder, c->byte, pointer, &by, 1, "");
}

/* For benchmarks: how many updates are executed, and how many accesses they stand for. */
static void tally(struct pgc_counting *c, const char *name, LLVMValueRef amount)
{
    LLVMValueRef sum = LLVMGetNamedGlobal(c->module, name);
    if (!sum)
        sum = LLVMAddGlobal(c->module, c->word, name);
    LLVMValueRef old = LLVMBuildLoad2(c->builder, c->word, sum, "");
    LLVMBuildStore(c->builder, LLVMBuildAdd(c->builder, old, amount, ""), sum);
}

LLVMValueRef pgc_granule(struct pgc_counting *c, LLVMValueRef address)
{
    return cell_of(c, address, GRANULE_SHIFT);
}

void pgc_add(struct pgc_counting *c, LLVMValueRef granule, LLVMValueRef amount)
{
    if (c->tally) {
        tally(c, "pgokit_heap_updates", pgc_word(c, 1));
        tally(c, "pgokit_heap_accesses", amount);
    }
    LLVMValueRef counter = counter_of(c, c->word, granule);
    LLVMValueRef old = LLVMBuildLoad2(c->builder, c->word, counter, "");
    LLVMBuildStore(c->builder, LLVMBuildAdd(c->builder, old, amount, ""), counter);
}

/* Adds a bit to the byte that an address is counted in, unless that has its largest value. */
static void add_to_byte(struct pgc_counting *c, LLVMValueRef address, LLVMValueRef bit)
{
    LLVMValueRef counter = counter_of(c, c->byte, cell_of(c, address, CELL_SHIFT));
    LLVMValueRef old = LLVMBuildLoad2(c->builder, c->byte, counter, "");
    LLVMValueRef below =
        LLVMBuildICmp(c->builder, LLVMIntNE, old, LLVMConstInt(c->byte, 255, false), "");
    if (bit)
        below = LLVMBuildAnd(c->builder, below, bit, "");
    LLVMValueRef more = LLVMBuildZExt(c->builder, below, c->byte, "");
    LLVMBuildStore(c->builder, LLVMBuildAdd(c->builder, old, more, ""), counter);
}

/* Bytes from one lane of a vector to the next. */
static unsigned lane_bytes(LLVMTypeRef vector)
{
    LLVMTypeRef lane = LLVMGetElementType(vector);
    switch (LLVMGetTypeKind(lane)) {
    case LLVMIntegerTypeKind:
        return (LLVMGetIntTypeWidth(lane) + 7) / 8;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return 2;
    case LLVMFloatTypeKind:
        return 4;
    default:
        return 8; /* doubles and pointers */
    }
}

/* Each lane that takes part is an access of its own. The others may be outside of all memory:
 * nothing is added for address 0, which has a counter, too. */
static void count_lanes(struct pgc_counting *c, const struct pgc_access *access)
{
    LLVMValueRef address = pgc_address(c, access->pointer), none = pgc_word(c, 0);
    unsigned bytes = lane_bytes(access->vector);
    for (unsigned i = 0; i < LLVMGetVectorSize(access->vector); i++) {
        LLVMValueRef bit = LLVMBuildExtractElement(c->builder, access->mask, pgc_word(c, i), "");
        LLVMValueRef lane = LLVMBuildAdd(c->builder, address, pgc_word(c, i * bytes), "");
        lane = LLVMBuildSelect(c->builder, bit, lane, none, "");
        if (c->histogram)
            add_to_byte(c, lane, bit);
        else
            pgc_add(c, pgc_granule(c, lane), LLVMBuildZExt(c->builder, bit, c->word, ""));
    }
}

void pgc_count_access(struct pgc_counting *c, const struct pgc_access *access)
{
    LLVMPositionBuilderBefore(c->builder, access->at);
    if (access->mask)
        count_lanes(c, access);
    else if (c->histogram)
        add_to_byte(c, pgc_address(c, access->pointer), NULL);
    else
        pgc_add(c, pgc_granule(c, pgc_address(c, access->pointer)), pgc_word(c, 1));
}

void pgc_count_in_function(struct pgc_counting *c, LLVMValueRef intrinsic, const char *name)
{
    bool fills = !strcmp(name, "__memprof_memset");
    LLVMTypeRef pointer = LLVMPointerType(c->byte, 0), number = LLVMInt32TypeInContext(c->context);
    LLVMTypeRef parameters[] = {pointer, fills ? number : pointer, c->word};
    LLVMTypeRef type = LLVMFunctionType(pointer, parameters, 3, false);
    LLVMValueRef function = LLVMGetNamedFunction(c->module, name);
    if (!function)
        function = LLVMAddFunction(c->module, name, type);

    LLVMPositionBuilderBefore(c->builder, intrinsic);
    LLVMValueRef arguments[3];
    arguments[0] = LLVMBuildPointerCast(c->builder, LLVMGetOperand(intrinsic, 0), pointer, "");
    arguments[1] = LLVMGetOperand(intrinsic, 1);
    arguments[1] = fills ? LLVMBuildZExt(c->builder, arguments[1], number, "")
                         : LLVMBuildPointerCast(c->builder, arguments[1], pointer, "");
    arguments[2] = LLVMBuildIntCast2(c->builder, LLVMGetOperand(intrinsic, 2), c->word, false, "");
    LLVMBuildCall2(c->builder, type, function, arguments, 3, "");
    LLVMInstructionEraseFromParent(intrinsic);
}

/* The compiler writes out as much by itself where it has vectors of 16 bytes. */
enum { MOST_WRITTEN_OUT = 128 };

static void copy_alignment(struct pgc_counting *c, LLVMValueRef from, LLVMValueRef to)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("align", strlen("align"));
    for (unsigned i = 1; i <= 2; i++) {
        LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(from, i, kind);
        if (align)
            LLVMAddCallSiteAttribute(to, i, LLVMCreateEnumAttribute(c->context, kind,
                                               LLVMGetEnumAttributeValue(align)));
    }
}

/* Without optimisation clang 14 calls memcpy for what should be written out. */
static bool is_optimised(const struct pgc_counting *c)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("optnone", strlen("optnone"));
    return !LLVMGetEnumAttributeAtIndex(c->function, LLVMAttributeFunctionIndex, kind);
}

LLVMValueRef pgc_write_out(struct pgc_counting *c, LLVMValueRef intrinsic, uint32_t *counts)
{
    LLVMValueRef length = LLVMGetOperand(intrinsic, 2), arguments[4];
    const char *function = pgc_counting_function(intrinsic);
    bool fills = !strcmp(function, "__memprof_memset");
    const char *name = fills ? "llvm.memset.inline" : "llvm.memcpy.inline";
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id || !is_optimised(c) || !strcmp(function, "__memprof_memmove") ||
        !LLVMIsAConstantInt(length) || LLVMConstIntGetZExtValue(length) > MOST_WRITTEN_OUT ||
        LLVMConstIntGetZExtValue(LLVMGetOperand(intrinsic, 3)) /* volatile */)
        return NULL;
    *counts = (uint32_t)((LLVMConstIntGetZExtValue(length) + 7) / 8);
    for (unsigned i = 0; i < 4; i++)
        arguments[i] = LLVMGetOperand(intrinsic, i);
    LLVMTypeRef types[] = {LLVMTypeOf(arguments[0]), LLVMTypeOf(fills ? length : arguments[1]),
                           LLVMTypeOf(length)};
    LLVMValueRef written = LLVMGetIntrinsicDeclaration(c->module, id, types, fills ? 2 : 3);
    LLVMPositionBuilderBefore(c->builder, intrinsic);
    LLVMValueRef call = LLVMBuildCall2(c->builder, LLVMGlobalGetValueType(written), written,
                                       arguments, 4, "");
    copy_alignment(c, intrinsic, call);
    LLVMInstructionEraseFromParent(intrinsic);
    return call;
}
