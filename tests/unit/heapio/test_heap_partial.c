/* Partial profiles: nothing is lost, order does not matter, damage is refused. */
#include "heap_partial.h"

#include "heap_samples.h"
#include "type_names.h"

static const struct pgk_source source = {.file = "test", .format = "partial heap profile"};

struct bytes {
    uint8_t *v;
    size_t n;
};

static struct bytes written(const struct pgk_heap *h)
{
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_heap_partial_write(h, out, NULL), 0);
    const uint8_t *data = pgk_sink_data(out, &size);
    assert_non_null(data);
    struct bytes b = {malloc(size + 1), size};
    assert_non_null(b.v);
    memcpy(b.v, data, size);
    pgk_sink_drop(&out);
    return b;
}

static void assert_equal(struct bytes a, struct bytes b)
{
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.v, b.v, a.n);
}

static struct pgk_heap *new_heap(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    return h;
}

/* A type that contexts can have, by its DataTypeId. */
static uint64_t add_type(struct pgk_heap *h, const char *text)
{
    uint32_t name = pgk_intern_cstr(&h->strings, text);
    assert_true(pgk_heap_note_type(h, name));
    return pgk_heap_type_id(h, name);
}

static void read_into(struct pgk_heap *h, struct bytes b)
{
    struct pgk_err err = {0};
    char text[8192];
    if (pgk_heap_partial_read(h, b.v, b.n, &source, NULL, &err))
        fail_msg("%s", test_printed(text, &err));
}

/* Everything a model can hold: functions with names in files, addresses in modules with and
 * without build id and in none, histograms, fields that are not known, callees, contexts that
 * stand in odd records. */
static struct pgk_heap *sample(uint64_t seed)
{
    struct pgk_heap *h = new_heap();
    const char *types[] = {"shop::Item", seed % 2 ? "node1" : "node0"};
    sample_fill(h, seed, 12, 9, true);
    for (size_t i = 0; i < h->funcs.n; i++)
        h->funcs.v[i].decl_line = 10 + (uint32_t)(h->funcs.v[i].guid % 1000);
    h->origin = (struct pgk_heap_origin){.processes = 1 + seed % 3, .others = seed % 2,
                                         .interrupted = 1, .one_thread = seed % 2, .dumps = 5,
                                         .alive = seed * 1000, .own_ns = UINT64_MAX / 2,
                                         .own_bytes = seed << 20};
    struct pgk_mib m = sample_mib(&seed);
    uint64_t hist[] = {3, 0, 1000000 + seed % 100};
    m.hist = hist;
    m.hist_count = 1 + seed % 3;
    m.v[PGK_MIB_AccessHistogramSize] = m.hist_count;
    m.known &= ~(UINT64_C(1) << PGK_MIB_MaxSize);
    add_type(h, "unused type");
    for (uint32_t i = 0; i < 2; i++) {
        m.v[PGK_MIB_DataTypeId] = add_type(h, types[i]);
        m.known |= UINT64_C(1) << PGK_MIB_DataTypeId;
        uint32_t func = pgk_heap_func(h, 42, pgk_intern_cstr(&h->strings, "make"),
                                      pgk_intern_cstr(&h->strings, i ? "a.c" : "b.c"), 10 + i);
        uint32_t other = pgk_heap_func(h, 43, pgk_intern_cstr(&h->strings, "other"), 0, 0);
        uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(1, 2));
        uint32_t node = pgk_stack_add(&h->stacks, &frame, 1);
        assert_int_equal(pgk_heap_add(h, node, &m, NULL), 0);
        assert_int_equal(pgk_heap_add_site(h, PGK_SITE_ALLOC, other, node, NULL, 0, NULL), 0);
    }
    uint32_t modules[] = {
        pgk_heap_module(h, &(struct pgk_heap_module){
                               .build_id = pgk_intern(&h->strings, "id\0of it", 8),
                               .text_size = 100, .fixed = true, .bias = 0x1000 + seed}),
        pgk_heap_module(h, &(struct pgk_heap_module){
                               .text_size = 4096 + seed % 2, .by_file_off = true,
                               .name = pgk_intern_cstr(&h->strings, "lib.so")}),
        PGK_INDEX_NONE,
    };
    uint32_t node = 0;
    for (size_t i = 0; i < 3; i++) {
        uint32_t frame = pgk_heap_frame(h, PGK_FRAME_ADDRESS, modules[i], 0x1000 + seed % 5 + i);
        node = pgk_stack_push(&h->stacks, node, frame);
        assert_int_equal(pgk_heap_add(h, node, &m, NULL), 0);
    }
    assert_true(pgk_heap_note_loaded(h, PGK_F("run %d", (int)(seed % 7)), modules[0]));
    assert_true(pgk_heap_note_loaded(h, PGK_F("run %d", (int)(seed % 7)), modules[1]));
    assert_true(pgk_heap_note_text(h, modules[0], 0x1000 + seed % 3, 0x100));
    pgk_heap_note_discriminator(h, 0, (uint32_t)seed);
    struct pgk_data_store data = pgk_heap_data_store(h);
    struct pgk_data_place place = {pgk_intern_cstr(&h->strings, "data.c"), (uint32_t)seed};
    assert_true(pgk_data_access_add(&data, pgk_intern_cstr(&h->strings, "table"), 0, seed, &place,
                                    1));
    assert_true(pgk_data_access_add(&data, 0, 77, 5, NULL, 0));
    assert_true(pgk_data_access_add_cold_symbol(&data, pgk_intern_cstr(&h->strings, "unused_x")));
    assert_true(pgk_data_access_add_cold_hash(&data, 100 + seed));
    pgk_data_access_sort(&data);
    /* What nothing refers to is not a part of the profile. */
    pgk_heap_func(h, seed, pgk_intern_cstr(&h->strings, "unused"), 0, 0);
    return h;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(1), *again = new_heap();
    struct bytes a = written(h);
    read_into(again, a);
    struct bytes b = written(again);
    assert_equal(a, b);
    assert_int_equal(again->contexts.n, h->contexts.n);
    assert_int_equal(again->sites.n, h->sites.n);
    assert_int_equal(again->funcs.n, h->funcs.n - 1);
    assert_int_equal(again->types.n, h->types.n - 1);
    assert_string_equal(pgk_heap_type_name(again, add_type(h, "node1")), "node1");
    assert_string_equal(pgk_heap_type_name(again, add_type(h, "unused type")), "");
    assert_int_equal(again->loaded.n, 2);
    assert_int_equal(again->texts.n, 1);
    assert_int_equal(again->data.entries.n, 2);
    assert_int_equal(again->data.cold_symbols.n, 1);
    assert_int_equal(again->data.cold_hashes.n, 1);
    assert_true(again->modules.v[0].fixed || again->modules.v[1].fixed);
    size_t unknown = 0, long_hist = 0;
    for (size_t i = 0; i < again->contexts.n; i++) {
        const struct pgk_mib *m = pgk_heap_mib(again, i, PGK_MIB_SPACE);
        unknown += !(m->known >> PGK_MIB_MaxSize & 1);
        long_hist += m->hist_count && m->hist[0] == 3;
    }
    assert_int_equal(unknown, 5);
    assert_int_equal(long_hist, 5);
    free(a.v);
    free(b.v);
    pgk_heap_close(&h);
    pgk_heap_close(&again);
}

