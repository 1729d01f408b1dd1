// The plugin's registration with the compiler, and its options on the command line.
#include "use_pass.h"

#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>

#include <vector>

using namespace llvm;

static cl::list<std::string> profiles("pgokit-use", cl::desc("Profiles to use"));
static cl::opt<bool> verify("pgokit-use-verify", cl::ZeroOrMore, cl::init(false),
                            cl::desc("Check the module after it has been changed"));

// Those of clang's own pass, with defaults for programs that run for seconds.
static cl::opt<double> cold_lifetime("pgokit-use-cold-lifetime", cl::ZeroOrMore, cl::init(0.1),
                                     cl::desc("Seconds that cold objects live at least"));
static cl::opt<double> cold_share("pgokit-use-cold-share", cl::ZeroOrMore, cl::init(0.1),
                                  cl::desc("Accesses per byte of cold objects, by the mean"));
static cl::opt<double> cold_density("pgokit-use-cold-density", cl::ZeroOrMore, cl::init(0),
                                    cl::desc("Accesses per byte and second of cold objects"));
static cl::opt<double> hot_density("pgokit-use-hot-density", cl::ZeroOrMore, cl::init(0),
                                   cl::desc("Accesses per byte and second of hot objects"));
static cl::opt<bool> as_llvm("pgokit-use-as-llvm", cl::ZeroOrMore, cl::init(false),
                             cl::desc("Find only contexts that LLVM finds"));

static cl::opt<std::string> report("pgokit-use-report", cl::ZeroOrMore,
                                   cl::desc("Folder for records of what was used"));

namespace
{
// One of the functions of use_pass.h. Types are metadata alone, marks of allocations hardly more.
template <bool (*use)(LLVMModuleRef, const pgc_use_options *), bool changes_code>
struct UsePass : PassInfoMixin<UsePass<use, changes_code>> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        std::vector<const char *> files;
        for (const std::string &path : profiles)
            files.push_back(path.c_str());
        pgk_use_limits limits = {sizeof limits, cold_lifetime, cold_share, cold_density,
                                 hot_density};
        pgc_use_options options = {files.data(), files.size(), verify, limits, as_llvm,
                                   report.empty() ? nullptr : report.c_str()};
        bool changed = use(wrap(&module), &options);
        return changed && changes_code ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; } // at -O0, too
};
using TypesPass = UsePass<pgc_use_types, false>;
using HeapPass = UsePass<pgc_use_heap, false>;
using HintsPass = UsePass<pgc_use_hints, true>;
} // namespace

// Types: behind the pass that takes counts from sample profiles and inlines as they say, so that
// each inlined body has the types of its own calling context. Before all else that moves code.
// Heap: behind inlining, which tells contexts apart. Hints: at the end, as they hide from the
// optimiser which function allocates.
static void register_passes(PassBuilder &builder)
{
    builder.registerPipelineEarlySimplificationEPCallback(
        [](ModulePassManager &manager, auto...) { manager.addPass(TypesPass()); });
    builder.registerOptimizerEarlyEPCallback(
        [](ModulePassManager &manager, auto...) { manager.addPass(HeapPass()); });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &manager, auto...) { manager.addPass(HintsPass()); });
    builder.registerFullLinkTimeOptimizationLastEPCallback(
        [](ModulePassManager &manager, auto...) { manager.addPass(HintsPass()); });
    builder.registerPipelineParsingCallback(
        [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
            if (name == "pgokit-use-types")
                manager.addPass(TypesPass());
            else if (name == "pgokit-use-heap")
                manager.addPass(HeapPass());
            else if (name == "pgokit-use-hints")
                manager.addPass(HintsPass());
            else
                return false;
            return true;
        });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "pgokit-use", PGK_VERSION, register_passes};
}
