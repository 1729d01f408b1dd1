/* The build that profiles are matched with is this test itself. */
#include "heap_match.h"
#include "heap_model.h"
#include "pgk_test.h"

#include <stdbool.h>

static char *volatile kept;

enum { MAKE = __LINE__ + 1 };
__attribute__((noinline)) static void make(size_t n)
{
    char *p = malloc(n); /* line MAKE + 2 */
    kept = p;
    free(p);
}

enum { USER = __LINE__ + 1 };
__attribute__((noinline)) static void user(size_t n)
{
    make(n); /* line USER + 2 */
    kept = NULL;
    make(2 * n); /* line USER + 4 */
    kept = NULL;
}

__attribute__((noinline)) static void hollow(void)
{
    kept = NULL;
}

__attribute__((noinline)) static char *take(size_t n)
{
    char *p = malloc(n); /* the second line */
    kept = p;
    return p;
}

__attribute__((noinline)) static char *give(size_t n)
{
    char *p = malloc(2 * n); /* the second line */
    kept = p;
    return p;
}

/* Each of two functions at its line, and one call of a function alone. */
enum { APART = __LINE__ + 1 };
__attribute__((noinline)) static void apart(size_t n)
{
    char *p = take(n); /* line APART + 2 */
    char *q = give(n); /* line APART + 3 */
    kept = NULL;
    free(p);
    free(q);
}

static inline __attribute__((always_inline)) void first_half(size_t n)
{
    char *p = take(n);
    kept = NULL;
    free(p);
}

static inline __attribute__((always_inline)) void second_half(size_t n)
{
    char *p = take(3 * n);
    kept = NULL;
    free(p);
}

enum { HALVES = __LINE__ + 1 };
__attribute__((noinline)) static void halves(size_t n)
{
    if (n > 3)
        first_half(n);
    else
        second_half(n);
}

static struct pgk_heap_frame frame(const char *function, uint32_t offset)
{
    return (struct pgk_heap_frame){.function = function, .line_offset = offset};
}

static void add(struct pgk_heap *h, const struct pgk_heap_frame *frames, size_t n, uint64_t bytes)
{
    const struct pgk_heap_value value = {PGK_MIB_TotalSize, bytes};
    const struct pgk_heap_allocation a = {.struct_size = sizeof a, .frames = frames,
                                          .n_frames = n, .values = &value, .n_values = 1};
    assert_int_equal(pgk_heap_build_context(h, &a, NULL), 0);
}

static struct pgk_match *match(const struct pgk_heap *h, struct pgk_err *err)
{
    struct pgk_binaries *set;
    struct pgk_match *m = NULL;
    assert_int_equal(pgk_binaries_new(&set, NULL, NULL), 0);
    assert_int_equal(pgk_binaries_add(set, "/proc/self/exe", NULL), 0);
    int status = pgk_match_heap(&m, h, set, NULL, err);
    assert_true(status == 0 || err->status == status);
    pgk_binaries_close(&set);
    return m;
}

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

/* Two contexts at their places, one of a call that has moved, one of a function that is gone. */
static struct pgk_heap *some_contexts(void)
{
    struct pgk_heap *h = new_heap();
    struct pgk_heap_frame f[] = {frame("make", 2), frame("user", 2)};
    add(h, f, 2, 100);
    f[1].line_offset = 4;
    add(h, f, 2, 10);
    f[0].line_offset = 9;
    add(h, f, 2, 1);
    f[1] = frame("no_such_function", 1);
    add(h, f, 2, 5);
    return h;
}

static void levels_and_totals(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = some_contexts();
    struct pgk_match *m = match(h, &err);
    struct pgk_match_totals t = {.struct_size = sizeof t};
    assert_non_null(m);
    assert_int_equal(pgk_match_level(m, 0), PGK_MATCH_EXACT);
    assert_int_equal(pgk_match_level(m, 1), PGK_MATCH_EXACT);
    assert_int_equal(pgk_match_level(m, 3), PGK_MATCH_GONE);
    pgk_match_totals(m, PGK_MATCH_EXACT, &t);
    assert_int_equal(t.contexts, 2);
    assert_int_equal(t.bytes, 110);
    pgk_match_totals(m, PGK_MATCH_LEVELS, &t);
    assert_int_equal(t.contexts, 4);
    assert_int_equal(t.bytes, 116);
    assert_true(pgk_match_percent(m) > 90 && pgk_match_percent(m) < 100);
    assert_true(pgk_match_changes(m) > 0);
    for (size_t i = 0; i < pgk_match_changes(m); i++) {
        struct pgk_match_change c = {.struct_size = sizeof c};
        pgk_match_change(m, i, &c);
        assert_true(c.level != PGK_MATCH_EXACT && c.contexts && c.caller);
    }
    pgk_match_close(&m);
    assert_null(m);
    pgk_heap_close(&h);
}

