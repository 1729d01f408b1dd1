// Which type the objects of each allocating call have, told in a section beside the debug
// information (docs/formats/heap-types.md). It is found before all optimisation, from what the
// program does with the pointer, and costs the program nothing: no code is changed. C++, because
// the C interface of LLVM does not read debug information.
#include "heap_pass.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MD5.h>
#include <llvm/Support/raw_ostream.h>
#if LLVM_VERSION_MAJOR >= 19
#include <llvm/IR/DebugProgramInstruction.h>
#endif

#include <string>

using namespace llvm;

static const char mark[] = "pgokit.types";

// ---- types of debug information ----

static bool is_qualifier(const DIType *type)
{
    switch (type->getTag()) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
        return true;
    default:
        return false;
    }
}

// Without typedefs and qualifiers; NULL is void.
static const DIType *plain(const DIType *type)
{
    while (type && is_qualifier(type))
        type = cast<DIDerivedType>(type)->getBaseType();
    return type;
}

// The type that a pointer type points to; NULL if the type is not a pointer.
static const DIType *pointee(const DIType *type)
{
    type = plain(type);
    if (!type || type->getTag() != dwarf::DW_TAG_pointer_type)
        return nullptr;
    const DIType *to = cast<DIDerivedType>(type)->getBaseType();
    return plain(to) ? to : nullptr;
}

static std::string qualified(const DIScope *scope, const std::string &name)
{
    std::string text = name;
    for (; scope && !isa<DIFile>(scope) && !isa<DICompileUnit>(scope); scope = scope->getScope()) {
        if (isa<DILexicalBlockBase>(scope) || isa<DIModule>(scope))
            continue;
        StringRef outer = scope->getName();
        text = (outer.empty() ? "(anonymous namespace)" : outer.str()) + "::" + text;
    }
    return text;
}

// As the program writes it; "" if it has no name.
static std::string name_of(const DIType *type)
{
    const DIType *named = type;
    for (; type && is_qualifier(type); type = cast<DIDerivedType>(type)->getBaseType())
        if (type->getTag() == dwarf::DW_TAG_typedef)
            named = type;
    if (!type)
        return "void";
    switch (type->getTag()) {
    case dwarf::DW_TAG_pointer_type:
        return name_of(cast<DIDerivedType>(type)->getBaseType()) + "*";
    case dwarf::DW_TAG_array_type:
        return name_of(cast<DICompositeType>(type)->getBaseType());
    case dwarf::DW_TAG_subroutine_type:
        return "function";
    default:
        break;
    }
    if (!type->getName().empty()) // a typedef of a type without name is the type's name
        named = type;
    return named->getName().empty() ? "" : qualified(named->getScope(), named->getName().str());
}

// Text of any kind, which a program may also use for whatever it likes.
static bool is_bytes(const DIType *type)
{
    type = plain(type);
    return type && isa<DIBasicType>(type) && cast<DIBasicType>(type)->getSizeInBits() == 8;
}

// ---- types of values of the program, as it came from the front end ----

using Variables = DenseMap<const Value *, const DILocalVariable *>;

// Optimising, clang has made assignments of declarations by now.
static Variables variables_of(Function &function)
{
    Variables found;
    for (BasicBlock &block : function)
        for (Instruction &at : block) {
#if LLVM_VERSION_MAJOR >= 17
            if (auto *assign = dyn_cast<DbgAssignIntrinsic>(&at)) {
                found[assign->getAddress()] = assign->getVariable();
                continue;
            }
#endif
            if (auto *declare = dyn_cast<DbgDeclareInst>(&at))
                found[declare->getAddress()] = declare->getVariable();
#if LLVM_VERSION_MAJOR >= 19
            for (DbgVariableRecord &record : filterDbgVars(at.getDbgRecordRange())) {
                if (record.isDbgAssign())
                    found[record.getAddress()] = record.getVariable();
                else if (record.isDbgDeclare())
                    found[record.getVariableLocationOp(0)] = record.getVariable();
            }
#endif
        }
    return found;
}

