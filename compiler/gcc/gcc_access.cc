/* Which statements of GIMPLE access memory that the heap may be in. Locals and variables at fixed
 * addresses are no heap objects, so their counts would be of nothing. */
#include "gcc_plugin.h"

#include <string.h>

enum { MOST_STEPS = 64, WORD = 8 };

/* The object that a pointer is derived from by arithmetic, or NULL if it is none that is known. */
static tree object_of(tree pointer)
{
    for (int i = 0; i < MOST_STEPS && pointer; i++) {
        if (TREE_CODE(pointer) == ADDR_EXPR) {
            tree base = get_base_address(TREE_OPERAND(pointer, 0));
            if (!base || TREE_CODE(base) != MEM_REF)
                return base;
            pointer = TREE_OPERAND(base, 0);
            continue;
        }
        if (TREE_CODE(pointer) != SSA_NAME || SSA_NAME_IS_DEFAULT_DEF(pointer))
            return NULL_TREE;
        gimple *def = SSA_NAME_DEF_STMT(pointer);
        if (!is_gimple_assign(def))
            return NULL_TREE;
        tree_code code = gimple_assign_rhs_code(def);
        if (code != POINTER_PLUS_EXPR && code != ADDR_EXPR && code != SSA_NAME)
            return NULL_TREE;
        pointer = gimple_assign_rhs1(def);
    }
    return NULL_TREE;
}

static bool is_generic_space(tree type)
{
    return !POINTER_TYPE_P(type) || ADDR_SPACE_GENERIC_P(TYPE_ADDR_SPACE(TREE_TYPE(type)));
}

/* In memory that a pointer leads to, and not to a variable. */
static bool may_be_heap(tree ref)
{
    tree base = get_base_address(ref);
    if (!base || (TREE_CODE(base) != MEM_REF && TREE_CODE(base) != TARGET_MEM_REF))
        return false;
    tree pointer = TREE_OPERAND(base, 0);
    return is_generic_space(TREE_TYPE(pointer)) &&
           ADDR_SPACE_GENERIC_P(TYPE_ADDR_SPACE(TREE_TYPE(base))) && !object_of(pointer);
}

/* Words of 8 bytes of what is copied as a whole; 1 for a value. */
static unsigned words_of(tree ref)
{
    tree type = TREE_TYPE(ref);
    if (!AGGREGATE_TYPE_P(type))
        return 1;
    HOST_WIDE_INT bytes = int_size_in_bytes(type);
    if (bytes < 0 || bytes > INT_MAX)
        return 1;
    return (unsigned)((bytes + WORD - 1) / WORD);
}

static struct pgc_access *add(struct pgc_accesses *found, gimple *at, unsigned times)
{
    static struct pgc_access none;
    if (!times || found->n == PGC_ACCESSES_MAX)
        return &none;
    struct pgc_access *a = &found->v[found->n++];
    memset(a, 0, sizeof *a);
    a->at = at;
    a->times = times;
    return a;
}

static bool is_bit_field(tree ref)
{
    return TREE_CODE(ref) == COMPONENT_REF && DECL_BIT_FIELD(TREE_OPERAND(ref, 1));
}

/* Whether it has an address: not a bit-field, a part of a number, or another view of a value. */
static tree with_address(tree ref)
{
    for (;;) {
        switch (TREE_CODE(ref)) {
        case BIT_FIELD_REF:
        case REALPART_EXPR:
        case IMAGPART_EXPR:
        case VIEW_CONVERT_EXPR:
            ref = TREE_OPERAND(ref, 0);
            continue;
        case COMPONENT_REF:
            if (is_bit_field(ref)) {
                tree whole = DECL_BIT_FIELD_REPRESENTATIVE(TREE_OPERAND(ref, 1));
                if (whole)
                    return build3(COMPONENT_REF, TREE_TYPE(whole), TREE_OPERAND(ref, 0), whole,
                                  NULL_TREE);
                ref = TREE_OPERAND(ref, 0);
                continue;
            }
            return ref;
        default:
            return ref;
        }
    }
}

/* A bit-field is read to be written. */
static void add_ref(struct pgc_accesses *found, gimple *at, tree ref, bool stored)
{
    if (!may_be_heap(ref))
        return;
    struct pgc_access *a = add(found, at, stored && is_bit_field(ref) ? 2 : words_of(ref));
    a->ref = with_address(ref);
    a->whole = AGGREGATE_TYPE_P(TREE_TYPE(ref));
    a->alone = a->whole || TREE_THIS_VOLATILE(ref) || gimple_has_volatile_ops(at);
}

static bool is_memory(tree operand)
{
    return operand && (handled_component_p(operand) || TREE_CODE(operand) == MEM_REF ||
                       TREE_CODE(operand) == TARGET_MEM_REF);
}

