/* Functions of a binary by address; the graph of one; callers that tail calls hide. */
#include "../small_program.h"

#include "flow_graph.h"
#include "functions.h"
#include "missing_frames.h"

struct program {
    struct test_bytes bytes;
    struct pgk_elf *elf;
    struct pgk_functions functions;
    struct pgk_code code;
};

static int open_program(void **state)
{
    static struct program p;
    p.elf = open_small_program(&p.bytes);
    assert_int_equal(pgk_functions_open(&p.functions, NULL, p.elf, true, NULL, 0, 1, NULL), 0);
    assert_int_equal(pgk_code_open(&p.code, p.elf, NULL), 0);
    *state = &p;
    return 0;
}

static int close_program(void **state)
{
    struct program *p = *state;
    pgk_functions_close(&p->functions);
    pgk_code_close(&p->code);
    pgk_elf_close(&p->elf);
    tb_free(&p->bytes);
    return 0;
}

static const char *name_at(const struct program *p, uint64_t addr)
{
    const struct pgk_function_range *r = pgk_functions_at(&p->functions, addr);
    return r ? p->functions.functions.v[r->function].name : "";
}

static void test_by_address(void **state)
{
    const struct program *p = *state;
    assert_int_equal(p->functions.functions.n, 3);
    assert_string_equal(name_at(p, F), "f");
    assert_string_equal(name_at(p, F_RET), "f");
    assert_string_equal(name_at(p, F_RET + 1), ""); /* between two functions */
    assert_string_equal(name_at(p, G + 1), "g");
    assert_string_equal(name_at(p, H_RET), "h");
    assert_string_equal(name_at(p, 0), "");
    assert_string_equal(name_at(p, UINT64_MAX), "");
    assert_string_equal(pgk_functions_entered(&p->functions, H)->name, "h");
    assert_null(pgk_functions_entered(&p->functions, H_RET));
}

static size_t length(const char *name)
{
    return pgk_symbol_length(name);
}

static void test_symbol_length(void **state)
{
    (void)state;
    assert_int_equal(length("f"), 1);
    assert_int_equal(length("f.cold"), 1);
    assert_int_equal(length("f.llvm.123"), 1);
    assert_int_equal(length("f.isra.0.cold"), 1);
    assert_int_equal(length("f.cold.isra.0"), strlen("f.cold")); /* each once, in their order */
    assert_int_equal(length("f.__uniq.12"), strlen("f.__uniq.12"));
    assert_int_equal(length(""), 0);
}

static void test_graph(void **state)
{
    struct program *p = *state;
    struct pgk_flow_graph g = {0};
    uint32_t f = pgk_functions_at(&p->functions, F)->function;
    assert_int_equal(pgk_flow_graph_make(&g, &p->code, &p->functions, f, NULL), 0);
    assert_int_equal(g.places.n, 3);
    assert_int_equal(g.blocks.n, 4);
    assert_int_equal(g.entry, 0);
    assert_true(g.places.v[0].low == F && g.places.v[0].last == F_BRANCH && g.places.v[0].n == 2);
    assert_true(g.places.v[1].low == F_CALL && g.places.v[2].low == F_RET);
    assert_true(g.blocks.v[2].is_exit && !g.blocks.v[0].is_exit && !g.blocks.v[1].is_exit);
    assert_int_equal(g.edges.n, 3);
    assert_true(g.edges.v[0].from == 0 && g.edges.v[0].to == 2);
    assert_true(g.edges.v[1].from == 0 && g.edges.v[1].to == 1);
    assert_true(g.edges.v[2].from == 1 && g.edges.v[2].to == 2);
    assert_int_equal(pgk_flow_graph_find(&g, F_CALL + 1), 1);
    assert_int_equal(pgk_flow_graph_find(&g, G), UINT32_MAX);

    uint32_t tail = pgk_functions_at(&p->functions, G)->function;
    assert_int_equal(pgk_flow_graph_make(&g, &p->code, &p->functions, tail, NULL), 0);
    assert_int_equal(g.places.n, 1);
    assert_true(g.blocks.v[0].is_exit && g.blocks.v[0].is_entry && !g.edges.n);
    pgk_flow_graph_free(&g);
}

/* f calls g, and g ends in a jump to h: a stack shows f right above h. */
static void test_missing_frames(void **state)
{
    struct program *p = *state;
    struct pgk_call_counts branches = {0};
    struct pgk_missing_frames m;
    pgk_addr_vec jumps = {0};
    assert_true(pgk_call_counts_add(&branches, 0, F_CALL, G, 5));
    assert_true(pgk_call_counts_add(&branches, 0, G, H, 5));
    assert_int_equal(pgk_missing_frames_open(&m, &p->functions, &p->code, &branches, NULL), 0);
    assert_true(pgk_missing_frames_add(&m, F_CALL, H_RET, &jumps));
    assert_int_equal(jumps.n, 1);
    assert_true(jumps.v[0] == G);
    jumps.n = 0;
    assert_true(pgk_missing_frames_add(&m, F_CALL, G, &jumps)); /* nothing is missing */
    assert_int_equal(jumps.n, 0);
    pgk_missing_frames_close(&m);
    pgk_vec_free(&jumps);
    pgk_vec_free(&branches.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_address),
        cmocka_unit_test(test_symbol_length),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_missing_frames),
    };
    return cmocka_run_group_tests(tests, open_program, close_program);
}
