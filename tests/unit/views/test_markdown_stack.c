#include "markdown_stack.h"
#include "hash.h"
#include "heap_samples.h"
#include "pgk_test.h"

enum { MOST = 3 };

struct table {
    struct pgk_heap *heap;
    struct pgk_heap_frames frames;
    uint32_t *stacks;
};

/* A stack of functions, the one that allocates first. */
static void add(struct table *t, const char *functions)
{
    char text[128], *left = text, *names[16];
    size_t n = 0;
    uint64_t seed = 1;
    uint32_t stack = 0;
    assert_true(strlen(functions) < sizeof text);
    strcpy(text, functions);
    for (char *name; (name = strsep(&left, " "));)
        names[n++] = name;
    for (size_t i = n; i--;) {
        uint32_t func = pgk_heap_func(t->heap, pgk_hash_bytes(names[i], strlen(names[i])),
                                      pgk_intern_cstr(&t->heap->strings, names[i]),
                                      pgk_intern_cstr(&t->heap->strings, "a.c"), 0);
        stack = pgk_stack_push(&t->heap->stacks, stack,
                               pgk_heap_frame(t->heap, PGK_FRAME_CALLER, func, 0));
    }
    struct pgk_mib mib = sample_mib(&seed);
    assert_int_equal(pgk_heap_add(t->heap, stack, &mib, NULL), 0);
}

static struct table table_of(const char *const *stacks, size_t n)
{
    struct table t;
    assert_int_equal(pgk_heap_new(&t.heap, NULL), 0);
    for (size_t i = 0; i < n; i++)
        add(&t, stacks[i]);
    assert_int_equal(pgk_heap_contexts(t.heap), n);
    assert_int_equal(pgk_heap_frames_make(&t.frames, t.heap, &t.stacks, NULL), 0);
    return t;
}

static void free_table(struct table *t)
{
    pgk_heap_frames_free(&t->frames);
    pgk_mem_free(t->stacks);
    pgk_heap_close(&t->heap);
}

static void expect_cells(const char *const *stacks, const char *const *cells, size_t n,
                         size_t depth)
{
    struct table t = table_of(stacks, n);
    struct pgk_md_stacks s;
    assert_int_equal(pgk_md_stacks_init(&s, &t.frames, depth, NULL), 0);
    for (size_t i = 0; i < n; i++)
        pgk_md_stacks_add(&s, t.stacks[i]);
    for (size_t i = 0; i < n; i++) {
        struct pgk_sink *sink;
        struct pgk_text_out out;
        size_t len;
        assert_int_equal(pgk_sink_memory(&sink, NULL), 0);
        pgk_text_to_sink(&out, sink);
        pgk_md_stacks_put(&s, t.stacks[i], &out);
        pgk_text_flush(&out);
        const uint8_t *bytes = pgk_sink_data(sink, &len);
        char *text = strndup((const char *)bytes, len);
        assert_string_equal(text, cells[i]);
        free(text);
        pgk_sink_drop(&sink);
    }
    assert_false(s.failed);
    pgk_md_stacks_free(&s);
    free_table(&t);
}

static void short_stacks_are_whole(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g h"}, *const cells[] = {"`f`<br>`g`<br>`h`"};
    expect_cells(stacks, cells, 1, MOST);
}

static void a_stack_alone_has_the_callers_next_to_it(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g h main"},
                      *const cells[] = {"`f`<br>`g`<br>`h`<br>..."};
    expect_cells(stacks, cells, 1, MOST);
}

/* Three of four frames would be the same in both. */
static void frames_that_differ_are_shown(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g h read loop main",
                                  "f g h write loop main",
                                  "other a b c"};
    const char *const cells[] = {"`f`<br>...<br>`read`<br>`loop`<br>...",
                                 "`f`<br>...<br>`write`<br>`loop`<br>...",
                                 "`other`<br>`a`<br>`b`<br>..."};
    expect_cells(stacks, cells, 3, MOST);
}

static void each_place_where_stacks_part_is_shown(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g read x one main",
                                  "f g read x two main",
                                  "f g write x one main"};
    const char *const cells[] = {"`f`<br>...<br>`read`<br>...<br>`one`<br>...",
                                 "`f`<br>...<br>`read`<br>...<br>`two`<br>...",
                                 "`f`<br>...<br>`write`<br>`x`<br>..."};
    expect_cells(stacks, cells, 3, MOST);
}

/* A stack that ends where another one goes on: the frame that the longer one has is shown. */
static void a_stack_that_is_the_end_of_another_one(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g h i", "f g h i main"};
    const char *const cells[] = {"`f`<br>...<br>`h`<br>`i`",
                                 "`f`<br>...<br>`i`<br>`main`"};
    expect_cells(stacks, cells, 2, MOST);
}

static void depth_0_is_all(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g h i main"},
                      *const cells[] = {"`f`<br>`g`<br>`h`<br>`i`<br>`main`"};
    expect_cells(stacks, cells, 1, 0);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    const char *const stacks[] = {"f g h read main", "f g h write main"};
    struct table t = table_of(stacks, 2);
    for (uint64_t nth = 1, failed = 1; failed; nth++) {
        struct pgk_md_stacks s;
        struct pgk_sink *sink;
        struct pgk_text_out out;
        assert_int_equal(pgk_sink_memory(&sink, NULL), 0);
        pgk_text_to_sink(&out, sink);
        pgk_mem_fail_after(nth);
        int status = pgk_md_stacks_init(&s, &t.frames, MOST, NULL);
        for (size_t i = 0; i < 2 && !status; i++)
            pgk_md_stacks_add(&s, t.stacks[i]);
        for (size_t i = 0; i < 2 && !status; i++)
            pgk_md_stacks_put(&s, t.stacks[i], &out);
        pgk_mem_fail_after(0);
        failed = status || s.failed;
        assert_true(!status || status == PGK_E_NOMEM);
        if (!status)
            pgk_md_stacks_free(&s);
        pgk_sink_drop(&sink);
    }
    free_table(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_stacks_are_whole),
        cmocka_unit_test(a_stack_alone_has_the_callers_next_to_it),
        cmocka_unit_test(frames_that_differ_are_shown),
        cmocka_unit_test(each_place_where_stacks_part_is_shown),
        cmocka_unit_test(a_stack_that_is_the_end_of_another_one),
        cmocka_unit_test(depth_0_is_all),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