static bool is_atomic(gcall *call)
{
    tree function = gimple_call_fndecl(call);
    if (!function || !fndecl_built_in_p(function, BUILT_IN_NORMAL) || !gimple_call_num_args(call))
        return false;
    const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
    if (!strncmp(name, "__builtin_", strlen("__builtin_")))
        name += strlen("__builtin_");
    return (!strncmp(name, "__atomic_", 9) || !strncmp(name, "__sync_", 7)) &&
           !strstr(name, "fence") && !strstr(name, "synchronize") && !strstr(name, "lock_free") &&
           POINTER_TYPE_P(TREE_TYPE(gimple_call_arg(call, 0)));
}

static struct pgc_access *add_pointer(struct pgc_accesses *found, gimple *at, tree pointer)
{
    bool heap = is_generic_space(TREE_TYPE(pointer)) && !object_of(pointer);
    struct pgc_access *a = add(found, at, heap);
    a->pointer = pointer;
    a->alone = true;
    return a;
}

static void accesses_of_internal(gcall *call, struct pgc_accesses *found)
{
    internal_fn function = gimple_call_internal_fn(call);
    switch (function) {
    case IFN_MASK_LOAD:
    case IFN_MASK_STORE: {
        tree vector = function == IFN_MASK_LOAD ? gimple_call_lhs(call) : gimple_call_arg(call, 3);
        struct pgc_access *a = add_pointer(found, call, gimple_call_arg(call, 0));
        if (!vector)
            break;
        a->mask = gimple_call_arg(call, 2);
        a->lane_bytes = (unsigned)int_size_in_bytes(TREE_TYPE(TREE_TYPE(vector)));
        break;
    }
    case IFN_ATOMIC_BIT_TEST_AND_SET:
    case IFN_ATOMIC_BIT_TEST_AND_COMPLEMENT:
    case IFN_ATOMIC_BIT_TEST_AND_RESET:
    case IFN_ATOMIC_COMPARE_EXCHANGE:
        add_pointer(found, call, gimple_call_arg(call, 0));
        break;
    default:
        break;
    }
}

/* Values that are passed and returned in memory, and atomic accesses. */
static void accesses_of_call(gcall *call, struct pgc_accesses *found)
{
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
        if (is_memory(gimple_call_arg(call, i)))
            add_ref(found, call, gimple_call_arg(call, i), false);
    if (is_memory(gimple_call_lhs(call)))
        add_ref(found, call, gimple_call_lhs(call), true);
    if (gimple_call_internal_p(call))
        accesses_of_internal(call, found);
    else if (is_atomic(call))
        add_pointer(found, call, gimple_call_arg(call, 0));
}

void pgc_accesses_of(gimple *statement, struct pgc_accesses *found)
{
    found->n = 0;
    if (gimple_clobber_p(statement))
        return;
    if (gcall *call = dyn_cast<gcall *>(statement)) {
        accesses_of_call(call, found);
    } else if (is_gimple_assign(statement)) {
        tree from = gimple_assign_rhs1(statement), to = gimple_assign_lhs(statement);
        if (gimple_assign_single_p(statement) && is_memory(from))
            add_ref(found, statement, from, false);
        if (is_memory(to))
            add_ref(found, statement, to, true);
    } else if (greturn *leaves = dyn_cast<greturn *>(statement)) {
        if (is_memory(gimple_return_retval(leaves)))
            add_ref(found, statement, gimple_return_retval(leaves), false);
    }
}

bool pgc_count_in_runtime(gimple *statement)
{
    static const struct {
        built_in_function code;
        const char *name;
    } rows[] = {{BUILT_IN_MEMCPY, "__memprof_memcpy"},
                {BUILT_IN_MEMMOVE, "__memprof_memmove"},
                {BUILT_IN_MEMSET, "__memprof_memset"}};
    gcall *call = dyn_cast<gcall *>(statement);
    if (!call)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!gimple_call_builtin_p(call, rows[i].code))
            continue;
        tree function = build_fn_decl(rows[i].name, TREE_TYPE(gimple_call_fndecl(call)));
        gimple_call_set_fndecl(call, function);
        update_stmt(call);
        return true;
    }
    return false;
}

bool pgc_ends_run(gimple *statement)
{
    if (gimple_code(statement) == GIMPLE_ASM)
        return true;
    if (stmt_could_throw_p(cfun, statement))
        return true;
    gcall *call = dyn_cast<gcall *>(statement);
    if (!call || gimple_call_internal_p(call))
        return false;
    return !(gimple_call_flags(call) & (ECF_CONST | ECF_PURE)) || is_atomic(call);
}
