/* Heap profiles with source positions: round trips, any order, damage. */
#include "heap_paths.h"

#include "heap_samples.h"
#include "type_names.h"

static void add_data(struct pgk_heap *h, uint64_t seed)
{
    static const char *const names[] = {"table", "src/main.cpp", "log_level", "f1"};
    struct pgk_data_store to = pgk_heap_data_store(h);
    for (unsigned i = 0; i < 5; i++) {
        uint32_t name = pgk_intern_cstr(&h->strings, names[sample_random(&seed) % 4]);
        struct pgk_data_place places[] = {{name, sample_random(&seed) % 9}, {name, 1000}};
        bool literal = i % 2;
        assert_true(pgk_data_access_add(&to, literal ? 0 : name, literal ? test_random(&seed) : 0,
                                        sample_random(&seed), places, i % 3));
        assert_true(pgk_data_access_add_cold_symbol(&to, name));
        assert_true(pgk_data_access_add_cold_hash(&to, sample_random(&seed) % 3));
    }
    pgk_data_access_sort(&to);
}

/* Gives the context one of some types, or none. */
static void give_type(struct pgk_heap *h, struct pgk_mib *mib, unsigned i)
{
    static const char *const types[] = {"node", "shop::Item<int>", "char*"};
    uint32_t name = pgk_intern_cstr(&h->strings, types[i % PGK_COUNTOF(types)]);
    assert_true(pgk_heap_note_type(h, name));
    mib->v[PGK_MIB_DataTypeId] = i % 4 ? pgk_heap_type_id(h, name) : 0;
}

/* Random contexts whose functions have names, files and lines, and frames discriminators. */
static struct pgk_heap *sample(uint64_t seed)
{
    static const char *const files[] = {"/usr/include/c++/vector", "/usr/include/c++/bits/a.h",
                                        "src/main.cpp", "src/main", "a", "/a//b/", ""};
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (uint32_t i = 0; i < 9; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i % 5);
        pgk_heap_func(h, i % 5 + 1, pgk_intern_cstr(&h->strings, name),
                      pgk_intern_cstr(&h->strings, files[(i + seed) % PGK_COUNTOF(files)]), i * 7);
    }
    uint32_t funcs = (uint32_t)h->funcs.n;
    for (unsigned c = 0; c < 1 + seed * 11 % 90; c++) {
        uint32_t node = 0, depth = 1 + sample_random(&seed) % 9, frame = 0;
        struct pgk_mib mib = sample_mib(&seed);
        uint64_t hist[] = {1, sample_random(&seed)};
        if (c % 4 == 1) {
            mib.hist = hist;
            mib.hist_count = 2;
        }
        if (c % 3)
            give_type(h, &mib, c);
        mib.known &= ~(UINT32_C(1) << sample_random(&seed) % 25);
        for (uint32_t d = 0; d < depth; d++) {
            bool inlined = d && sample_random(&seed) % 3 == 0;
            frame = pgk_heap_frame(h, inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER,
                                   sample_random(&seed) % funcs,
                                   pgk_frame_place(sample_random(&seed) % 7 - 3u,
                                                   sample_random(&seed) % 3));
            pgk_heap_note_discriminator(h, frame, sample_random(&seed) % 4);
            node = pgk_stack_push(&h->stacks, node, frame);
        }
        uint64_t callee = sample_random(&seed);
        uint32_t chain = pgk_stack_add(&h->stacks, &frame, 1);
        assert_int_equal(pgk_heap_add_site(h, PGK_SITE_CALL, h->frames.v[frame].ref, chain,
                                           &callee, c % 2, NULL),
                         0);
        assert_int_equal(pgk_heap_add(h, node, &mib, NULL), 0);
        if (c % 5)
            pgk_heap_own_by_chain(h, node);
        else
            assert_int_equal(pgk_heap_add_site(h, PGK_SITE_ALLOC, 0, node, NULL, 0, NULL), 0);
    }
    if (seed % 2)
        add_data(h, seed);
    if (seed % 3)
        h->origin = (struct pgk_heap_origin){.processes = seed, .interrupted = 1, .dumps = seed,
                                             .alive = seed * 300, .own_bytes = seed};
    return h;
}

static uint8_t *write_bytes(const struct pgk_heap *h, size_t *size,
                            struct pgk_heap_paths_size *paths)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_heap_paths_write(h, out, paths, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, size);
    uint8_t *copy = malloc(*size);
    memcpy(copy, bytes, *size);
    pgk_sink_drop(&out);
    return copy;
}

static int read_bytes(const uint8_t *bytes, size_t size, struct pgk_heap **h, struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.paths", .format = "heap profile of source positions"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_heap_paths_read(*h, bytes, size, &src, NULL, err);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct pgk_heap *h = sample(seed), *back;
        struct pgk_err err;
        size_t n, m;
        uint8_t *first = write_bytes(h, &n, NULL);
        assert_int_equal(read_bytes(first, n, &back, &err), 0);
        assert_int_equal(back->contexts.n, h->contexts.n);
        assert_int_equal(back->sites.n, h->sites.n);
        assert_int_equal(back->data.entries.n, h->data.entries.n);
        assert_int_equal(back->data.cold_symbols.n, h->data.cold_symbols.n);
        assert_int_equal(back->data.cold_hashes.n, h->data.cold_hashes.n);
        uint8_t *second = write_bytes(back, &m, NULL);
        assert_int_equal(n, m);
        assert_memory_equal(first, second, n);
        free(first);
        free(second);
        pgk_heap_close(&h);
        pgk_heap_close(&back);
    }
}

