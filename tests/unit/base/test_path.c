/* Parts of the paths of files. */
#include "path.h"

#include "pgk_test.h"

static void the_last_part_is_behind_the_last_slash(void **state)
{
    (void)state;
    const char *path = "/usr/bin/app";
    assert_ptr_equal(pgk_base_name(path), path + 9);
    assert_string_equal(pgk_base_name("./app"), "app");
    assert_string_equal(pgk_base_name("/app"), "app");
}

static void a_path_without_slash_is_its_last_part(void **state)
{
    (void)state;
    assert_string_equal(pgk_base_name("app"), "app");
    assert_string_equal(pgk_base_name(""), "");
}

static void behind_a_slash_at_the_end_is_nothing(void **state)
{
    (void)state;
    assert_string_equal(pgk_base_name("usr/bin/"), "");
    assert_string_equal(pgk_base_name("/"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_part_is_behind_the_last_slash),
        cmocka_unit_test(a_path_without_slash_is_its_last_part),
        cmocka_unit_test(behind_a_slash_at_the_end_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
