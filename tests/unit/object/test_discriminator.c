/* Discriminators: encoded here, by the description in the header, and taken apart again. */
#include "pgk_test.h"

#include "compiler.h"
#include "discriminator.h"

struct bits {
    uint32_t value;
    unsigned n;
};

static void put(struct bits *b, uint32_t value, unsigned n)
{
    b->value |= value << b->n;
    b->n += n;
}

static void put_part(struct bits *b, uint32_t value)
{
    put(b, value == 0, 1);
    if (!value)
        return;
    put(b, value & 0x1f, 5);
    put(b, value > 0x1f, 1);
    if (value > 0x1f)
        put(b, value >> 5, 7);
}

static void discriminators_are_taken_apart(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 2, 31, 32, 33, 1000, 4095};
    for (size_t i = 0; i < PGK_COUNTOF(values); i++) {
        for (size_t k = 0; k < PGK_COUNTOF(values); k++) {
            struct bits b = {0};
            put_part(&b, values[i]);
            put_part(&b, values[k]);
            assert_int_equal(pgk_discriminator_base(b.value, false), values[i]);
            assert_int_equal(pgk_discriminator_copies(b.value, false), values[k] ? values[k] : 1);
        }
    }
}

static void discriminators_that_llvm_writes(void **state)
{
    (void)state;
    assert_int_equal(pgk_discriminator_base(0, false), 0);
    assert_int_equal(pgk_discriminator_copies(0, false), 1);
    assert_int_equal(pgk_discriminator_base(2, false), 1);
    assert_int_equal(pgk_discriminator_base(4, false), 2);
    assert_int_equal(pgk_discriminator_base(0xabcdef12, true), 0xabcdef12);
    assert_int_equal(pgk_discriminator_copies(0xabcdef12, true), 1);
}

static void discriminators_hold_probes(void **state)
{
    (void)state;
    uint32_t plain = 7 | 300 << 3, with_base = 7 | 300 << 3 | 5 << 16 | 1u << 28;
    assert_int_equal(pgk_discriminator_probe(plain), 300);
    assert_int_equal(pgk_discriminator_probe(with_base), 300);
    assert_int_equal(pgk_discriminator_base(with_base, false), 5);
    assert_int_equal(pgk_discriminator_base(7, false), 0); /* parts of zeros, no probe */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discriminators_are_taken_apart),
        cmocka_unit_test(discriminators_that_llvm_writes),
        cmocka_unit_test(discriminators_hold_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