static uint64_t total_bytes(const struct pgk_heap *h)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < pgk_heap_contexts(h); i++)
        bytes += pgk_heap_value(h, i, PGK_MIB_TotalSize);
    return bytes;
}

/* What was found, at its lines in this build; what is gone is left out unless it is wanted. */
static void rebased_to_this_build(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = some_contexts(), *now;
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    assert_int_equal(pgk_match_rebase(&now, m, PGK_LOST_DROP, NULL), 0);
    uint64_t found = 0;
    for (enum pgk_match_level l = 0; l <= PGK_MATCH_FOUND; l++) {
        struct pgk_match_totals t = {.struct_size = sizeof t};
        pgk_match_totals(m, l, &t);
        found += t.bytes;
    }
    assert_in_range(found, 110, 111);
    pgk_match_close(&m);
    assert_int_equal(total_bytes(now), found);
    assert_true(pgk_heap_knows(now, 0, PGK_MIB_TotalSize));
    assert_false(pgk_heap_knows(now, 0, PGK_MIB_AllocCount));
    pgk_heap_close(&now);
    m = match(h, &err);
    assert_non_null(m);
    assert_int_equal(pgk_match_rebase(&now, m, PGK_LOST_KEEP, NULL), 0);
    struct pgk_match_totals all = {.struct_size = sizeof all};
    pgk_match_totals(m, PGK_MATCH_LEVELS, &all);
    assert_int_equal(total_bytes(now), all.bytes);
    assert_true(all.bytes > found);
    pgk_heap_close(&now);
    assert_int_equal(pgk_match_rebase(&now, m, PGK_LOST_DROP, NULL), 0);
    pgk_match_close(&m);
    m = match(now, &err);
    assert_non_null(m);
    assert_int_equal(pgk_match_changes(m), 0);
    assert_true(pgk_match_percent(m) == 100);
    pgk_match_close(&m);
    pgk_heap_close(&now);
    pgk_heap_close(&h);
}

/* What was called by a function that is gone keeps the calls that are there; one call alone says
 * too little. */
static void shortened_to_inner_calls(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap(), *now;
    const struct pgk_heap_frame two[] = {frame("make", 2), frame("user", 2), frame("gone", 1)},
                                one[] = {frame("make", 2), frame("gone", 1)};
    add(h, two, 3, 50);
    add(h, one, 2, 7);
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    struct pgk_match_totals t = {.struct_size = sizeof t};
    pgk_match_shortened(m, &t);
    assert_int_equal(t.contexts, 1);
    assert_int_equal(t.bytes, 50);
    assert_int_equal(pgk_match_rebase(&now, m, PGK_LOST_SHORTEN, NULL), 0);
    assert_int_equal(pgk_heap_contexts(now), 1);
    assert_int_equal(pgk_heap_stack(now, 0, NULL, 0), 2);
    pgk_heap_close(&now);
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

/* One place of the profile for calls of two functions, as gcc has those of a macro. */
static void several_calls_at_one_place(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap();
    struct pgk_heap_frame f[] = {frame("take", 2), frame("apart", 2)}, now[2];
    add(h, f, 2, 30);
    f[0].function = "give";
    add(h, f, 2, 3);
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pgk_match_level(m, i), i ? PGK_MATCH_MOVED : PGK_MATCH_EXACT);
        assert_int_equal(pgk_match_stack(m, i, now, 2), 2);
        assert_int_equal(now[1].decl_line + now[1].line_offset, APART + 2 + i);
    }
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

