/* Which tables code of AArch64 jumps by, in code as compilers emit it. */
#include "arm64_jump_table.h"

#include "compiler.h"
#include "pgk_test.h"

enum { CODE = 0x2000 };

static const uint32_t code[] = {
    /* bytes, of gcc */
    0x7100241f, /* 2000 cmp w0, #0x9 */
    0x540000e8, /* 2004 b.hi 2020 */
    0xd0000001, /* 2008 adrp x1, 4000 */
    0x91004021, /* 200c add x1, x1, #0x10 */
    0x38604821, /* 2010 ldrb w1, [x1, w0, uxtw] */
    0x10000062, /* 2014 adr x2, 2020 */
    0x8b218841, /* 2018 add x1, x2, w1, sxtb #2 */
    0xd61f0020, /* 201c br x1 */
    0xd65f03c0, /* 2020 ret */
    /* halfwords, of clang */
    0x71018d1f, /* 2024 cmp w8, #0x63 */
    0x54000102, /* 2028 b.cs 2048 */
    0xd0000009, /* 202c adrp x9, 4000 */
    0x2a0803ea, /* 2030 mov w10, w8 */
    0x91008129, /* 2034 add x9, x9, #0x20 */
    0x1000008b, /* 2038 adr x11, 2048 */
    0x786a792c, /* 203c ldrh w12, [x9, x10, lsl #1] */
    0x8b0c096b, /* 2040 add x11, x11, x12, lsl #2 */
    0xd61f0160, /* 2044 br x11 */
    0xd65f03c0, /* 2048 ret */
    /* words of which the code does not tell how many */
    0xd0000009, /* 204c adrp x9, 4000 */
    0x9100c129, /* 2050 add x9, x9, #0x30 */
    0xb8a7792a, /* 2054 ldrsw x10, [x9, x7, lsl #2] */
    0x8b090149, /* 2058 add x9, x10, x9 */
    0xd61f0120, /* 205c br x9 */
    /* words of which it does */
    0x12000800, /* 2060 and w0, w0, #0x7 */
    0xd0000001, /* 2064 adrp x1, 4000 */
    0x91010021, /* 2068 add x1, x1, #0x40 */
    0xb8605821, /* 206c ldr w1, [x1, w0, uxtw #2] */
    0x10ffff82, /* 2070 adr x2, 2060 */
    0x8b21c841, /* 2074 add x1, x2, w1, sxtw #2 */
    0xd61f0020, /* 2078 br x1 */
    /* where the index was found small enough */
    0x7100101f, /* 207c cmp w0, #0x4 */
    0x54000069, /* 2080 b.ls 208c */
    0x528000e0, /* 2084 mov w0, #0x7 */
    0xd65f03c0, /* 2088 ret */
    0xd0000001, /* 208c adrp x1, 4000 */
    0x91014021, /* 2090 add x1, x1, #0x50 */
    0x38a06821, /* 2094 ldrsb x1, [x1, x0] */
    0x10ffffa2, /* 2098 adr x2, 208c */
    0x8b010841, /* 209c add x1, x2, x1, lsl #2 */
    0xd61f0020, /* 20a0 br x1 */
    /* what a call does not change */
    0x7100127f, /* 20a4 cmp w19, #0x4 */
    0x54000108, /* 20a8 b.hi 20c8 */
    0xd0000001, /* 20ac adrp x1, 4000 */
    0xd0000014, /* 20b0 adrp x20, 4000 */
    0x97ffffd3, /* 20b4 bl 2000 */
    0x38736822, /* 20b8 ldrb w2, [x1, x19] */
    0x10000063, /* 20bc adr x3, 20c8 */
    0x8b220862, /* 20c0 add x2, x3, w2, uxtb #2 */
    0xd61f0040, /* 20c4 br x2 */
    0x38736a82, /* 20c8 ldrb w2, [x20, x19] */
    0x10ffffe3, /* 20cc adr x3, 20c8 */
    0x8b220862, /* 20d0 add x2, x3, w2, uxtb #2 */
    0xd61f0040, /* 20d4 br x2 */
    /* none: not of a table, not scaled, cut, shifted by another number */
    0xf9400001, /* 20d8 ldr x1, [x0] */
    0xd61f0020, /* 20dc br x1 */
    0x78736a81, /* 20e0 ldrh w1, [x20, x19] */
    0x8b212861, /* 20e4 add x1, x3, w1, uxth #2 */
    0xd61f0020, /* 20e8 br x1 */
    0x78737a81, /* 20ec ldrh w1, [x20, x19, lsl #1] */
    0x8b210862, /* 20f0 add x2, x3, w1, uxtb #2 */
    0xd61f0040, /* 20f4 br x2 */
    0x8b212462, /* 20f8 add x2, x3, w1, uxth #1 */
    0xd61f0040, /* 20fc br x2 */
    /* an index of 4 bits, and of a byte */
    0x53031842, /* 2100 ubfx w2, w2, #3, #4 */
    0x38626a81, /* 2104 ldrb w1, [x20, x2] */
    0x8b210861, /* 2108 add x1, x3, w1, uxtb #2 */
    0xd61f0020, /* 210c br x1 */
    0x39400002, /* 2110 ldrb w2, [x0] */
    0x38626a81, /* 2114 ldrb w1, [x20, x2] */
    0x8b210861, /* 2118 add x1, x3, w1, uxtb #2 */
    0xd61f0020, /* 211c br x1 */
};

struct expected {
    uint64_t at;
    struct pgk_arm64_jump_table table;
};

static const struct expected want[] = {
    {0x201c, {0x4010, 0x2020, 10, 1, 2, true}},
    {0x2044, {0x4020, 0x2048, 99, 2, 2, false}},
    {0x205c, {0x4030, 0x4030, UINT64_MAX, 4, 0, true}},
    {0x2078, {0x4040, 0x2060, 8, 4, 2, true}},
    {0x20a0, {0x4050, 0x208c, 5, 1, 2, true}},
    {0x20d4, {0x4000, 0x20c8, 5, 1, 2, false}},
    {0x210c, {0x4000, 0x20c8, 16, 1, 2, false}},
    {0x211c, {0x4000, 0x20c8, 256, 1, 2, false}},
};

static void tables_of_compilers(void **state)
{
    (void)state;
    struct pgk_arm64_jumps jumps = {0};
    struct pgk_arm64_jump_table t;
    size_t found = 0;
    for (size_t i = 0; i < PGK_COUNTOF(code); i++) {
        if (!pgk_arm64_jumps_step(&jumps, code[i], CODE + i * 4, &t))
            continue;
        assert_true(found < PGK_COUNTOF(want));
        const struct expected *e = &want[found++];
        assert_int_equal(CODE + i * 4, e->at);
        assert_int_equal(t.table, e->table.table);
        assert_int_equal(t.anchor, e->table.anchor);
        assert_int_equal(t.n, e->table.n);
        assert_int_equal(t.bytes, e->table.bytes);
        assert_int_equal(t.shift, e->table.shift);
        assert_int_equal(t.is_signed, e->table.is_signed);
    }
    assert_int_equal(found, PGK_COUNTOF(want));
}

/* Whatever the words are. */
static void any_words(void **state)
{
    (void)state;
    struct pgk_arm64_jumps jumps = {0};
    struct pgk_arm64_jump_table t;
    uint64_t random = 1;
    for (uint64_t i = 0; i < 1000000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (pgk_arm64_jumps_step(&jumps, (uint32_t)(random >> 32), CODE + i * 4, &t))
            assert_true(t.bytes == 1 || t.bytes == 2 || t.bytes == 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_compilers),
        cmocka_unit_test(any_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
