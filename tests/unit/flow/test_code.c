/* Instructions of a binary by address. */
#include "../small_program.h"

#include "call_trie.h"
#include "code.h"

static void test_code(void **state)
{
    (void)state;
    struct test_bytes b;
    struct pgk_elf *elf = open_small_program(&b);
    struct pgk_code code;
    struct pgk_insn insn;
    assert_int_equal(pgk_code_open(&code, elf, NULL), 0);

    const uint64_t starts[] = {F, F_BRANCH, F_CALL, F_RET, G, H, H_RET};
    for (size_t i = 0; i < PGK_COUNTOF(starts); i++)
        assert_true(pgk_code_is(&code, starts[i]));
    const uint64_t others[] = {0, 1, F - 1, F + 1, F_CALL + 1, F + TEXT_SIZE, UINT64_MAX};
    for (size_t i = 0; i < PGK_COUNTOF(others); i++)
        assert_false(pgk_code_is(&code, others[i]));
    assert_int_equal(pgk_code_kind(pgk_code_mark(&code, F_CALL)), PGK_INSN_CALL);
    assert_int_equal(pgk_code_mark(&code, F_CALL) & PGK_CODE_LENGTH, 5);

    assert_true(pgk_code_insn(&code, F_CALL, &insn));
    assert_true(insn.target == G);
    assert_false(pgk_code_insn(&code, F - 1, &insn));

    assert_true(pgk_code_first(&code, F + 1, G) == F_BRANCH);
    assert_true(pgk_code_first(&code, F + 1, F + 1) == UINT64_MAX);
    assert_true(pgk_code_before(&code, F_RET) == F_CALL);
    assert_true(pgk_code_call_before(&code, F_RET) == F_CALL);
    assert_true(pgk_code_call_before(&code, F_CALL) == 0);

    assert_true(pgk_code_is_straight(&code, F, F_BRANCH));
    assert_true(pgk_code_is_straight(&code, F, F_CALL));
    assert_false(pgk_code_is_straight(&code, F, F_RET)); /* over the call */
    assert_false(pgk_code_is_straight(&code, F_RET, F)); /* backwards */
    assert_false(pgk_code_is_straight(&code, G, H));     /* over a jump */

    assert_true(pgk_code_is_frame_edge(&code, F) && pgk_code_is_frame_edge(&code, F_BRANCH));
    assert_true(pgk_code_is_frame_edge(&code, F_RET) && pgk_code_is_frame_edge(&code, F_CALL));
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    tb_free(&b);
}

/* A stripped program is one region of many pages, and each page that was asked for decoded it. */
static void code_without_names_is_decoded_once(void **state)
{
    (void)state;
    struct test_bytes b;
    struct pgk_elf *elf = open_small_program(&b);
    struct pgk_code code;
    assert_int_equal(pgk_code_open(&code, elf, NULL), 0);
    assert_true(pgk_code_is(&code, F_CALL));
    code.pages[(F_CALL - code.base) >> PGK_CODE_PAGE_BITS] = 0; /* as if it were the next page */
    code.marks[F_CALL - code.base] = 0;
    assert_false(pgk_code_is(&code, F_CALL));
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    tb_free(&b);
}

static void test_without_symbols(void **state)
{
    (void)state;
    struct test_bytes b = test_elf(ET_EXEC, NULL, 0);
    struct pgk_elf *elf;
    struct pgk_code code;
    struct pgk_err err = {0};
    assert_int_equal(pgk_elf_open_memory(&elf, b.v, b.n, "image", PGK_ELF_PROGRAM, &err), 0);
    assert_int_equal(pgk_code_open(&code, elf, &err), PGK_E_NODEBUG);
    assert_string_equal(err.field, "symbols");
    pgk_elf_close(&elf);
    tb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code),
        cmocka_unit_test(code_without_names_is_decoded_once),
        cmocka_unit_test(test_without_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
