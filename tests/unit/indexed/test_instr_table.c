/* Counters in indexed profiles: every version, alone and beside heap data; cut and damaged
 * files; the summary. */
#include "indexed.h"

#include "heap_samples.h"
#include "instr_samples.h"
#include "instr_summary.h"

#include <inttypes.h>

static const uint64_t ir = SAMPLE_BIT(IR);

static uint8_t *write_bytes(const struct pgk_heap *h, const struct pgk_instr *p, uint32_t index,
                            size_t *size)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts,
        .target = {.name = "test", .index_version = index, .memprof_version = 3, .frame_ids = 1}};
    test_folder(folder);
    test_join(path, folder, "out.profdata");
    assert_int_equal(pgk_indexed_write(h, p, path, &opts, NULL), 0);
    uint8_t *bytes = (uint8_t *)test_read_file(path, size);
    test_folder_remove(folder);
    return bytes;
}

static int read_bytes(struct pgk_instr **p, const uint8_t *bytes, size_t size,
                      struct pgk_indexed_info *info, struct pgk_err *err)
{
    struct pgk_instr_adder a;
    struct pgk_source src = {.file = "t.profdata", .format = "indexed profile"};
    *p = sample_instr();
    assert_true(pgk_instr_adder_init(&a, *p, "t.profdata", 1));
    return pgk_indexed_read_instr(&a, bytes, size, &src, info, err);
}