/* Names, files, lines and discriminators are those that were written. */
static void the_content_is_as_documented(void **state)
{
    (void)state;
    struct pgk_heap *h, *back;
    struct pgk_err err;
    uint64_t seed = 1;
    struct pgk_mib mib = sample_mib(&seed);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    give_type(h, &mib, 1);
    uint32_t func = pgk_heap_func(h, 0x1234, pgk_intern_cstr(&h->strings, "make"),
                                  pgk_intern_cstr(&h->strings, "/src/a.c"), 10);
    uint32_t frames[] = {
        pgk_heap_frame(h, PGK_FRAME_INLINED, func, pgk_frame_place((uint32_t)-3, 7)),
        pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(70000, 0))};
    pgk_heap_note_discriminator(h, frames[0], 6);
    pgk_heap_note_discriminator(h, frames[0], 4);
    assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, frames, 2), &mib, NULL), 0);
    size_t n;
    struct pgk_heap_paths_size size = {.struct_size = sizeof size};
    uint8_t *bytes = write_bytes(h, &n, &size);
    /* "make /src/a.c:7:7:4" and "make /src/a.c:70010:0:0", each with a byte behind it */
    assert_int_equal(size.plain_bytes, 20 + 24);
    assert_true(size.stack_bytes > 0 && size.stack_bytes < n);
    assert_int_equal(read_bytes(bytes, n, &back, &err), 0);
    struct pgk_heap_frame f[2];
    assert_int_equal(pgk_heap_stack(back, 0, f, 2), 2);
    assert_string_equal(f[0].function, "make");
    assert_string_equal(f[0].file, "/src/a.c");
    assert_int_equal(f[0].decl_line, 10);
    assert_int_equal(f[0].line_offset, (uint32_t)-3);
    assert_int_equal(f[0].column, 7);
    assert_int_equal(f[0].discriminator, 4);
    assert_true(f[0].inlined);
    const uint64_t type = pgk_heap_mib(back, 0, PGK_MIB_ROOM)->v[PGK_MIB_DataTypeId];
    assert_string_equal(pgk_heap_type_name(back, type), "shop::Item<int>");
    assert_int_equal(f[1].line_offset, 70000);
    assert_int_equal(f[1].discriminator, 0);
    free(bytes);
    pgk_heap_close(&h);
    pgk_heap_close(&back);
}

static void any_order_of_inputs_gives_the_same_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) {
        struct pgk_heap *a = sample(seed), *b = sample(seed + 7), *ab, *ba;
        size_t n, m;
        assert_int_equal(pgk_heap_new(&ab, NULL), 0);
        assert_int_equal(pgk_heap_new(&ba, NULL), 0);
        assert_int_equal(pgk_heap_merge(ab, a, NULL), 0);
        assert_int_equal(pgk_heap_merge(ab, b, NULL), 0);
        assert_int_equal(pgk_heap_merge(ba, b, NULL), 0);
        assert_int_equal(pgk_heap_merge(ba, a, NULL), 0);
        uint8_t *x = write_bytes(ab, &n, NULL), *y = write_bytes(ba, &m, NULL);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n);
        free(x);
        free(y);
        pgk_heap_close(&a);
        pgk_heap_close(&b);
        pgk_heap_close(&ab);
        pgk_heap_close(&ba);
    }
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(5), *back;
    size_t size;
    uint8_t *bytes = write_bytes(h, &size, NULL);
    for (size_t n = 0; n < size; n++) {
        struct pgk_err err;
        uint8_t *part = malloc(n + 1);
        memcpy(part, bytes, n);
        assert_true(read_bytes(part, n, &back, &err) < 0);
        assert_true(*err.field && *err.record && *err.found && *err.expected);
        pgk_heap_close(&back);
        free(part);
    }
    free(bytes);
    pgk_heap_close(&h);
}

/* A byte changed anywhere: read or refused with a place, and what is read can be written. */
static void forged_numbers_are_refused(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(3), *back;
    size_t size, n;
    uint8_t *bytes = write_bytes(h, &size, NULL);
    for (size_t at = 0; at < size; at++)
        for (unsigned with = 0; with < 3; with++) {
            struct pgk_err err;
            uint8_t old = bytes[at];
            bytes[at] = with == 0 ? 0xff : with == 1 ? 0 : (uint8_t)(old + 1);
            if (read_bytes(bytes, size, &back, &err))
                assert_true(*err.field && *err.record);
            else
                free(write_bytes(back, &n, NULL));
            pgk_heap_close(&back);
            bytes[at] = old;
        }
    free(bytes);
    pgk_heap_close(&h);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(6), *back;
    size_t size;
    uint8_t *bytes = write_bytes(h, &size, NULL);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_source src = {.file = "t"};
        assert_int_equal(pgk_heap_new(&back, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_heap_paths_read(back, bytes, size, &src, NULL, NULL);
        pgk_mem_fail_after(0);
        pgk_heap_close(&back);
        assert_in_range(nth, 1, 1000);
    }
    assert_int_equal(status, 0);
    status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sink *out;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_heap_paths_write(h, out, NULL, NULL);
        if (!status && !pgk_sink_data(out, &size))
            status = PGK_E_NOMEM;
        pgk_mem_fail_after(0);
        pgk_sink_drop(&out);
        assert_in_range(nth, 1, 1000);
    }
    assert_int_equal(status, 0);
    free(bytes);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_content_is_as_documented),
        cmocka_unit_test(any_order_of_inputs_gives_the_same_bytes),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(forged_numbers_are_refused),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
