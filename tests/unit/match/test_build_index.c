#include "build_index.h"
#include "function_name.h"
#include "hash.h"
#include "pgk_test.h"

static void names_without_what_compilers_add(void **state)
{
    (void)state;
    static const char *const same[] = {
        "parse", "parse.llvm.123456", "parse.part.0", "parse.constprop.0", "parse.isra.0.cold",
        "parse.constprop.1.isra.0", "parse.cold", "parse.cold.1", "parse.lto_priv.0",
        "parse.__uniq.252421818133265408705984179079699146064",
        "parse.__uniq.29.llvm.77",
    };
    static const char *const other[] = {"parse.", ".cold", "parse.llvm.", "parse.x.0", ""};
    for (size_t i = 0; i < PGK_COUNTOF(same); i++)
        assert_int_equal(pgk_build_plain_len(same[i], strlen(same[i])), strlen("parse"));
    for (size_t i = 0; i < PGK_COUNTOF(other); i++)
        assert_int_equal(pgk_build_plain_len(other[i], strlen(other[i])), strlen(other[i]));
    assert_int_equal(pgk_build_guid("parse.isra.0", 12), pgk_heap_guid("parse", 5));
}

static void statics_of_c_with_unique_names(void **state)
{
    (void)state;
    static const char unique[] = "_ZL5parsei.__uniq.29", cut[] = "_ZL99parse.__uniq.29",
                      cpp[] = "_ZL5parsei";
    assert_int_equal(pgk_build_bare_guid(unique, strlen(unique)), pgk_md5_low64("parse", 5));
    assert_int_equal(pgk_build_bare_guid(cut, strlen(cut)), pgk_build_guid(cut, strlen(cut)));
    assert_int_equal(pgk_build_bare_guid(cpp, strlen(cpp)), pgk_md5_low64(cpp, strlen(cpp)));
}

static void files_without_where_they_were_built(void **state)
{
    (void)state;
    assert_string_equal(pgk_build_file_tail("/home/a/app/src/book.c"), "src/book.c");
    assert_string_equal(pgk_build_file_tail("src/book.c"), "src/book.c");
    assert_string_equal(pgk_build_file_tail("book.c"), "book.c");
    assert_string_equal(pgk_build_file_tail(""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_without_what_compilers_add),
        cmocka_unit_test(statics_of_c_with_unique_names),
        cmocka_unit_test(files_without_where_they_were_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
