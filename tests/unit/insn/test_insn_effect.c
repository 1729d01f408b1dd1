/* What instructions do with addresses: a table of the forms that compilers emit. */
#include "insn_effect.h"

#include "insn_decoder.h"

#include <elf.h>

enum { AT = 0x1000 };

/* Contents of operands, for the tables below. */
#define NONE {PGK_OPERAND_UNKNOWN, -1, 0}
#define VALUE(base, n) {PGK_OPERAND_VALUE, (base), (uint64_t)(n)}
#define MEMORY(base, n) {PGK_OPERAND_MEMORY, (base), (uint64_t)(n)}

struct form {
    const char *hex, *text;
    int reg;
    struct pgk_insn_operand a, b;
    enum pgk_insn_flags flags;
    enum pgk_insn_asks asks;
    uint32_t changed;
};

static const struct form x86[] = {
    {"488d15f0130000", "lea 0x13f0(%rip),%rdx", 2, VALUE(-1, 0x23f7), NONE, PGK_FLAGS_KEPT, 0,
     1 << 2},
    {"4c8d7a10", "lea 0x10(%rdx),%r15", 15, VALUE(2, 0x10), NONE, PGK_FLAGS_KEPT, 0, 1 << 15},
    {"488d0490", "lea (%rax,%rdx,4),%rax", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 0},
    {"8d0532000000", "lea 0x32(%rip),%eax", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 0},
    {"488b0d10000000", "mov 0x10(%rip),%rcx", 1, MEMORY(-1, 0x1017), NONE, PGK_FLAGS_KEPT, 0,
     1 << 1},
    {"488b4808", "mov 8(%rax),%rcx", 1, MEMORY(0, 8), NONE, PGK_FLAGS_KEPT, 0, 1 << 1},
    {"64488b042510000000", "mov %fs:0x10,%rax", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 0},
    {"4889c3", "mov %rax,%rbx", 3, VALUE(0, 0), NONE, PGK_FLAGS_KEPT, 0, 1 << 3},
    {"89c3", "mov %eax,%ebx", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 3},
    {"b828072000", "mov $0x200728,%eax", 0, VALUE(-1, 0x200728), NONE, PGK_FLAGS_KEPT, 0, 1 << 0},
    {"b8ffffffff", "mov $0xffffffff,%eax", 0, VALUE(-1, 0xffffffff), NONE, PGK_FLAGS_KEPT, 0,
     1 << 0},
    {"49b90807060504030201", "movabs $0x102030405060708,%r9", 9, VALUE(-1, 0x102030405060708),
     NONE, PGK_FLAGS_KEPT, 0, 1 << 9},
    {"4883c110", "add $0x10,%rcx", 1, VALUE(1, 16), NONE, PGK_FLAGS_LOST, 0, 1 << 1},
    {"4883e9f0", "sub $-0x10,%rcx", 1, VALUE(1, 16), NONE, PGK_FLAGS_LOST, 0, 1 << 1},
    {"4801c1", "add %rax,%rcx", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 1 << 1},
    {"4839d1", "cmp %rdx,%rcx", -1, VALUE(1, 0), VALUE(2, 0), PGK_FLAGS_COMPARE, 0, 0},
    {"483907", "cmp %rax,(%rdi)", -1, MEMORY(7, 0), VALUE(0, 0), PGK_FLAGS_COMPARE, 0, 0},
    {"483b0424", "cmp (%rsp),%rax", -1, VALUE(0, 0), MEMORY(4, 0), PGK_FLAGS_COMPARE, 0, 0},
    {"483b0510000000", "cmp 0x10(%rip),%rax", -1, VALUE(0, 0), MEMORY(-1, 0x1017),
     PGK_FLAGS_COMPARE, 0, 0},
    {"4881f928072000", "cmp $0x200728,%rcx", -1, VALUE(1, 0), VALUE(-1, 0x200728),
     PGK_FLAGS_COMPARE, 0, 0},
    {"48813f28072000", "cmpq $0x200728,(%rdi)", -1, MEMORY(7, 0), VALUE(-1, 0x200728),
     PGK_FLAGS_COMPARE, 0, 0},
    {"4883f8ff", "cmp $-1,%rax", -1, VALUE(0, 0), VALUE(-1, -1), PGK_FLAGS_COMPARE, 0, 0},
    {"39d1", "cmp %edx,%ecx", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0},
    {"4885c0", "test %rax,%rax", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0},
    {"31c0", "xor %eax,%eax", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 1 << 0},
    {"7409", "je", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_JUMP, 0},
    {"0f8400010000", "je, far", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_JUMP, 0},
    {"7509", "jne", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_JUMP_UNLESS, 0},
    {"0f8500010000", "jne, far", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_JUMP_UNLESS, 0},
    {"7209", "jb", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
    {"0f94c0", "sete %al", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_CHOICE, 1 << 0},
    {"480f45c8", "cmovne %rax,%rcx", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_CHOICE, 1 << 1},
    {"e800000000", "call", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0xfc7},
    {"ff5010", "call *0x10(%rax)", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0xfc7},
    {"4891", "xchg %rax,%rcx", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 3},
    {"488907", "mov %rax,(%rdi)", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
    {"0f1f4000", "nopl 0(%rax)", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
};

static const struct form arm64[] = {
    {"080000b0", "adrp x8, 0x2000", 8, VALUE(-1, 0x2000), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"88000010", "adr x8, 0x1010", 8, VALUE(-1, 0x1010), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"08a11c91", "add x8, x8, #0x728", 8, VALUE(8, 0x728), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"08054091", "add x8, x8, #1, lsl #12", 8, VALUE(8, 0x1000), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"084100d1", "sub x8, x8, #16", 8, VALUE(8, -16), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"08410011", "add w8, w8, #16", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"e8034091", "add x8, sp, #0, lsl #12", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"080940f9", "ldr x8, [x8, #16]", 8, MEMORY(8, 16), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"e80740f9", "ldr x8, [sp, #8]", 8, MEMORY(31, 8), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"080940b9", "ldr w8, [x8, #8]", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"48000058", "ldr x8, 0x1008", 8, MEMORY(-1, 0x1008), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"487a68f8", "ldr x8, [x18, x8, lsl #3]", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"488640f8", "ldr x8, [x18], #8", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8 | 1 << 18},
    {"488200f8", "stur x8, [x18, #8]", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
    {"e82340a9", "ldp x8, x8, [sp]", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"f44f01a9", "stp x20, x19, [sp, #16]", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
    {"e90308aa", "mov x9, x8", 9, VALUE(8, 0), NONE, PGK_FLAGS_KEPT, 0, 1 << 9},
    {"e903082a", "mov w9, w8", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 9},
    {"0800a0d2", "mov x8, #0", 8, VALUE(-1, 0), NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"0800a0f2", "movk x8, #0, lsl #16", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1 << 8},
    {"3f0108eb", "cmp x9, x8", -1, VALUE(9, 0), VALUE(8, 0), PGK_FLAGS_COMPARE, 0, 0},
    {"3f01086b", "cmp w9, w8", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0},
    {"3f4100f1", "cmp x9, #16", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0},
    {"241148fa", "ccmp x9, x8, #4, ne", -1, VALUE(9, 0), VALUE(8, 0), PGK_FLAGS_OR_EQUAL, 0, 0},
    {"200148fa", "ccmp x9, x8, #0, eq", -1, VALUE(9, 0), VALUE(8, 0), PGK_FLAGS_LOST, 0, 0},
    {"1f0000f2", "tst x0, #1", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0},
    {"080108ea", "ands x8, x8, x8", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 1 << 8},
    {"40000054", "b.eq", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_JUMP, 0},
    {"41000054", "b.ne", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_JUMP_UNLESS, 0},
    {"4b000054", "b.lt", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
    {"0001899a", "csel x0, x8, x9, eq", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_CHOICE, 1},
    {"e0079f1a", "cset w0, ne", -1, NONE, NONE, PGK_FLAGS_KEPT, PGK_ASKS_CHOICE, 1},
    {"00b1899a", "csel x0, x8, x9, lt", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1},
    {"00000094", "bl", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0x4007ffff},
    {"00013fd6", "blr x8", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0x4007ffff},
    {"0021601e", "fcmp d8, d0", -1, NONE, NONE, PGK_FLAGS_LOST, 0, 0},
    {"0001669e", "fmov x0, d8", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 1},
    {"0029601e", "fadd d0, d8, d0", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
    {"1f2003d5", "nop", -1, NONE, NONE, PGK_FLAGS_KEPT, 0, 0},
};

static void check_pads(uint16_t machine, const char *bytes, size_t n, bool pads)
{
    struct pgk_insn_decoder d;
    struct pgk_insn_effect e;
    test_decoder_open(&d, machine, PGK_INSN_READABLE);
    pgk_insn_effect(&d, (const uint8_t *)bytes, n, AT, &e);
    assert_int_equal(e.pads, pads);
    pgk_insn_decoder_close(&d);
}

static void what_fills_up_space(void **state)
{
    (void)state;
    check_pads(EM_X86_64, "\x90", 1, true);                 /* nop */
    check_pads(EM_X86_64, "\x66\x90", 2, true);             /* xchg %ax,%ax */
    check_pads(EM_X86_64, "\x0f\x1f\x40\0", 4, true);      /* nopl 0(%rax) */
    check_pads(EM_X86_64, "\xcc", 1, true);                 /* int3 */
    check_pads(EM_X86_64, "\x48\x91", 2, false);            /* xchg %rax,%rcx */
    check_pads(EM_X86_64, "\xf3\x0f\x1e\xfa", 4, false);   /* endbr64 */
    check_pads(EM_X86_64, "\x48\x87\x00", 3, false);        /* xchg %rax,(%rax) */
    check_pads(EM_AARCH64, "\x1f\x20\x03\xd5", 4, true);   /* nop */
    check_pads(EM_AARCH64, "\xe9\x03\x08\xaa", 4, false);  /* mov x9, x8 */
}

static void check_store_of(uint16_t machine, const char *bytes, size_t n, int base, uint64_t at,
                           uint32_t stores, int stored)
{
    struct pgk_insn_decoder d;
    struct pgk_insn_effect e;
    test_decoder_open(&d, machine, PGK_INSN_READABLE);
    pgk_insn_effect(&d, (const uint8_t *)bytes, n, AT, &e);
    assert_int_equal(e.stores, stores);
    if (stores) {
        assert_int_equal(e.place.base, base);
        assert_true(e.place.value == at);
        assert_int_equal(e.stored.kind, stored < 0 ? PGK_OPERAND_UNKNOWN : PGK_OPERAND_VALUE);
        assert_int_equal(e.stored.base, stored);
    }
    pgk_insn_decoder_close(&d);
}

static void check_store(const char *bytes, size_t n, int base, uint64_t at, uint32_t stores,
                        int stored)
{
    check_store_of(EM_X86_64, bytes, n, base, at, stores, stored);
}

static void what_is_stored_in_the_frame_of_arm64(void **state)
{
    (void)state;
    static const struct {
        const char *bytes; /* of 4 */
        int base;
        int64_t at;
        uint32_t stores;
        int stored;
    } want[] = {
        {"\xe8\x07\x00\xf9", 31, 8, 8, 8}, /* str x8, [sp, #8] */
        {"\xa8\x03\x1f\xf8", 29, -16, 8, 8}, /* stur x8, [x29, #-16] */
        {"\xe8\x0f\x00\xb9", 31, 12, 4, -1}, /* str w8, [sp, #12] */
        {"\xe8\x3f\x00\x39", 31, 15, 1, -1}, /* strb w8, [sp, #15] */
        {"\xe8\x27\x01\xa9", 31, 16, 16, -1}, /* stp x8, x9, [sp, #16] */
        {"\xe0\x0b\x80\x3d", 31, 32, 16, -1}, /* str q0, [sp, #32] */
        {"\xa8\x27\x3e\x6d", 29, -32, 16, -1}, /* stp d8, d9, [x29, #-32] */
        {"\xe8\x0f\x1f\xf8", 0, 0, 0, -1}, /* str x8, [sp, #-16]! */
        {"\x08\x00\x00\xf9", 0, 0, 0, -1}, /* str x8, [x0] */
        {"\xe8\x07\x40\xf9", 0, 0, 0, -1}, /* ldr x8, [sp, #8] */
    };
    for (size_t i = 0; i < PGK_COUNTOF(want); i++)
        check_store_of(EM_AARCH64, want[i].bytes, 4, want[i].base, (uint64_t)want[i].at,
                       want[i].stores, want[i].stored);
}

static void what_is_stored_in_the_frame(void **state)
{
    (void)state;
    enum { RAX = 0, RSP = 4, RBP = 5 };
    check_store("\x48\x89\x44\x24\x08", 5, RSP, 8, 8, RAX);       /* mov %rax,8(%rsp) */
    check_store("\x48\x89\x45\xf0", 4, RBP, (uint64_t)-16, 8, RAX); /* mov %rax,-16(%rbp) */
    check_store("\x89\x44\x24\x08", 4, RSP, 8, 4, -1);            /* mov %eax,8(%rsp) */
    check_store("\x48\xff\x44\x24\x08", 5, RSP, 8, 8, -1);        /* incq 8(%rsp) */
    check_store("\x0f\x29\x44\x24\x10", 5, RSP, 16, 16, -1);      /* movaps %xmm0,16(%rsp) */
    check_store("\x48\x89\x04\xc4", 4, 0, 0, 0, -1);              /* mov %rax,(%rsp,%rax,8) */
    check_store("\x48\x89\x07", 3, 0, 0, 0, -1);                  /* mov %rax,(%rdi) */
    check_store("\x48\x8b\x44\x24\x08", 5, 0, 0, 0, -1);          /* mov 8(%rsp),%rax */
}

static bool same(const struct pgk_insn_operand *x, const struct pgk_insn_operand *y)
{
    return x->kind == y->kind &&
           (x->kind == PGK_OPERAND_UNKNOWN || (x->base == y->base && x->value == y->value));
}

static void check(const struct pgk_insn_decoder *d, const struct form *f)
{
    struct pgk_insn_effect e;
    size_t n = strlen(f->hex) / 2;
    uint8_t *bytes = malloc(n); /* of its size, so that reading past the end is noticed */
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(sscanf(f->hex + 2 * i, "%2hhx", &bytes[i]), 1);
    pgk_insn_effect(d, bytes, n, AT, &e);
    bool right = e.reg == f->reg && e.flags == f->flags && e.asks == f->asks &&
                 e.changed == f->changed;
    if (f->reg >= 0 || f->flags == PGK_FLAGS_COMPARE || f->flags == PGK_FLAGS_OR_EQUAL)
        right = right && same(&e.a, &f->a);
    if (f->flags == PGK_FLAGS_COMPARE || f->flags == PGK_FLAGS_OR_EQUAL)
        right = right && same(&e.b, &f->b);
    if (!right)
        print_error("%s: reg %d flags %d asks %d changed %x a %d %d %#lx b %d %d %#lx\n", f->text,
                    e.reg, (int)e.flags, (int)e.asks, e.changed, (int)e.a.kind, e.a.base,
                    (unsigned long)e.a.value, (int)e.b.kind, e.b.base, (unsigned long)e.b.value);
    assert_true(right);
    for (size_t cut = 1; cut < n; cut++) {
        uint8_t *less = malloc(cut);
        assert_non_null(less);
        memcpy(less, bytes, cut);
        pgk_insn_effect(d, less, cut, AT, &e);
        free(less);
    }
    free(bytes);
}

static void check_all(uint16_t machine, const struct form *forms, size_t n)
{
    struct pgk_insn_decoder d;
    test_decoder_open(&d, machine, PGK_INSN_READABLE);
    for (size_t i = 0; i < n; i++)
        check(&d, &forms[i]);
    pgk_insn_decoder_close(&d);
}

static void effects_on_x86(void **state)
{
    (void)state;
    check_all(EM_X86_64, x86, PGK_COUNTOF(x86));
}

static void effects_on_arm64(void **state)
{
    (void)state;
    check_all(EM_AARCH64, arm64, PGK_COUNTOF(arm64));
}

/* Any bytes have an effect; what is no instruction changes everything. */
static void random_bytes(void **state)
{
    (void)state;
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64};
    uint8_t bytes[15];
    uint64_t seed = 1;
    for (size_t m = 0; m < PGK_COUNTOF(machines); m++) {
        struct pgk_insn_decoder d;
        test_decoder_open(&d, machines[m], PGK_INSN_READABLE);
        for (int k = 0; k < 100000; k++) {
            struct pgk_insn_effect e;
            struct pgk_insn insn;
            for (size_t i = 0; i < sizeof bytes; i++, seed = seed * 6364136223846793005 + 1442695)
                bytes[i] = (uint8_t)(seed >> 40);
            pgk_insn_effect(&d, bytes, sizeof bytes, AT, &e);
            pgk_insn_decode(&d, bytes, sizeof bytes, AT, &insn);
            assert_true(e.reg >= -1 && e.reg < PGK_INSN_REGISTERS);
            assert_true(e.a.base < PGK_INSN_REGISTERS && e.b.base < PGK_INSN_REGISTERS);
            assert_true(e.reg < 0 || e.changed >> e.reg & 1);
            assert_true(insn.valid || (e.changed == UINT32_MAX && e.flags == PGK_FLAGS_LOST));
        }
        pgk_insn_decoder_close(&d);
    }
}

static void names_of_addresses(void **state)
{
    (void)state;
    static const uint8_t lea[] = {0x90, 0x48, 0x8d, 0x15, 0xf0, 0x13, 0, 0, 0x90}, /* 0x23f8 */
        compare[] = {0x48, 0x81, 0x3d, 0x10, 0, 0, 0, 0x28, 7, 0x20, 0}; /* 0x101b; 0x200728 */
    static const uint8_t page[] = {8, 0, 0, 0xb0}; /* adrp x8, 0x2000 */
    struct pgk_insn_decoder x, arm;
    test_decoder_open(&x, EM_X86_64, PGK_INSN_READABLE);
    test_decoder_open(&arm, EM_AARCH64, PGK_INSN_READABLE);
    assert_true(pgk_insn_may_name(&x, lea, sizeof lea, AT, 0x23f8, 0x23f8));
    assert_true(pgk_insn_may_name(&x, lea, sizeof lea, AT, 0x23f0, 0x2400));
    assert_false(pgk_insn_may_name(&x, lea, sizeof lea, AT, 0x2400, 0x2500));
    assert_false(pgk_insn_may_name(&x, lea, sizeof lea, AT, 0x2300, 0x2307));
    assert_true(pgk_insn_may_name(&x, compare, sizeof compare, AT, 0x101b, 0x101b));
    assert_true(pgk_insn_may_name(&x, compare, sizeof compare, AT, 0x200728, 0x200728));
    assert_false(pgk_insn_may_name(&x, compare, 3, AT, 0, UINT64_MAX));
    assert_true(pgk_insn_may_name(&arm, page, sizeof page, AT, 0x2728, 0x2728));
    assert_true(pgk_insn_may_name(&arm, page, sizeof page, AT, 0x1000, 0x2000));
    assert_false(pgk_insn_may_name(&arm, page, sizeof page, AT, 0x3000, 0x4000));
    assert_false(pgk_insn_may_name(&arm, page, sizeof page, AT, 0x1000, 0x1fff));
    pgk_insn_decoder_close(&x);
    pgk_insn_decoder_close(&arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effects_on_x86),
        cmocka_unit_test(effects_on_arm64),
        cmocka_unit_test(what_is_stored_in_the_frame),
        cmocka_unit_test(what_is_stored_in_the_frame_of_arm64),
        cmocka_unit_test(what_fills_up_space),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(names_of_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
