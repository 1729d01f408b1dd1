/* Functions of a binary, pages of what ran, and the files for linkers. */
#include "../small_program.h"

#include "hot_pages.h"
#include "order_write.h"

static struct pgk_call_graph calls;

static void check(const struct pgk_layout_functions *f, const pgk_layout_list *order,
                  enum pgk_order_form form, const char *expected)
{
    struct pgk_sink *out;
    size_t n;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_order_write(f, order, &calls, form, out);
    const uint8_t *text = pgk_sink_data(out, &n);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(text, expected, n);
    pgk_sink_drop(&out);
}

static void test_a_program(void **state)
{
    (void)state;
    struct test_bytes b;
    struct pgk_layout_functions f;
    struct pgk_elf *elf = open_small_program(&b);
    assert_int_equal(pgk_layout_functions_open(&f, elf, NULL), 0);
    assert_int_equal(f.list.n, 3);
    assert_int_equal(pgk_layout_function_at(&f, F), 0);
    assert_int_equal(pgk_layout_function_at(&f, F_RET), 0);
    assert_int_equal(pgk_layout_function_at(&f, F_RET + 1), PGK_LAYOUT_NONE);
    assert_int_equal(pgk_layout_function_at(&f, F - 1), PGK_LAYOUT_NONE);
    assert_int_equal(pgk_layout_function_at(&f, H_RET), 2);
    pgk_layout_functions_close(&f);
    pgk_elf_close(&elf);
    tb_free(&b);
}

static struct pgk_layout_functions named(const char *const *names, size_t n)
{
    struct pgk_layout_functions f = {0};
    for (uint32_t i = 0; i < n; i++)
        assert_true(pgk_vec_push(&f.names, names[i]));
    return f;
}

static void test_forms(void **state)
{
    (void)state;
    static const char *const names[] = {"main", "alias@@V1", "plain", "f.cold", "g.cold.2",
                                        "h.coldest"};
    struct pgk_layout_functions f = named(names, PGK_COUNTOF(names));
    const struct pgk_layout_function of_names[] = {{0, 1, 2, 1}, {1, 2, 0, 2}, {2, 3, 3, 1},
                                                   {3, 4, 4, 1}, {4, 5, 5, 1}};
    for (size_t i = 0; i < PGK_COUNTOF(of_names); i++)
        assert_true(pgk_vec_push(&f.list, of_names[i]));
    pgk_layout_list order = {0};
    assert_true(pgk_vec_push(&order, 1) && pgk_vec_push(&order, 3));
    check(&f, &order, PGK_ORDER_LLD, "main\nalias\ng.cold.2\n");
    check(&f, &order, PGK_ORDER_GOLD,
          ".text.hot.main\n.text.main\n.text.unlikely.main\n.text.startup.main\n"
          ".text.hot.alias\n.text.alias\n.text.unlikely.alias\n.text.startup.alias\n"
          ".text.unlikely.g\n.text.split.g\n");
    const struct pgk_graph_call of_calls[] = {{1, 0, 4, 90}, {2, 1, 8, 7}};
    for (size_t i = 0; i < PGK_COUNTOF(of_calls); i++)
        assert_true(pgk_vec_push(&calls.calls, of_calls[i]));
    check(&f, &order, PGK_ORDER_CALLS, "main plain 90\nf.cold main 7\n");
    pgk_call_graph_free(&calls);
    order.n = 0;
    assert_true(pgk_vec_push(&order, 2) && pgk_vec_push(&order, 4));
    check(&f, &order, PGK_ORDER_LD,
          "SECTIONS\n{\n  .text.ordered :\n  {\n"
          "    *(.text.unlikely.f)\n    *(.text.split.f)\n"
          "    *(.text.hot.h.coldest)\n    *(.text.h.coldest)\n    *(.text.unlikely.h.coldest)\n"
          "    *(.text.startup.h.coldest)\n"
          "  }\n}\nINSERT BEFORE .text;\n");
    pgk_vec_free(&order);
    pgk_layout_functions_close(&f);
}

static void test_pages(void **state)
{
    (void)state;
    struct pgk_layout_functions f = {0};
    struct pgk_call_graph g = {0};
    pgk_layout_list order = {0};
    /* Three hot functions of 1 KiB, each over the end of a page; a cold one. */
    const uint64_t counts[] = {500, 400, 1, 100};
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t low = 0x10000 + i * 0x3000 + 0xe00;
        assert_true(pgk_vec_push(&f.list, (struct pgk_layout_function){low, low + 1024, i, 1}));
        assert_true(pgk_vec_push(&g.functions, (struct pgk_graph_function){1024, counts[i]}));
        assert_true(pgk_vec_push(&order, i));
    }
    uint64_t now = 0, ordered = 0;
    assert_true(pgk_hot_pages(&now, &ordered, &f, &g, &order));
    assert_int_equal(now, 6);
    assert_int_equal(ordered, 1);
    pgk_vec_free(&order);
    pgk_call_graph_free(&g);
    pgk_layout_functions_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
