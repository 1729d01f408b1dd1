#include "disasm_priv.h"
#include "pgk_test.h"

static void tags_need_not_be_written(void **state)
{
    (void)state;
    assert_true(pgk_disasm_is_named("a::f", "a::f"));
    assert_true(pgk_disasm_is_named("a::f[abi:cxx11]", "a::f"));
    assert_true(pgk_disasm_is_named("a::f[abi:cxx11]", "a::f[abi:cxx11]"));
    assert_true(pgk_disasm_is_named("a[abi:x]::f[abi:y]", "a::f"));
    assert_false(pgk_disasm_is_named("a::f", "a::"));
    assert_false(pgk_disasm_is_named("a::f", "a::fg"));
    assert_false(pgk_disasm_is_named("f[abi:", "f"));
    assert_false(pgk_disasm_is_named("", "f"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_need_not_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
