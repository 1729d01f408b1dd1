/* The pass: goes through a function after all optimisations of gcc, when it is still in SSA form.
 */
#include "gcc_plugin.h"

enum { NEAR = 64, OPEN_MAX = 32 };

/* Accesses at constant distances from one address. They are of one object, and nothing between them
 * ends it, so they count together where the first of them is. */
struct run {
    struct pgc_access first;
    tree base, offset, step, index; /* the address without its constant part */
    HOST_WIDE_INT at;               /* the constant part, in bytes */
    bool open;                      /* more may be added */
};

struct runs {
    vec<struct run> v;
    unsigned n_open_from; /* all before it are closed */
};

/* Negative ones, too, though gcc keeps them in a pointer's type. */
static HOST_WIDE_INT offset_of(tree memory)
{
    return mem_ref_offset(memory).to_constant().to_shwi();
}

/* Splits an address; false if its constant part is no whole number of bytes. */
static bool split(tree ref, struct run *r)
{
    poly_int64 size, position;
    machine_mode mode;
    int is_unsigned, reverse, is_volatile;
    HOST_WIDE_INT bits;
    r->base = get_inner_reference(ref, &size, &position, &r->offset, &mode, &is_unsigned, &reverse,
                                  &is_volatile);
    if (!position.is_constant(&bits))
        return false;
    r->at = bits / BITS_PER_UNIT;
    if (TREE_CODE(r->base) == MEM_REF) {
        r->at += offset_of(r->base);
        r->base = TREE_OPERAND(r->base, 0);
    } else if (TREE_CODE(r->base) == TARGET_MEM_REF && !r->offset) {
        tree address = r->base;
        r->at += offset_of(address);
        r->base = TMR_BASE(address);
        r->offset = TMR_INDEX(address);
        r->step = TMR_STEP(address);
        r->index = TMR_INDEX2(address);
    }
    return true;
}

static bool same(tree a, tree b)
{
    return a == b || (a && b && operand_equal_p(a, b, 0));
}

static bool same_place(const struct run *a, const struct run *b)
{
    return same(a->base, b->base) && same(a->offset, b->offset) && same(a->step, b->step) &&
           same(a->index, b->index);
}

static void add_run(struct runs *runs, const struct pgc_access *a, bool coalesce)
{
    struct run r = {*a, NULL_TREE, NULL_TREE, NULL_TREE, NULL_TREE, 0, false};
    bool joins = coalesce && !a->alone && a->ref && split(a->ref, &r);
    unsigned first = runs->n_open_from;
    if (joins && runs->v.length() > first + OPEN_MAX)
        first = runs->v.length() - OPEN_MAX;
    for (unsigned i = first; joins && i < runs->v.length(); i++) {
        struct run *o = &runs->v[i];
        HOST_WIDE_INT distance = o->at - r.at;
        if (o->open && distance < NEAR && distance > -NEAR && same_place(o, &r)) {
            o->first.times += a->times;
            return;
        }
    }
    r.open = joins;
    runs->v.safe_push(r);
}

static void look_at(gimple *statement, struct runs *runs, bool coalesce)
{
    struct pgc_accesses found;
    if (pgc_count_in_runtime(statement)) {
        runs->n_open_from = runs->v.length();
        return;
    }
    pgc_accesses_of(statement, &found);
    for (unsigned i = 0; i < found.n; i++)
        add_run(runs, &found.v[i], coalesce);
    if (pgc_ends_run(statement))
        runs->n_open_from = runs->v.length();
}

static bool any_counted;

bool pgc_any_counted(void)
{
    return any_counted;
}

static unsigned count_in_function(const struct pgc_options *options)
{
    struct pgc_counting counting = {options, NULL_TREE};
    struct runs runs = {vNULL, 0};
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
    {
        runs.n_open_from = runs.v.length();
        for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            look_at(gsi_stmt(at), &runs, options->coalesce && !options->histogram);
    }
    for (unsigned i = 0; i < runs.v.length(); i++)
        pgc_count(&counting, &runs.v[i].first);
    runs.v.release();
    any_counted = true;
    return counting.base ? TODO_update_ssa : 0;
}

namespace
{
const pass_data about = {
    GIMPLE_PASS, "pgokit_heap", OPTGROUP_NONE, TV_NONE, PROP_ssa | PROP_cfg, 0, 0, 0, 0,
};

class heap_pass : public gimple_opt_pass
{
  public:
    heap_pass(gcc::context *context, const struct pgc_options *chosen)
        : gimple_opt_pass(about, context), options(chosen)
    {
    }
    bool gate(function *f) final
    {
        return !lookup_attribute("naked", DECL_ATTRIBUTES(f->decl));
    }
    unsigned execute(function *) final
    {
        return count_in_function(options);
    }

  private:
    const struct pgc_options *options;
};
} // namespace

opt_pass *pgc_pass(const struct pgc_options *options)
{
    return new heap_pass(g, options);
}
