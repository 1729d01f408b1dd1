#include "pgk_test.h"
#include "pgokit/trial.h"

#include <math.h>

static struct pgk_trial *begun(const struct pgk_trial_opts *opts, uint64_t bytes)
{
    struct pgk_trial *t;
    assert_int_equal(pgk_trial_new(&t, opts, NULL), 0);
    assert_int_equal(pgk_trial_begin(t, "profile", bytes, NULL), 0);
    return t;
}

static void turn(struct pgk_trial *t, double before, double now)
{
    const struct pgk_trial_turn one = {.struct_size = sizeof one, .seconds = {before, now}};
    assert_int_equal(pgk_trial_add(t, &one, NULL), 0);
}

static struct pgk_trial_result result(const struct pgk_trial *t, size_t row)
{
    struct pgk_trial_result r = {.struct_size = sizeof r};
    pgk_trial_result(t, row, &r);
    return r;
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        double now;
        enum pgk_trial_verdict verdict;
        double gain;
    } cases[] = {{0.8, PGK_TRIAL_FASTER, 25},
                 {1.25, PGK_TRIAL_SLOWER, -20},
                 {1, PGK_TRIAL_SAME, 0},
                 {0.999, PGK_TRIAL_FASTER, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pgk_trial *t = begun(NULL, 0);
        for (int n = 0; n < 5; n++)
            turn(t, 1, cases[i].now);
        struct pgk_trial_result r = result(t, 0);
        assert_int_equal(r.verdict, PGK_TRIAL_OPEN);
        assert_true(isinf(r.low) && r.low < 0 && isinf(r.high) && r.high > 0);
        turn(t, 1, cases[i].now);
        r = result(t, 0);
        assert_int_equal(r.verdict, cases[i].verdict);
        assert_true(fabs(r.gain - cases[i].gain) < 0.11 && r.low == r.high);
        assert_int_equal(r.turns, 6);
        pgk_trial_close(&t);
    }
}

/* One turn that something else disturbed changes no verdict. */
static void an_outlier(void **state)
{
    (void)state;
    struct pgk_trial *t = begun(NULL, 0);
    turn(t, 0.1, 9);
    for (int n = 0; n < 12; n++)
        turn(t, 1, 0.99);
    struct pgk_trial_result r = result(t, 0);
    assert_int_equal(r.verdict, PGK_TRIAL_FASTER);
    assert_true(r.seconds[0] == 1 && r.seconds[1] == 0.99);
    pgk_trial_close(&t);
}

static void what_cannot_be(void **state)
{
    (void)state;
    struct pgk_trial *t;
    struct pgk_trial_opts o = {.struct_size = sizeof o, .error = 1};
    assert_int_equal(pgk_trial_new(&t, &o, NULL), PGK_E_ARG);
    o = (struct pgk_trial_opts){.struct_size = sizeof o, .matters = -1};
    assert_int_equal(pgk_trial_new(&t, &o, NULL), PGK_E_ARG);
    assert_null(t);
    pgk_trial_close(&t);
    assert_int_equal(pgk_trial_new(&t, NULL, NULL), 0);
    struct pgk_trial_turn one = {.struct_size = sizeof one, .seconds = {1, 1}};
    assert_int_equal(pgk_trial_add(t, &one, NULL), PGK_E_ARG);
    assert_int_equal(pgk_trial_end(t, true, NULL, NULL, NULL), PGK_E_ARG);
    assert_int_equal(pgk_trial_begin(t, "profile", 0, NULL), 0);
    static const double wrong[] = {0, -1, INFINITY, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        one.seconds[i % 2] = wrong[i];
        assert_int_equal(pgk_trial_add(t, &one, NULL), PGK_E_ARG);
        one.seconds[i % 2] = 1;
    }
    assert_int_equal(result(t, 0).turns, 0);
    pgk_trial_close(&t);
}

/* Of the plain build, of one that was kept, of one that was not, and of another. */
static struct pgk_trial *whole(void)
{
    const struct pgk_trial_opts o = {.struct_size = sizeof o,
                                     .bytes = 1000,
                                     .build = "make",
                                     .run = "./app | cat",
                                     .measured = "./app \"x\""};
    struct pgk_trial *t = begun(&o, 1010);
    for (int i = 0; i < 7; i++)
        turn(t, 0.5, 0.4);
    assert_int_equal(pgk_trial_end(t, true, NULL, NULL, NULL), 0);
    assert_int_equal(pgk_trial_begin(t, "all passes", 2000, NULL), 0);
    assert_int_equal(pgk_trial_end(t, false, "too large", "give --max-growth 100", NULL), 0);
    assert_int_equal(pgk_trial_begin(t, "aligned", 1111, NULL), 0);
    const struct pgk_trial_turn one = {
        .struct_size = sizeof one, .seconds = {0.4, 0.4}, .instructions = {4000, 3000}};
    assert_int_equal(pgk_trial_add(t, &one, NULL), 0);
    return t;
}

static void rows_are_compared_with_the_best(void **state)
{
    (void)state;
    struct pgk_trial *t = whole();
    assert_int_equal(result(t, 0).bytes[0], 1000);
    assert_int_equal(result(t, 1).bytes[0], 1010);
    assert_string_equal(result(t, 1).why, "too large");
    assert_int_equal(result(t, 2).bytes[0], 1010);
    assert_int_equal(result(t, 2).instructions[1], 3000);
    assert_int_equal(result(t, 0).instructions[1], 0);
    pgk_trial_close(&t);
}

