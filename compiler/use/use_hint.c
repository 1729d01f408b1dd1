/* Calls that are marked as cold or hot call a function with a hint instead: pgokit_malloc_hint for
 * malloc, the forms with __hot_cold_t for operator new. Where the program has none, because its
 * allocator does not know hints, they call what they called before. This is found out when the
 * program runs, by a weak reference, so that an allocator may also be preloaded.
 *
 * A call keeps its arguments and attributes: it goes to a function of the module, one for each
 * function and hint, that asks for the one with a hint. */
#include "use_hint.h"

#include <llvm-c/Comdat.h>
#include <stdio.h>
#include <string.h>

static const struct allocator {
    const char *name, *hinted;
    bool is_new; /* of C++; the compiler says which calls of these it may replace */
} allocators[] = {
    {"malloc", "pgokit_malloc_hint", false},
    {"calloc", "pgokit_calloc_hint", false},
    {"realloc", "pgokit_realloc_hint", false},
    {"aligned_alloc", "pgokit_aligned_alloc_hint", false},
    {"strdup", "pgokit_strdup_hint", false},
    {"_Znwm", "_Znwm12__hot_cold_t", true},
    {"_Znam", "_Znam12__hot_cold_t", true},
    {"_ZnwmRKSt9nothrow_t", "_ZnwmRKSt9nothrow_t12__hot_cold_t", true},
    {"_ZnamRKSt9nothrow_t", "_ZnamRKSt9nothrow_t12__hot_cold_t", true},
    {"_ZnwmSt11align_val_t", "_ZnwmSt11align_val_t12__hot_cold_t", true},
    {"_ZnamSt11align_val_t", "_ZnamSt11align_val_t12__hot_cold_t", true},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t",
     true},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t",
     true},
    {"__size_returning_new", "__size_returning_new_hot_cold", true},
    {"__size_returning_new_aligned", "__size_returning_new_aligned_hot_cold", true},
};

static bool has_attribute(LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) != NULL;
}

/* The allocator that a call calls; NULL: none, or one of the program's own. */
static const struct allocator *called_by(LLVMValueRef call)
{
    LLVMValueRef function = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(function) || !LLVMIsDeclaration(function) ||
        LLVMGlobalGetValueType(function) != LLVMGetCalledFunctionType(call))
        return NULL;
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
        if (!strcmp(name, allocators[i].name))
            return &allocators[i];
    return NULL;
}

bool pgc_allocates(LLVMValueRef call, bool as_llvm)
{
    const struct allocator *allocator = called_by(call);
    return allocator && (allocator->is_new || !as_llvm);
}

/* -fno-builtin, and `operator new` called by name. */
static bool may_replace(LLVMValueRef call, const struct allocator *allocator)
{
    return allocator->is_new ? has_attribute(call, "builtin") : !has_attribute(call, "nobuiltin");
}

bool pgc_may_hint(LLVMValueRef call)
{
    const struct allocator *allocator = called_by(call);
    return allocator && may_replace(call, allocator);
}

bool pgc_is_for_link(LLVMModuleRef module)
{
    static const char *const flags[] = {"EnableSplitLTOUnit", "ThinLTO"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (LLVMGetModuleFlag(module, flags[i], strlen(flags[i])))
            return true;
    return false;
}

/* ---- functions with a hint ---- */

enum { COLD = 1, HOT = 254, MOST_PARAMETERS = 4 }; /* hints as LLVM has them */

static LLVMValueRef declare_hinted(LLVMModuleRef module, LLVMValueRef plain, const char *name)
{
    LLVMValueRef found = LLVMGetNamedFunction(module, name);
    if (found)
        return found;
    LLVMTypeRef parameters[MOST_PARAMETERS + 1], type = LLVMGlobalGetValueType(plain);
    unsigned n = LLVMCountParamTypes(type);
    LLVMGetParamTypes(type, parameters);
    parameters[n] = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
    found = LLVMAddFunction(module, name,
                            LLVMFunctionType(LLVMGetReturnType(type), parameters, n + 1, false));
    LLVMSetLinkage(found, LLVMExternalWeakLinkage);
    return found;
}

static void return_call(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef function,
                        LLVMValueRef *arguments, unsigned n)
{
    LLVMValueRef call = LLVMBuildCall2(builder, type, function, arguments, n, "");
    LLVMSetTailCall(call, true);
    LLVMBuildRet(builder, call);
}

/* if (&hinted) return hinted(..., hint); return plain(...); */
static void fill(LLVMValueRef function, LLVMValueRef plain, LLVMValueRef hinted, unsigned hint)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMTypeRef type = LLVMGlobalGetValueType(plain);
    LLVMValueRef arguments[MOST_PARAMETERS + 1];
    unsigned n = LLVMCountParams(function);
    LLVMGetParams(function, arguments);
    arguments[n] = LLVMConstInt(LLVMInt8TypeInContext(context), hint, false);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBasicBlockRef with = LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBasicBlockRef without = LLVMAppendBasicBlockInContext(context, function, "");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, entry);
    LLVMBuildCondBr(builder, LLVMBuildIsNotNull(builder, hinted, ""), with, without);
    LLVMPositionBuilderAtEnd(builder, with);
    return_call(builder, LLVMGlobalGetValueType(hinted), hinted, arguments, n + 1);
    LLVMPositionBuilderAtEnd(builder, without);
    return_call(builder, type, plain, arguments, n);
    LLVMDisposeBuilder(builder);
}

