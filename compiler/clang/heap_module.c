/* The parts that a module has once: the constructor that starts the runtime, the name of the
 * profile, whether there are histograms, where the counters begin. All names are those of LLVM's
 * own pass, so that objects of both fit together and to one runtime. */
#include "heap_module.h"

#include "plan_memory.h"

#include <llvm-c/Comdat.h>
#include <string.h>

static const char mark[] = "pgokit.heap";
static const char base_name[] = "__memprof_shadow_memory_dynamic_address";

/* Makes an array variable with appending linkage longer by one element. */
static void append(LLVMModuleRef module, const char *name, LLVMValueRef element,
                   const char *section)
{
    LLVMValueRef old = LLVMGetNamedGlobal(module, name);
    LLVMValueRef before = old ? LLVMGetInitializer(old) : NULL;
    unsigned n = before ? (unsigned)LLVMGetNumOperands(before) : 0;
    LLVMValueRef *elements = pgc_zeroed(n + 1, sizeof *elements);
    for (unsigned i = 0; i < n; i++)
        elements[i] = LLVMGetOperand(before, i);
    elements[n] = element;
    LLVMTypeRef type = LLVMTypeOf(element);
    LLVMValueRef all = LLVMConstArray(type, elements, n + 1);
    free(elements);

    LLVMValueRef array = LLVMAddGlobal(module, LLVMTypeOf(all), "");
    LLVMSetInitializer(array, all);
    LLVMSetLinkage(array, LLVMAppendingLinkage);
    if (section)
        LLVMSetSection(array, section);
    if (old)
        LLVMDeleteGlobal(old);
    LLVMSetValueName2(array, name, strlen(name));
}

/* In every object of a program; the linker keeps one. */
static LLVMValueRef add_shared(LLVMModuleRef module, const char *name, LLVMValueRef value)
{
    LLVMValueRef global = LLVMAddGlobal(module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetComdat(global, LLVMGetOrInsertComdat(module, name));
    return global;
}

static void add_variables(LLVMModuleRef module, const struct pgc_options *options)
{
    static const char used[] = "llvm.compiler.used";
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
    add_shared(module, "__memprof_profile_filename",
               LLVMConstStringInContext(context, options->file,
                                        (unsigned)strlen(options->file), false));
    LLVMValueRef histogram =
        add_shared(module, "__memprof_histogram",
                   LLVMConstInt(LLVMInt1TypeInContext(context), options->histogram, false));
    append(module, used, LLVMConstPointerCast(histogram, pointer), "llvm.metadata");
    LLVMValueRef base = LLVMAddGlobal(module, LLVMInt64TypeInContext(context), base_name);
    /* Code at a fixed address reads it directly, as that of LLVM's pass does. */
    if (!LLVMGetModuleFlag(module, "PIC Level", strlen("PIC Level")))
        pgc_set_dso_local(base);
}

/* It is then unknown which bytes of objects were touched. LLVM's runtime, which does not record
 * them anyway, lacks this function. */
static void report_merges(LLVMModuleRef module, LLVMBuilderRef builder, LLVMValueRef constructor,
                          LLVMTypeRef type)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMBasicBlockRef report = LLVMAppendBasicBlockInContext(context, constructor, ""),
                      end = LLVMAppendBasicBlockInContext(context, constructor, "");
    LLVMValueRef function = LLVMAddFunction(module, "__pgokit_heap_merges", type);
    LLVMSetLinkage(function, LLVMExternalWeakLinkage);
    LLVMBuildCondBr(builder, LLVMBuildIsNull(builder, function, ""), end, report);
    LLVMPositionBuilderAtEnd(builder, report);
    LLVMBuildCall2(builder, type, function, NULL, 0, "");
    LLVMBuildBr(builder, end);
    LLVMPositionBuilderAtEnd(builder, end);
}

static void add_constructor(LLVMModuleRef module, const struct pgc_options *options)
{
    static const char *const calls[] = {"__memprof_init", "__memprof_version_mismatch_check_v1"};
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef none = LLVMVoidTypeInContext(context), type = LLVMFunctionType(none, NULL, 0, 0);
    LLVMTypeRef number = LLVMInt32TypeInContext(context);
    LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
    LLVMValueRef constructor = LLVMAddFunction(module, "memprof.module_ctor", type);
    LLVMSetLinkage(constructor, LLVMInternalLinkage);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, constructor, ""));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, calls[i]);
        if (!function)
            function = LLVMAddFunction(module, calls[i], type);
        LLVMBuildCall2(builder, type, function, NULL, 0, "");
    }
    if (options->merge == PGC_MERGE_ALL && !options->histogram)
        report_merges(module, builder, constructor, type);
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    /* Before constructors of the program, which have the priority 65535 or one above 100. */
    LLVMValueRef row[] = {LLVMConstInt(number, 1, false), constructor, LLVMConstNull(pointer)};
    append(module, "llvm.global_ctors", LLVMConstStructInContext(context, row, 3, false), NULL);
}

bool pgc_module_begin(LLVMModuleRef module, const struct pgc_options *options)
{
    if (LLVMGetNamedMetadata(module, mark, strlen(mark)) || LLVMGetNamedGlobal(module, base_name) ||
        LLVMGetNamedFunction(module, "memprof.module_ctor"))
        return false;
    LLVMGetOrInsertNamedMetadata(module, mark, strlen(mark));
    add_variables(module, options);
    add_constructor(module, options);
    return true;
}
