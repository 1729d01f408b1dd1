#include "pgk_test.h"
#include "sample_tree.h"

static struct pgk_sample *new_profile(bool contexts)
{
    struct pgk_sample *p;
    assert_int_equal(pgk_sample_new(&p, NULL), 0);
    assert_int_equal(pgk_sample_set_kind(p, contexts, false, "", NULL), 0);
    return p;
}

static uint32_t name(struct pgk_sample *p, const char *s)
{
    return pgk_sample_name(p, s, strlen(s));
}

/* The node of that name below `parent`; fails if there is not exactly one. */
static uint32_t find(const struct pgk_sample_tree *t, uint32_t parent, const char *text)
{
    uint32_t found = 0;
    for (uint32_t n = 1; n < t->nodes.n; n++) {
        const struct pgk_sample_tree_node *node = &t->nodes.v[n];
        if (node->parent != parent ||
            strcmp(pgk_sample_tree_text(t, t->funcs.v[node->func].name), text) != 0)
            continue;
        assert_int_equal(found, 0);
        found = n;
    }
    assert_int_not_equal(found, 0);
    return found;
}

static void two_profiles_side_by_side(void **state)
{
    struct pgk_sample *now = new_profile(false), *before = new_profile(false);
    struct pgk_sample_tree t;
    (void)state;
    uint32_t main_now = pgk_sample_function(now, name(now, "main"));
    uint32_t main_before = pgk_sample_function(before, name(before, "main"));
    pgk_sample_inlinee(now, main_now, pgk_sample_loc(4, 0), name(now, "both"));
    pgk_sample_inlinee(now, main_now, pgk_sample_loc(5, 0), name(now, "moved"));
    pgk_sample_inlinee(before, main_before, pgk_sample_loc(4, 0), name(before, "both"));
    pgk_sample_inlinee(before, main_before, pgk_sample_loc(6, 0), name(before, "gone"));
    pgk_sample_function(before, name(before, "old"));
    assert_int_equal(pgk_sample_finish(now, NULL), 0);
    assert_int_equal(pgk_sample_finish(before, NULL), 0);
    assert_int_equal(pgk_sample_tree_make(&t, now, before, NULL), 0);
    uint32_t main_node = find(&t, 0, "main"), both = find(&t, main_node, "both");
    assert_non_null(pgk_tree_now(&t, main_node));
    assert_non_null(pgk_tree_before(&t, main_node));
    assert_non_null(pgk_tree_now(&t, both));
    assert_non_null(pgk_tree_before(&t, both));
    assert_null(pgk_tree_before(&t, find(&t, main_node, "moved")));
    assert_null(pgk_tree_now(&t, find(&t, main_node, "gone")));
    assert_null(pgk_tree_now(&t, find(&t, 0, "old")));
    assert_true(t.nodes.v[find(&t, 0, "old")].top);
    assert_false(t.nodes.v[both].top);
    pgk_sample_tree_free(&t);
    pgk_sample_close(&now);
    pgk_sample_close(&before);
}

/* A name that one side knows by its GUID only. */
static void functions_with_and_without_a_spelling(void **state)
{
    struct pgk_sample *now = new_profile(false), *before = new_profile(false);
    struct pgk_sample_tree t;
    (void)state;
    uint32_t id = name(now, "main");
    pgk_sample_function(now, id);
    uint64_t guid = pgk_sample_names_guid(&now->names, id);
    pgk_sample_function(before, pgk_sample_name_guid(before, guid));
    assert_int_equal(pgk_sample_finish(now, NULL), 0);
    assert_int_equal(pgk_sample_finish(before, NULL), 0);
    assert_int_equal(pgk_sample_tree_make(&t, now, before, NULL), 0);
    assert_int_equal(t.nodes.n, 2);
    assert_non_null(pgk_tree_before(&t, find(&t, 0, "main")));
    pgk_sample_tree_free(&t);
    pgk_sample_close(&now);
    pgk_sample_close(&before);
}

/* Callers without a profile are in the tree; parents stand before children. */
static void contexts_are_paths_of_the_tree(void **state)
{
    struct pgk_sample *p = new_profile(true);
    struct pgk_sample_tree t;
    (void)state;
    uint32_t root = pgk_sample_root(p, name(p, "main"));
    uint32_t parse = pgk_sample_context(p, root, pgk_sample_loc(3, 0), name(p, "_Z5parsev"));
    pgk_sample_make_top(p, parse);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sample_tree_make(&t, p, NULL, NULL), 0);
    uint32_t caller = find(&t, 0, "main"), called = find(&t, caller, "parse");
    assert_false(t.nodes.v[caller].top);
    assert_true(t.nodes.v[called].top && t.nodes.v[called].context);
    assert_string_equal(pgk_sample_tree_text(&t, t.funcs.v[t.nodes.v[called].func].linkage),
                        "_Z5parsev");
    for (uint32_t n = 1; n < t.nodes.n; n++)
        assert_true(t.nodes.v[n].parent < n);
    pgk_sample_tree_free(&t);
    pgk_sample_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_profiles_side_by_side),
        cmocka_unit_test(functions_with_and_without_a_spelling),
        cmocka_unit_test(contexts_are_paths_of_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
