/* The writer of raw heap profiles: what is written is what was read, in any order of inputs. */
#include "heap_raw.h"

#include "heap_samples.h"

static uint8_t *write_bytes(const struct pgk_heap *h, uint32_t version, size_t *size)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_heap_raw_write(h, out, version, "t", NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, size);
    uint8_t *copy = malloc(*size);
    memcpy(copy, bytes, *size);
    pgk_sink_drop(&out);
    return copy;
}

static struct pgk_heap *read_bytes(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_heap_read_info info;
    struct pgk_source src = {.file = "t.profraw", .format = "raw heap profile"};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    assert_int_equal(pgk_heap_raw_read(h, bytes, size, &src, &info, &err), 0);
    assert_int_equal(info.origin.dumps, 1);
    return h;
}

static struct pgk_heap *sample(uint64_t seed, uint32_t version)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill_addresses(h, seed, 1 + (unsigned)(seed * 13 % 200), 1 + (unsigned)seed % 6,
                          version < 3, version >= 4);
    return h;
}

/* Sum of a field over all contexts. */
static uint64_t total(const struct pgk_heap *h, enum pgk_mib_id id)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < h->contexts.n; i++)
        sum += pgk_heap_mib(h, i, PGK_MIB_SPACE)->v[id];
    return sum;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (uint32_t version = 1; version <= 5; version++) {
            struct pgk_heap *h = sample(seed, version);
            size_t n, m;
            uint8_t *first = write_bytes(h, version, &n);
            struct pgk_heap *back = read_bytes(first, n);
            assert_int_equal(pgk_heap_contexts(back), pgk_heap_contexts(h));
            assert_int_equal(total(back, PGK_MIB_TotalSize), total(h, PGK_MIB_TotalSize));
            assert_int_equal(total(back, PGK_MIB_NumMigratedCpu),
                             total(h, PGK_MIB_NumMigratedCpu));
            uint8_t *second = write_bytes(back, version, &m);
            assert_int_equal(n, m);
            assert_memory_equal(first, second, n);
            free(first);
            free(second);
            pgk_heap_close(&h);
            pgk_heap_close(&back);
        }
}

/* Frames of the context with these many objects bytes, as texts. */
static void describe(const struct pgk_heap *h, size_t context, char out[1024])
{
    struct pgk_heap_frame f[16];
    size_t n = pgk_heap_stack(h, context, f, 16), used = 0;
    out[0] = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(out + used, 1024 - used, "%llx in %d; ",
                                 (unsigned long long)f[i].address,
                                 f[i].build_id_size ? f[i].build_id[0] : 0);
}

/* Every stack is there again, frame by frame with its module. */
static void frames_survive_every_version(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(9, 5);
    size_t n, found = 0;
    uint8_t *bytes = write_bytes(h, 5, &n);
    struct pgk_heap *back = read_bytes(bytes, n);
    for (size_t i = 0; i < h->contexts.n; i++) {
        char a[1024], b[1024];
        describe(h, i, a);
        for (size_t k = 0; k < back->contexts.n; k++) {
            describe(back, k, b);
            if (!strcmp(a, b)) {
                found++;
                assert_int_equal(pgk_heap_mib(h, i, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize],
                                 pgk_heap_mib(back, k, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize]);
            }
        }
    }
    assert_int_equal(found, h->contexts.n);
    free(bytes);
    pgk_heap_close(&h);
    pgk_heap_close(&back);
}

static struct pgk_heap *merged(const struct pgk_heap *a, const struct pgk_heap *b)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    assert_int_equal(pgk_heap_merge(h, a, NULL), 0);
    assert_int_equal(pgk_heap_merge(h, b, NULL), 0);
    return h;
}

static void any_order_of_inputs_gives_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t version = 1; version <= 5; version++)
        for (uint64_t seed = 3; seed < 9; seed++) {
            struct pgk_heap *a = sample(seed, version), *b = sample(seed + 10, version),
                            *c = sample(seed + 20, version);
            struct pgk_heap *ab = merged(a, b), *bc = merged(b, c), *cb = merged(c, b);
            struct pgk_heap *all[] = {merged(ab, c), merged(a, bc), merged(cb, a)};
            size_t n, m;
            uint8_t *first = write_bytes(all[0], version, &n);
            for (int i = 1; i < 3; i++) {
                uint8_t *other = write_bytes(all[i], version, &m);
                assert_int_equal(n, m);
                assert_memory_equal(first, other, n);
                free(other);
            }
            free(first);
            struct pgk_heap *drop[] = {a, b, c, ab, bc, cb, all[0], all[1], all[2]};
            for (size_t i = 0; i < PGK_COUNTOF(drop); i++)
                pgk_heap_close(&drop[i]);
        }
}

