/* Which type the objects of each allocating call have, told in a section beside the debug
 * information (docs/formats/heap-types.md). It is found early, when functions are in SSA form and
 * nothing is inlined or optimised yet. No code is changed. */
#define INCLUDE_ALGORITHM /* what gcc includes itself, before it poisons names */
#include "gcc_plugin.h"

#include <inttypes.h>
#include <langhooks.h>
#include <md5.h>
#include <ssa-iterators.h>
#include <string>
#include <vector>

/* ---- names of types ---- */

static std::string name_of(tree type);

static std::string qualified(tree decl)
{
    std::string text;
    for (; decl && TREE_CODE(decl) != TRANSLATION_UNIT_DECL; decl = DECL_CONTEXT(decl)) {
        if (TYPE_P(decl)) /* a class */
            decl = TYPE_NAME(decl);
        if (!decl || TREE_CODE(decl) == IDENTIFIER_NODE)
            break;
        /* 2: with the arguments of a template */
        int detail = TREE_CODE(decl) == TYPE_DECL ? 2 : 0;
        const char *name = DECL_NAME(decl) ? lang_hooks.dwarf_name(decl, detail) : NULL;
        std::string part = name && *name ? name : "(anonymous namespace)";
        text = text.empty() ? part : part + "::" + text;
    }
    return text;
}

/* As the program writes it; "" if it has no name. */
static std::string name_of(tree type)
{
    if (TYPE_NAME(TYPE_MAIN_VARIANT(type))) /* else a typedef may have one */
        type = TYPE_MAIN_VARIANT(type);
    if (POINTER_TYPE_P(type))
        return name_of(TREE_TYPE(type)) + "*";
    if (TREE_CODE(type) == ARRAY_TYPE)
        return name_of(TREE_TYPE(type));
    if (FUNC_OR_METHOD_TYPE_P(type))
        return "function";
    tree name = TYPE_NAME(type);
    if (!name)
        return VOID_TYPE_P(type) ? "void" : "";
    /* With -flto the front end's names are gone by now; readers know linkage names, too. */
    if (TREE_CODE(name) == TYPE_DECL && DECL_ASSEMBLER_NAME_SET_P(name))
        return std::string("_ZTS") + IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(name));
    return TREE_CODE(name) == IDENTIFIER_NODE ? IDENTIFIER_POINTER(name) : qualified(name);
}

/* Text of any kind, which a program may also use for whatever it likes. */
static bool is_bytes(tree type)
{
    return INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) == CHAR_BIT;
}

/* ---- what becomes of the pointer that a call returns ---- */

struct fate {
    std::string type; /* "" none */
    bool is_bytes, returned;
};

/* Takes what a type points to. */
static void take(struct fate *fate, tree pointer)
{
    if (!pointer || !POINTER_TYPE_P(pointer) || VOID_TYPE_P(TREE_TYPE(pointer)))
        return;
    tree type = TREE_TYPE(pointer);
    if (!fate->type.empty() && (!fate->is_bytes || is_bytes(type)))
        return;
    fate->type = name_of(type);
    fate->is_bytes = is_bytes(type);
}

/* Nothing that is found further on changes it. */
static bool is_settled(const struct fate *fate)
{
    return !fate->type.empty() && !fate->is_bytes;
}

/* Values that hold the pointer, each once. */
struct holders {
    std::vector<tree> all;
    hash_set<tree> known;
};

static void add(struct holders *values, tree value)
{
    if (value && TREE_CODE(value) == SSA_NAME && !values->known.add(value))
        values->all.push_back(value);
}

static void look_at_assignment(gimple *use, tree value, struct fate *fate,
                               struct holders *values)
{
    tree to = gimple_assign_lhs(use);
    enum tree_code code = gimple_assign_rhs_code(use);
    bool copies = gimple_assign_single_p(use) && gimple_assign_rhs1(use) == value;
    bool moves = code == POINTER_PLUS_EXPR && gimple_assign_rhs1(use) == value;
    if (!copies && !moves && !CONVERT_EXPR_CODE_P(code))
        return;
    if (!moves || is_gimple_reg(to))
        take(fate, TREE_TYPE(to));
    add(values, to);
}

