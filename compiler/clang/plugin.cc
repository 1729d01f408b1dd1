// The part of the plugin that takes C++: its registration with the compiler, its options on the
// command line, and what the C interface of LLVM has no function for.
#include "heap_pass.h"

#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalValue.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>

#include <algorithm>
#include <vector>

using namespace llvm;

static cl::opt<std::string> file("pgokit-heap-file", cl::ZeroOrMore, cl::init("memprof.profraw"),
                                 cl::desc("The beginning of the names of heap profiles"));
static cl::opt<unsigned> merge("pgokit-heap-coalesce", cl::ZeroOrMore, cl::init(PGC_MERGE_ALL),
                               cl::desc("Add up counts before writing them: 0 none, 1 of accesses "
                                        "near one another, 2 of all accesses to one object"));
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
        pgc_merge level = std::min(pgc_merge(unsigned(merge)), PGC_MERGE_ALL);
        pgc_options options = {level, histogram_wanted(), tally, verify, file.c_str()};
        return pgc_instrument_heap(wrap(&module), &options) ? PreservedAnalyses::none()
                                                            : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; } // at -O0, too
};

struct TypesPass : PassInfoMixin<TypesPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        pgc_write_heap_types(wrap(&module));
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; } // at -O0, too
};
} // namespace

extern "C" void pgc_report_error(LLVMModuleRef module, const char *text)
{
    unwrap(module)->getContext().emitError(text);
}

extern "C" void pgc_set_dso_local(LLVMValueRef global)
{
    cast<GlobalValue>(unwrap(global))->setDSOLocal(true);
}

extern "C" LLVMValueRef pgc_base_of(LLVMModuleRef module, LLVMValueRef pointer, int64_t *distance)
{
    const DataLayout &layout = unwrap(module)->getDataLayout();
    Value *value = unwrap(pointer);
    APInt bytes(layout.getIndexTypeSizeInBits(value->getType()), 0);
    Value *base = value->stripAndAccumulateConstantOffsets(layout, bytes, true);
    *distance = bytes.getSExtValue();
    return wrap(base);
}

// In one pass over each phi, since a block may have very many predecessors.
extern "C" void pgc_change_predecessors(LLVMBasicBlockRef block, const LLVMBasicBlockRef *before,
                                        const LLVMBasicBlockRef *now, unsigned n)
{
    DenseMap<BasicBlock *, unsigned> places;
    for (unsigned i = 0; i < n; i++)
        places[unwrap(before[i])] = i;
    for (PHINode &phi : unwrap(block)->phis()) {
        std::vector<bool> seen(n);
        unsigned kept = 0;
        for (unsigned i = 0; i < phi.getNumIncomingValues(); i++) {
            BasicBlock *from = phi.getIncomingBlock(i);
            auto place = places.find(from);
            if (place != places.end()) {
                if (seen[place->second])
                    continue;
                seen[place->second] = true;
                from = unwrap(now[place->second]);
            }
            phi.setIncomingValue(kept, phi.getIncomingValue(i));
            phi.setIncomingBlock(kept++, from);
        }
        while (phi.getNumIncomingValues() > kept)
            phi.removeIncomingValue(phi.getNumIncomingValues() - 1, false);
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
