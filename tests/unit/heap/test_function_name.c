/* Canonical names and GUIDs. */
#include "function_name.h"

#include "hash.h"
#include "pgk_test.h"

static void check_canonical(const char *name, const char *canonical)
{
    assert_int_equal(pgk_heap_canonical_len(name, strlen(name)), strlen(canonical));
    assert_int_equal(pgk_heap_guid(name, strlen(name)),
                     pgk_md5_low64(canonical, strlen(canonical)));
}

static void names_lose_suffixes(void **state)
{
    (void)state;
    check_canonical("", "");
    check_canonical("main", "main");
    check_canonical("f.llvm.99", "f");
    check_canonical("f.part.1", "f");
    check_canonical("f.part.1.llvm.99", "f");
    check_canonical("f.llvm.99.part.1", "f.llvm.99"); /* .llvm. is not at the end */
    check_canonical("a.llvm.1.cold", "a.llvm.1.cold");
    check_canonical("f.__uniq.123", "f.__uniq.123");
    check_canonical("f.memprof.1", "f"); /* which LLVM's profiles keep */
    check_canonical("f.llvm.99.memprof.12", "f");
    check_canonical("f.memprof.1.cold", "f.memprof.1.cold");
    check_canonical(".llvm.", "");
    check_canonical("x.llvm", "x.llvm");
}

/* docs/formats/indexed-heap.md 3.1 */
static void guids_are_those_of_llvm(void **state)
{
    (void)state;
    assert_int_equal(pgk_heap_guid("main", 4), UINT64_C(0xdb956436e78dd5fa));
    assert_int_equal(pgk_heap_guid("_ZL4makei", 9), UINT64_C(0xf0b9d1db2165c02c));
    assert_int_equal(pgk_heap_guid("mk", 2), UINT64_C(0xb201650b6835d907));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_suffixes),
        cmocka_unit_test(guids_are_those_of_llvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
