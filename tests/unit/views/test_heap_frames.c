#include "heap_frames.h"
#include "hash.h"
#include "heap_samples.h"
#include "heap_view.h"
#include "pgk_test.h"

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

static uint32_t func(struct pgk_heap *h, const char *name, const char *file)
{
    return pgk_heap_func(h, pgk_hash_bytes(name, strlen(name)), pgk_intern_cstr(&h->strings, name),
                         pgk_intern_cstr(&h->strings, file), 10);
}

static uint32_t push(struct pgk_heap *h, uint32_t stack, const char *name, const char *file,
                     uint32_t line)
{
    uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func(h, name, file),
                                    pgk_frame_place(line, 1));
    return pgk_stack_push(&h->stacks, stack, frame);
}

static void add(struct pgk_heap *h, uint32_t stack)
{
    uint64_t seed = 1;
    struct pgk_mib m = sample_mib(&seed);
    assert_int_equal(pgk_heap_add(h, stack, &m, NULL), 0);
}

static void names_are_those_of_programmers(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    struct pgk_heap_frames t;
    uint32_t nodes[1];
    add(h, push(h, 0, "_ZN3abc3fooIiEEvT_", "dir/a\x01.cpp", 3));
    pgk_heap_note_func_path(h, 0, pgk_intern_cstr(&h->strings, "/usr/lib/libabc.so"));
    assert_int_equal(pgk_heap_frames_init(&t, NULL), 0);
    assert_int_equal(pgk_heap_frames_add(&t, h, nodes, NULL), 0);
    const struct pgk_view_func *f = pgk_frames_func(&t, nodes[0]);
    assert_string_equal(pgk_frames_text(&t, f->name), "abc::foo<int>");
    assert_string_equal(pgk_frames_text(&t, f->linkage), "_ZN3abc3fooIiEEvT_");
    assert_string_equal(pgk_frames_text(&t, f->file), "dir/a\\x01.cpp");
    assert_string_equal(pgk_frames_text(&t, f->path), "/usr/lib/libabc.so");
    assert_int_equal(pgk_frames_at(&t, nodes[0])->line, 13);
    pgk_heap_frames_free(&t);
    pgk_heap_close(&h);
}

/* The frame that wants the memory is the first one that is the program's own. */
static void site_is_the_programs_own(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    struct pgk_heap_frames t;
    uint32_t nodes[3];
    uint32_t top = push(h, 0, "main", "main.cpp", 1);
    uint32_t mine = push(h, top, "load", "load.cpp", 2);
    uint32_t inner = push(h, mine, "helper", "/usr/include/c++/12/bits/x.h", 3);
    add(h, push(h, inner, "_Znwm", "", 0));
    add(h, push(h, 0, "malloc", "", 4));
    add(h, top);
    assert_int_equal(pgk_heap_frames_init(&t, NULL), 0);
    assert_int_equal(pgk_heap_frames_add(&t, h, nodes, NULL), 0);
    const struct pgk_view_func *site = pgk_frames_func(&t, pgk_frames_site(&t, nodes[0]));
    assert_string_equal(pgk_frames_text(&t, site->name), "load");
    assert_int_equal(pgk_frames_site(&t, nodes[1]), nodes[1]); /* nothing else there */
    assert_int_equal(pgk_frames_site(&t, nodes[2]), nodes[2]);
    pgk_heap_frames_free(&t);
    pgk_heap_close(&h);
}

static void equal_stacks_of_two_profiles_are_one_node(void **state)
{
    (void)state;
    struct pgk_heap *a = new_heap(), *b = new_heap();
    struct pgk_heap_frames t;
    uint32_t in_a[2], in_b[2];
    add(a, push(a, push(a, 0, "main", "m.c", 1), "f", "m.c", 2));
    add(a, push(a, push(a, 0, "main", "m.c", 1), "f", "m.c", 3));
    add(b, push(b, 0, "main", "m.c", 1));
    add(b, push(b, push(b, 0, "main", "m.c", 1), "f", "m.c", 3));
    assert_int_equal(pgk_heap_frames_init(&t, NULL), 0);
    assert_int_equal(pgk_heap_frames_add(&t, a, in_a, NULL), 0);
    assert_int_equal(pgk_heap_frames_add(&t, b, in_b, NULL), 0);
    assert_int_equal(in_a[1], in_b[1]);
    assert_int_not_equal(in_a[0], in_a[1]);
    assert_int_equal(t.stacks.nodes.v[in_a[0]].parent, in_b[0]);
    pgk_heap_frames_free(&t);
    pgk_heap_close(&a);
    pgk_heap_close(&b);
}

static void code_without_a_line_has_none(void **state)
{
    (void)state;
    const struct pgk_heap_frame f[] = {{.decl_line = 7, .line_offset = 5},
                                       {.decl_line = 0, .line_offset = 5},
                                       {.decl_line = 7, .line_offset = UINT32_MAX - 6},
                                       {.decl_line = 7, .line_offset = 65536 - 7},
                                       {.decl_line = 70000, .line_offset = 2 * 65536 - 70000}};
    const uint32_t lines[] = {12, 0, 0, 0, 0};
    for (size_t i = 0; i < PGK_COUNTOF(f); i++)
        assert_int_equal(pgk_heap_frame_line(&f[i]), lines[i]);
}

static void a_line_above_its_function_is_found_from_16_bits(void **state)
{
    (void)state;
    const struct pgk_heap_frame f[] = {{.decl_line = 356, .line_offset = 65536 - 10},
                                       {.decl_line = 356, .line_offset = UINT32_MAX - 9},
                                       {.decl_line = 356, .line_offset = 40000}};
    const uint32_t lines[] = {346, 346, 40356};
    for (size_t i = 0; i < PGK_COUNTOF(f); i++)
        assert_int_equal(pgk_heap_frame_line(&f[i]), lines[i]);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap();
    uint32_t nodes[64];
    sample_fill(h, 7, 64, 20, false);
    size_t n = pgk_heap_contexts(h);
    assert_true(n <= 64);
    for (uint64_t nth = 1, failed = 1; failed; nth++) {
        struct pgk_heap_frames t = {0};
        pgk_mem_fail_after(nth);
        int status = pgk_heap_frames_init(&t, NULL);
        if (!status)
            status = pgk_heap_frames_add(&t, h, nodes, NULL);
        pgk_mem_fail_after(0);
        failed = status != 0;
        assert_true(!status || status == PGK_E_NOMEM);
        pgk_heap_frames_free(&t);
    }
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_programmers),
        cmocka_unit_test(site_is_the_programs_own),
        cmocka_unit_test(equal_stacks_of_two_profiles_are_one_node),
        cmocka_unit_test(code_without_a_line_has_none),
        cmocka_unit_test(a_line_above_its_function_is_found_from_16_bits),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
