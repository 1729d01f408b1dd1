/* Structs of options and results between callers and libraries of different age. Callers' structs
 * are allocated to the byte, so that the address sanitizer sees what reads or writes behind. */
#include "pgk_test.h"

#include "opts.h"

struct today {
    size_t struct_size;
    uint32_t a, b;
    const char *text;
};

static void *callers(size_t size)
{
    void *opts = calloc(1, size);
    assert_non_null(opts);
    memcpy(opts, &size, sizeof size);
    __asm__("" : "+r"(opts)); /* the compiler is not to see how small it is */
    return opts;
}

static int take(struct today *into, const void *given, struct pgk_err *err)
{
    *into = (struct today){1, 2, 3, "x"};
    *err = (struct pgk_err){0};
    return PGK_OPTS_TAKE(into, given, err);
}

static void no_options_are_the_defaults(void **state)
{
    (void)state;
    struct today o;
    struct pgk_err err;
    assert_int_equal(take(&o, NULL, &err), 0);
    assert_true(o.struct_size == sizeof o && !o.a && !o.b && !o.text);
}

static void older_callers_get_defaults(void **state)
{
    (void)state;
    struct today o;
    struct pgk_err err;
    struct { size_t struct_size; uint32_t a; } *older = callers(12);
    older->a = 7;
    assert_int_equal(take(&o, older, &err), 0);
    assert_true(o.struct_size == sizeof o && o.a == 7 && !o.b && !o.text);
    free(older);
    size_t *oldest = callers(sizeof(size_t));
    assert_int_equal(take(&o, oldest, &err), 0);
    assert_true(!o.a && !o.b && !o.text);
    free(oldest);
}

static void newer_callers_are_refused_for_what_is_unknown(void **state)
{
    (void)state;
    struct today o;
    struct pgk_err err;
    uint8_t *newer = callers(sizeof o + 9);
    ((struct today *)newer)->b = 5;
    assert_int_equal(take(&o, newer, &err), 0);
    assert_true(o.struct_size == sizeof o && o.b == 5);
    newer[sizeof o + 8] = 1;
    assert_int_equal(take(&o, newer, &err), PGK_E_ARG);
    assert_string_equal(err.record, "options of take");
    assert_string_equal(err.field, "byte 32");
    free(newer);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 1 << 20, SIZE_MAX};
    struct today o;
    struct pgk_err err;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t *size = calloc(1, sizeof *size);
        assert_non_null(size);
        *size = sizes[i];
        assert_int_equal(take(&o, size, &err), PGK_E_ARG);
        assert_string_equal(err.record, "options of take");
        assert_string_equal(err.field, "struct_size");
        free(size);
    }
}

static void results_are_as_long_as_the_callers(void **state)
{
    (void)state;
    const struct today result = {0, 1, 2, "text"};
    struct today *newer = callers(sizeof *newer + 8);
    memset(newer + 1, 0xff, 8);
    PGK_RESULT_GIVE(newer, &result);
    assert_true(newer->struct_size == sizeof *newer + 8 && newer->b == 2);
    assert_memory_equal(newer + 1, "\0\0\0\0\0\0\0", 8);
    struct { size_t struct_size; uint32_t a; } *older = callers(12);
    PGK_RESULT_GIVE(older, &result);
    assert_true(older->struct_size == 12 && older->a == 1);
    size_t *unset = callers(sizeof *unset);
    PGK_RESULT_GIVE(unset, &result);
    *unset = 0;
    PGK_RESULT_GIVE(unset, &result);
    assert_int_equal(*unset, 0);
    PGK_RESULT_GIVE(NULL, &result);
    free(newer);
    free(older);
    free(unset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_options_are_the_defaults),
        cmocka_unit_test(older_callers_get_defaults),
        cmocka_unit_test(newer_callers_are_refused_for_what_is_unknown),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(results_are_as_long_as_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
