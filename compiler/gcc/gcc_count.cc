/* Code that counts: one counter of 8 bytes for each granule of 64 bytes, or, for histograms, one
 * byte for each 8 bytes. counter = base + granule * 8 is what an instruction of the processor can
 * add to by itself once it has the number of the granule. */
#include "gcc_plugin.h"

enum {
    GRANULE_SHIFT = 6,
    CELL_SHIFT = 3,
    GRANULE = 64,
    WORD = 8,
    GRANULE_WORDS = 8,
    PARTS_MAX = 64
};

/* A type of its own, so that updates of counters are known to be no accesses of the program. */
static tree counter_type(bool histogram)
{
    static tree types[2];
    if (!types[histogram]) {
        tree plain = histogram ? unsigned_char_type_node : long_unsigned_type_node;
        types[histogram] = build_distinct_type_copy(plain);
        TYPE_ALIAS_SET(types[histogram]) = new_alias_set();
    }
    return types[histogram];
}

/* Fixed before any code of the program runs. Being read-only, it may be read again instead of being
 * kept on the stack. */
static tree base_variable(tree type)
{
    static tree variable;
    if (!variable) {
        variable = build_decl(UNKNOWN_LOCATION, VAR_DECL,
                              get_identifier("__memprof_shadow_memory_dynamic_address"), type);
        TREE_PUBLIC(variable) = 1;
        DECL_EXTERNAL(variable) = 1;
        TREE_READONLY(variable) = 1;
        TREE_USED(variable) = 1;
        DECL_ARTIFICIAL(variable) = 1;
        DECL_IGNORED_P(variable) = 1;
    }
    return variable;
}

static tree base_of(struct pgc_counting *c)
{
    if (!c->base) {
        tree type = build_pointer_type(counter_type(c->options->histogram));
        tree variable = base_variable(type);
        c->base = make_ssa_name(type);
        gsi_insert_on_edge_immediate(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(cfun)),
                                     gimple_build_assign(c->base, variable));
    }
    return c->base;
}

static tree put(gimple_stmt_iterator *at, gassign *statement)
{
    gimple_set_location(statement, gimple_location(gsi_stmt(*at)));
    gsi_insert_before(at, statement, GSI_SAME_STMT);
    return gimple_assign_lhs(statement);
}

static tree number(HOST_WIDE_INT value)
{
    return build_int_cst(size_type_node, value);
}

static tree compute(gimple_stmt_iterator *at, tree type, tree_code code, tree a, tree b)
{
    return put(at, gimple_build_assign(make_ssa_name(type), code, a, b));
}

static tree converted(gimple_stmt_iterator *at, tree type, tree value)
{
    return put(at, gimple_build_assign(make_ssa_name(type), NOP_EXPR, value));
}

static tree address_of(gimple_stmt_iterator *at, const struct pgc_access *a)
{
    tree pointer = a->ref ? build_fold_addr_expr(unshare_expr(a->ref)) : a->pointer;
    pointer = force_gimple_operand_gsi(at, pointer, true, NULL_TREE, true, GSI_SAME_STMT);
    return converted(at, size_type_node, pointer);
}

static tree counter_at(struct pgc_counting *c, gimple_stmt_iterator *at, tree address)
{
    bool bytes = c->options->histogram;
    tree type = counter_type(bytes), base = base_of(c);
    tree cell = compute(at, size_type_node, RSHIFT_EXPR, address,
                        build_int_cst(integer_type_node, bytes ? CELL_SHIFT : GRANULE_SHIFT));
    return build5(TARGET_MEM_REF, type, base, build_int_cst(TREE_TYPE(base), 0), cell,
                  build_int_cst(sizetype, bytes ? 1 : 8), NULL_TREE);
}

static void add(struct pgc_counting *c, gimple_stmt_iterator *at, tree address, tree amount)
{
    tree counter = counter_at(c, at, address), type = TREE_TYPE(counter);
    tree old = put(at, gimple_build_assign(make_ssa_name(type), counter));
    if (TREE_CODE(amount) == INTEGER_CST)
        amount = fold_convert(type, amount);
    else
        amount = converted(at, type, amount);
    tree sum = compute(at, type, PLUS_EXPR, old, amount);
    put(at, gimple_build_assign(unshare_expr(counter), sum));
}