static const DIType *member_at(const DIType *type, uint64_t bit)
{
    auto *record = dyn_cast_or_null<DICompositeType>(plain(type));
    if (!record || record->getTag() == dwarf::DW_TAG_union_type)
        return nullptr;
    for (const DINode *element : record->getElements()) {
        auto *member = dyn_cast<DIDerivedType>(element);
        if (!member || member->isStaticMember())
            continue;
        if (member->getTag() == dwarf::DW_TAG_member && member->getOffsetInBits() == bit)
            return member->getBaseType();
        if (member->getTag() == dwarf::DW_TAG_inheritance && member->getOffsetInBits() <= bit)
            if (const DIType *of_base = member_at(member->getBaseType(),
                                                  bit - member->getOffsetInBits()))
                return of_base;
    }
    return nullptr;
}

struct Typing {
    const DataLayout &layout;
    const Variables &variables;
};

// Without conversions of pointers. Steps into members stay, also to the first one.
static const Value *unconverted(const Value *value)
{
    while (auto *converted = dyn_cast<BitCastOperator>(value))
        value = converted->getOperand(0);
    return value;
}

static const DIType *type_of_object(const Typing &in, const Value *address);

// Type of a value, as far as it was read from a place with a known type.
static const DIType *type_of_value(const Typing &in, const Value *value)
{
    value = unconverted(value);
    if (auto *load = dyn_cast<LoadInst>(value))
        return type_of_object(in, load->getPointerOperand());
    return nullptr;
}

static const DIType *type_of_element(const Typing &in, const GEPOperator *element)
{
    const Value *base = unconverted(element->getPointerOperand());
    const DIType *type = isa<LoadInst>(base) ? pointee(type_of_value(in, base))
                                             : type_of_object(in, base);
    Type *shape = element->getSourceElementType();
    for (unsigned i = 2; i <= element->getNumIndices(); i++) {
        const Value *index = element->getOperand(i);
        if (auto *record = dyn_cast<StructType>(shape)) {
            unsigned field = (unsigned)cast<ConstantInt>(index)->getZExtValue();
            uint64_t byte = in.layout.getStructLayout(record)->getElementOffset(field);
            type = member_at(type, byte * 8);
            shape = record->getElementType(field);
        } else {
            auto *array = dyn_cast_or_null<DICompositeType>(plain(type));
            if (!array || array->getTag() != dwarf::DW_TAG_array_type || !shape->isArrayTy())
                return nullptr;
            type = array->getBaseType();
            shape = shape->getArrayElementType();
        }
    }
    return shape->isIntegerTy(8) ? nullptr : type; // else it may be any place
}

// Type of what lies at an address.
static const DIType *type_of_object(const Typing &in, const Value *address)
{
    address = unconverted(address);
    if (auto found = in.variables.find(address); found != in.variables.end())
        return found->second->getType();
    if (auto *global = dyn_cast<GlobalVariable>(address)) {
        SmallVector<DIGlobalVariableExpression *, 1> described;
        global->getDebugInfo(described);
        return described.empty() ? nullptr : described[0]->getVariable()->getType();
    }
    if (isa<LoadInst>(address)) // of a parameter, mostly: what it points to
        return pointee(type_of_value(in, address));
    auto *element = dyn_cast<GEPOperator>(address);
    return element ? type_of_element(in, element) : nullptr;
}

// ---- what becomes of the pointer that a call returns ----

namespace
{
struct Fate {
    std::string type; // "" none
    bool is_bytes = false;
    bool returned = false; // to the caller, who may know the type
};
} // namespace

static void take(Fate &fate, const DIType *type)
{
    if (!type || (!fate.type.empty() && (!fate.is_bytes || is_bytes(type))))
        return;
    fate.type = name_of(type);
    fate.is_bytes = is_bytes(type);
}

static const DIType *returned_type(const DISubprogram *function)
{
    const DISubroutineType *type = function ? function->getType() : nullptr;
    auto types = type ? type->getTypeArray() : decltype(type->getTypeArray())();
    return types && types.size() ? types[0] : nullptr;
}

using Places = SetVector<const Value *>;

static void follow_store(const Typing &in, const Value *address, Fate &fate, Places &places)
{
    const DIType *type = type_of_object(in, address);
    take(fate, pointee(type));
    address = unconverted(address);
    if (!isa<AllocaInst>(address))
        return;
    for (const User *user : address->users())
        if (isa<LoadInst>(user))
            places.insert(user);
}

static StringRef callee_of(const CallBase *call)
{
    const Function *callee = call->getCalledFunction();
    return callee ? callee->getName() : StringRef();
}

