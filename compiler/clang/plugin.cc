// The part of the plugin that takes C++: its registration with the compiler, its options on the
// command line, and two changes that the C interface of LLVM has no function for.
#include "heap_pass.h"

#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/IR/GlobalValue.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>

using namespace llvm;

static cl::opt<std::string> file("pgokit-heap-file", cl::ZeroOrMore, cl::init("memprof.profraw"),
                                 cl::desc("The beginning of the names of heap profiles"));
static cl::opt<bool> merge("pgokit-heap-coalesce", cl::ZeroOrMore, cl::init(true),
                           cl::desc("Add up counts of accesses to one object before writing them"));
static cl::opt<bool> tally("pgokit-heap-tally", cl::ZeroOrMore, cl::init(false),
                           cl::desc("Have pgokit_heap_updates and pgokit_heap_accesses counted"));
static cl::opt<bool> verify("pgokit-heap-verify", cl::ZeroOrMore, cl::init(false),
                            cl::desc("Check the module after it has been made to count"));

// LLVM has had the option for its own pass since 19.
static bool histogram_wanted()
{
    auto &options = cl::getRegisteredOptions();
    auto found = options.find("memprof-histogram");
    return found != options.end() && static_cast<cl::opt<bool> *>(found->second)->getValue();
}

namespace
{
struct HeapPass : PassInfoMixin<HeapPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        pgc_options options = {merge, histogram_wanted(), tally, verify, file.c_str()};
        return pgc_instrument_heap(wrap(&module), &options) ? PreservedAnalyses::none()
                                                            : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; } // at -O0, too
};

struct TypesPass : PassInfoMixin<TypesPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        pgc_tell_heap_types(wrap(&module));
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; } // at -O0, too
};
} // namespace

extern "C" void pgc_set_dso_local(LLVMValueRef global)
{
    cast<GlobalValue>(unwrap(global))->setDSOLocal(true);
}

extern "C" void pgc_change_predecessor(LLVMBasicBlockRef block, LLVMBasicBlockRef from,
                                       LLVMBasicBlockRef to)
{
    for (PHINode &phi : unwrap(block)->phis()) {
        phi.setIncomingBlock(phi.getBasicBlockIndex(unwrap(from)), unwrap(to));
        for (int other; (other = phi.getBasicBlockIndex(unwrap(from))) >= 0;)
            phi.removeIncomingValue(other, false);
    }
}

// Callbacks have got more parameters from release to release.
static void register_passes(PassBuilder &builder)
{
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager &manager, auto...) { manager.addPass(TypesPass()); });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &manager, auto...) { manager.addPass(HeapPass()); });
    builder.registerPipelineParsingCallback(
        [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
            if (name != "pgokit-heap")
                return false;
            manager.addPass(HeapPass());
            return true;
        });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "pgokit-heap", PGK_VERSION, register_passes};
}