static void look_at_use(gimple *use, tree value, struct fate *fate, struct holders *values)
{
    if (is_gimple_assign(use)) {
        look_at_assignment(use, value, fate, values);
    } else if (gimple_code(use) == GIMPLE_PHI) {
        tree to = gimple_phi_result(use);
        take(fate, TREE_TYPE(to));
        add(values, to);
    } else if (gimple_code(use) == GIMPLE_RETURN) {
        tree type = TREE_TYPE(TREE_TYPE(cfun->decl));
        take(fate, type);
        fate->returned |= POINTER_TYPE_P(type) && VOID_TYPE_P(TREE_TYPE(type));
    } else if (gimple_call_builtin_p(use, BUILT_IN_ASSUME_ALIGNED) && gimple_call_lhs(use)) {
        take(fate, TREE_TYPE(gimple_call_lhs(use)));
        add(values, gimple_call_lhs(use));
    } else if (is_gimple_call(use) && gimple_call_num_args(use) &&
               gimple_call_arg(use, 0) == value) {
        tree callee = gimple_call_fndecl(use);
        if (callee && DECL_CXX_CONSTRUCTOR_P(callee) && DECL_ARGUMENTS(callee))
            take(fate, TREE_TYPE(DECL_ARGUMENTS(callee)));
    }
}

static const char *linkage_name(tree decl)
{
    const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl));
    return *name == '*' ? name + 1 : name;
}

static const char *callee_name(gimple *call)
{
    tree callee = gimple_call_fndecl(call);
    return callee ? linkage_name(callee) : "";
}

/* Whether the call stores the pointer where its first argument says, and returns a number. */
static bool stores_pointer(gimple *call)
{
    return !strcmp(callee_name(call), "posix_memalign") && gimple_call_num_args(call) == 3;
}

/* A pointer to a pointer before its conversion, as in `(void **)&p`. */
static tree unconverted(tree value)
{
    while (TREE_CODE(value) == SSA_NAME && is_gimple_assign(SSA_NAME_DEF_STMT(value)) &&
           (CONVERT_EXPR_CODE_P(gimple_assign_rhs_code(SSA_NAME_DEF_STMT(value))) ||
            gimple_assign_single_p(SSA_NAME_DEF_STMT(value))))
        value = gimple_assign_rhs1(SSA_NAME_DEF_STMT(value));
    return value;
}

/* Where the value of a variable is copied to. */
struct load {
    unsigned variable; /* DECL_UID */
    tree value;
};
typedef std::vector<struct load> loads_of_function;

static bool is_of_earlier(const struct load &a, const struct load &b)
{
    return a.variable < b.variable;
}

/* Of all variables that gcc made, in one pass: a function may have as many of them as calls. */
static loads_of_function find_loads(void)
{
    loads_of_function loads;
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
        for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            tree from = gimple_assign_single_p(gsi_stmt(at)) ? gimple_assign_rhs1(gsi_stmt(at))
                                                             : NULL_TREE;
            if (from && VAR_P(from) && DECL_ARTIFICIAL(from))
                loads.push_back({DECL_UID(from), gimple_assign_lhs(gsi_stmt(at))});
        }
    std::stable_sort(loads.begin(), loads.end(), is_of_earlier);
    return loads;
}

/* gcc has a variable of its own for the pointer, which it copies to where the program wants it once
 * it knows that the call has not failed. */
static void add_loads(const loads_of_function *loads, tree variable, struct holders *values)
{
    const struct load key = {DECL_UID(variable), NULL_TREE};
    auto found = std::equal_range(loads->begin(), loads->end(), key, is_of_earlier);
    for (auto load = found.first; load != found.second; ++load)
        add(values, load->value);
}

static struct fate fate_of(gimple *call, const loads_of_function *loads)
{
    struct fate fate = {"", false, false};
    struct holders values;
    if (stores_pointer(call)) {
        tree to = unconverted(gimple_call_arg(call, 0));
        bool is_variable = TREE_CODE(to) == ADDR_EXPR && VAR_P(TREE_OPERAND(to, 0));
        take(&fate, is_variable ? TREE_TYPE(TREE_OPERAND(to, 0)) : TREE_TYPE(TREE_TYPE(to)));
        if (is_variable && DECL_ARTIFICIAL(TREE_OPERAND(to, 0)))
            add_loads(loads, TREE_OPERAND(to, 0), &values);
    } else {
        take(&fate, TREE_TYPE(gimple_call_lhs(call)));
        add(&values, gimple_call_lhs(call));
    }
    for (size_t i = 0; i < values.all.size() && !is_settled(&fate); i++) {
        imm_use_iterator at;
        use_operand_p use;
        tree value = values.all[i];
        FOR_EACH_IMM_USE_FAST(use, at, value)
        if (!is_gimple_debug(USE_STMT(use)))
            look_at_use(USE_STMT(use), value, &fate, &values);
    }
    return fate;
}