/* Merging three profiles at once, in any order, or by way of partial ones. */
static void merging_parts_is_merging_all(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    struct pgk_heap *h[3];
    struct bytes parts[3], want = {0};
    for (int i = 0; i < 3; i++) {
        h[i] = sample((uint64_t)i + 11);
        parts[i] = written(h[i]);
    }
    for (size_t o = 0; o < PGK_COUNTOF(orders); o++) {
        const int *order = orders[o];
        struct pgk_heap *all = new_heap(), *two = new_heap(), *sum = new_heap();
        for (int i = 0; i < 3; i++)
            assert_int_equal(pgk_heap_merge(all, h[order[i]], NULL), 0);
        struct bytes got = written(all);
        if (want.v)
            assert_equal(want, got);
        else
            want = (struct bytes){memcpy(malloc(got.n), got.v, got.n), got.n};
        read_into(two, parts[order[0]]);
        read_into(two, parts[order[1]]);
        struct bytes shard = written(two);
        read_into(sum, parts[order[2]]);
        read_into(sum, shard);
        struct bytes of_shards = written(sum);
        assert_equal(want, of_shards);
        free(got.v);
        free(shard.v);
        free(of_shards.v);
        pgk_heap_close(&all);
        pgk_heap_close(&two);
        pgk_heap_close(&sum);
    }
    for (int i = 0; i < 3; i++) {
        free(parts[i].v);
        pgk_heap_close(&h[i]);
    }
    free(want.v);
}

