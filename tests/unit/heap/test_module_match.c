/* Which binary a module is, and what the profile's addresses are there. */
#include "module_match.h"

#include "heap_binaries.h"
#include "heap_samples.h"

/* Binaries with these names; the first two have them as build ids, too. All have the same code. */
enum { FIRST, SECOND, PLAIN };
enum { CODE_OFF = 0x2345, CODE_SIZE = 0x1800 };

struct given {
    struct test_binaries b;
    struct pgk_heap *heap;
};

static struct given given(void)
{
    struct given g = {.b = test_binaries()};
    assert_int_equal(pgk_heap_new(&g.heap, NULL), 0);
    test_binaries_add(&g.b, "first", "first", ET_DYN, CODE_OFF, CODE_SIZE);
    test_binaries_add(&g.b, "second", "second", ET_DYN, CODE_OFF, CODE_SIZE);
    test_binaries_add(&g.b, "plain", "", ET_DYN, CODE_OFF, CODE_SIZE);
    return g;
}

static void end(struct given *g)
{
    test_binaries_end(&g->b);
    pgk_heap_close(&g->heap);
}

static uint32_t binary_of(struct given *g, struct pgk_heap_module m, const char *build_id,
                          const char *name)
{
    m.build_id = pgk_intern_cstr(&g->heap->strings, build_id);
    m.name = pgk_intern_cstr(&g->heap->strings, name);
    uint32_t module = pgk_heap_module(g->heap, &m);
    return pgk_module_binary(g->heap, module, g->b.set);
}

static void a_build_id_says_which(void **state)
{
    (void)state;
    struct given g = given();
    const struct pgk_heap_module m = {.text_size = CODE_SIZE};
    assert_int_equal(binary_of(&g, m, "first", ""), FIRST);
    assert_int_equal(binary_of(&g, m, "second", ""), SECOND);
    assert_int_equal(binary_of(&g, m, "second", "first"), SECOND);
    assert_int_equal(binary_of(&g, m, "third", ""), PGK_INDEX_NONE);
    assert_int_equal(binary_of(&g, m, "firs", "first"), PGK_INDEX_NONE);
    end(&g);
}

static void a_name_says_which_where_nothing_else_is_known(void **state)
{
    (void)state;
    struct given g = given();
    const struct pgk_heap_module m = {0};
    assert_int_equal(binary_of(&g, m, "", "second"), SECOND);
    assert_int_equal(binary_of(&g, m, "", "/elsewhere/plain"), PLAIN);
    assert_int_equal(binary_of(&g, m, "", "/plain/elsewhere"), PGK_INDEX_NONE);
    assert_int_equal(binary_of(&g, m, "", "plai"), PGK_INDEX_NONE);
    end(&g);
}

/* A profile that knows build ids has none only of a binary without. */
static void the_size_of_code_says_which_has_no_build_id(void **state)
{
    (void)state;
    struct given g = given();
    const struct pgk_heap_module m = {.text_size = CODE_SIZE},
                                 other = {.text_size = CODE_SIZE - 1};
    assert_int_equal(binary_of(&g, m, "", ""), PLAIN);
    assert_int_equal(binary_of(&g, other, "", ""), PGK_INDEX_NONE);
    end(&g);
}

/* Pages 2 and 3 of the file: 0x2345 to 0x3b45. */
static void mapped_pages_say_which_by_place_in_the_file(void **state)
{
    (void)state;
    struct given g = given();
    struct pgk_heap_module m = {.by_file_off = true, .text_off = 0x2000, .text_size = 0x2000};
    assert_int_equal(binary_of(&g, m, "", ""), FIRST);
    m.text_size = CODE_SIZE;
    assert_int_equal(binary_of(&g, m, "", ""), PGK_INDEX_NONE);
    m.text_size = 0x2000;
    m.text_off = CODE_OFF;
    assert_int_equal(binary_of(&g, m, "", ""), PGK_INDEX_NONE);
    end(&g);
}

static void code_is_mapped_in_whole_pages(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset, filesz, off, size;
    } cases[] = {
        {0x1000, 0x1000, 0x1000, 0x1000}, {0x1000, 0x1001, 0x1000, 0x2000},
        {0x1fff, 1, 0x1000, 0x1000},      {0x1fff, 2, 0x1000, 0x2000},
        {0, 1, 0, 0x1000},                {0x1000, 0, 0x1000, 0},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_mapped_text t = pgk_mapped_text(
            &(struct pgk_segment){.offset = cases[i].offset, .filesz = cases[i].filesz});
        assert_int_equal(t.off, cases[i].off);
        assert_int_equal(t.size, cases[i].size);
    }
}

static void addresses_are_those_of_the_linker(void **state)
{
    (void)state;
    struct given g = given();
    const struct pgk_elf *elf = pgk_binaries_elf(g.b.set, PLAIN);
    uint32_t by_address = pgk_heap_module(g.heap, &(struct pgk_heap_module){.text_size = 1}),
             by_offset = pgk_heap_module(g.heap, &(struct pgk_heap_module){.by_file_off = true});
    assert_true(pgk_module_link_address(g.heap, by_address, elf, 0x1234567) == 0x1234567);
    static const struct {
        uint64_t where, address;
    } cases[] = {
        {CODE_OFF, TEST_CODE},
        {CODE_OFF + 0x10, TEST_CODE + 0x10},
        {CODE_OFF + CODE_SIZE - 1, TEST_CODE + CODE_SIZE - 1},
        {CODE_OFF + CODE_SIZE, UINT64_MAX}, /* the rest of the page */
        {CODE_OFF - 1, UINT64_MAX},
        {0, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++)
        assert_true(pgk_module_link_address(g.heap, by_offset, elf, cases[i].where) ==
                    cases[i].address);
    end(&g);
}

static void without_binaries_nothing_matches(void **state)
{
    (void)state;
    struct given g = given();
    pgk_binaries_close(&g.b.set);
    assert_int_equal(pgk_binaries_new(&g.b.set, NULL, NULL), 0);
    const struct pgk_heap_module m = {.text_size = CODE_SIZE};
    assert_int_equal(binary_of(&g, m, "first", ""), PGK_INDEX_NONE);
    assert_int_equal(binary_of(&g, m, "", "first"), PGK_INDEX_NONE);
    assert_int_equal(binary_of(&g, m, "", ""), PGK_INDEX_NONE);
    end(&g);
}

/* By any of its modules, and by no other binary. */
static void which_binaries_were_loaded(void **state)
{
    (void)state;
    struct given g = given();
    const struct pgk_heap_module m = {.text_size = CODE_SIZE};
    assert_false(pgk_heap_was_loaded(g.heap, g.b.set, FIRST));
    assert_int_equal(binary_of(&g, m, "third", ""), PGK_INDEX_NONE);
    assert_int_equal(binary_of(&g, m, "second", ""), SECOND);
    assert_false(pgk_heap_was_loaded(g.heap, g.b.set, FIRST));
    assert_true(pgk_heap_was_loaded(g.heap, g.b.set, SECOND));
    assert_false(pgk_heap_was_loaded(g.heap, g.b.set, PLAIN));
    end(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_says_which),
        cmocka_unit_test(a_name_says_which_where_nothing_else_is_known),
        cmocka_unit_test(the_size_of_code_says_which_has_no_build_id),
        cmocka_unit_test(mapped_pages_say_which_by_place_in_the_file),
        cmocka_unit_test(code_is_mapped_in_whole_pages),
        cmocka_unit_test(addresses_are_those_of_the_linker),
        cmocka_unit_test(without_binaries_nothing_matches),
        cmocka_unit_test(which_binaries_were_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