static void expect(void (*print)(const struct pgk_trial *, FILE *), const char *wanted)
{
    struct pgk_trial *t = whole();
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    print(t, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
    pgk_trial_close(&t);
}

static void print_rows(const struct pgk_trial *t, FILE *out)
{
    for (size_t i = 0; i < 3; i++)
        pgk_trial_print_row(t, i, out);
}

static const char rows_text[] =
    "processor time of 7 turns of both builds, in random order:\n"
    "  plain                    0.500 s (half of the runs from 0.500 to 0.500 s)\n"
    "  profile                  0.400 s (half of the runs from 0.400 to 0.400 s)\n"
    "  speed                    +25.0 % (sure at 95 %: from +25.0 to +25.0 %)\n"
    "  code                     1,010 bytes (+1.0 %)\n"
    "  code                     2,000 bytes (+98.0 %)\n"
    "processor time of 1 turn of both builds, in random order:\n"
    "  profile                  0.400 s (half of the runs from 0.400 to 0.400 s)\n"
    "  aligned                  0.400 s (half of the runs from 0.400 to 0.400 s)\n"
    "  speed                    +0.0 % (too few turns to be sure at 95 %)\n"
    "  instructions             -25.0 %\n"
    "  code                     1,111 bytes (+10.0 %)\n";

static const char markdown_text[] =
    "## Build with a profile\n"
    "\n"
    "| build | time | bytes of code | growth | speed | turns | |\n"
    "|---|--:|--:|--:|--:|--:|---|\n"
    "| plain | 0.500 s | 1,000 | | | | |\n"
    "| profile | 0.400 s | 1,010 | +1.0 % | +25.0 % (+25.0 to +25.0) | 7 | "
    "kept |\n"
    "| all passes | | 2,000 | +100.0 % | not measured | 0 | not kept: too "
    "large |\n"
    "| aligned | 0.400 s | 1,111 | +11.1 % | +0.0 % (not sure) | 1 | not "
    "kept |\n"
    "\n"
    "Time is processor time, the median of the turns, in each of which both "
    "builds ran once in random order. Each build is compared with the best "
    "before it; in parentheses stands what the gain surely lies between, at "
    "95 %.\n"
    "\n"
    "| | |\n"
    "|---|---|\n"
    "| built by | `make` |\n"
    "| recorded | `./app \\| cat` |\n"
    "| measured | `./app \"x\"` |\n";

static const char json_text[] =
    "{\n"
    "  \"build\": \"make\", \"run\": \"./app | cat\", \"measured\": \"./app \\\"x\\\"\", "
    "\"compiler\": null, \"profile\": null,\n"
    "  \"sure_percent\": 95, \"matters_percent\": 1, \"plain_bytes\": 1000, "
    "\"kept\": true,\n"
    "  \"rows\": [\n"
    "    {\"name\": \"profile\", \"before\": \"plain\", \"verdict\": \"faster\", \"kept\": "
    "true, \"why\": null, \"advice\": null, \"gain_percent\": 25.000, "
    "\"low_percent\": 25.000, \"high_percent\": 25.000, \"seconds_before\": "
    "0.500000, \"seconds\": 0.400000, \"instructions_before\": null, "
    "\"instructions\": null, \"bytes_before\": 1000, \"bytes\": 1010, \"turns\": "
    "[[0.500000, 0.400000], [0.500000, 0.400000], [0.500000, 0.400000], "
    "[0.500000, 0.400000], [0.500000, 0.400000], [0.500000, 0.400000], "
    "[0.500000, 0.400000]]},\n"
    "    {\"name\": \"all passes\", \"before\": \"profile\", \"verdict\": \"not "
    "measured\", \"kept\": false, \"why\": \"too large\", \"advice\": \"give "
    "--max-growth 100\", \"gain_percent\": null, \"low_percent\": null, "
    "\"high_percent\": null, \"seconds_before\": null, \"seconds\": null, "
    "\"instructions_before\": null, \"instructions\": null, \"bytes_before\": "
    "1010, \"bytes\": 2000, \"turns\": []},\n"
    "    {\"name\": \"aligned\", \"before\": \"profile\", \"verdict\": \"not sure\", "
    "\"kept\": false, \"why\": null, \"advice\": null, \"gain_percent\": 0.000, "
    "\"low_percent\": null, \"high_percent\": null, \"seconds_before\": 0.400000, "
    "\"seconds\": 0.400000, \"instructions_before\": 4000, \"instructions\": 3000, "
    "\"bytes_before\": 1010, \"bytes\": 1111, \"turns\": [[0.400000, 0.400000, "
    "4000, 3000]]}\n"
    "  ]\n"
    "}\n";

static void reports(void **state)
{
    (void)state;
    expect(print_rows, rows_text);
    expect(pgk_trial_print_markdown, markdown_text);
    expect(pgk_trial_print_json, json_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),       cmocka_unit_test(an_outlier),
        cmocka_unit_test(what_cannot_be), cmocka_unit_test(rows_are_compared_with_the_best),
        cmocka_unit_test(reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
