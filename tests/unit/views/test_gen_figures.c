/* The report of a generator, figure by figure, for callers of other headers, too. */
#include "pgk_test.h"

#include <pgokit/gen.h>
#include <pgokit/report.h>
#include <stddef.h>

static char examples[PGK_GEN_DROPS][PGK_GEN_EXAMPLE_SIZE] = {
    [PGK_GEN_OTHER_PROCESS] = "of process 7",
};
static const struct pgk_gen_stats stats = {
    .samples = 10, .other_process = 3, .examples = examples, .n_examples = PGK_GEN_DROPS};

/* Of the kind with this key, in a struct of so many bytes, which are ones before. */
static uint8_t *figure_of(const char *key, size_t size)
{
    struct pgk_gen_figure f = {.struct_size = sizeof f};
    uint8_t *mine = malloc(size);
    assert_non_null(mine);
    memset(mine, 0xff, size);
    memcpy(mine, &size, sizeof size);
    for (size_t i = 0; pgk_gen_figure_at(&stats, i, &f); i++)
        if (!strcmp(f.key, key)) {
            assert_true(pgk_gen_figure_at(&stats, i, (struct pgk_gen_figure *)(void *)mine));
            return mine;
        }
    fail_msg("no figure %s", key);
    return mine;
}

static void figures(void **state)
{
    (void)state;
    struct pgk_gen_figure *f = (void *)figure_of("other_process", sizeof *f);
    assert_int_equal(f->struct_size, sizeof *f);
    assert_string_equal(f->text, "other process");
    assert_int_equal(f->n, 3);
    assert_int_equal(f->of, 10);
    assert_string_equal(f->example, "of process 7");
    free(f);
    f = (void *)figure_of("used", sizeof *f);
    assert_int_equal(f->n, 7);
    assert_null(f->example);
    free(f);
    struct pgk_gen_figure past = {.struct_size = sizeof past, .n = 5};
    assert_false(pgk_gen_figure_at(&stats, 1000, &past));
    assert_int_equal(past.n, 5);
}

static void older_callers(void **state)
{
    (void)state;
    size_t size = offsetof(struct pgk_gen_figure, of);
    uint8_t *f = figure_of("other_process", size);
    uint64_t n;
    memcpy(&n, f + offsetof(struct pgk_gen_figure, n), sizeof n);
    assert_int_equal(n, 3);
    free(f);
}

static void newer_callers(void **state)
{
    (void)state;
    const uint8_t zeros[8] = {0};
    uint8_t *f = figure_of("other_process", sizeof(struct pgk_gen_figure) + sizeof zeros);
    assert_memory_equal(f + sizeof(struct pgk_gen_figure), zeros, sizeof zeros);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures),
        cmocka_unit_test(older_callers),
        cmocka_unit_test(newer_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
