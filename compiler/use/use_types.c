/* The load of an object's virtual table gets the types that the profile has at its virtual call, in
 * the form in which LLVM's instrumented profiles have them (kind 2 of value profiles). LLVM then
 * promotes the call by comparing tables (-enable-vtable-profile-use), in a link with ThinLTO.
 *
 * Counts of types come from samples of loads and those of calls from branches. They are brought to
 * one scale: together they count as much as the call does. */
#include "use_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    KIND_CALL = 0, KIND_TYPE = 2, /* of value profiles */
    RARE = 20, /* types of less than 1 in so many objects, whose functions LLVM does not promote */
};

/* The loads of a virtual call: its function's address from a table, and the table's address from
 * the object. */
struct virtual_call {
    LLVMValueRef call, function, table;
};

static bool has_constant_indexes(LLVMValueRef element)
{
    int n = LLVMGetNumOperands(element);
    for (int i = 1; i < n; i++)
        if (!LLVMIsAConstantInt(LLVMGetOperand(element, (unsigned)i)))
            return false;
    return true;
}

static bool find_loads(LLVMValueRef call, struct virtual_call *found)
{
    if (!LLVMIsACallInst(call) && !LLVMIsAInvokeInst(call))
        return false;
    LLVMValueRef function = LLVMGetCalledValue(call);
    if (!LLVMIsALoadInst(function))
        return false;
    LLVMValueRef table = LLVMGetOperand(function, 0);
    while (LLVMIsAGetElementPtrInst(table) && has_constant_indexes(table))
        table = LLVMGetOperand(table, 0);
    *found = (struct virtual_call){call, function, table};
    return LLVMIsALoadInst(table);
}

/* A call's types, and the chain of what they were found at. */
struct found {
    struct pgc_type_count types[PGC_TYPES];
    size_t n;
    struct pgc_place call[PGC_PLACES]; /* of the call itself */
    size_t n_call;                     /* 0: it has no place */
};

/* The types at the call; or where one of both loads is, since these may be on other lines. */
static void find_types(struct pgc_type_profile *profile, const struct virtual_call *at,
                       struct found *found)
{
    const LLVMValueRef loads[] = {at->function, at->table};
    found->n_call = pgc_places(at->call, found->call, PGC_PLACES);
    found->n = pgc_types_at(profile, found->call, found->n_call, found->types);
    for (size_t i = 0; !found->n && i < sizeof loads / sizeof *loads; i++) {
        struct pgc_place chain[PGC_PLACES];
        found->n = pgc_types_at(profile, chain, pgc_places(loads[i], chain, PGC_PLACES),
                                found->types);
    }
}

/* ---- metadata ---- */

struct metadata {
    LLVMContextRef context;
    unsigned prof; /* number of the kind !prof */
};

/* How often the call was executed, by its targets; 0 unknown. */
static uint64_t calls_of(const struct metadata *m, LLVMValueRef call)
{
    LLVMValueRef node = LLVMGetMetadata(call, m->prof), operands[256];
    int n = node ? LLVMGetMDNodeNumOperands(node) : 0;
    if (n < 3 || n > (int)(sizeof operands / sizeof *operands))
        return 0;
    LLVMGetMDNodeOperands(node, operands);
    unsigned length = 0;
    const char *what = LLVMGetMDString(operands[0], &length);
    if (!what || length != 2 || memcmp(what, "VP", 2) != 0 ||
        LLVMConstIntGetZExtValue(operands[1]) != KIND_CALL)
        return 0;
    return LLVMConstIntGetZExtValue(operands[2]);
}

__extension__ typedef unsigned __int128 wide;

static wide sum_of(const struct pgc_type_count *types, size_t n)
{
    wide sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += types[i].count;
    return sum;
}

/* Without rare types: LLVM compares one table for each function, so that a second one, however
 * rare, keeps it from comparing tables at all. */
static size_t frequent(const struct pgc_type_count *types, size_t n)
{
    wide sum = sum_of(types, n);
    while (n > 1 && (wide)types[n - 1].count * RARE < sum)
        n--;
    return n;
}

static void scale(struct pgc_type_count *types, size_t n, uint64_t to)
{
    wide sum = sum_of(types, n);
    for (size_t i = 0; to && sum && i < n; i++)
        types[i].count = (uint64_t)(((wide)types[i].count * to + sum - 1) / sum);
}

static LLVMMetadataRef number(LLVMTypeRef type, uint64_t value)
{
    return LLVMValueAsMetadata(LLVMConstInt(type, value, false));
}

static void set_types(const struct metadata *m, LLVMValueRef load,
                      const struct pgc_type_count *types, size_t n)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context), i64 = LLVMInt64TypeInContext(m->context);
    LLVMMetadataRef operands[3 + 2 * PGC_TYPES];
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t more = total + types[i].count;
        total = more < total ? UINT64_MAX : more;
        operands[3 + 2 * i] = number(i64, types[i].type);
        operands[4 + 2 * i] = number(i64, types[i].count);
    }
    operands[0] = LLVMMDStringInContext2(m->context, "VP", 2);
    operands[1] = number(i32, KIND_TYPE);
    operands[2] = number(i64, total);
    LLVMMetadataRef node = LLVMMDNodeInContext2(m->context, operands, 3 + 2 * n);
    LLVMSetMetadata(load, m->prof, LLVMMetadataAsValue(m->context, node));
}

/* ---- the module ---- */

struct hinting {
    struct metadata metadata;
    struct pgc_type_profile *profile;
    struct pgc_report *report;
};

static void report_call(const struct hinting *h, const struct virtual_call *at, size_t n,
                        uint64_t most)
{
    char text[96];
    snprintf(text, sizeof text, "virtual call with %zu type%s, the first %" PRIu64 " times", n,
             n == 1 ? "" : "s", most);
    pgc_remark(at->call, false, "Types", text);
    pgc_report_count(h->report, PGC_GIVEN);
}

static void hint_call(const struct hinting *h, const struct virtual_call *at)
{
    struct found found;
    bool taken = LLVMGetMetadata(at->table, h->metadata.prof) != NULL;
    if (taken && !h->report)
        return; /* of another call by the same table, or of an instrumented profile */
    find_types(h->profile, at, &found);
    uint64_t calls = calls_of(&h->metadata, at->call);
    if (!found.n_call)
        pgc_report_count(h->report, PGC_UNLOCATED);
    if (!found.n) {
        if (!calls || taken)
            return;
        pgc_remark(at->call, true, "NoTypes", "the profile has no types of this virtual call");
        pgc_report_count(h->report, PGC_MISSED);
        return;
    }
    scale(found.types, found.n, calls);
    size_t n = frequent(found.types, found.n);
    pgc_types_settle(h->profile, found.types, n, found.n, taken, found.call, found.n_call);
    if (taken)
        return;
    set_types(&h->metadata, at->table, found.types, n);
    report_call(h, at, n, found.types[0].count);
}

static void hint_function(const struct hinting *h, LLVMValueRef function)
{
    struct virtual_call at;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (find_loads(i, &at))
                hint_call(h, &at);
}

void pgc_hint_types(LLVMModuleRef module, struct pgc_type_profile *profile,
                    struct pgc_report *report)
{
    static const char prof[] = "prof";
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct hinting h = {{context, LLVMGetMDKindIDInContext(context, prof, strlen(prof))}, profile,
                        report};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        hint_function(&h, f);
    pgc_types_report(profile, module, report);
}
