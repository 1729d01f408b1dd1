/* Tests of lib/insn/x86_memo.c: what it knows of an instruction is what Zydis says of it. */
#include "insn_decoder.h"

#include "x86_priv.h"

#include <elf.h>

enum { BYTES = 16 };

/* Bytes as programs have them: prefixes, REX, 0f, and operands of all kinds. */
static void random_code(uint64_t *random, uint8_t code[BYTES])
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x64, 0x67, 0xf0};
    static const uint8_t frequent[] = {0xe8, 0xe9, 0xeb, 0x74, 0x8b, 0x8d, 0xff, 0x0f, 0xc3, 0x83};
    size_t n = 0;
    uint64_t bits = test_random(random);
    if (bits % 4 == 0)
        code[n++] = prefixes[bits / 4 % sizeof prefixes];
    if (bits >> 8 & 1)
        code[n++] = 0x40 | (bits >> 9 & 15);
    if (bits >> 16 & 1)
        code[n++] = 0x0f;
    if (bits >> 17 & 1)
        code[n++] = frequent[(bits >> 18) % sizeof frequent];
    while (n < BYTES)
        code[n++] = (uint8_t)test_random(random);
}

static void plain_decode(const ZydisDecoder *z, const uint8_t *bytes, size_t n, uint64_t addr,
                         struct pgk_insn *insn)
{
    ZydisDecodedInstruction in;
    *insn = (struct pgk_insn){.addr = addr, .length = 1};
    if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(z, NULL, bytes, n, &in)))
        pgk_x86_classify(&in, addr, insn);
}

static void what_is_remembered_is_what_zydis_says(void **state)
{
    (void)state;
    struct pgk_insn_decoder d;
    struct pgk_insn found, plain;
    uint64_t random = 1;
    unsigned known = 0;
    test_decoder_open(&d, EM_X86_64, PGK_INSN_READABLE);
    for (int round = 0; round < 300000; round++) {
        uint8_t code[BYTES];
        uint64_t addr = test_random(&random) >> (round & 31);
        random_code(&random, code);
        /* Cut off every now and then, where the memo must not read on. */
        size_t n = round % 4 ? BYTES : 1 + test_random(&random) % (BYTES - 1);
        uint8_t *exact = malloc(n);
        memcpy(exact, code, n);
        known += pgk_x86_memo_find(d.memo, exact, n, addr, &found);
        pgk_insn_decode(&d, exact, n, addr, &found);
        plain_decode(d.zydis, exact, n, addr, &plain);
        assert_true(found.addr == plain.addr && found.target == plain.target);
        assert_true(found.data == plain.data);
        assert_int_equal(found.length, plain.length);
        assert_int_equal(found.kind, plain.kind);
        assert_int_equal(found.valid, plain.valid);
        assert_int_equal(found.indirect, plain.indirect);
        free(exact);
    }
    assert_true(known > 30000); /* or nothing was tested */
    pgk_insn_decoder_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_what_zydis_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
