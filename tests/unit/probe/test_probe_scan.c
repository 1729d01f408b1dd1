/* Tests of lib/probe/probe_scan.c, probe_walk.c and probe_desc.c: which address a probe has, and
 * what is refused. */
#include "../probe_samples.h"

static struct pgk_probes *open_probes(struct program *p, struct pgk_elf **elf)
{
    struct pgk_probes *probes = NULL;
    struct pgk_err err = {0};
    char text[8192];
    *elf = link_program(p);
    if (pgk_probes_open_elf(&probes, *elf, &err) < 0)
        fail_msg("%s", test_printed(text, &err));
    return probes;
}

/* "addr:index addr:index ..." of all probes, in the order of the section. */
static void expect_probes(struct program *p, const char *expected)
{
    struct pgk_elf *elf;
    struct pgk_probes *probes = open_probes(p, &elf);
    struct pgk_probe_index *ix;
    char text[1024] = "";
    assert_int_equal(pgk_probe_index_all(&ix, probes, NULL), 0);
    for (uint32_t i = 0; i < pgk_probe_count(ix); i++) {
        struct pgk_probe probe = pgk_probe_get(ix, i);
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%llx:%u", i ? " " : "",
                 (unsigned long long)probe.addr, probe.index);
    }
    assert_string_equal(text, expected);
    pgk_probe_index_close(&ix);
    pgk_probes_close(&probes);
    pgk_elf_close(&elf);
}

static void functions_begin_at_their_symbols(void **state)
{
    (void)state;
    struct program p = {0};
    add_desc(&p, "one", 1), add_desc(&p, "two", 2);
    add_symbol(&p, "two", TEXT + 0x100, 16), add_symbol(&p, "one", TEXT, 16);
    add_body(&p, "one", 2, 1);
    add_probe(&p, 1, BLOCK, 0), add_probe(&p, 2, DIRECT, 7);
    add_child(&p, 2, "two", 1, 0);
    add_probe(&p, 1, BLOCK, -3);
    add_body(&p, "two", 1, 0);
    add_probe(&p, 1, BLOCK, 2);
    expect_probes(&p, "2000:1 2007:2 2004:1 2102:1");
    program_free(&p);
}

/* clang 14: one absolute address a section, then all by difference. */
static void absolute_addresses_begin_chains(void **state)
{
    (void)state;
    struct program p = {0};
    add_desc(&p, "one", 1), add_desc(&p, "two", 2);
    add_symbol(&p, "one", TEXT, 0x10), add_symbol(&p, "two", TEXT + 0x20, 0x10);
    add_body(&p, "one", 2, 0);
    add_absolute(&p, 1, BLOCK, TEXT + 1), add_probe(&p, 2, BLOCK, 8);
    add_body(&p, "two", 1, 0);
    add_probe(&p, 1, BLOCK, 0x19);
    expect_probes(&p, "2001:1 2009:2 2022:1");
    program_free(&p);
}

/* llvm-profgen takes no function's symbol any more once it has seen an absolute address. */
static void old_and_new_objects_mix(void **state)
{
    (void)state;
    struct program p = {0};
    const char *names[] = {"old", "older", "new", "newer"};
    for (int i = 0; i < 4; i++) {
        add_desc(&p, names[i], 1);
        add_symbol(&p, names[i], TEXT + 0x100 * (uint64_t)i, 0x40);
    }
    add_body(&p, "old", 1, 0), add_absolute(&p, 1, BLOCK, TEXT + 4);
    add_body(&p, "older", 1, 0), add_probe(&p, 1, BLOCK, 0x100);
    add_body(&p, "new", 2, 0), add_probe(&p, 1, BLOCK, 0), add_probe(&p, 2, BLOCK, 5);
    add_body(&p, "newer", 1, 0), add_probe(&p, 1, BLOCK, 9);
    expect_probes(&p, "2004:1 2104:1 2200:1 2205:2 2309:1");
    program_free(&p);
}

/* Clang 14: what is left of a function in another one stands in that one's chain, although the
 * function's own symbol would be a place, too. */
static void remains_of_functions_stay_in_the_chain(void **state)
{
    (void)state;
    struct program p = {0};
    add_desc(&p, "host", 1), add_desc(&p, "guest", 1);
    add_symbol(&p, "host", TEXT, 0x100), add_symbol(&p, "guest", TEXT + 0x400, 0x100);
    add_body(&p, "host", 1, 0), add_absolute(&p, 1, BLOCK, TEXT + 4);
    add_body(&p, "guest", 1, 0), add_probe(&p, 2, BLOCK, 6);
    add_body(&p, "guest", 1, 0), add_probe(&p, 1, BLOCK, 0x3f6);
    expect_probes(&p, "2004:1 200a:2 2400:1");
    program_free(&p);
}

