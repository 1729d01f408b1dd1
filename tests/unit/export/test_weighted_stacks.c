#include "exporters.h"
#include "pgk_test.h"
#include "text_out.h"

enum { FRAMES = 3 };

/* Frames 0 to 2 are main, parse and peek, which is inlined into parse; two types of values. */
static void make(struct pgk_stacks *s)
{
    static const struct pgk_value_type types[] = {{"a", "a", "count"}, {"b", "b", "bytes"}};
    static const char *const names[FRAMES] = {"main", "a;b", "peek"};
    *s = (struct pgk_stacks){.types = types, .n_types = 2, .shown_type = 1};
    assert_true(pgk_stack_tree_init(&s->paths));
    for (uint32_t f = 0; f < FRAMES; f++) {
        struct pgk_stack_func func = {.name = pgk_intern_cstr(&s->strings, names[f])};
        assert_true(pgk_vec_push(&s->funcs, func));
        assert_true(pgk_vec_push(&s->frames, (struct pgk_stack_frame){.func = f}));
    }
    assert_int_equal(pgk_stacks_add_location(s, (const uint32_t[]){0}, 1), 1);
    assert_int_equal(pgk_stacks_add_location(s, (const uint32_t[]){2, 1}, 2), 2);
    struct pgk_weighted_stack stack = {.label = ""};
    assert_true(pgk_stacks_add(s, (const uint32_t[]){2, 1}, 2, stack, (const uint64_t[]){7, 8}));
    assert_true(pgk_stacks_add(s, (const uint32_t[]){1}, 1, stack, (const uint64_t[]){9, 0}));
    assert_true(pgk_stacks_add(s, NULL, 0, stack, (const uint64_t[]){1, 1}));
}

static void a_path_has_inlined_frames_in_order(void **state)
{
    static const uint32_t wanted[] = {0, 1, 2};
    struct pgk_stack_path path = {0};
    struct pgk_stacks s;
    (void)state;
    make(&s);
    assert_int_equal(pgk_stacks_path(&s, 0, &path, NULL), 0);
    assert_int_equal(path.frames.n, PGK_COUNTOF(wanted));
    assert_memory_equal(path.frames.v, wanted, sizeof wanted);
    assert_int_equal(pgk_stacks_path(&s, 2, &path, NULL), 0);
    assert_int_equal(path.frames.n, 0);
    assert_int_equal(pgk_stacks_value(&s, 0, 1), 8);
    assert_int_equal(pgk_stacks_value(&s, 1, 0), 9);
    pgk_vec_free(&path.frames);
    pgk_stacks_free(&s);
}

/* Stacks without frames or without the value that is shown have no line. */
static void stacks_are_folded(void **state)
{
    static const char wanted[] = "main;a:b;peek 8\n";
    struct pgk_sink *sink;
    struct pgk_stacks s;
    size_t n;
    (void)state;
    make(&s);
    assert_int_equal(pgk_sink_memory(&sink, NULL), 0);
    assert_int_equal(pgk_export_folded(&s, sink, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(sink, &n);
    assert_int_equal(n, sizeof wanted - 1);
    assert_memory_equal(bytes, wanted, n);
    pgk_sink_drop(&sink);
    pgk_stacks_free(&s);
}

static void formats_are_known_by_name(void **state)
{
    static const char *const wanted[] = {"html",       "pprof", "otlp", "folded",
                                         "speedscope", "csv",   "json", "markdown"};
    struct pgk_heap *heap;
    (void)state;
    for (size_t i = 0; i < PGK_COUNTOF(wanted); i++)
        assert_string_equal(pgk_export_format_at(i)->name, wanted[i]);
    assert_null(pgk_export_format_at(PGK_COUNTOF(wanted)));
    assert_int_equal(pgk_heap_new(&heap, NULL), 0);
    assert_int_equal(pgk_heap_export(heap, "no such", "-", NULL, NULL), PGK_E_ARG);
    pgk_heap_close(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_inlined_frames_in_order),
        cmocka_unit_test(stacks_are_folded),
        cmocka_unit_test(formats_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
