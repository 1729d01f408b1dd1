/* Tests of lib/object/dwarf_lines.c: rows of line programs. */
#include "../dwarf_samples.h"

static unsigned warnings;

static void count_warning(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)text;
    warnings += level == PGK_LOG_WARNING;
}

static void one_function(struct test_dwarf *d, size_t lines)
{
    common_abbrevs(d);
    size_t unit = begin_unit(d, 0x2000, 0x10000, lines);
    empty_function(d, "f", 0x2000, 0x10000);
    end_unit(d, unit);
}

static void all_ways_to_advance(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    size_t lines = td_lines(&d, 4, 1);
    td_set_address(&d, 0x2000);
    tb_u8(&d.line, DW_LNS_copy);         /* 0x2000: line 1 */
    td_row(&d, 3, 2);                    /* 0x200c: line 3 */
    tb_put(&d.line, "\x03\xe4\x00", 3);  /* advance_line 100 */
    tb_u8(&d.line, DW_LNS_const_add_pc); /* 17 * 4 */
    tb_put(&d.line, "\x06\x07\x0a\x0b\x0c\x05", 6);
    tb_u8(&d.line, DW_LNS_copy);        /* 0x2050: line 103 */
    tb_put(&d.line, "\x09\x00\x10", 3); /* fixed_advance_pc 0x1000, unscaled */
    tb_u8(&d.line, DW_LNS_copy);        /* 0x3050 */
    tb_put(&d.line, "\x02\x04\x03\x9c\x7f", 5);
    tb_u8(&d.line, DW_LNS_copy);        /* 0x3060: line 3 */
    tb_put(&d.line, "\0\3\x80\1\2", 5); /* a vendor's own */
    td_end_sequence(&d, 4);             /* ends at 0x3070 */
    td_set_address(&d, 0x2100);         /* a second sequence, overlapping, ends first */
    td_row(&d, 0, 8);
    td_end_sequence(&d, 1);
    td_set_address(&d, UINT64_MAX); /* discarded code */
    td_row(&d, 0, 8);
    td_end_sequence(&d, 0x10000);
    td_lines_end(&d, lines);
    one_function(&d, lines);
    EXPECT(&d, {0x2000, "f a.c:1:0:0 a.c:1"}, {0x200b, "f a.c:1:0:0 a.c:1"},
           {0x200c, "f a.c:3:0:0 a.c:1"}, {0x204f, "f a.c:3:0:0 a.c:1"},
           {0x2050, "f a.c:103:0:0 a.c:1"}, {0x2100, "f a.c:9:0:0 a.c:1"},
           {0x2104, "f a.c:103:0:0 a.c:1"}, {0x3050, "f a.c:103:0:0 a.c:1"},
           {0x3060, "f a.c:3:0:0 a.c:1"}, {0x306f, "f a.c:3:0:0 a.c:1"},
           {0x3070, "f ?:0:0:0 a.c:1"});
    td_free(&d);
}

/* Where the place in the source changes: not at a row that repeats the one before. */
static void rows_that_begin_a_place(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    size_t lines = td_lines(&d, 4, 1), n;
    uint64_t *rows;
    td_set_address(&d, 0x3000);
    tb_u8(&d.line, DW_LNS_copy); /* 0x3000: line 1 */
    td_row(&d, 2, 2);            /* 0x3008: line 3 */
    td_row(&d, 1, 0);            /* 0x300c: line 3 again */
    td_row(&d, 1, 1);            /* 0x3010: line 4 */
    td_end_sequence(&d, 4);
    td_set_address(&d, 0x2000);
    td_row(&d, 0, 8);
    td_end_sequence(&d, 1);
    td_lines_end(&d, lines);
    one_function(&d, lines);
    struct opened o = open_dwarf(&d);
    assert_int_equal(pgk_symboliser_rows(o.sym, NULL, 0, &rows, &n, NULL), 0);
    const uint64_t expected[] = {0x2000, 0x3000, 0x3008, 0x3010};
    assert_int_equal(n, PGK_COUNTOF(expected));
    assert_memory_equal(rows, expected, sizeof expected);
    pgk_mem_free(rows);
    close_dwarf(&o);
    td_free(&d);
}

static void several_operations_in_an_instruction(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    size_t lines = td_lines(&d, 16, 3);
    td_set_address(&d, 0x2000);
    td_row(&d, 0, 1);       /* operation 0 of 0x2000: line 2 */
    td_row(&d, 2, 1);       /* operation 2 of 0x2000: line 3 */
    td_row(&d, 1, 1);       /* operation 0 of 0x2010: line 4 */
    td_row(&d, 7, 1);       /* operation 1 of 0x2030: line 5 */
    td_end_sequence(&d, 2); /* 0x2040 */
    td_lines_end(&d, lines);
    one_function(&d, lines);
    EXPECT(&d, {0x2000, "f a.c:3:0:0 a.c:1"}, {0x2010, "f a.c:4:0:0 a.c:1"},
           {0x202f, "f a.c:4:0:0 a.c:1"}, {0x2030, "f a.c:5:0:0 a.c:1"},
           {0x203f, "f a.c:5:0:0 a.c:1"}, {0x2040, "f ?:0:0:0 a.c:1"});
    td_free(&d);
}

static void a_damaged_line_program_keeps_the_functions(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    size_t lines = td_lines(&d, 1, 1);
    td_set_address(&d, 0x2000);
    td_row(&d, 0, 1);
    td_end_sequence(&d, 16);
    td_lines_end(&d, lines);
    one_function(&d, lines);
    size_t whole = d.line.n;
    EXPECT(&d, {0x2000, "f a.c:2:0:0 a.c:1"});
    pgk_log_set(count_warning, NULL);
    for (d.line.n = 0; d.line.n < whole; d.line.n++) {
        struct opened o = open_dwarf(&d);
        struct pgk_arena arena = {0};
        struct pgk_sym_chain chain;
        assert_int_equal(pgk_symbolise(o.sym, (uint64_t[]){0x2000}, 1, 1, &arena, &chain, NULL), 0);
        assert_int_equal(chain.count, 1);
        assert_string_equal(chain.frames[0].function, "f");
        pgk_arena_free(&arena);
        close_dwarf(&o);
    }
    assert_true(warnings > 0);
    pgk_log_set(NULL, NULL);
    td_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_to_advance),
        cmocka_unit_test(rows_that_begin_a_place),
        cmocka_unit_test(several_operations_in_an_instruction),
        cmocka_unit_test(a_damaged_line_program_keeps_the_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
