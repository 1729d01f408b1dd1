/* The calls that a stack is at, beside each call compared with each frame. */
#include "use_chain.h"

#include "pgk_test.h"

enum { CALLS = 60, DEEP = 5, STACKS = 40, TRIES = 2000 };

/* Few of each, so that many are alike. */
static struct pgc_place random_place(uint64_t *state, bool merged)
{
    struct pgc_place place = {.function = test_random(state) % 3,
                              .line_offset = (uint32_t)(test_random(state) % 4),
                              .column = (uint32_t)(test_random(state) % 2)};
    place.line_zero = merged && !(test_random(state) % 4);
    place.no_line = merged ? (uint32_t)(place.function + test_random(state) % 2) : 9;
    return place;
}

static struct pgc_frame random_frame(uint64_t *state, bool columns)
{
    const struct pgc_place place = random_place(state, false);
    return (struct pgc_frame){place.function, place.line_offset, columns ? place.column : 0, false};
}

struct call {
    struct pgc_place places[DEEP];
    size_t n;
};

static bool is_at(const struct pgc_chains *c, const struct pgc_frame *frame,
                  const struct pgc_place *place)
{
    if (frame->function != place->function)
        return false;
    if (frame->line == place->line_offset && (!c->columns || frame->column == place->column))
        return true;
    return !c->exact && (place->line_zero || frame->line == place->no_line);
}

static bool begins_with(const struct pgc_chains *c, const struct pgc_frame *frames, size_t n,
                        const struct call *call)
{
    bool begins = call->n && call->n <= n;
    for (size_t i = 0; begins && i < call->n; i++)
        begins = is_at(c, &frames[i], &call->places[i]);
    return begins;
}

static bool same_chain(const struct call *a, const struct call *b, bool columns)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        const struct pgc_place *x = &a->places[i], *y = &b->places[i];
        same = x->function == y->function && x->line_offset == y->line_offset &&
               x->line_zero == y->line_zero && x->no_line == y->no_line &&
               (!columns || x->column == y->column);
    }
    return same;
}

static void count_found(void *arg, size_t position)
{
    ((unsigned *)arg)[position]++;
}

static void compare(const struct pgc_chains *c, const struct call *calls, const size_t *positions,
                    const struct pgc_frame *frames, size_t n)
{
    unsigned found[CALLS] = {0};
    bool any = false;
    pgc_chains_find(c, frames, n, count_found, found);
    for (size_t i = 0; i < CALLS; i++) {
        assert_int_equal(found[positions[i]], begins_with(c, frames, n, &calls[i]));
        any |= calls[i].n && is_at(c, frames, calls[i].places);
    }
    assert_int_equal(pgc_chains_begin(c, frames), any);
}

static void compare_calls(uint64_t *state, bool columns, bool exact, bool merged)
{
    struct pgc_chains chains = {.columns = columns, .exact = exact};
    struct call calls[CALLS];
    size_t positions[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        calls[i].n = test_random(state) % DEEP;
        for (size_t k = 0; k < calls[i].n; k++)
            calls[i].places[k] = random_place(state, merged);
        pgc_chains_add(&chains, calls[i].places, calls[i].n);
    }
    pgc_chains_sort(&chains, positions);
    for (size_t i = 0; i < CALLS; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(positions[i] == positions[k],
                             same_chain(&calls[i], &calls[k], columns));
    for (size_t i = 0; i < STACKS; i++) {
        struct pgc_frame frames[DEEP + 1];
        size_t n = 1 + test_random(state) % DEEP;
        for (size_t k = 0; k < n; k++)
            frames[k] = random_frame(state, columns);
        compare(&chains, calls, positions, frames, n);
    }
    pgc_chains_close(&chains);
}

static void calls_are_those_that_each_one_compared_gives(void **unused)
{
    uint64_t state = 7;
    (void)unused;
    for (int i = 0; i < TRIES; i++)
        compare_calls(&state, i & 1, i & 2, i & 4);
}

static void exact_frames_are_counted(void **unused)
{
    const struct pgc_place places[] = {{.function = 1, .line_offset = 2, .column = 3},
                                       {.function = 4, .line_zero = true}};
    const struct pgc_frame frames[] = {{1, 2, 3, false}, {4, 5, 6, false}};
    struct pgc_chains chains = {.columns = true};
    size_t position;
    unsigned found = 0;
    (void)unused;
    pgc_chains_add(&chains, places, 2);
    pgc_chains_sort(&chains, &position);
    pgc_chains_find(&chains, frames, 2, count_found, &found);
    assert_int_equal(found, 1);
    assert_int_equal(pgc_chain_exact(&chains.all[position], frames), 1);
    pgc_chains_close(&chains);
}

static void no_call_is_found_where_there_is_none(void **unused)
{
    const struct pgc_frame frame = {1, 2, 3, false};
    struct pgc_chains chains = {0};
    size_t position;
    unsigned found = 0;
    (void)unused;
    pgc_chains_sort(&chains, &position);
    pgc_chains_find(&chains, &frame, 1, count_found, &found);
    assert_false(found || pgc_chains_begin(&chains, &frame));
    pgc_chains_close(&chains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_those_that_each_one_compared_gives),
        cmocka_unit_test(exact_frames_are_counted),
        cmocka_unit_test(no_call_is_found_where_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