static void assert_same_text(const struct pgk_instr *a, const struct pgk_instr *b)
{
    char *x = sample_text(a), *y = sample_text(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void test_versions(void **state)
{
    (void)state;
    for (uint32_t index = PGK_INDEX_FIRST; index <= PGK_INDEX_NOW; index++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct pgk_instr *p = sample_instr(), *back;
            struct pgk_heap *h = NULL;
            struct pgk_indexed_info info;
            struct pgk_instr_loss loss = {0};
            size_t size, again;
            bool with_heap = seed & 1 && index >= PGK_INDEX_FIRST_HEAP;
            sample_instr_fill(p, seed, 4 + 40 * (unsigned)(seed % 3),
                              ir | (seed % 4 == 0 ? SAMPLE_BIT(TEMPORAL) : 0), 1);
            if (with_heap) {
                assert_int_equal(pgk_heap_new(&h, NULL), 0);
                sample_fill(h, seed, 5, 3, false);
            }
            uint8_t *first = write_bytes(h, p, index, &size);
            assert_int_equal(read_bytes(&back, first, size, &info, NULL), 0);
            assert_int_equal(info.index_version, index);
            assert_true(info.has_counters);
            assert_int_equal(info.has_heap, with_heap);
            assert_false(pgk_indexed_is_heap_only(first, size));
            assert_int_equal(pgk_instr_functions(back), pgk_instr_functions(p));
            assert_int_equal(pgk_instr_parts_loss(p, index, &loss, NULL), 0);
            if (!loss.bitmap_functions && !loss.vtable_functions && !loss.traces)
                assert_same_text(p, back);
            assert_true(index < 12 || (!loss.bitmap_functions && !loss.vtable_functions &&
                                       !loss.traces && !loss.binary_ids));
            assert_int_equal(pgk_instr_binary_ids(back), index >= 9);
            uint8_t *second = write_bytes(h, back, index, &again);
            assert_int_equal(again, size);
            assert_memory_equal(first, second, size);
            if (with_heap) {
                struct pgk_heap *heap_back;
                struct pgk_source src = {.file = "t"};
                assert_int_equal(pgk_heap_new(&heap_back, NULL), 0);
                assert_int_equal(pgk_indexed_read(heap_back, first, size, &src, NULL, NULL), 0);
                assert_int_equal(pgk_heap_contexts(heap_back), pgk_heap_contexts(h));
                pgk_heap_close(&heap_back);
            }
            free(first);
            free(second);
            pgk_heap_close(&h);
            pgk_instr_close(&p);
            pgk_instr_close(&back);
        }
}

static void put_packed(uint8_t *out, size_t *at, size_t n, const void *bytes)
{
    memset(out + *at, 0, 16 + n);
    memcpy(out + *at, &n, 8);
    memcpy(out + *at + 8, bytes, n);
    *at += 8 + (n + 7) / 8 * 8;
}

/* By the page of the format: what stands behind the counters of a function. */
static void test_packed_bitmap_and_uniformity(void **state)
{
    (void)state;
    for (size_t n_bitmap = 0; n_bitmap < 20; n_bitmap++)
        for (size_t n_counts = 1; n_counts < 20; n_counts++) {
            uint64_t counts[20];
            uint8_t bitmap[20], bits[3] = {0xa5, 0xff, 0xff}, want[80];
            struct pgk_instr *p = sample_instr(), *back;
            size_t size, at, pos = 0;
            for (size_t i = 0; i < n_counts; i++)
                counts[i] = 0x1122334455667700 + i;
            memset(bitmap, 0x5a, sizeof bitmap);
            /* Behind the last counter all bits are 1. */
            if (n_counts < 8)
                bits[0] |= (uint8_t)(0xff << n_counts);
            struct pgk_instr_addition f = {.struct_size = sizeof f, .name = "f", .hash = 7,
                                           .counts = counts, .n_counts = n_counts,
                                           .bitmap = bitmap, .n_bitmap = n_bitmap,
                                           .uniformity = bits};
            assert_int_equal(pgk_instr_build_kind(p, PGK_INSTR_IS_IR, NULL), 0);
            assert_int_equal(pgk_instr_build_function(p, &f, NULL), 0);
            put_packed(want, &pos, n_bitmap, bitmap);
            put_packed(want, &pos, (n_counts + 7) / 8, bits);
            uint8_t *bytes = write_bytes(NULL, p, 14, &size);
            for (at = size - n_counts * 8; memcmp(bytes + at, counts, n_counts * 8);)
                at--; /* the last: the summary has counts, too */
            assert_memory_equal(bytes + at + n_counts * 8, want, pos);
            assert_int_equal(read_bytes(&back, bytes, size, NULL, NULL), 0);
            assert_same_text(p, back);
            assert_int_equal(pgk_instr_uniformity(back, 0, want, 3), (n_counts + 7) / 8);
            assert_memory_equal(want, bits, (n_counts + 7) / 8);
            pgk_instr_close(&back);

            /* Another number of bits than counters. */
            uint8_t *number = bytes + at + n_counts * 8 + 8 + (n_bitmap + 7) / 8 * 8;
            struct pgk_err err = {0};
            *number ^= 4;
            assert_int_equal(read_bytes(&back, bytes, size, NULL, &err), PGK_E_CORRUPT);
            assert_string_equal(err.field, "uniformity bytes");
            free(bytes);
            pgk_instr_close(&p);
            pgk_instr_close(&back);
        }
}

static void test_damage(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr(), *back;
    size_t size, refused = 0;
    uint64_t seed = 2;
    sample_instr_fill(p, 5, 9, ir | SAMPLE_BIT(TEMPORAL), 1);
    uint8_t *bytes = write_bytes(NULL, p, PGK_INDEX_NOW, &size);
    for (size_t n = 0; n < size; n++) {
        struct pgk_err err = {0};
        uint8_t *part = malloc(n + 1);
        memcpy(part, bytes, n);
        assert_true(read_bytes(&back, part, n, NULL, &err) < 0);
        assert_true(*err.field && *err.found && *err.expected);
        free(part);
        pgk_instr_close(&back);
    }
    for (int i = 0; i < 20000; i++) {
        struct pgk_err err = {0};
        uint8_t *bad = malloc(size);
        memcpy(bad, bytes, size);
        bad[test_random(&seed) % size] = (uint8_t)test_random(&seed);
        bad[test_random(&seed) % size] ^= (uint8_t)(1 << test_random(&seed) % 8);
        if (read_bytes(&back, bad, size, NULL, &err) < 0) {
            refused++;
            assert_true(*err.field && *err.file);
        }
        free(bad);
        pgk_instr_close(&back);
    }
    assert_in_range(refused, 2000, 20000);
    free(bytes);
    pgk_instr_close(&p);
}

/* The version follows the hashes: reports of coverage find functions by the hash that is in the
 * program, and compilers by one of the version's age. */
static void coverage_is_not_erased_by_cut_hashes(void **state)
{
    (void)state;
    static const struct {
        const char *hash;
        uint32_t read_at, any, newest; /* of the file, instead of 12, instead of 14 */
    } cases[] = {
        {"0x4922903932edbf90", 0, 12, 12},  /* of LLVM 19, or rustc */
        {"0x4922903932edbf90", 13, 12, 12}, /* the same by llvm-profdata-22 */
        {"0x0922903932edbf90", 0, 13, 14},  /* by the look of it of LLVM 22 */
        {"0x0922903932edbf90", 12, 12, 12}, /* of LLVM 19, since its file says so */
        {"0x60d", 0, 12, 14},               /* of any */
        {"0x60d", 13, 12, 14},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        struct pgk_instr *p = sample_instr(), *back;
        struct pgk_instr_function f = {.struct_size = sizeof f};
        char text[64];
        uint8_t *bytes;
        size_t size;
        snprintf(text, sizeof text, "f\n%s\n1\n1\n", cases[i].hash);
        assert_int_equal(sample_read_text(p, text, 1, NULL), 0);
        if (cases[i].read_at) {
            bytes = write_bytes(NULL, p, cases[i].read_at, &size);
            pgk_instr_close(&p);
            assert_int_equal(read_bytes(&p, bytes, size, NULL, NULL), 0);
            free(bytes);
        }
        assert_int_equal(pgk_instr_index_version(p, 12), cases[i].any);
        assert_int_equal(pgk_instr_index_version(p, 14), cases[i].newest);
        for (uint32_t version = PGK_INDEX_FIRST; version <= PGK_INDEX_NOW; version++) {
            bytes = write_bytes(NULL, p, version, &size);
            assert_int_equal(read_bytes(&back, bytes, size, NULL, NULL), 0);
            pgk_instr_function(back, 0, &f);
            assert_int_equal(f.hash, strtoull(cases[i].hash, NULL, 0));
            free(bytes);
            pgk_instr_close(&back);
        }
        pgk_instr_close(&p);
    }
}

static void variants_that_are_not_known_are_not_ignored(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr(), *back;
    struct pgk_heap *h;
    size_t size;
    sample_instr_fill(p, 1, 4, ir, 1);
    uint8_t *bytes = write_bytes(NULL, p, PGK_INDEX_NOW, &size);
    for (unsigned bit = 32; bit < 55; bit++) {
        struct pgk_err err = {0};
        char found[40];
        snprintf(found, sizeof found, "bit %u (0x%016" PRIx64 ")", bit, UINT64_C(1) << bit);
        bytes[8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(read_bytes(&back, bytes, size, NULL, &err), PGK_E_VERSION);
        assert_string_equal(err.found, found);
        assert_non_null(strstr(err.hint, "newer than this pgokit"));
        pgk_instr_close(&back);
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        struct pgk_source src = {.file = "t.profdata"};
        assert_int_equal(pgk_indexed_read(h, bytes, size, &src, NULL, &err), PGK_E_VERSION);
        pgk_heap_close(&h);
        bytes[8 + bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
    pgk_instr_close(&p);
}

/* The plain version of the summary. */
static void test_summary(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr();
    struct pgk_instr_summary s;
    struct pgk_summary_cutoff cut[PGK_SUMMARY_CUTOFFS];
    sample_instr_fill(p, 5, 60, ir, 7);
    assert_int_equal(pgk_instr_summarise_written(p, false, &s, cut, NULL), 0);
    uint64_t total = 0, counters = 0, max = 0;
    for (size_t i = 0; i < p->funcs.n; i++) {
        if (p->funcs.v[i].hash >> PGK_HASH_CONTEXTUAL_BIT & 1)
            continue;
        for (uint32_t c = 0; c < p->funcs.v[i].n_counts; c++) {
            total += p->funcs.v[i].counts[c];
            max = p->funcs.v[i].counts[c] > max ? p->funcs.v[i].counts[c] : max;
            counters++;
        }
    }
    assert_int_equal(s.total_count, total);
    assert_int_equal(s.counters, counters);
    assert_int_equal(s.max_count, max);
    for (int i = 0; i < PGK_SUMMARY_CUTOFFS; i++) {
        uint64_t sum = 0, n = 0;
        for (size_t f = 0; f < p->funcs.n; f++)
            for (uint32_t c = 0; c < p->funcs.v[f].n_counts; c++)
                if (!(p->funcs.v[f].hash >> PGK_HASH_CONTEXTUAL_BIT & 1) &&
                    p->funcs.v[f].counts[c] >= cut[i].min_count && cut[i].min_count) {
                    sum += p->funcs.v[f].counts[c];
                    n++;
                }
        assert_int_equal(cut[i].n_counts, n);
        assert_true(sum >= total * cut[i].ppm / 1000000);
        /* Without the smallest of them it would not be enough. */
        uint64_t without = 0;
        for (size_t f = 0; f < p->funcs.n; f++)
            for (uint32_t c = 0; c < p->funcs.v[f].n_counts; c++)
                if (!(p->funcs.v[f].hash >> PGK_HASH_CONTEXTUAL_BIT & 1) &&
                    p->funcs.v[f].counts[c] > cut[i].min_count)
                    without += p->funcs.v[f].counts[c];
        assert_true(without < total * cut[i].ppm / 1000000);
    }
    pgk_instr_close(&p);
}

static void test_refused_targets(void **state)
{
    (void)state;
    struct pgk_instr *p = sample_instr(), *empty = sample_instr();
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_indexed_write_opts opts = {.struct_size = sizeof opts,
                                          .target = {.index_version = 7}};
    sample_instr_fill(p, 5, 9, ir, 1);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, 3, 5, 3, false);
    assert_int_equal(pgk_indexed_write(h, p, "/nonexistent/x", &opts, &err), PGK_E_ARG);
    assert_string_equal(err.field, "index version");
    opts.target.index_version = 4;
    assert_int_equal(pgk_indexed_write(NULL, p, "/nonexistent/x", &opts, &err), PGK_E_ARG);
    opts.target.index_version = 7;
    assert_int_equal(pgk_indexed_write(NULL, empty, "/nonexistent/x", &opts, &err),
                     PGK_E_EMPTY);
    assert_int_equal(pgk_indexed_write(NULL, NULL, "/nonexistent/x", &opts, &err), PGK_E_EMPTY);
    pgk_heap_close(&h);
    pgk_instr_close(&p);
    pgk_instr_close(&empty);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    struct pgk_indexed_write_opts opts = {.struct_size = sizeof opts,
                                          .target = {.index_version = 13}};
    struct pgk_instr *p = sample_instr();
    size_t size;
    test_folder(folder);
    test_join(path, folder, "out.profdata");
    sample_instr_fill(p, 5, 12, ir | SAMPLE_BIT(TEMPORAL), 1);
    uint8_t *bytes = write_bytes(NULL, p, 13, &size);
    for (int reading = 0; reading < 2; reading++) {
        int status = PGK_E_NOMEM;
        for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
            struct pgk_instr *back = sample_instr();
            struct pgk_instr_adder a;
            struct pgk_source src = {.file = "t"};
            assert_true(pgk_instr_adder_init(&a, back, "t", 1));
            pgk_mem_fail_after(nth);
            status = reading ? pgk_indexed_read_instr(&a, bytes, size, &src, NULL, NULL)
                             : pgk_indexed_write(NULL, p, path, &opts, NULL);
            pgk_mem_fail_after(0);
            pgk_instr_close(&back);
            assert_in_range(nth, 1, 1000);
        }
        assert_int_equal(status, 0);
    }
    free(bytes);
    test_folder_remove(folder);
    pgk_instr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_packed_bitmap_and_uniformity),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(variants_that_are_not_known_are_not_ignored),
        cmocka_unit_test(coverage_is_not_erased_by_cut_hashes),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_refused_targets),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
