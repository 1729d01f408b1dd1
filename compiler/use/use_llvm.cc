// What the C interface of LLVM lacks: it does not read debug information to the end, does not know
// how LLVM keeps contexts of allocations, and says nothing to the user.
#include "use_llvm.h"

#include "plan_memory.h"

#include <pgokit/sample.h>

#include <llvm/Analysis/MemoryProfileInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PseudoProbe.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/HashBuilder.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace llvm;

// Profiles are read without what compilers append, too; copies that a link makes for callers that
// differ are the same function.
static uint64_t id_of(StringRef name)
{
    for (StringRef suffix : {".llvm.", ".part.", ".memprof."}) {
        size_t at = name.rfind(suffix);
        if (at != StringRef::npos)
            name = name.take_front(at);
    }
    return pgk_sample_guid(name.str().c_str());
}

static uint64_t id_of(const DISubprogram *function)
{
    StringRef linkage = function->getLinkageName();
    return id_of(linkage.empty() ? function->getName() : linkage);
}

extern "C" size_t pgc_places(LLVMValueRef instruction, struct pgc_place *chain, size_t max)
{
    size_t n = 0;
    const DILocation *at = cast<Instruction>(unwrap(instruction))->getDebugLoc();
    for (; at; at = at->getInlinedAt(), n++) {
        if (n == max)
            return 0;
        const DISubprogram *function = at->getScope()->getSubprogram();
        unsigned bits = at->getDiscriminator();
        bool probe = DILocation::isPseudoProbeDiscriminator(bits);
        chain[n].function = id_of(function);
        chain[n].line_offset = (at->getLine() - function->getLine()) & 0xffff;
        chain[n].line_zero = at->getLine() == 0;
        chain[n].no_line = (0 - function->getLine()) & 0xffff;
        chain[n].column = at->getColumn();
        chain[n].discriminator = probe ? 0 : at->getBaseDiscriminator();
        chain[n].probe = probe ? PseudoProbeDwarfDiscriminator::extractProbeIndex(bits) : 0;
    }
    return n;
}

extern "C" uint64_t *pgc_functions(LLVMModuleRef module, size_t *n)
{
    const Function *main = unwrap(module)->getFunction("main");
    bool all = main && !main->isDeclaration();
    SmallPtrSet<const Metadata *, 32> seen;
    std::vector<uint64_t> ids;
    for (const Function &function : *unwrap(module)) {
        if (all || !function.isDeclaration())
            ids.push_back(id_of(function.getName()));
        for (const Instruction &instruction : instructions(function))
            for (const DILocation *at = instruction.getDebugLoc(); at; at = at->getInlinedAt()) {
                const DISubprogram *scope = at->getScope()->getSubprogram();
                if (seen.insert(scope).second)
                    ids.push_back(id_of(scope));
                if (at->getInlinedAt() && !seen.insert(at->getInlinedAt()).second)
                    break;
            }
    }
    auto *copy = static_cast<uint64_t *>(pgc_zeroed(ids.size(), sizeof(uint64_t)));
    std::copy(ids.begin(), ids.end(), copy);
    *n = ids.size();
    return copy;
}

extern "C" uint64_t pgc_function_id(LLVMValueRef function)
{
    return id_of(unwrap(function)->getName());
}

extern "C" uint64_t pgc_stack_id(uint64_t function, uint32_t line_offset, uint32_t column)
{
    HashBuilder<TruncatedBLAKE3<8>, endianness::little> builder;
    builder.add(function, line_offset, column);
    BLAKE3Result<8> hash = builder.final();
    uint64_t id;
    std::memcpy(&id, hash.data(), sizeof id);
    return id;
}

extern "C" void pgc_keep_all_contexts(void)
{
    auto &options = cl::getRegisteredOptions();
    auto found = options.find("memprof-keep-all-not-cold-contexts");
    if (found != options.end() && !found->second->getNumOccurrences())
        static_cast<cl::opt<bool> *>(found->second)->setValue(true);
}

struct pgc_trie {
    memprof::CallStackTrie contexts;
};

extern "C" struct pgc_trie *pgc_trie_new(void)
{
    return new pgc_trie;
}

extern "C" void pgc_trie_add(struct pgc_trie *trie, int type, const uint64_t *ids, size_t n)
{
    trie->contexts.addCallStack(static_cast<AllocationType>(type), ArrayRef<uint64_t>(ids, n));
}

extern "C" bool pgc_trie_attach(struct pgc_trie *trie, LLVMValueRef call, const uint64_t *ids,
                                size_t n)
{
    bool metadata = trie->contexts.buildAndAttachMIBMetadata(cast<CallBase>(unwrap(call)));
    if (metadata)
        pgc_set_callsite(call, ids, n);
    delete trie;
    return metadata;
}

extern "C" void pgc_set_callsite(LLVMValueRef call, const uint64_t *ids, size_t n)
{
    auto *instruction = cast<Instruction>(unwrap(call));
    instruction->setMetadata(
        LLVMContext::MD_callsite,
        memprof::buildCallstackMetadata(ArrayRef<uint64_t>(ids, n), instruction->getContext()));
}

extern "C" void pgc_remark(LLVMValueRef instruction, bool missed, const char *name,
                           const char *text)
{
    auto *at = cast<Instruction>(unwrap(instruction));
    OptimizationRemarkEmitter emitter(at->getFunction());
    if (missed)
        emitter.emit(OptimizationRemarkMissed("pgokit", name, at) << text);
    else
        emitter.emit(OptimizationRemark("pgokit", name, at) << text);
}

extern "C" void pgc_warn(LLVMModuleRef module, const char *file, const char *text)
{
    unwrap(module)->getContext().diagnose(DiagnosticInfoPGOProfile(file, text, DS_Warning));
}