/* A call without a line is one that was merged out of functions that are inlined here. */
static void merged_out_of_inlined_functions(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap();
    struct pgk_heap_frame f[] = {frame("take", 2), frame("halves", 0U - HALVES)}, now[3];
    add(h, f, 2, 30);
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    assert_int_equal(pgk_match_level(m, 0), PGK_MATCH_LINE_ZERO);
    assert_int_equal(pgk_match_stack(m, 0, now, 3), 3);
    assert_true(now[1].inlined && !strcmp(now[2].function, "halves"));
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

/* A function that calls nothing here, as calls of it were merged with others: what it called is
 * looked for in its caller, where it has to be the only call. */
static void past_a_function_without_calls(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap();
    struct pgk_heap_frame f[] = {frame("take", 2), frame("hollow", 3), frame("apart", 9)}, now[2];
    add(h, f, 3, 30);
    f[0].function = "make";
    f[2].function = "user";
    add(h, f, 3, 3);
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    assert_int_equal(pgk_match_level(m, 0), PGK_MATCH_REROUTED);
    assert_int_equal(pgk_match_stack(m, 0, now, 2), 2);
    assert_int_equal(now[1].decl_line + now[1].line_offset, APART + 2);
    assert_int_equal(pgk_match_level(m, 1), PGK_MATCH_AMBIGUOUS);
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

/* Without two calls that were found, the likeliest place is better than none, and counted. */
static void kept_at_the_likeliest_place(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap(), *now;
    const struct pgk_heap_frame f[] = {frame("make", 2), frame("user", 3)};
    add(h, f, 2, 50);
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    assert_int_equal(pgk_match_level(m, 0), PGK_MATCH_AMBIGUOUS);
    struct pgk_match_totals t = {.struct_size = sizeof t};
    pgk_match_likeliest(m, &t);
    assert_int_equal(t.contexts, 1);
    assert_int_equal(t.bytes, 50);
    assert_int_equal(pgk_match_rebase(&now, m, PGK_LOST_SHORTEN, NULL), 0);
    assert_int_equal(pgk_heap_contexts(now), 1);
    assert_int_equal(pgk_heap_stack(now, 0, NULL, 0), 2);
    pgk_heap_close(&now);
    assert_int_equal(pgk_match_rebase(&now, m, PGK_LOST_DROP, NULL), 0);
    assert_int_equal(pgk_heap_contexts(now), 0);
    pgk_heap_close(&now);
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

static void stacks_of_the_build(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = some_contexts();
    struct pgk_match *m = match(h, &err);
    struct pgk_heap_frame f[4];
    assert_non_null(m);
    assert_int_equal(pgk_match_stack(m, 1, f, 4), 2);
    assert_string_equal(f[0].function, "make");
    assert_int_equal(f[0].decl_line, MAKE);
    assert_int_equal(f[0].line_offset, 2);
    assert_string_equal(f[1].function, "user");
    assert_int_equal(f[1].decl_line + f[1].line_offset, USER + 4);
    assert_false(f[0].inlined);
    assert_int_equal(pgk_match_stack(m, 1, f, 0), 2);
    assert_int_equal(pgk_match_stack(m, 3, f, 4), 0);
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

/* gcc parts a function in two, of which the first calls the second, from the line where the
 * function begins or another one; in this build it is one. */
static void parts_of_a_function(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap();
    const struct pgk_heap_frame parts[] = {frame("make", 2), frame("make", 0), frame("user", 4)},
                                elsewhere[] = {frame("make", 2), frame("make", 1),
                                               frame("user", 4)};
    struct pgk_heap_frame f[4];
    add(h, parts, 3, 30);
    add(h, elsewhere, 3, 3);
    struct pgk_match *m = match(h, &err);
    assert_non_null(m);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pgk_match_level(m, i), PGK_MATCH_INLINING);
        assert_int_equal(pgk_match_stack(m, i, f, 4), 2);
        assert_string_equal(f[0].function, "make");
        assert_int_equal(f[0].line_offset, 2);
        assert_string_equal(f[1].function, "user");
        assert_int_equal(f[1].line_offset, 4);
    }
    pgk_match_close(&m);
    pgk_heap_close(&h);
}

static void profiles_that_cannot_be_matched(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct pgk_heap *h = new_heap();
    assert_null(match(h, &err));
    assert_int_equal(err.status, PGK_E_EMPTY);
    const struct pgk_heap_frame of_others[] = {frame("no_such_function", 1), frame("main", 1)};
    add(h, of_others, 2, 1);
    assert_null(match(h, &err));
    assert_int_equal(err.status, PGK_E_MISMATCH);
    const struct pgk_heap_frame address = {.is_address = true, .address = 77};
    add(h, &address, 1, 1);
    assert_null(match(h, &err));
    assert_int_equal(err.status, PGK_E_ARG);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_and_totals),
        cmocka_unit_test(rebased_to_this_build),
        cmocka_unit_test(shortened_to_inner_calls),
        cmocka_unit_test(several_calls_at_one_place),
        cmocka_unit_test(merged_out_of_inlined_functions),
        cmocka_unit_test(past_a_function_without_calls),
        cmocka_unit_test(kept_at_the_likeliest_place),
        cmocka_unit_test(stacks_of_the_build),
        cmocka_unit_test(parts_of_a_function),
        cmocka_unit_test(profiles_that_cannot_be_matched),
    };
    user(1);
    apart(1);
    halves(1);
    hollow();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
