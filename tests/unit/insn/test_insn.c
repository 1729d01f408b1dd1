/* Tests of lib/insn: length, branch class, target and text of both machines. */
#include "insn.h"

#include "insn_decoder.h"

#include <elf.h>
#include <inttypes.h>

enum { ADDR = 0x401000 };

struct expected {
    const char *bytes; /* in hexadecimal */
    const char *text;  /* as LLVM 22 spells it */
    uint8_t length, kind;
    bool indirect;
    uint64_t target, data;
};

static size_t from_hex(const char *hex, uint8_t out[16])
{
    size_t n = 0;
    for (unsigned byte; n < 16 && sscanf(hex, "%2x", &byte) == 1; hex += 2)
        out[n++] = (uint8_t)byte;
    return n;
}

static void same(const struct pgk_insn *a, const struct pgk_insn *b)
{
    assert_true(a->addr == b->addr && a->target == b->target && a->data == b->data);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->valid, b->valid);
    assert_int_equal(a->indirect, b->indirect);
}

static void check(uint16_t machine, enum pgk_insn_style style, const struct expected *e)
{
    struct pgk_insn_decoder d;
    struct pgk_insn insn, plain;
    uint8_t bytes[16];
    char text[PGK_INSN_TEXT_SIZE];
    size_t n = from_hex(e->bytes, bytes);
    test_decoder_open(&d, machine, style);
    size_t len = pgk_insn_text(&d, bytes, n, ADDR, &insn, text);
    assert_int_equal(len, strlen(text));
    assert_string_equal(text, e->text);
    assert_true(insn.valid);
    assert_int_equal(insn.length, e->length);
    assert_int_equal(insn.kind, e->kind);
    assert_int_equal(insn.indirect, e->indirect);
    assert_int_equal(insn.target, e->target);
    assert_int_equal(insn.data, e->data);
    pgk_insn_decode(&d, bytes, n, ADDR, &plain);
    same(&plain, &insn);
    pgk_insn_decoder_close(&d);
}

