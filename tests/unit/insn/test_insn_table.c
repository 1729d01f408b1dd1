/* Which instructions read a table of functions. */
#include "insn.h"

#include "insn_decoder.h"

#include <elf.h>

static void check(uint16_t machine, const char *hex, bool is, bool branch, int reg, int32_t slot)
{
    struct pgk_insn_decoder d;
    struct pgk_insn_table t = {0};
    size_t n = strlen(hex) / 2;
    uint8_t *bytes = malloc(n); /* of its size, so that reading past the end is noticed */
    assert_non_null(bytes);
    test_decoder_open(&d, machine, PGK_INSN_READABLE);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
    assert_int_equal(pgk_insn_table(&d, bytes, n, &t), is);
    if (is) {
        assert_int_equal(t.branch, branch);
        assert_int_equal(t.reg, reg);
        assert_int_equal(t.slot, slot);
    }
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *less = malloc(cut ? cut : 1);
        assert_non_null(less);
        memcpy(less, bytes, cut);
        pgk_insn_table(&d, less, cut, &t);
        free(less);
    }
    free(bytes);
    pgk_insn_decoder_close(&d);
}

static void tables_of_x86(void **state)
{
    (void)state;
    check(EM_X86_64, "ff10", true, true, -1, 0);              /* call *(%rax) */
    check(EM_X86_64, "ff5048", true, true, -1, 0x48);         /* call *0x48(%rax) */
    check(EM_X86_64, "ff9000010000", true, true, -1, 0x100);  /* call *0x100(%rax) */
    check(EM_X86_64, "41ff5050", true, true, -1, 0x50);       /* call *0x50(%r8) */
    check(EM_X86_64, "41ff542408", true, true, -1, 8);        /* call *8(%r12) */
    check(EM_X86_64, "3eff6018", true, true, -1, 0x18);       /* notrack jmp *0x18(%rax) */
    check(EM_X86_64, "ffd0", true, true, 0, -1);              /* call *%rax */
    check(EM_X86_64, "41ffe3", true, true, 11, -1);           /* jmp *%r11 */
    check(EM_X86_64, "4c8b5820", true, false, 11, 0x20);      /* mov 0x20(%rax),%r11 */
    check(EM_X86_64, "8b5820", false, false, 0, 0);           /* mov 0x20(%rax),%ebx */
    check(EM_X86_64, "4889c3", false, false, 0, 0);           /* mov %rax,%rbx */
    check(EM_X86_64, "488bc3", false, false, 0, 0);           /* mov %rbx,%rax */
    check(EM_X86_64, "ff1500000000", false, false, 0, 0);     /* call *(%rip) */
    check(EM_X86_64, "ff24c500000000", false, false, 0, 0);   /* jmp *(,%rax,8) */
    check(EM_X86_64, "ff542408", false, false, 0, 0);         /* call *8(%rsp) */
    check(EM_X86_64, "ff55f8", false, false, 0, 0);           /* call *-8(%rbp) */
    check(EM_X86_64, "ff30", false, false, 0, 0);             /* push (%rax) */
}

static void tables_of_arm64(void **state)
{
    (void)state;
    check(EM_AARCH64, "00013fd6", true, true, 8, -1);     /* blr x8 */
    check(EM_AARCH64, "20001fd6", true, true, 1, -1);     /* br x1 */
    check(EM_AARCH64, "080940f9", true, false, 8, 0x10);  /* ldr x8, [x8, #16] */
    check(EM_AARCH64, "e80740f9", false, false, 0, 0);    /* ldr x8, [sp, #8] */
    check(EM_AARCH64, "080940b9", false, false, 0, 0);    /* ldr w8, [x8, #8] */
    check(EM_AARCH64, "c0035fd6", false, false, 0, 0);    /* ret */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_x86),
        cmocka_unit_test(tables_of_arm64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