/* Adds a bit; the byte of a word stays at its largest value. */
static void add_to_byte(struct pgc_counting *c, gimple_stmt_iterator *at, tree address, tree bit)
{
    tree counter = counter_at(c, at, address), type = TREE_TYPE(counter);
    tree old = put(at, gimple_build_assign(make_ssa_name(type), counter));
    tree below = compute(at, boolean_type_node, NE_EXPR, old, build_int_cst(type, 255));
    tree more = converted(at, type, below);
    if (bit)
        more = compute(at, type, BIT_AND_EXPR, more, converted(at, type, bit));
    tree sum = compute(at, type, PLUS_EXPR, old, more);
    put(at, gimple_build_assign(unshare_expr(counter), sum));
}

static tree moved(gimple_stmt_iterator *at, tree address, unsigned bytes)
{
    return bytes ? compute(at, size_type_node, PLUS_EXPR, address, number(bytes)) : address;
}

/* A value that is copied as a whole counts in each of its granules; very long values count the rest
 * in the last one. */
static void count_words(struct pgc_counting *c, gimple_stmt_iterator *at, tree address,
                        unsigned words)
{
    for (unsigned i = 0; i * GRANULE_WORDS < words && i < PARTS_MAX; i++) {
        unsigned left = words - i * GRANULE_WORDS;
        bool last = left <= GRANULE_WORDS || i + 1 == PARTS_MAX;
        add(c, at, moved(at, address, i * GRANULE), number(last ? left : (unsigned)GRANULE_WORDS));
    }
}

static void count_bytes(struct pgc_counting *c, gimple_stmt_iterator *at, tree address,
                        const struct pgc_access *a)
{
    for (unsigned i = 0; i < a->times && i < PARTS_MAX; i++)
        add_to_byte(c, at, moved(at, address, a->whole ? i * WORD : 0), NULL_TREE);
}

/* Whether a lane takes part, 0 or 1: masks have an element or a bit for each. */
static tree lane_of(gimple_stmt_iterator *at, tree mask, unsigned lanes, unsigned i)
{
    tree type = TREE_TYPE(mask), word;
    unsigned bits = (unsigned)tree_to_uhwi(TYPE_SIZE(type));
    if (VECTOR_MODE_P(TYPE_MODE(type))) {
        tree element = build_nonstandard_integer_type(bits / lanes, 1);
        tree ref = build3(BIT_FIELD_REF, element, mask, bitsize_int(bits / lanes),
                          bitsize_int(i * (bits / lanes)));
        word = converted(at, size_type_node,
                         put(at, gimple_build_assign(make_ssa_name(element), ref)));
    } else {
        tree whole = build_nonstandard_integer_type(bits, 1);
        tree all = put(
            at, gimple_build_assign(make_ssa_name(whole), build1(VIEW_CONVERT_EXPR, whole, mask)));
        word = compute(at, size_type_node, RSHIFT_EXPR, converted(at, size_type_node, all),
                       build_int_cst(integer_type_node, i));
    }
    return compute(at, size_type_node, BIT_AND_EXPR, word, number(1));
}

/* Each lane that takes part is an access, and all of them are of one object. */
static void count_lanes(struct pgc_counting *c, gimple_stmt_iterator *at, tree address,
                        const struct pgc_access *a)
{
    tree sum = number(0);
    unsigned lanes = (unsigned)TYPE_VECTOR_SUBPARTS(TREE_TYPE(a->mask)).to_constant();
    for (unsigned i = 0; i < lanes; i++) {
        tree lane = lane_of(at, a->mask, lanes, i);
        if (c->options->histogram)
            add_to_byte(c, at, moved(at, address, i * a->lane_bytes), lane);
        else
            sum = compute(at, size_type_node, PLUS_EXPR, sum, lane);
    }
    if (!c->options->histogram)
        add(c, at, address, sum);
}

void pgc_count(struct pgc_counting *c, const struct pgc_access *a)
{
    gimple_stmt_iterator at = gsi_for_stmt(a->at);
    tree address = address_of(&at, a);
    if (a->mask)
        count_lanes(c, &at, address, a);
    else if (c->options->histogram)
        count_bytes(c, &at, address, a);
    else if (a->whole)
        count_words(c, &at, address, a->times);
    else
        add(c, &at, address, number(a->times));
}