static void sentinels_name_the_symbol(void **state)
{
    (void)state;
    struct program p = {0};
    add_desc(&p, "count", 1);
    add_symbol(&p, "count", TEXT, 8), add_symbol(&p, "count.resume", TEXT + 0x40, 8);
    add_body(&p, "count", 2, 0);
    add_sentinel(&p, "count.resume"), add_probe(&p, 3, BLOCK, 2);
    add_body(&p, "count", 1, 0);
    add_probe(&p, 1, BLOCK, 1);
    expect_probes(&p, "2042:3 2001:1");
    program_free(&p);
}

static void code_that_is_gone_has_no_probes(void **state)
{
    (void)state;
    struct program p = {0};
    struct pgk_err err = {0};
    struct pgk_elf *elf;
    add_desc(&p, "kept", 1), add_desc(&p, "gone", 1);
    add_symbol(&p, "kept", TEXT, 8);
    add_body(&p, "kept", 1, 0), add_probe(&p, 1, BLOCK, 1);
    add_body(&p, "gone", 1, 0), add_probe(&p, 1, BLOCK, 1);
    add_body(&p, "kept", 2, 0), add_sentinel(&p, "gone.cold"), add_probe(&p, 2, BLOCK, 1);
    expect_probes(&p, "2001:1");
    struct pgk_probes *probes = open_probes(&p, &elf);
    struct pgk_probes_totals t = pgk_probes_totals(probes);
    assert_int_equal(t.roots, 1);
    assert_int_equal(t.lost_roots, 2);
    assert_int_equal(t.lost_probes, 2);
    assert_int_equal(pgk_probes_check(probes, &err), PGK_E_MISMATCH);
    assert_non_null(strstr(err.record, "gone"));
    pgk_probes_close(&probes);
    pgk_elf_close(&elf);
    program_free(&p);
}

static void addresses_outside_of_the_code_are_left_out(void **state)
{
    (void)state;
    struct program p = {0};
    struct pgk_err err = {0};
    struct pgk_elf *elf;
    add_desc(&p, "f", 1);
    add_symbol(&p, "f", TEXT, 8);
    add_body(&p, "f", 3, 0);
    add_probe(&p, 1, BLOCK, TEXT_SIZE), add_probe(&p, 2, BLOCK, 1);
    add_probe(&p, 3, BLOCK, -TEXT_SIZE);
    expect_probes(&p, "a000:1 2001:3"); /* the end itself may be meant */
    struct pgk_probes *probes = open_probes(&p, &elf);
    assert_int_equal(pgk_probes_totals(probes).outside, 1);
    assert_int_equal(pgk_probes_check(probes, &err), PGK_E_MISMATCH);
    assert_string_equal(err.field, "address");
    pgk_probes_close(&probes);
    pgk_elf_close(&elf);
    program_free(&p);
}

/* Opening and decoding all must fail with a full message. */
static void refuse(struct program *p, int status, const char *field)
{
    struct pgk_probes *probes = NULL;
    struct pgk_probe_index *ix = NULL;
    struct pgk_err err = {0};
    struct pgk_elf *elf = link_program(p);
    int found = pgk_probes_open_elf(&probes, elf, &err);
    if (!found)
        found = pgk_probe_index_all(&ix, probes, &err);
    assert_int_equal(found, status);
    assert_int_equal(err.status, status);
    assert_null(ix);
    assert_string_equal(err.field, field);
    assert_non_null(strstr(err.record, ".pseudo_probe"));
    assert_int_not_equal(err.offset, PGK_NO_OFFSET);
    assert_string_not_equal(err.found, "");
    assert_string_not_equal(err.expected, "");
    pgk_probes_close(&probes);
    pgk_elf_close(&elf);
}

static void start(struct program *p)
{
    memset(p, 0, sizeof *p);
    add_desc(p, "f", 1);
    add_symbol(p, "f", TEXT, 8);
}