/* ---- rows ---- */

static bool allocates(gimple *call)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "reallocarray", "memalign",
                                        "aligned_alloc", "valloc", "pvalloc", "strdup", "strndup",
                                        "posix_memalign"};
    const char *name = callee_name(call);
    for (const char *known : names)
        if (!strcmp(name, known))
            return true;
    return startswith(name, "_Znw") || startswith(name, "_Zna"); /* operator new, new[] */
}

static std::string guid_of(tree function)
{
    unsigned char sum[16];
    uint64_t low;
    char text[17];
    const char *name = linkage_name(function);
    md5_buffer(name, strlen(name), sum);
    memcpy(&low, sum, sizeof low);
    snprintf(text, sizeof text, "%016" PRIx64, low);
    return text;
}

static void add_row(std::string *rows, tree function, gimple *call, const std::string &type)
{
    expanded_location at = expand_location(gimple_location(call)),
                      of = expand_location(DECL_SOURCE_LOCATION(function));
    char place[40];
    snprintf(place, sizeof place, " %" PRIu32 " %u %c ", (uint32_t)(at.line - of.line),
             (unsigned)at.column, allocates(call) ? 'a' : 'c');
    *rows += "\t.asciz \"" + guid_of(function) + place;
    for (char sign : type) {
        if (sign == '"' || sign == '\\')
            *rows += '\\';
        *rows += sign;
    }
    *rows += "\"\n";
}

/* The callee says it. */
static bool is_known(gimple *call)
{
    tree type = gimple_call_return_type(as_a<gcall *>(call));
    return !POINTER_TYPE_P(type) || (!allocates(call) && !VOID_TYPE_P(TREE_TYPE(type)));
}

static void describe(gimple *call, const loads_of_function *loads, std::string *rows)
{
    if (gimple_call_internal_p(call) ||
        (!stores_pointer(call) && (!gimple_call_lhs(call) || is_known(call))) ||
        LOCATION_LOCUS(gimple_location(call)) <= BUILTINS_LOCATION)
        return;
    struct fate fate = fate_of(call, loads);
    if (fate.type.empty() && !fate.returned)
        return;
    add_row(rows, cfun->decl, call, fate.type);
    /* Debug information of an inlined constructor has the name of all of its copies. */
    if (DECL_ABSTRACT_ORIGIN(cfun->decl) && DECL_ABSTRACT_ORIGIN(cfun->decl) != cfun->decl)
        add_row(rows, DECL_ABSTRACT_ORIGIN(cfun->decl), call, fate.type);
}

static void write_types(void)
{
    std::string rows;
    basic_block block;
    const loads_of_function loads = find_loads();
    FOR_EACH_BB_FN(block, cfun)
        for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            if (is_gimple_call(gsi_stmt(at)))
                describe(gsi_stmt(at), &loads, &rows);
    if (rows.empty())
        return;
    rows = "\t.pushsection .debug_pgokit_types,\"MS\",@progbits,1\n" + rows + "\t.popsection";
    symtab->finalize_toplevel_asm(build_string((int)rows.size(), rows.c_str()));
}

namespace
{
const pass_data about = {
    GIMPLE_PASS, "pgokit_types", OPTGROUP_NONE, TV_NONE, PROP_ssa | PROP_cfg, 0, 0, 0, 0,
};

class types_pass : public gimple_opt_pass
{
  public:
    explicit types_pass(gcc::context *context) : gimple_opt_pass(about, context)
    {
    }
    bool gate(function *) final
    {
        return debug_info_level > DINFO_LEVEL_NONE;
    }
    unsigned execute(function *) final
    {
        write_types();
        return 0;
    }
};
} // namespace

opt_pass *pgc_types_pass(void)
{
    return new types_pass(g);
}