static void x86_branches(void **state)
{
    (void)state;
    static const struct expected table[] = {
        {"e8fb0f0000", "callq\t0x402000", 5, PGK_INSN_CALL, false, 0x402000, 0},
        {"ff15f80f0000", "callq\t*4088(%rip)", 6, PGK_INSN_CALL, true, 0, 0x401ffe},
        {"ffd0", "callq\t*%rax", 2, PGK_INSN_CALL, true, 0, 0},
        {"eb10", "jmp\t0x401012", 2, PGK_INSN_JUMP, false, 0x401012, 0},
        {"ffe0", "jmpq\t*%rax", 2, PGK_INSN_JUMP, true, 0, 0},
        {"ff24c500204000", "jmpq\t*4202496(,%rax,8)", 7, PGK_INSN_JUMP, true, 0, 0},
        {"7402", "je\t0x401004", 2, PGK_INSN_COND, false, 0x401004, 0},
        {"0f85faefffff", "jne\t0x400000", 6, PGK_INSN_COND, false, 0x400000, 0},
        {"e300", "jrcxz\t0x401002", 2, PGK_INSN_COND, false, 0x401002, 0},
        {"c3", "retq", 1, PGK_INSN_RET, false, 0, 0},
        {"f3c3", "rep\t\tretq", 2, PGK_INSN_RET, false, 0, 0},
        {"0f0b", "ud2", 2, PGK_INSN_STOP, false, 0, 0},
        {"f4", "hlt", 1, PGK_INSN_STOP, false, 0, 0},
        {"488d05f90f0000", "leaq\t4089(%rip), %rax", 7, PGK_INSN_OTHER, false, 0, 0x402000},
        {"90", "nop", 1, PGK_INSN_OTHER, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(EM_X86_64, PGK_INSN_LLVM, &table[i]);
}

/* Spellings in which assemblers differ. */
static void x86_text(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"b8ffffffff", "movl\t$4294967295, %eax"},
        {"48c7c0ffffffff", "movq\t$-1, %rax"},
        {"83c0ff", "addl\t$-1, %eax"},
        {"48b80100000000000080", "movabsq\t$-9223372036854775807, %rax"},
        {"d1e8", "shrl\t%eax"},
        {"c1e002", "shll\t$2, %eax"},
        {"0fb6c0", "movzbl\t%al, %eax"},
        {"4863c0", "movslq\t%eax, %rax"},
        {"4898", "cltq"},
        {"99", "cltd"},
        {"662e0f1f840000000000", "nopw\t%cs:(%rax,%rax)"},
        {"64488b042528000000", "movq\t%fs:40, %rax"},
        {"f348ab", "rep\t\tstosq\t%rax, %es:(%rdi)"},
        {"f3a5", "rep\t\tmovsl\t(%rsi), %es:(%rdi)"},
        {"d9c9", "fxch\t%st(1)"},
        {"dee9", "fsubrp\t%st, %st(1)"},
        {"dfe9", "fucompi\t%st(1), %st"},
        {"f20f2a00", "cvtsi2sdl\t(%rax), %xmm0"},
        {"f20fc2c801", "cmpltsd\t%xmm0, %xmm1"},
        {"660fc4c003", "pinsrw\t$3, %eax, %xmm0"},
        {"4887f7", "xchgq\t%rdi, %rsi"},
        {"62f17c4958c1", "vaddps\t%zmm1, %zmm0, %zmm0 {%k1}"},
        {"62f17cc958c1", "vaddps\t%zmm1, %zmm0, %zmm0 {%k1} {z}"},
        {"62f17c585800", "vaddps\t(%rax){1to16}, %zmm0, %zmm0"},
        {"62f17c1858c1", "vaddps\t{rn-sae}, %zmm1, %zmm0, %zmm0"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct expected e = {.bytes = table[i][0], .text = table[i][1],
                             .length = (uint8_t)(strlen(table[i][0]) / 2)};
        check(EM_X86_64, PGK_INSN_LLVM, &e);
    }
}

static void arm64_branches(void **state)
{
    (void)state;
    static const struct expected table[] = {
        {"00040094", "bl\t0x402000", 4, PGK_INSN_CALL, false, 0x402000, 0},
        {"ffffff17", "b\t0x400ffc", 4, PGK_INSN_JUMP, false, 0x400ffc, 0},
        {"41000054", "b.ne\t0x401008", 4, PGK_INSN_COND, false, 0x401008, 0},
        {"400000b4", "cbz\tx0, 0x401008", 4, PGK_INSN_COND, false, 0x401008, 0},
        {"400000b6", "tbz\tx0, #0x20, 0x401008", 4, PGK_INSN_COND, false, 0x401008, 0},
        {"00003fd6", "blr\tx0", 4, PGK_INSN_CALL, true, 0, 0},
        {"00021fd6", "br\tx16", 4, PGK_INSN_JUMP, true, 0, 0},
        {"c0035fd6", "ret", 4, PGK_INSN_RET, false, 0, 0},
        {"200020d4", "brk\t#0x1", 4, PGK_INSN_STOP, false, 0, 0},
        {"000000b0", "adrp\tx0, 0x402000", 4, PGK_INSN_OTHER, false, 0, 0x402000},
        {"20000010", "adr\tx0, 0x401004", 4, PGK_INSN_OTHER, false, 0, 0x401004},
        {"40000058", "ldr\tx0, 0x401008", 4, PGK_INSN_OTHER, false, 0, 0x401008},
        {"1f2003d5", "nop", 4, PGK_INSN_OTHER, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(EM_AARCH64, PGK_INSN_READABLE, &table[i]);
}

static void arm64_text(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"0bfe9f52", "mov\tw11, #65520"},      {"ecff9f92", "mov\tx12, #-65536"},
        {"1f040071", "cmp\tw0, #1"},           {"1f000072", "tst\tw0, #0x1"},
        {"ec01a0f2", "movk\tx12, #15, lsl #16"}, {"e2830032", "mov\tw2, #65537"},
        {"fd7bbaa9", "stp\tx29, x30, [sp, #-96]!"}, {"00e4006f", "movi\tv0.2d, #0000000000000000"},
        {"41d03bd5", "mrs\tx1, TPIDR_EL0"},    {"00000000", "udf\t#0"},
        {"5f2403d5", "hint\t#34"},             {"3f2303d5", "hint\t#25"}, /* bti, paciasp */
        {"9f2203d5", "csdb"},                  {"df2003d5", "dgh"},
        {"2040c21a", "<unknown>"},             {"2048284e", "<unknown>"}, /* crc32b, aese */
        {"2000e0b8", "<unknown>"}, /* ldaddal, cas, casp, swpal */
        {"417ca088", "<unknown>"},             {"827c2048", "<unknown>"},
        {"4180e0f8", "<unknown>"},             {"e0e3e004", "<unknown>"}, /* cntd */
        {"000060d9", "<unknown>"},             {"2010c09a", "<unknown>"}, /* ldg, irg */
        {"82740bd5", "sys\t#3, c7, c4, #4, x2"}, {"22740bd5", "dc\tzva, x2"}, /* dc gzva */
        {"aed03bd5", "mrs\tx14, S3_3_C13_C0_5"}, {"bfd01bd5", "msr\tS3_3_C13_C0_5, xzr"},
        {"22253bd5", "mrs\tx2, GCSPR_EL0"},
        {"1f8308d5", "tlbi\tvmalle1is"},
        {"028308d5", "sys\t#0, c8, c3, #0, x2"},
        {"7f4403d5", "smstop\tza"},
        {"df4f03d5", "msr\tDAIFSet, #15"},
        {"bf3003d5", "dmb\t#0"},
        {"3c69b954", "<unknown>"},
        {"e7f388ce", "<unknown>"},
        {"25f6da1f", "<unknown>"},
        {"2040e21e", "fcvt\ts0, h1"},
        {"00040094", "bl\t0x402004"}, /* llvm-profgen counts from the next instruction */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pgk_insn_decoder d;
        struct pgk_insn insn;
        uint8_t bytes[16];
        char text[PGK_INSN_TEXT_SIZE];
        size_t n = from_hex(table[i][0], bytes);
        test_decoder_open(&d, EM_AARCH64, PGK_INSN_LLVM);
        (void)pgk_insn_text(&d, bytes, n, ADDR, &insn, text);
        assert_string_equal(text, table[i][1]);
        pgk_insn_decoder_close(&d);
    }
}

/* A prefix that code may jump over is an instruction of its own to LLVM, and none to people. */
static void lock_prefixes(void **state)
{
    (void)state;
    static const struct expected alone = {"f00fc101", "lock", 1, PGK_INSN_OTHER, false, 0, 0};
    static const struct expected whole = {"f00fc101", "lock\t\txaddl\t%eax, (%rcx)", 4,
                                          PGK_INSN_OTHER, false, 0, 0};
    check(EM_X86_64, PGK_INSN_LLVM, &alone);
    check(EM_X86_64, PGK_INSN_READABLE, &whole);
}

static void what_is_no_instruction_is_skipped(void **state)
{
    (void)state;
    static const struct {
        uint16_t machine;
        const char *bytes;
        uint8_t length;
    } table[] = {
        {EM_X86_64, "06", 1}, {EM_X86_64, "e8fb0f", 1}, {EM_AARCH64, "ffffffff", 4},
        {EM_AARCH64, "c0035f", 3},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pgk_insn_decoder d;
        struct pgk_insn insn;
        uint8_t bytes[16];
        char text[PGK_INSN_TEXT_SIZE];
        size_t n = from_hex(table[i].bytes, bytes);
        test_decoder_open(&d, table[i].machine, PGK_INSN_LLVM);
        (void)pgk_insn_text(&d, bytes, n, ADDR, &insn, text);
        assert_string_equal(text, "<unknown>");
        assert_false(insn.valid);
        assert_int_equal(insn.length, table[i].length);
        pgk_insn_decoder_close(&d);
    }
}

/* No bytes make a text too long or a length of 0. */
static void random_bytes(void **state)
{
    (void)state;
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64};
    uint64_t random = 1;
    for (int m = 0; m < 2; m++) {
        struct pgk_insn_decoder d;
        test_decoder_open(&d, machines[m], PGK_INSN_READABLE);
        for (int i = 0; i < 200000; i++) {
            uint64_t bytes[2] = {test_random(&random), test_random(&random)};
            char text[PGK_INSN_TEXT_SIZE];
            struct pgk_insn insn, plain;
            size_t n = 1 + (size_t)(test_random(&random) % 16);
            size_t len = pgk_insn_text(&d, (const uint8_t *)bytes, n, ADDR, &insn, text);
            assert_in_range(len, 1, PGK_INSN_TEXT_SIZE - 1);
            assert_in_range(insn.length, 1, n);
            pgk_insn_decode(&d, (const uint8_t *)bytes, n, ADDR, &plain);
            if (insn.valid)
                same(&plain, &insn);
        }
        pgk_insn_decoder_close(&d);
    }
}

