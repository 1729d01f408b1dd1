/* The data access part of MemProf V4: round trips, refusals. */
#include "indexed.h"

#include "heap_samples.h"

static struct pgk_heap *sample(uint64_t seed)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    struct pgk_data_store to = pgk_heap_data_store(h);
    for (unsigned i = 0; i < seed * 7 % 50; i++) {
        char text[32];
        struct pgk_data_place places[3];
        for (unsigned k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "dir/file%u.h", sample_random(&seed) % 5);
            places[k] = (struct pgk_data_place){pgk_intern_cstr(&h->strings, text),
                                                sample_random(&seed) % 100};
        }
        snprintf(text, sizeof text, "symbol%u", sample_random(&seed) % 40);
        bool literal = sample_random(&seed) % 4 == 0;
        assert_true(pgk_data_access_add(
            &to, literal ? 0 : pgk_data_access_symbol(&h->strings, text, strlen(text)),
            literal ? test_random(&seed) : 0, sample_random(&seed), places, i % 4));
        if (i % 3 == 0)
            assert_true(pgk_data_access_add_cold_hash(&to, test_random(&seed)));
        if (i % 5 == 0)
            assert_true(pgk_data_access_add_cold_symbol(
                &to, pgk_intern_cstr(&h->strings, literal ? "cold" : text)));
    }
    pgk_data_access_sort(&to);
    return h;
}

static uint8_t *write_bytes(const struct pgk_heap *h, size_t *size)
{
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_data_access_write(h, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, size);
    uint8_t *copy = malloc(*size);
    memcpy(copy, bytes, *size);
    pgk_sink_drop(&out);
    return copy;
}

static int read_bytes(const uint8_t *bytes, size_t size, struct pgk_heap **h, struct pgk_err *err)
{
    struct pgk_cursor c;
    *err = (struct pgk_err){0};
    pgk_cur_init(&c, bytes, size, &(struct pgk_source){.file = "t", .format = "indexed profile"});
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_data_access_read(*h, &c, err);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct pgk_heap *h = sample(seed), *back;
        struct pgk_err err;
        size_t n, m;
        uint8_t *first = write_bytes(h, &n);
        assert_int_equal(read_bytes(first, n, &back, &err), 0);
        assert_int_equal(back->data.entries.n, h->data.entries.n);
        uint8_t *second = write_bytes(back, &m);
        assert_int_equal(n, m);
        assert_memory_equal(first, second, n);
        free(first);
        free(second);
        pgk_heap_close(&h);
        pgk_heap_close(&back);
    }
}

static void test_truncations(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(3), *back;
    size_t size;
    uint8_t *bytes = write_bytes(h, &size);
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

static void test_forged(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(3), *back;
    size_t size;
    uint8_t *bytes = write_bytes(h, &size);
    for (size_t at = 0; at < size; at++)
        for (unsigned with = 0; with < 3; with++) {
            struct pgk_err err;
            uint8_t old = bytes[at];
            bytes[at] = with == 0 ? 0xff : with == 1 ? 0 : (uint8_t)(old + 1);
            if (read_bytes(bytes, size, &back, &err))
                assert_true(*err.field && *err.record);
            pgk_heap_close(&back);
            bytes[at] = old;
        }
    free(bytes);
    pgk_heap_close(&h);
}

/* Merging in any order and grouping gives the same bytes. */
static void test_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        const unsigned orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
        struct pgk_heap *parts[] = {sample(seed), sample(seed + 20), sample(seed + 40)};
        uint8_t *first = NULL;
        size_t n = 0, m;
        for (size_t i = 0; i < PGK_COUNTOF(orders); i++) {
            struct pgk_heap *pair, *all;
            assert_int_equal(pgk_heap_new(&pair, NULL), 0);
            assert_int_equal(pgk_heap_new(&all, NULL), 0);
            assert_int_equal(pgk_heap_merge(pair, parts[orders[i][0]], NULL), 0);
            assert_int_equal(pgk_heap_merge(pair, parts[orders[i][1]], NULL), 0);
            assert_int_equal(pgk_heap_merge(all, i ? pair : parts[orders[i][2]], NULL), 0);
            assert_int_equal(pgk_heap_merge(all, i ? parts[orders[i][2]] : pair, NULL), 0);
            uint8_t *bytes = write_bytes(all, &m);
            if (first) {
                assert_int_equal(n, m);
                assert_memory_equal(first, bytes, n);
                free(bytes);
            } else {
                first = bytes;
                n = m;
            }
            pgk_heap_close(&pair);
            pgk_heap_close(&all);
        }
        free(first);
        for (size_t i = 0; i < 3; i++)
            pgk_heap_close(&parts[i]);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(3), *back;
    size_t size;
    uint8_t *bytes = write_bytes(h, &size);
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_cursor c;
        pgk_cur_init(&c, bytes, size, &(struct pgk_source){.file = "t"});
        assert_int_equal(pgk_heap_new(&back, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_data_access_read(back, &c, NULL);
        pgk_mem_fail_after(0);
        pgk_heap_close(&back);
        assert_in_range(nth, 1, 500);
    }
    assert_int_equal(status, 0);
    free(bytes);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