static void damage_is_named(void **state)
{
    (void)state;
    struct program p;
    start(&p), add_body(&p, "f", 1, 0), add_probe(&p, 1, 3, 0);
    refuse(&p, PGK_E_CORRUPT, "probe type"), program_free(&p);
    start(&p), add_body(&p, "f", 1u << 31, 0);
    refuse(&p, PGK_E_TRUNCATED, "number of probes"), program_free(&p);
    start(&p), add_body(&p, "f", 0, 1u << 31);
    refuse(&p, PGK_E_TRUNCATED, "number of probes"), program_free(&p);
    start(&p), add_body(&p, "g", 1, 0), add_probe(&p, 1, BLOCK, 0), add_symbol(&p, "g", TEXT, 1);
    refuse(&p, PGK_E_CORRUPT, "GUID"), program_free(&p);
    start(&p), tb_u64(&p.probe, 0), tb_u16(&p.probe, 0);
    refuse(&p, PGK_E_CORRUPT, "GUID"), program_free(&p);
    start(&p), add_body(&p, "f", 1, 0), add_probe(&p, 1u << 29, BLOCK, 0);
    refuse(&p, PGK_E_LIMIT, "probe index"), program_free(&p);
    start(&p), add_body(&p, "f", 1, 0), tb_put(&p.probe, "\xff\xff\xff\xff\x7f\x80\x00", 7);
    refuse(&p, PGK_E_CORRUPT, "probe index"), program_free(&p);
    start(&p), tb_u8(&p.desc, 0);
    refuse(&p, PGK_E_TRUNCATED, "GUID"), program_free(&p);
    start(&p), tb_u64(&p.desc, 7), tb_u64(&p.desc, 7), tb_uleb(&p.desc, UINT64_MAX);
    refuse(&p, PGK_E_TRUNCATED, "name"), program_free(&p);
    start(&p), tb_u64(&p.desc, 0), tb_u64(&p.desc, 7), tb_u8(&p.desc, 0);
    refuse(&p, PGK_E_CORRUPT, "GUID"), program_free(&p);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    struct program p;
    start(&p), add_body(&p, "f", 0, 1);
    for (int i = 0; i < 3000; i++)
        add_child(&p, 1, "f", 0, 1);
    add_child(&p, 1, "f", 1, 0), add_probe(&p, 1, BLOCK, 0);
    refuse(&p, PGK_E_LIMIT, "inline depth"), program_free(&p);
    start(&p), add_body(&p, "f", 0, 1);
    for (int i = 0; i < 1998; i++)
        add_child(&p, 1, "f", 0, 1);
    add_child(&p, 1, "f", 1, 0), add_probe(&p, 1, BLOCK, 0);
    expect_probes(&p, "2000:1"), program_free(&p);
}

static void every_cut_is_refused_or_at_a_border(void **state)
{
    (void)state;
    struct program p;
    start(&p), add_desc(&p, "g", 1);
    add_body(&p, "f", 2, 1), add_probe(&p, 1, BLOCK, 0), add_probe(&p, 2, BLOCK, 300);
    add_child(&p, 2, "g", 1, 0), add_probe(&p, 1, DIRECT, 1);
    size_t border = p.probe.n, full;
    add_body(&p, "f", 2, 0), add_sentinel(&p, "f"), add_probe(&p, 1, BLOCK | HAS_DISCRIMINATOR, 0);
    tb_uleb(&p.probe, 1024);
    full = p.probe.n;
    for (p.probe.n = 0; p.probe.n <= full; p.probe.n++) {
        struct pgk_probes *probes = NULL;
        struct pgk_err err = {0};
        struct pgk_elf *elf = link_program(&p);
        int status = pgk_probes_open_elf(&probes, elf, &err);
        bool whole = p.probe.n == 0 || p.probe.n == border || p.probe.n == full;
        assert_int_equal(status, whole ? 0 : PGK_E_TRUNCATED);
        pgk_probes_close(&probes);
        pgk_elf_close(&elf);
    }
    p.probe.n = full;
    program_free(&p);
}

static void programs_without_probes_are_said_to_be(void **state)
{
    (void)state;
    static const char *const names[] = {".pseudo_probe_desc", ".pseudo_probe", ".text"};
    for (int i = 0; i < 3; i++) {
        struct test_section s = {.name = names[i], .bytes = "", .size = 0};
        struct test_bytes b = test_elf(ET_EXEC, &s, 1);
        struct pgk_probes *probes = NULL;
        struct pgk_elf *elf;
        struct pgk_err err = {0};
        assert_int_equal(pgk_elf_open_memory(&elf, b.v, b.n, "image", PGK_ELF_PROGRAM, NULL), 0);
        assert_int_equal(pgk_probes_open_elf(&probes, elf, &err), PGK_E_EMPTY);
        assert_non_null(strstr(err.hint, "-fpseudo-probe-for-profiling"));
        pgk_elf_close(&elf);
        tb_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_begin_at_their_symbols),
        cmocka_unit_test(absolute_addresses_begin_chains),
        cmocka_unit_test(old_and_new_objects_mix),
        cmocka_unit_test(remains_of_functions_stay_in_the_chain),
        cmocka_unit_test(sentinels_name_the_symbol),
        cmocka_unit_test(code_that_is_gone_has_no_probes),
        cmocka_unit_test(addresses_outside_of_the_code_are_left_out),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(every_cut_is_refused_or_at_a_border),
        cmocka_unit_test(programs_without_probes_are_said_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
