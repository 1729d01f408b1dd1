/* From counts of addresses to lists of blocks and of symbols. */
#include "../pgk_test.h"

#include "propeller_write.h"

enum { F = 0x1000, G = 0x2000 };

static struct pgk_block_map map;
static struct pgk_layout_functions functions;
static struct pgk_pairs ranges, branches;

static void add_function(uint64_t entry, const char *const *names, uint32_t n)
{
    struct pgk_map_function f = {entry, (uint32_t)map.blocks.n, 0};
    struct pgk_layout_function l = {entry, entry + 0x1000, (uint32_t)functions.names.n, n};
    assert_true(pgk_vec_push(&map.functions, f));
    assert_true(pgk_vec_push(&functions.list, l));
    for (uint32_t i = 0; i < n; i++)
        assert_true(pgk_vec_push(&functions.names, names[i]));
}

static void add_block(uint64_t low, uint32_t size, uint32_t id, uint32_t flags)
{
    struct pgk_map_block b = {low, size, id, (uint32_t)map.functions.n - 1, flags};
    assert_true(pgk_vec_push(&map.blocks, b));
    map.functions.v[map.functions.n - 1].n++;
}

/* F has blocks 0, 7, 2, 3: 0 usually jumps over 7 to 2, which ends with a call, and then comes 3.
 * G has 0 and 1, which never runs. */
static int set_up(void **state)
{
    static const char *const of_f[] = {"f", "f_alias", "twin"}, *const of_g[] = {"g@@V1"},
                             *const of_h[] = {"twin"};
    (void)state;
    add_function(F, of_f, 3);
    add_block(F, 0x10, 0, PGK_BLOCK_FALLS_THROUGH);
    add_block(F + 0x10, 0x40, 7, PGK_BLOCK_FALLS_THROUGH | PGK_BLOCK_LANDING_PAD);
    add_block(F + 0x50, 0x20, 2, PGK_BLOCK_FALLS_THROUGH);
    add_block(F + 0x70, 0x10, 3, PGK_BLOCK_RETURNS);
    add_function(G, of_g, 1);
    add_block(G, 0x30, 0, PGK_BLOCK_RETURNS);
    add_block(G + 0x30, 0x30, 1, PGK_BLOCK_RETURNS);
    add_function(0x3000, of_h, 1);
    add_block(0x3000, 0x10, 0, PGK_BLOCK_RETURNS);
    assert_true(pgk_block_map_sort(&map));
    assert_true(pgk_pairs_add(&ranges, F, F + 0xe, 95));         /* to the jump */
    assert_true(pgk_pairs_add(&ranges, F, F + 0x6b, 5));         /* where it is not taken */
    assert_true(pgk_pairs_add(&ranges, F + 0x50, F + 0x6b, 95)); /* to the call */
    assert_true(pgk_pairs_add(&ranges, F + 0x70, F + 0x7f, 98)); /* from its return */
    assert_true(pgk_pairs_add(&ranges, G, G + 0x2f, 99));
    assert_true(pgk_pairs_add(&ranges, 0x3000, 0x300f, 1));
    assert_true(pgk_pairs_add(&branches, F + 0xe, F + 0x50, 95));
    assert_true(pgk_pairs_add(&branches, F + 0x6b, G, 99));
    assert_true(pgk_pairs_add(&branches, G + 0x2f, F + 0x70, 98));
    assert_true(pgk_pairs_add(&branches, F + 0x7f, F, 50));       /* a recursive call */
    assert_true(pgk_pairs_add(&branches, F + 0x7f, F + 0x70, 3)); /* its return */
    assert_true(pgk_pairs_add(&branches, PGK_ADDR_EXTERNAL, F, 100));
    pgk_pairs_sort(&ranges);
    pgk_pairs_sort(&branches);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pgk_block_map_close(&map);
    pgk_layout_functions_close(&functions);
    pgk_pairs_free(&ranges);
    pgk_pairs_free(&branches);
    return 0;
}

static void test_flow(void **state)
{
    static const struct pgk_tsp_jump expected[] = {{0, 1, 5}, {0, 2, 95}, {1, 2, 5}, {2, 3, 98}};
    struct pgk_block_flow flow;
    (void)state;
    assert_true(pgk_block_flow_count(&flow, &map, &ranges, &branches));
    assert_int_equal(flow.jumps.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(flow.jumps.v[i].from, expected[i].from);
        assert_int_equal(flow.jumps.v[i].to, expected[i].to);
        assert_int_equal(flow.jumps.v[i].count, expected[i].count);
    }
    assert_int_equal(flow.taken, 95);
    assert_int_equal(flow.fallen, 108);
    assert_int_equal(flow.calls.n, 1);
    assert_int_equal(flow.calls.v[0].from, 2);
    assert_int_equal(flow.calls.v[0].to, 1);
    assert_int_equal(flow.calls.v[0].offset, 0x1b);
    assert_int_equal(flow.counts[0], 100);
    assert_int_equal(flow.counts[2], 100);
    assert_int_equal(flow.counts[5], 0);
    pgk_block_flow_free(&flow);
}

static void expect_text(unsigned list, const char *blocks, const char *symbols)
{
    char folder[TEST_PATH_SIZE], one[TEST_PATH_SIZE], two[TEST_PATH_SIZE];
    struct pgk_block_flow flow;
    struct pgk_block_order order;
    struct pgk_propeller_written w;
    struct pgk_sink *list_out, *symbols_out;
    size_t n;
    test_folder(folder);
    assert_true(pgk_block_flow_count(&flow, &map, &ranges, &branches));
    assert_true(pgk_block_order_make(&order, &flow));
    assert_int_equal(pgk_sink_open(&list_out, test_join(one, folder, "list"), NULL), 0);
    assert_int_equal(pgk_sink_open(&symbols_out, test_join(two, folder, "order"), NULL), 0);
    struct pgk_propeller p = {&map, &order, &functions, list};
    assert_true(pgk_propeller_write(&p, list_out, symbols_out, &w));
    assert_int_equal(pgk_sink_commit(&list_out, NULL), 0);
    assert_int_equal(pgk_sink_commit(&symbols_out, NULL), 0);
    char *text = test_read_file(one, &n);
    assert_int_equal(n, strlen(blocks));
    assert_memory_equal(text, blocks, n);
    free(text);
    text = test_read_file(two, &n);
    assert_int_equal(n, strlen(symbols));
    assert_memory_equal(text, symbols, n);
    free(text);
    assert_int_equal(w.functions, 2);
    assert_int_equal(w.blocks, 5);
    assert_int_equal(w.nameless, 1);
    assert_string_equal(w.nameless_example, "twin");
    assert_int_equal(order.all, 203);
    assert_int_equal(order.taken, 10);
    assert_true(order.score > order.score_now);
    pgk_block_order_free(&order);
    pgk_block_flow_free(&flow);
    test_folder_remove(folder);
}

/* Names that two functions have are no names of either. */
static void test_lists(void **state)
{
    static const char symbols[] = "f\nf_alias\ng\nf.eh\nf_alias.eh\nf.cold\nf_alias.cold\ng.cold\n";
    (void)state;
    expect_text(0, "!f/f_alias\n!!0 2 3 7\n!g\n!!0\n", symbols);
    expect_text(1, "v1\nf f f_alias\nc 0 2 3 7\nf g\nc 0\n", symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flow), cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