// Whether the call stores the pointer where its first argument says, and returns a number.
static bool stores_pointer(const CallBase *call)
{
    return callee_of(call) == "posix_memalign" && call->arg_size() == 3;
}

static Fate fate_of(const Typing &in, const CallBase *call, const DISubprogram *in_function)
{
    Fate fate;
    Places places;
    if (stores_pointer(call))
        follow_store(in, call->getArgOperand(0), fate, places);
    else
        places.insert(call);
    for (size_t i = 0; i < places.size(); i++) {
        const Value *value = places[i];
        for (const User *user : value->users()) {
            if (auto *store = dyn_cast<StoreInst>(user)) {
                if (store->getValueOperand() == value)
                    follow_store(in, store->getPointerOperand(), fate, places);
            } else if (isa<ReturnInst>(user)) {
                const DIType *type = pointee(returned_type(in_function));
                take(fate, type);
                fate.returned |= !type;
            } else if (isa<BitCastInst>(user) || isa<PHINode>(user) || isa<SelectInst>(user)) {
                places.insert(user);
            } else if (auto *moved = dyn_cast<GetElementPtrInst>(user)) {
                if (moved->getSourceElementType()->isIntegerTy(8))
                    places.insert(moved);
            }
        }
    }
    return fate;
}

static bool allocates(const CallBase *call)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "reallocarray", "memalign",
                                        "aligned_alloc", "valloc", "pvalloc", "strdup", "strndup",
                                        "posix_memalign"};
    StringRef name = callee_of(call);
    for (const char *known : names)
        if (name == known)
            return true;
    return name.substr(0, 4) == "_Znw" || name.substr(0, 4) == "_Zna"; // operator new, new[]
}

// A type that the program names in `new`.
static const DIType *type_of_new(const CallBase *call)
{
    return dyn_cast_or_null<DIType>(call->getMetadata("heapallocsite"));
}

// The assembler's strings have these signs of their own.
static void write_escaped(raw_ostream &out, const std::string &text)
{
    for (char sign : text) {
        if (sign == '"' || sign == '\\')
            out << '\\';
        out << sign;
    }
}

static void describe(const Typing &in, const CallBase *call, raw_ostream &out)
{
    const DILocation *at = call->getDebugLoc().get();
    if (!at || !at->getLine() || isa<IntrinsicInst>(call) ||
        !(call->getType()->isPointerTy() || stores_pointer(call)))
        return;
    const DISubprogram *function = at->getScope()->getSubprogram();
    const Function *callee = call->getCalledFunction();
    if (!allocates(call) && callee && pointee(returned_type(callee->getSubprogram())))
        return; // the callee says it
    Fate fate;
    if (const DIType *type = type_of_new(call))
        take(fate, type);
    else
        fate = fate_of(in, call, call->getFunction()->getSubprogram());
    if (fate.type.empty() && !fate.returned)
        return;
    StringRef name = function->getLinkageName();
    if (name.empty())
        name = function->getName();
    char number[17];
    snprintf(number, sizeof number, "%016llx", (unsigned long long)MD5Hash(name));
    out << ".asciz \"" << number << ' ' << (uint32_t)(at->getLine() - function->getLine()) << ' '
        << at->getColumn() << ' ' << (allocates(call) ? 'a' : 'c') << ' ';
    write_escaped(out, fate.type);
    out << "\"\n";
}

extern "C" void pgc_write_heap_types(LLVMModuleRef wrapped)
{
    Module &module = *unwrap(wrapped);
    if (module.getNamedMetadata(mark))
        return;
    module.getOrInsertNamedMetadata(mark);
    std::string rows;
    raw_string_ostream out(rows);
    for (Function &function : module) {
        if (!function.getSubprogram())
            continue;
        const Variables variables = variables_of(function);
        const Typing typing = {module.getDataLayout(), variables};
        for (const BasicBlock &block : function)
            for (const Instruction &at : block)
                if (auto *call = dyn_cast<CallBase>(&at))
                    describe(typing, call, out);
    }
    if (out.str().empty())
        return;
    module.appendModuleInlineAsm(".pushsection .debug_pgokit_types,\"MS\",@progbits,1\n" + rows +
                                 ".popsection");
}
