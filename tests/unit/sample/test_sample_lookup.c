/* Copies of functions in plain, context-sensitive, nested and flat profiles. */
#include "sample_cases.h"

#include "sample_lookup.h"

struct frame {
    const char *name;
    uint32_t line, discriminator;
};

/* What is counted at the place of the last frame; -1: the profile does not know it. */
static long long samples(const char *text, const struct frame *frames, size_t n)
{
    struct pgk_sample *p = case_read(text);
    struct pgk_sample_lookup *l;
    struct pgk_sample_frame stack[8];
    pgk_sample_nodes_vec nodes = {0};
    uint64_t count = 0;
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_lookup_open(&l, p, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        stack[i].loc = pgk_sample_loc(frames[i].line, frames[i].discriminator);
        stack[i].name = pgk_sample_lookup_name(l, frames[i].name, strlen(frames[i].name));
    }
    assert_true(pgk_sample_lookup(l, stack, n, &nodes));
    bool known = pgk_sample_body(p, nodes.v, nodes.n, stack[n - 1].loc, &count);
    pgk_vec_free(&nodes);
    pgk_sample_lookup_close(&l);
    pgk_sample_close(&p);
    return known ? (long long)count : -1;
}
#define SAMPLES(text, ...)                                  \
    samples(text, (const struct frame[]){__VA_ARGS__},      \
            sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame))

static void functions_are_looked_up(void **state)
{
    (void)state;
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 4, 0}), 534);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 4, 2}), 534);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 4, 1}), -1);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 9, 0}), 2064);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 10, 0}, {"inline1", 1, 0}), 1000);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 10, 0}, {"inline1", 2, 0}, {"deep", 1, 0}), 10);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"_Z3fooi.llvm.123", 1, 0}), 610);
    /* The inlinee of another place, of another function, and none of its own. */
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 11, 0}, {"inline1", 1, 0}), -1);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"_Z3fooi", 10, 0}, {"inline1", 1, 0}), -1);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"inline1", 1, 0}), -1);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"unknown", 1, 0}), -1);
    assert_int_equal(SAMPLES(CASE_PLAIN, {"main", 10, 0}, {"_Z3fooi", 1, 0}), -1);
}

static void contexts_are_looked_up(void **state)
{
    (void)state;
    static const char text[] = "[main:3 @ foo]:5:2\n 1: 5\n[main:4 @ foo]:7:2\n 1: 7\n 2: 0\n"
                               "[foo]:1:0\n 1: 1\n[main:3 @ foo:2 @ bar]:9:0\n 1: 9\n"
                               "[other:1 @ foo:2 @ bar]:20:0\n 1: 20\n";
    assert_int_equal(SAMPLES(text, {"foo", 1, 0}), 13); /* of all callers */
    assert_int_equal(SAMPLES(text, {"foo", 2, 0}), 0);
    assert_int_equal(SAMPLES(text, {"main", 3, 0}, {"foo", 1, 0}), 5);
    assert_int_equal(SAMPLES(text, {"main", 4, 0}, {"foo", 1, 0}), 7);
    assert_int_equal(SAMPLES(text, {"main", 5, 0}, {"foo", 1, 0}), -1);
    assert_int_equal(SAMPLES(text, {"foo", 2, 0}, {"bar", 1, 0}), 29);
    assert_int_equal(SAMPLES(text, {"main", 3, 0}, {"foo", 2, 0}, {"bar", 1, 0}), 9);
    assert_int_equal(SAMPLES(text, {"other", 3, 0}, {"foo", 2, 0}, {"bar", 1, 0}), -1);
}

/* Inlinees that a pre-inliner chose count for the function, wherever the program has it. */
static void inlinees_are_looked_up(void **state)
{
    (void)state;
    static const char text[] = "main:30:1\n 1: 10\n 2: foo:20\n  1: 20\n  !CFGChecksum: 2\n"
                               "  !Attributes: 2\n !CFGChecksum: 1\nfoo:3:3\n 1: 3\n"
                               " !CFGChecksum: 2\n";
    assert_int_equal(SAMPLES(text, {"foo", 1, 0}), 23);
    assert_int_equal(SAMPLES(text, {"main", 2, 0}, {"foo", 1, 0}), 20);
}

static void flat_profiles_are_looked_up(void **state)
{
    (void)state;
    static const char text[] = "main:30:1\n 1: 10\nfoo:23:3\n 1: 23\n";
    assert_int_equal(SAMPLES(text, {"foo", 1, 0}), 23);
    assert_int_equal(SAMPLES(text, {"main", 2, 0}, {"foo", 1, 0}), 23);
    assert_int_equal(SAMPLES(text, {"elsewhere", 2, 0}, {"foo", 1, 0}), 23);
}

/* Targets and types of two contexts: added up by name, targets first, most first. */
static void values_of_a_place(void **state)
{
    (void)state;
    struct pgk_sample *p = case_read("[a:1 @ f]:5:0\n 3: 5 x:1 y:3\n 3: vtables _ZTV1A:50 \n"
                                     "[b:1 @ f]:5:0\n 3: 5 x:4 z:2\n 4: 1 x:1\n");
    struct pgk_sample_lookup *l;
    pgk_sample_nodes_vec nodes = {0};
    pgk_sample_recs_vec v = {0};
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_lookup_open(&l, p, NULL), 0);
    struct pgk_sample_frame f = {0, pgk_sample_lookup_name(l, "f", 1)};
    assert_true(pgk_sample_lookup(l, &f, 1, &nodes));
    assert_int_equal(nodes.n, 2);
    assert_true(pgk_sample_values(p, nodes.v, nodes.n, pgk_sample_loc(3, 0), &v));
    static const struct {
        const char *name;
        uint64_t count;
    } want[] = {{"x", 5}, {"y", 3}, {"z", 2}, {"_ZTV1A", 50}};
    assert_int_equal(v.n, PGK_COUNTOF(want));
    for (size_t i = 0; i < v.n; i++) {
        assert_string_equal(p->names.list.v[pgk_rec_name(&v.v[i])].s, want[i].name);
        assert_int_equal(v.v[i].count, want[i].count);
    }
    assert_true(pgk_sample_values(p, nodes.v, nodes.n, pgk_sample_loc(9, 0), &v));
    assert_int_equal(v.n, 0);
    pgk_vec_free(&v);
    pgk_vec_free(&nodes);
    pgk_sample_lookup_close(&l);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_looked_up),
        cmocka_unit_test(contexts_are_looked_up),
        cmocka_unit_test(inlinees_are_looked_up),
        cmocka_unit_test(flat_profiles_are_looked_up),
        cmocka_unit_test(values_of_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
