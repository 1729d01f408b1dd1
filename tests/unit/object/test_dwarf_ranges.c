/* Tests of lib/object/dwarf_ranges.c and dwarf_aranges.c: which function an address lies in. */
#include "../dwarf_samples.h"

static void discarded_functions_are_not_there(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x100, 0xffffffff);
    empty_function(&d, "kept", 0x2000, 0x80);
    empty_function(&d, "at zero", 0, 0x80);
    empty_function(&d, "at -1", UINT64_MAX, 0x3000);
    empty_function(&d, "at -2", UINT64_MAX - 1, 0x3000);
    empty_function(&d, "empty", 0x2010, 0);
    end_unit(&d, unit);
    EXPECT(&d, {0, ""}, {1, ""}, {0x7f, ""}, {0x2000, "kept ?:0:0:0 ?:1"},
           {0x2010, "kept ?:0:0:0 ?:1"}, {0x2080, ""}, {UINT64_MAX - 1, ""}, {UINT64_MAX, ""});
    td_free(&d);
}

static void functions_may_have_several_ranges(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    put_range(&d.ranges, 0x10, 0x20); /* from the unit's low pc */
    put_range(&d.ranges, UINT64_MAX, 0x5000);
    put_range(&d.ranges, 0x10, 0x20);
    put_range(&d.ranges, UINT64_MAX - 1, UINT64_MAX - 1);
    put_range(&d.ranges, UINT64_MAX, 0);
    put_range(&d.ranges, 0x2040, 0x2050);
    put_range(&d.ranges, 0, 0);
    put_range(&d.ranges, 0x2060, 0x2070); /* not ended */
    size_t unit = begin_unit(&d, 0x2000, 0x10000, 0xffffffff);
    static const uint32_t lists[] = {0, 7 * 16, 0x100000, 8 * 16};
    for (unsigned i = 0; i < 4; i++) {
        tb_uleb(&d.info, A_RANGES);
        tb_str(&d.info, (const char *const[]){"hot", "open", "wild", "end"}[i]);
        tb_u32(&d.info, lists[i]);
    }
    end_unit(&d, unit);
    EXPECT(&d, {0x200f, ""}, {0x2010, "hot ?:0:0:0 ?:0"}, {0x201f, "hot ?:0:0:0 ?:0"}, {0x2020, ""},
           {0x2040, "hot ?:0:0:0 ?:0"}, {0x2050, ""}, {0x4060, "open ?:0:0:0 ?:0"},
           {0x5010, "hot ?:0:0:0 ?:0"}, {0x5020, ""});
    td_free(&d);
}

/* What a linker that folds equal functions leaves; the choice is LLVM's. */
static void folded_functions_mix_as_in_llvm(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x100, 0xffffffff);
    size_t in = abstract(&d, "_Zin", 1, 20);
    static const char *const names[] = {"one", "two"};
    for (int i = 0; i < 2; i++) {
        function(&d, names[i], 0x2000, 0x40, 1);
        if (i == 0) {
            inlined(&d, in, 0x2010, 0x10, 8, 3, 0);
            tb_u8(&d.info, 0);
        }
        tb_u8(&d.info, 0);
    }
    empty_function(&d, "inside", 0x2030, 0x8);
    end_unit(&d, unit);
    EXPECT(&d, {0x2000, "two ?:0:0:0 ?:1"}, {0x2010, "_Zin ?:0:0:0 ?:20 < one ?:8:3:0 ?:1"},
           {0x2020, "one ?:0:0:0 ?:1"}, {0x2030, "inside ?:0:0:0 ?:1"}, {0x2038, "one ?:0:0:0 ?:1"},
           {0x2040, ""});
    td_free(&d);
}

/* The same with both sets of inlined code, from the start on. */
static void folded_functions_with_equal_inlined_code(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x100, 0xffffffff);
    size_t in = abstract(&d, "_Zin", 1, 20);
    static const char *const names[] = {"one", "two"};
    for (unsigned i = 0; i < 2; i++) {
        function(&d, names[i], 0x2000, 0x40, 1);
        inlined(&d, in, 0x2000, 0x10, 8 + i, 3, 0);
        tb_put(&d.info, "\0\0", 2);
    }
    end_unit(&d, unit);
    EXPECT(&d, {0x2000, "_Zin ?:0:0:0 ?:20 < two ?:9:3:0 ?:1"},
           {0x200f, "_Zin ?:0:0:0 ?:20 < two ?:9:3:0 ?:1"}, {0x2010, "two ?:0:0:0 ?:1"},
           {0x203f, "two ?:0:0:0 ?:1"});
    td_free(&d);
}

static void aranges_may_leave_out_units(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t first = begin_unit(&d, 0x2000, 0x100, 0xffffffff);
    empty_function(&d, "first", 0x2000, 0x80);
    end_unit(&d, first);
    size_t second = begin_unit(&d, 0x3000, 0x100, 0xffffffff);
    empty_function(&d, "second", 0x3000, 0x80);
    end_unit(&d, second);
    tb_u32(&d.aranges, 44);
    tb_u16(&d.aranges, 2);
    tb_u32(&d.aranges, first);
    tb_put(&d.aranges, "\10\0\0\0\0\0", 6);
    put_range(&d.aranges, 0x2000, 0x100);
    put_range(&d.aranges, 0, 0);
    EXPECT(&d, {0x2000, "first ?:0:0:0 ?:1"}, {0x3000, "second ?:0:0:0 ?:1"});
    for (size_t n = 0; n < d.aranges.n; n++) { /* a damaged one is as good as none */
        struct test_dwarf cut = d;
        cut.aranges.n = n;
        EXPECT(&cut, {0x2000, "first ?:0:0:0 ?:1"}, {0x3000, "second ?:0:0:0 ?:1"});
    }
    td_free(&d);
}

static void indexed_forms_of_version_5(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    version_5(&d);
    EXPECT(&d, {0x1fff, ""}, {0x2000, "split_name ?:0:0:0 ?:0"},
           {0x2010, "_Zinlined ?:0:0:0 ?:55 < split_name ?:999:33:0 ?:0"},
           {0x2014, "split_name ?:0:0:0 ?:0"}, {0x2100, ""}, {0x4000, "split_name ?:0:0:0 ?:0"},
           {0x4100, ""}, {0x5000, "split_name ?:0:0:0 ?:0"}, {0x5010, ""},
           {0x6000, "split_name ?:0:0:0 ?:0"}, {0x6010, ""}, {0x700f, "split_name ?:0:0:0 ?:0"},
           {0x800f, "split_name ?:0:0:0 ?:0"}, {0x8010, ""});
    td_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discarded_functions_are_not_there),
        cmocka_unit_test(functions_may_have_several_ranges),
        cmocka_unit_test(folded_functions_mix_as_in_llvm),
        cmocka_unit_test(folded_functions_with_equal_inlined_code),
        cmocka_unit_test(aranges_may_leave_out_units),
        cmocka_unit_test(indexed_forms_of_version_5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
