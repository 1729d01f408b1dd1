/* The on-disk hash table: LLVM's order of items, reading back, refusals. */
#include "ondisk_table.h"

#include "hash.h"
#include "pgk_test.h"

static uint64_t item_size(void *ctx, size_t user)
{
    (void)ctx;
    return user % 5;
}

static void emit_item(void *ctx, size_t user, struct pgk_sink *out)
{
    (void)ctx;
    for (size_t i = 0; i < user % 5; i++)
        pgk_sink_u8(out, (uint8_t)user);
}

struct seen {
    uint64_t keys[5000];
    size_t n;
};

static int see_item(void *ctx, uint64_t key, struct pgk_cursor *data, struct pgk_err *err)
{
    struct seen *s = ctx;
    (void)err;
    assert_int_equal(pgk_cur_left(data), key % 1000 % 5);
    while (pgk_cur_left(data))
        assert_int_equal(pgk_cur_u8(data, "byte"), (uint8_t)(key % 1000));
    s->keys[s->n++] = key;
    return 0;
}

static struct pgk_sink *write_table(size_t n, enum pgk_ondisk_lengths lengths, uint64_t *table_off)
{
    struct pgk_ondisk_writer w = {0};
    struct pgk_sink *out;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_zeros(out, 8); /* no bucket may stand at offset 0 */
    for (size_t i = 0; i < n; i++)
        assert_true(pgk_ondisk_add(&w, pgk_hash_u64(i) / 1000 * 1000 + i % 1000, i % 1000));
    assert_true(pgk_ondisk_write(&w, out,
                                 &(struct pgk_ondisk_emit){lengths, item_size, emit_item, NULL},
                                 table_off));
    pgk_ondisk_free(&w);
    return out;
}

static void test_write_and_read(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 2, 3, 5, 47, 48, 49, 95, 96, 1000, 4999};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int lengths = 0; lengths < 2; lengths++) {
            static struct seen seen;
            uint64_t table_off;
            size_t size;
            struct pgk_sink *out = write_table(counts[c], (enum pgk_ondisk_lengths)lengths,
                                               &table_off);
            const uint8_t *bytes = pgk_sink_data(out, &size);
            struct pgk_cursor cur;
            pgk_cur_init(&cur, bytes, size, &(struct pgk_source){.file = "t"});
            seen.n = 0;
            assert_int_equal(table_off % 8, 0);
            assert_int_equal(pgk_ondisk_read(&cur, 8, table_off, (enum pgk_ondisk_lengths)lengths,
                                             "item", see_item, &seen, NULL),
                             0);
            assert_int_equal(seen.n, counts[c]);
            pgk_sink_drop(&out);
        }
}

/* Two items go to one bucket, the later one first. docs/formats/indexed-heap.md section 2 */
static void test_order(void **state)
{
    (void)state;
    uint64_t table_off;
    size_t size;
    struct pgk_ondisk_writer w = {0};
    struct pgk_sink *out;
    static struct seen seen;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    pgk_sink_zeros(out, 8);
    assert_true(pgk_ondisk_add(&w, 10, 10) && pgk_ondisk_add(&w, 20, 20));
    assert_true(pgk_ondisk_write(&w, out,
                                 &(struct pgk_ondisk_emit){0, item_size, emit_item, NULL},
                                 &table_off));
    const uint8_t *bytes = pgk_sink_data(out, &size);
    struct pgk_cursor cur;
    pgk_cur_init(&cur, bytes, size, NULL);
    seen.n = 0;
    assert_int_equal(pgk_ondisk_read(&cur, 8, table_off, 0, "item", see_item, &seen, NULL), 0);
    assert_int_equal(seen.keys[0], 20);
    assert_int_equal(seen.keys[1], 10);
    pgk_ondisk_free(&w);
    pgk_sink_drop(&out);
}

/* Any byte of a table changed or cut off: an error or other items, never a fault. */
static int count_item(void *ctx, uint64_t key, struct pgk_cursor *data, struct pgk_err *err)
{
    (void)key, (void)err;
    *(size_t *)ctx += 1 + pgk_cur_left(data);
    return 0;
}

static void test_damage(void **state)
{
    (void)state;
    uint64_t table_off, seed = 4;
    size_t size, items = 0, refused = 0;
    struct pgk_sink *out = write_table(30, PGK_ONDISK_KEY_AND_DATA, &table_off);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    for (int i = 0; i < 3000; i++) {
        size_t n = i < (int)size ? (size_t)i : size;
        uint8_t *bad = malloc(n + 1);
        memcpy(bad, bytes, n);
        if (n)
            bad[test_random(&seed) % n] = (uint8_t)test_random(&seed);
        struct pgk_cursor cur;
        pgk_cur_init(&cur, bad, n, &(struct pgk_source){.file = "t", .format = "table"});
        struct pgk_err err = {0};
        if (pgk_ondisk_read(&cur, 8, table_off, 0, "item", count_item, &items, &err) < 0) {
            refused++;
            assert_true(*err.field);
        }
        free(bad);
    }
    assert_in_range(refused, size, 3000);
    pgk_sink_drop(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