static LLVMValueRef function_with(LLVMModuleRef module, LLVMValueRef plain,
                                  const struct allocator *allocator, unsigned hint)
{
    char name[128];
    snprintf(name, sizeof name, "__pgokit_%s_%s", hint == COLD ? "cold" : "hot", allocator->name);
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    if (function)
        return function;
    function = LLVMAddFunction(module, name, LLVMGlobalGetValueType(plain));
    LLVMSetLinkage(function, LLVMLinkOnceODRLinkage);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    LLVMSetComdat(function, LLVMGetOrInsertComdat(module, name));
    /* It unwinds as the function does that it stands for, and has tables for it as all code. */
    static const char uwtable[] = "uwtable";
    LLVMAddAttributeAtIndex(
        function, LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(LLVMGetModuleContext(module),
                                LLVMGetEnumAttributeKindForName(uwtable, strlen(uwtable)), 2));
    fill(function, plain, declare_hinted(module, plain, allocator->hinted), hint);
    return function;
}

/* ---- calls ---- */

/* Of a call that all contexts agree on; 0: no hint. */
static unsigned hint_of(LLVMValueRef call)
{
    static const char kind[] = "memprof";
    LLVMAttributeRef attribute =
        LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, kind, strlen(kind));
    unsigned n = 0;
    const char *value = attribute ? LLVMGetStringAttributeValue(attribute, &n) : "";
    if (n == 4 && !memcmp(value, "cold", 4))
        return COLD;
    return n == 3 && !memcmp(value, "hot", 3) ? HOT : 0;
}

static bool is_call(LLVMValueRef instruction)
{
    return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
}

static bool add_hint(LLVMModuleRef module, LLVMValueRef call, struct pgc_report *report)
{
    if (!is_call(call) || !hint_of(call) || !pgc_may_hint(call))
        return false;
    LLVMValueRef function = function_with(module, LLVMGetCalledValue(call), called_by(call),
                                          hint_of(call));
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, function);
    pgc_report_linked(report, "hinted", call, 0);
    return true;
}

bool pgc_add_hints(LLVMModuleRef module, struct pgc_report *report)
{
    bool changed = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                changed |= add_hint(module, i, report);
    return changed;
}

/* ---- what promoted calls compare ---- */

/* The virtual table that an address is of; NULL: of none. */
static LLVMValueRef table_of(LLVMValueRef address)
{
    size_t n;
    while (LLVMIsAConstantExpr(address) && LLVMGetConstOpcode(address) == LLVMGetElementPtr)
        address = LLVMGetOperand(address, 0);
    if (!LLVMIsAGlobalVariable(address) && !LLVMIsAGlobalAlias(address))
        return NULL;
    return strncmp(LLVMGetValueName2(address, &n), "_ZTV", 4) ? NULL : address;
}

static void report_table(LLVMValueRef at, struct pgc_report *report)
{
    for (unsigned i = 0; LLVMIsAICmpInst(at) && i < 2; i++) {
        LLVMValueRef table = table_of(LLVMGetOperand(at, i));
        if (table)
            pgc_report_linked(report, "compared", at, pgc_function_id(table));
    }
}

void pgc_report_tables(LLVMModuleRef module, struct pgc_report *report)
{
    if (!report)
        return;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                report_table(i, report);
}