static void copies_are_weight(void **state)
{
    (void)state;
    struct pgk_heap *once = sample(5), *thrice = new_heap();
    for (int i = 0; i < 3; i++)
        assert_int_equal(pgk_heap_merge(thrice, once, NULL), 0);
    assert_int_equal(pgk_heap_scale(once, 3, NULL), 0);
    struct bytes a = written(once), b = written(thrice);
    assert_equal(a, b);
    free(a.v);
    free(b.v);
    pgk_heap_close(&once);
    pgk_heap_close(&thrice);
}

static void an_empty_profile(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap(), *again = new_heap();
    struct bytes b = written(h);
    read_into(again, b);
    assert_int_equal(again->contexts.n, 0);
    free(b.v);
    pgk_heap_close(&h);
    pgk_heap_close(&again);
}

static int read_status(const uint8_t *bytes, size_t n, struct pgk_err *err)
{
    struct pgk_heap *h = new_heap();
    *err = (struct pgk_err){0};
    int status = pgk_heap_partial_read(h, bytes, n, &source, NULL, err);
    if (!status && h->contexts.n) { /* what was read can be used */
        pgk_heap_member_vec members = {0};
        assert_true(pgk_heap_members(h, &members));
        pgk_vec_free(&members);
        struct bytes b = written(h);
        free(b.v);
    }
    pgk_heap_close(&h);
    return status;
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(3);
    struct bytes b = written(h);
    struct pgk_err err;
    for (size_t n = 0; n < b.n; n++) {
        uint8_t *cut = malloc(n + !n);
        assert_non_null(cut);
        memcpy(cut, b.v, n);
        assert_int_equal(read_status(cut, n, &err), PGK_E_TRUNCATED);
        assert_true(*err.field && err.offset != PGK_NO_OFFSET);
        /* Also where the size in the header is made to fit. */
        if (n >= 24) {
            uint64_t size = n;
            memcpy(cut + 16, &size, sizeof size);
            int status = read_status(cut, n, &err);
            assert_true(status == PGK_E_TRUNCATED || status == PGK_E_CORRUPT);
            assert_true(*err.field && err.offset != PGK_NO_OFFSET);
        }
        free(cut);
    }
    free(b.v);
    pgk_heap_close(&h);
}

/* Any byte changed: refused with a place, or read as something else that is sound. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(4);
    struct bytes b = written(h);
    struct pgk_err err;
    static const uint8_t wild[] = {0, 0x7f, 0xff};
    size_t refused = 0;
    for (size_t at = 0; at < b.n; at++) {
        for (size_t k = 0; k < sizeof wild; k++) {
            uint8_t old = b.v[at];
            b.v[at] = wild[k];
            if (read_status(b.v, b.n, &err)) {
                assert_true(*err.field && err.offset != PGK_NO_OFFSET);
                refused++;
            }
            b.v[at] = old;
        }
    }
    assert_true(refused > b.n / 2);
    free(b.v);
    pgk_heap_close(&h);
}

static void out_of_memory(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(6);
    struct bytes b = written(h);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_heap *copy = new_heap();
        struct pgk_sink *out;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_heap_partial_read(copy, b.v, b.n, &source, NULL, NULL);
        if (!status)
            status = pgk_heap_partial_write(copy, out, NULL);
        if (!status && !pgk_sink_data(out, &(size_t){0}))
            status = PGK_E_NOMEM; /* the sink keeps it until commit */
        pgk_mem_fail_after(0);
        pgk_sink_drop(&out);
        pgk_heap_close(&copy);
        assert_in_range(nth, 1, 2000);
    }
    assert_int_equal(status, 0);
    free(b.v);
    pgk_heap_close(&h);
}

/* Whatever their folders and whichever bytes they have; equal folders are there once. */
static void paths_of_files_are_kept(void **state)
{
    (void)state;
    static const char *const files[] = {"/usr/include/c++/vector", "/usr/include/c++/bits/a.h",
                                        "src/main.cpp", "src/main", "src", "a", "/a//b/", "/", ""};
    struct pgk_heap *h = new_heap(), *again = new_heap();
    struct pgk_mib mib = sample_mib(&(uint64_t){1});
    const uint32_t odd = pgk_intern(&h->strings, "src/\0x", 6);
    uint32_t frames[PGK_COUNTOF(files) + 1];
    for (uint32_t i = 0; i < PGK_COUNTOF(frames); i++) {
        uint32_t file = i < PGK_COUNTOF(files) ? pgk_intern_cstr(&h->strings, files[i]) : odd;
        uint32_t func = pgk_heap_func(h, 7, pgk_intern_cstr(&h->strings, "make"), file, i);
        frames[i] = pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(1, 1));
    }
    uint32_t stack = pgk_stack_add(&h->stacks, frames, PGK_COUNTOF(frames));
    assert_int_equal(pgk_heap_add(h, stack, &mib, NULL), 0);
    struct bytes b = written(h);
    const uint8_t *shared = memmem(b.v, b.n, "include", 7);
    assert_non_null(shared);
    assert_null(memmem(shared + 1, (size_t)(b.v + b.n - shared - 1), "include", 7));
    read_into(again, b);
    struct pgk_heap_frame f[PGK_COUNTOF(frames)];
    assert_int_equal(pgk_heap_stack(again, 0, f, PGK_COUNTOF(f)), PGK_COUNTOF(f));
    for (size_t i = 0; i < PGK_COUNTOF(files); i++)
        assert_string_equal(f[i].file, files[i]);
    assert_memory_equal(f[PGK_COUNTOF(files)].file, "src/\0x", 7);
    free(b.v);
    pgk_heap_close(&h);
    pgk_heap_close(&again);
}