/* What a decoder remembers of one instruction is right for each that begins like it. Beginnings
 * are drawn from few, so that each comes often; a decoder just opened remembers nothing. */
static void decoding_again_is_the_same(void **state)
{
    (void)state;
    static const uint8_t before[] = {0x66, 0xf2, 0xf3, 0x2e, 0x64, 0x67, 0xf0, 0x40, 0x41, 0x48,
                                     0x49, 0x4c, 0x4f, 0x0f, 0x0f, 0x0f};
    uint64_t random = 3;
    for (unsigned opcodes = 0; opcodes < 256; opcodes += 2) {
        struct pgk_insn_decoder old;
        test_decoder_open(&old, EM_X86_64, PGK_INSN_READABLE);
        for (int i = 0; i < 3000; i++) {
            uint64_t words[3] = {test_random(&random), test_random(&random), test_random(&random)};
            uint8_t bytes[24];
            memcpy(bytes, words, sizeof bytes);
            unsigned n = (unsigned)(test_random(&random) % 4);
            for (unsigned k = 0; k < n; k++)
                bytes[k] = before[bytes[k] % sizeof before];
            bytes[n] = (uint8_t)(opcodes + bytes[n] % 2);
            bytes[n + 1] &= 0xe7; /* few registers */
            bytes[n + 2] &= 0x0f;
            struct pgk_insn_decoder fresh;
            struct pgk_insn a, b;
            size_t size = 1 + (size_t)(test_random(&random) % 24);
            test_decoder_open(&fresh, EM_X86_64, PGK_INSN_READABLE);
            pgk_insn_decode(&old, bytes, size, ADDR, &a);
            pgk_insn_decode(&fresh, bytes, size, ADDR, &b);
            same(&a, &b);
            pgk_insn_decoder_close(&fresh);
        }
        pgk_insn_decoder_close(&old);
    }
}

static void other_machines_are_refused(void **state)
{
    (void)state;
    struct pgk_insn_decoder d;
    struct pgk_err err = {0};
    const struct pgk_machine riscv = {.number = EM_RISCV};
    assert_int_equal(pgk_insn_decoder_open(&d, &riscv, PGK_INSN_LLVM, &err), PGK_E_VERSION);
    assert_string_equal(err.field, "machine");
    assert_string_equal(err.expected, "x86-64 (62) or AArch64 (183)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_branches),
        cmocka_unit_test(x86_text),
        cmocka_unit_test(arm64_branches),
        cmocka_unit_test(arm64_text),
        cmocka_unit_test(lock_prefixes),
        cmocka_unit_test(what_is_no_instruction_is_skipped),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(decoding_again_is_the_same),
        cmocka_unit_test(other_machines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