static void a_program_comes_first_and_keeps_its_place(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(4, 5);
    size_t n;
    uint8_t *bytes = write_bytes(h, 5, &n);
    uint64_t words[10];
    memcpy(words, bytes, sizeof words);
    assert_int_equal(words[6], 5);      /* segments, one per module */
    assert_int_equal(words[7], 0x1000); /* the program comes first and keeps its place */
    assert_int_equal(words[9], 0);      /* load bias */
    free(bytes);
    pgk_heap_close(&h);
}

/* A module whose code lies in two segments keeps their distance. */
static void modules_of_two_segments(void **state)
{
    (void)state;
    struct pgk_heap *h;
    uint64_t seed = 1;
    struct pgk_mib mib = sample_mib(&seed);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    struct pgk_heap_module m = {.build_id = pgk_intern_cstr(&h->strings, "id of the program"),
                                .text_size = 0x1000};
    uint32_t module = pgk_heap_module(h, &m);
    assert_true(pgk_heap_note_text(h, module, 0x30000, 0x1000));
    assert_true(pgk_heap_note_text(h, module, 0x1000, 0x500));
    uint32_t frames[] = {pgk_heap_frame(h, PGK_FRAME_ADDRESS, module, 0x1020),
                         pgk_heap_frame(h, PGK_FRAME_ADDRESS, module, 0x30020)};
    assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, frames, 2), &mib, NULL), 0);
    size_t n;
    uint8_t *bytes = write_bytes(h, 5, &n);
    struct pgk_heap *back = read_bytes(bytes, n);
    assert_int_equal(back->modules.n, 1);
    assert_int_equal(back->texts.n, 2);
    struct pgk_heap_frame f[2];
    assert_int_equal(pgk_heap_stack(back, 0, f, 2), 2);
    assert_int_equal(f[0].address, 0x1020);
    assert_int_equal(f[1].address, 0x30020);
    free(bytes);
    pgk_heap_close(&back);
    pgk_heap_close(&h);
}

static void refuse(const struct pgk_heap *h, uint32_t version, int status, const char *found)
{
    struct pgk_sink *out;
    struct pgk_err err = {0};
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_heap_raw_write(h, out, version, "t.profraw", &err), status);
    assert_non_null(strstr(err.found, found));
    assert_string_equal(err.file, "t.profraw");
    pgk_sink_drop(&out);
}

static void what_a_version_cannot_say_is_refused(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(2, 5), *empty, *named;
    refuse(h, 0, PGK_E_ARG, "0");
    refuse(h, 6, PGK_E_ARG, "6");
    assert_int_equal(pgk_heap_new(&empty, NULL), 0);
    refuse(empty, 5, PGK_E_EMPTY, "none");
    assert_int_equal(pgk_heap_new(&named, NULL), 0);
    sample_fill(named, 1, 3, 3, false);
    refuse(named, 5, PGK_E_ARG, "places in functions");
    pgk_heap_close(&h);
    pgk_heap_close(&empty);
    pgk_heap_close(&named);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(7, 5);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sink *out;
        assert_int_equal(pgk_sink_memory(&out, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_heap_raw_write(h, out, 5, "t", NULL);
        size_t size;
        if (!status && !pgk_sink_data(out, &size))
            status = PGK_E_NOMEM;
        pgk_mem_fail_after(0);
        pgk_sink_drop(&out);
        assert_in_range(nth, 1, 200);
    }
    assert_int_equal(status, 0);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(frames_survive_every_version),
        cmocka_unit_test(any_order_of_inputs_gives_the_same_bytes),
        cmocka_unit_test(a_program_comes_first_and_keeps_its_place),
        cmocka_unit_test(modules_of_two_segments),
        cmocka_unit_test(what_a_version_cannot_say_is_refused),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
