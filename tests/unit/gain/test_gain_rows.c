#include "gain_rows.h"
#include "pgk_test.h"

#include <pgokit/trial.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Functions of a build are added by the reader, which is not what is tested here. */
static struct pgk_built *build(void)
{
    struct pgk_built *b = pgk_mem_zalloc(1, sizeof *b);
    assert_non_null(b);
    assert_non_null(pgk_built_function(b, "", 0));
    return b;
}

static uint32_t function(struct pgk_built *b, const char *name, uint64_t place, uint64_t bytes,
                         uint64_t ticks)
{
    struct pgk_built_function *f = pgk_built_function(b, name, strlen(name));
    assert_non_null(f);
    f->place = place;
    f->bytes = bytes;
    f->ticks = ticks;
    b->ticks += ticks;
    return (uint32_t)(f - b->functions.v);
}

static void inlined(struct pgk_built *b, const char *callee, const char *caller, uint64_t samples)
{
    const uint32_t to = (uint32_t)(pgk_built_function(b, callee, strlen(callee)) - b->functions.v);
    const uint32_t in = (uint32_t)(pgk_built_function(b, caller, strlen(caller)) - b->functions.v);
    assert_true(pgk_vec_push(&b->inlined, (struct pgk_built_inlined){to, in, 1, samples}));
}

static const struct pgk_gain_row *row(const struct pgk_gain_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->functions.n; i++)
        if (!strcmp(rows->functions.v[i].name, name))
            return &rows->functions.v[i];
    return NULL;
}

/* In another order, so that numbers of names differ. */
static void sides(void **state)
{
    struct pgk_gain_rows rows;
    struct pgk_built *before = build(), *after = build();
    (void)state;
    function(before, "main", 0, 100, 3);
    function(before, "work", 100, 50, 9);
    function(before, "gone", 150, 20, 0);
    function(before, "nothing", PGK_BUILT_NOWHERE, 0, 0);
    function(after, "work", 0, 60, 4);
    function(after, "new", 60, 10, 11);
    function(after, "main", 70, 110, 2);
    assert_true(pgk_gain_rows_make(&rows, before, after));
    assert_int_equal(rows.functions.n, 4);
    assert_string_equal(rows.functions.v[0].name, "new");
    assert_string_equal(rows.functions.v[1].name, "work");
    assert_null(row(&rows, "nothing"));
    assert_null(row(&rows, "new")->of[0]);
    assert_null(row(&rows, "gone")->of[1]);
    assert_int_equal(row(&rows, "work")->of[0]->ticks, 9);
    assert_int_equal(row(&rows, "work")->of[1]->ticks, 4);
    assert_true(row(&rows, "main")->moved != row(&rows, "work")->moved);
    assert_false(row(&rows, "new")->moved);
    pgk_gain_rows_free(&rows);
    assert_true(pgk_gain_rows_make(&rows, before, NULL));
    assert_int_equal(rows.functions.n, 3);
    assert_string_equal(rows.functions.v[0].name, "work");
    pgk_gain_rows_free(&rows);
    assert_true(pgk_gain_rows_make(&rows, NULL, NULL));
    assert_int_equal(rows.functions.n + rows.calls.n, 0);
    pgk_gain_rows_free(&rows);
    pgk_built_close(&before);
    pgk_built_close(&after);
    assert_null(after);
}

enum { MANY = 9 };

/* The longest list that keeps its order, by trying all. */
static unsigned most_in_order(const unsigned *places)
{
    unsigned most = 0;
    for (unsigned set = 0; set < 1u << MANY; set++) {
        unsigned n = 0, last = 0;
        bool rises = true;
        for (unsigned i = 0; i < MANY; i++)
            if (set & 1u << i) {
                rises &= !n || places[i] > last;
                last = places[i];
                n++;
            }
        most = rises && n > most ? n : most;
    }
    return most;
}

/* Those that stay do keep their order, and no more could. */
static void moved_as_few_as_can_be(void **state)
{
    (void)state;
    srand(7);
    for (int turn = 0; turn < 60; turn++) {
        struct pgk_gain_rows rows;
        struct pgk_built *before = build(), *after = build();
        unsigned places[MANY], stay = 0, last = 0;
        for (unsigned i = 0; i < MANY; i++)
            places[i] = i;
        for (unsigned i = MANY; i-- > 1;) {
            const unsigned k = (unsigned)rand() % (i + 1), held = places[i];
            places[i] = places[k];
            places[k] = held;
        }
        for (unsigned i = 0; i < MANY; i++) {
            const char name[] = {(char)('a' + i), '\0'};
            function(before, name, 16 * i, 16, 1);
            function(after, name, 16 * places[i], 16, 1);
        }
        assert_true(pgk_gain_rows_make(&rows, before, after));
        for (unsigned i = 0; i < MANY; i++) {
            const char name[] = {(char)('a' + i), '\0'};
            if (row(&rows, name)->moved)
                continue;
            assert_true(!stay || places[i] > last);
            last = places[i];
            stay++;
        }
        assert_int_equal(stay, most_in_order(places));
        pgk_gain_rows_free(&rows);
        pgk_built_close(&before);
        pgk_built_close(&after);
    }
}

static void calls(void **state)
{
    struct pgk_gain_rows rows;
    struct pgk_built *before = build(), *after = build();
    (void)state;
    inlined(before, "leaf", "main", 10);
    inlined(before, "old", "main", 30);
    inlined(after, "deep", "leaf", 20);
    inlined(after, "leaf", "main", 60);
    inlined(after, "deep", "leaf", 20);
    pgk_built_sort_inlined(before);
    pgk_built_sort_inlined(after);
    assert_int_equal(after->inlined.n, 2);
    assert_true(pgk_gain_rows_make(&rows, before, after));
    assert_int_equal(rows.calls.n, 2);
    assert_string_equal(rows.calls.v[0].callee, "old");
    assert_false(rows.calls.v[0].is_new);
    assert_true(rows.calls.v[0].share > 0.74 && rows.calls.v[0].share < 0.76);
    assert_string_equal(rows.calls.v[1].callee, "deep");
    assert_string_equal(rows.calls.v[1].caller, "leaf");
    assert_true(rows.calls.v[1].is_new);
    assert_int_equal(rows.calls.v[1].places, 2);
    assert_true(rows.calls.v[1].share > 0.39 && rows.calls.v[1].share < 0.41);
    pgk_gain_rows_free(&rows);
    pgk_built_close(&before);
    pgk_built_close(&after);
}

/* A page of a trial without rows is refused, one without builds is written; to no folder, neither.
 */
static void pages(void **state)
{
    struct pgk_trial *t;
    struct pgk_err err = {0};
    char folder[] = "/tmp/pgokit-gain-XXXXXX", path[64], none[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/page.html", folder);
    snprintf(none, sizeof none, "%s/none/page.html", folder);
    assert_int_equal(pgk_trial_new(&t, NULL, NULL), 0);
    assert_int_equal(pgk_trial_write_page(t, NULL, NULL, NULL, path, &err), PGK_E_ARG);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(pgk_trial_begin(t, "profile", 0, NULL), 0);
    assert_int_equal(pgk_trial_end(t, false, "it is <b>", NULL, NULL), 0);
    assert_int_equal(pgk_trial_write_page(t, NULL, NULL, NULL, path, NULL), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(pgk_trial_write_page(t, NULL, NULL, NULL, none, &err), PGK_E_IO);
    pgk_trial_close(&t);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides),
        cmocka_unit_test(moved_as_few_as_can_be),
        cmocka_unit_test(calls),
        cmocka_unit_test(pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