/* Lines before that of the declaration, lines of more than 16 bits, columns, discriminators. */
static void places_of_frames_are_kept(void **state)
{
    (void)state;
    struct pgk_heap *h = new_heap(), *again = new_heap();
    struct pgk_mib mib = sample_mib(&(uint64_t){1});
    uint32_t func = pgk_heap_func(h, 0x1234, pgk_intern_cstr(&h->strings, "make"),
                                  pgk_intern_cstr(&h->strings, "/src/a.c"), 10);
    uint32_t frames[] = {
        pgk_heap_frame(h, PGK_FRAME_INLINED, func, pgk_frame_place((uint32_t)-3, 7)),
        pgk_heap_frame(h, PGK_FRAME_CALLER, func, pgk_frame_place(70000, UINT32_MAX))};
    pgk_heap_note_discriminator(h, frames[0], 6);
    pgk_heap_note_discriminator(h, frames[0], 4);
    assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, frames, 2), &mib, NULL), 0);
    struct bytes b = written(h);
    read_into(again, b);
    struct pgk_heap_frame f[2];
    assert_int_equal(pgk_heap_stack(again, 0, f, 2), 2);
    assert_string_equal(f[0].function, "make");
    assert_int_equal(f[0].decl_line, 10);
    assert_int_equal(f[0].line_offset, (uint32_t)-3);
    assert_int_equal(f[0].column, 7);
    assert_int_equal(f[0].discriminator, 4);
    assert_true(f[0].inlined);
    assert_int_equal(f[1].line_offset, 70000);
    assert_int_equal(f[1].column, UINT32_MAX);
    assert_int_equal(f[1].discriminator, 0);
    free(b.v);
    pgk_heap_close(&h);
    pgk_heap_close(&again);
}

/* Components of one byte, each in the one before: paths that are much longer than their file. */
static void paths_out_of_proportion_are_refused(void **state)
{
    (void)state;
    enum { DEEP = 60000, LEAVES = 2000 };
    struct pgk_sink *out;
    size_t n;
    struct pgk_err err;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_u64(out, PGK_HEAP_PARTIAL_MAGIC);
    pgk_sink_u64(out, PGK_HEAP_PARTIAL_VERSION);
    pgk_sink_u64(out, 0);
    pgk_sink_u16(out, 0); /* no fields, no strings */
    pgk_sink_uleb(out, DEEP);
    for (unsigned i = 0; i < DEEP; i++) {
        pgk_sink_uleb(out, i > 0);
        pgk_sink_uleb(out, 1);
        pgk_sink_u8(out, 'x');
    }
    pgk_sink_u8(out, 0);
    pgk_sink_u16(out, 0); /* no modules, texts, runs */
    pgk_sink_uleb(out, LEAVES);
    for (unsigned i = 0; i < LEAVES; i++) {
        pgk_sink_u64(out, i);
        pgk_sink_uleb(out, 0);
        pgk_sink_uleb(out, DEEP - i);
        pgk_sink_uleb(out, 0);
    }
    pgk_sink_patch_u64(out, 16, pgk_sink_off(out));
    const uint8_t *bytes = pgk_sink_data(out, &n);
    assert_int_equal(read_status(bytes, n, &err), PGK_E_CORRUPT);
    assert_string_equal(err.found, "paths that are much longer than the file");
    pgk_sink_drop(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(merging_parts_is_merging_all),
        cmocka_unit_test(copies_are_weight),
        cmocka_unit_test(an_empty_profile),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(paths_of_files_are_kept),
        cmocka_unit_test(places_of_frames_are_kept),
        cmocka_unit_test(paths_out_of_proportion_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
