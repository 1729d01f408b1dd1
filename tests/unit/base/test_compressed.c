/* Tests of compressed files, by themselves and behind filemap and sink. */
#include "pgk_test.h"

#include "compressed.h"
#include "filemap.h"
#include "mem.h"
#include "sink.h"
#include "vec.h"

#include <zlib.h>
#include <zstd.h>

static char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];

static int make_folder(void **state)
{
    (void)state;
    test_folder(folder);
    test_join(path, folder, "file.zst");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

typedef PGK_VEC(uint8_t) byte_vec;

static bool append(void *ctx, const uint8_t *bytes, size_t size)
{
    byte_vec *v = ctx;
    if (!pgk_vec_reserve(v, size))
        return false;
    memcpy(v->v + v->n, bytes, size);
    v->n += size;
    return true;
}

static byte_vec as_zstd(const void *bytes, size_t size)
{
    byte_vec v = {0};
    assert_true(pgk_compress(bytes, size, append, &v));
    return v;
}

static byte_vec as_gzip(const void *bytes, size_t size)
{
    byte_vec v = {0};
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_true(pgk_vec_reserve(&v, deflateBound(&z, size) + 64));
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)size;
    z.next_out = v.v;
    z.avail_out = (uInt)v.cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    v.n = z.total_out;
    deflateEnd(&z);
    return v;
}

/* Compressible, and larger than a piece. */
static uint8_t *text(size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    uint64_t seed = size;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)("abcdefgh"[test_random(&seed) % 8]);
    return bytes;
}

static void assert_content(const byte_vec *file, enum pgk_compression how, const uint8_t *want,
                           size_t size)
{
    uint8_t *got = NULL;
    size_t got_size = 1;
    struct pgk_err err = {0};
    char buf[8192];
    assert_int_equal(pgk_compression_of(file->v, file->n), how);
    if (pgk_decompress(how, file->v, file->n, "f", &got, &got_size, &err))
        fail_msg("%s", test_printed(buf, &err));
    assert_int_equal(got_size, size);
    if (size)
        assert_memory_equal(got, want, size);
    pgk_mem_free(got);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 1000, 262144, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *bytes = text(sizes[i]);
        byte_vec z = as_zstd(bytes, sizes[i]), g = as_gzip(bytes, sizes[i]);
        assert_content(&z, PGK_ZSTD, bytes, sizes[i]);
        assert_content(&g, PGK_GZIP, bytes, sizes[i]);
        byte_vec again = as_zstd(bytes, sizes[i]);
        assert_int_equal(again.n, z.n);
        assert_memory_equal(again.v, z.v, z.n);
        pgk_vec_free(&z);
        pgk_vec_free(&g);
        pgk_vec_free(&again);
        free(bytes);
    }
}

/* As `cat a.zst b.zst` makes them; a zstd file may begin with a piece that is skipped. */
static void pieces_follow_each_other(void **state)
{
    (void)state;
    byte_vec file = {0}, part = as_zstd("one ", 4);
    static const uint8_t skipped[] = {0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9};
    append(&file, skipped, sizeof skipped);
    append(&file, part.v, part.n);
    pgk_vec_free(&part);
    part = as_zstd("two", 3);
    append(&file, part.v, part.n);
    assert_content(&file, PGK_ZSTD, (const uint8_t *)"one two", 7);
    pgk_vec_free(&part);
    file.n = 0;
    for (int i = 0; i < 2; i++) {
        part = as_gzip(i ? "two" : "one ", i ? 3 : 4);
        append(&file, part.v, part.n);
        pgk_vec_free(&part);
    }
    assert_content(&file, PGK_GZIP, (const uint8_t *)"one two", 7);
    pgk_vec_free(&file);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    uint8_t *bytes = text(2000), *got;
    size_t size;
    for (int how = PGK_ZSTD; how <= PGK_GZIP; how++) {
        byte_vec file = how == PGK_ZSTD ? as_zstd(bytes, 2000) : as_gzip(bytes, 2000);
        for (size_t n = 4; n < file.n; n++) {
            struct pgk_err err = {0};
            /* A buffer of its own, so that a read past its end is seen. */
            uint8_t *cut = malloc(n);
            assert_non_null(cut);
            memcpy(cut, file.v, n);
            assert_int_equal(pgk_decompress((enum pgk_compression)how, cut, n, "cut", &got, &size,
                                            &err),
                             PGK_E_TRUNCATED);
            assert_int_equal(err.offset, n);
            assert_string_equal(err.file, "cut");
            free(cut);
        }
        pgk_vec_free(&file);
    }
    free(bytes);
}

static void damage_is_refused(void **state)
{
    (void)state;
    uint8_t *bytes = text(5000), *got;
    size_t size, refused = 0;
    for (int how = PGK_ZSTD; how <= PGK_GZIP; how++) {
        byte_vec file = how == PGK_ZSTD ? as_zstd(bytes, 5000) : as_gzip(bytes, 5000);
        /* Behind the header, in which not every bit means something. */
        for (size_t at = 12; at < file.n; at++) {
            file.v[at] ^= 0x10;
            struct pgk_err err = {0};
            int status = pgk_decompress((enum pgk_compression)how, file.v, file.n, "f", &got,
                                        &size, &err);
            if (!status) { /* a bit without meaning */
                assert_int_equal(size, 5000);
                assert_memory_equal(got, bytes, size);
                pgk_mem_free(got);
            } else {
                assert_true(status == PGK_E_CORRUPT || status == PGK_E_TRUNCATED);
                assert_string_equal(err.format, how == PGK_ZSTD ? "zstd file" : "gzip file");
                refused++;
            }
            file.v[at] ^= 0x10;
        }
        pgk_vec_free(&file);
    }
    assert_true(refused > 1000);
    free(bytes);
}

/* 100 MiB of zeros are some kilobytes of zstd. */
static void bombs_are_refused(void **state)
{
    (void)state;
    enum { SIZE = 100 << 20 };
    uint8_t *zeros = calloc(1, SIZE), *got = NULL;
    size_t size;
    assert_non_null(zeros);
    byte_vec file = as_zstd(zeros, SIZE), small = as_zstd(zeros, SIZE / 2);
    free(zeros);
    struct pgk_err err = {0};
    char buf[8192];
    assert_int_equal(pgk_decompress(PGK_ZSTD, file.v, file.n, "bomb", &got, &size, &err),
                     PGK_E_LIMIT);
    assert_non_null(strstr(test_printed(buf, &err), "decompress the file first"));
    assert_null(got);
    assert_int_equal(pgk_decompress(PGK_ZSTD, small.v, small.n, "f", &got, &size, &err), 0);
    assert_int_equal(size, SIZE / 2);
    pgk_mem_free(got);
    pgk_vec_free(&file);
    pgk_vec_free(&small);
}

static void kinds_are_distinguished(void **state)
{
    (void)state;
    assert_int_equal(pgk_compression_of((const uint8_t *)"\x28\xb5\x2f\xfd", 3), PGK_PLAIN);
    assert_int_equal(pgk_compression_of((const uint8_t *)"\x1f\x8b\x08", 2), PGK_PLAIN);
    assert_int_equal(pgk_compression_of((const uint8_t *)"\x1f\x8b\x07x", 4), PGK_PLAIN);
    assert_int_equal(pgk_compression_of((const uint8_t *)"", 0), PGK_PLAIN);
    assert_int_equal(pgk_compression_for("a.zst"), PGK_ZSTD);
    assert_int_equal(pgk_compression_for(".zst"), PGK_PLAIN); /* a name without stem */
    assert_int_equal(pgk_compression_for("a.zst.profdata"), PGK_PLAIN);
    assert_int_equal(pgk_compression_for("-"), PGK_PLAIN);
}

static void sink_and_filemap_do_it_by_themselves(void **state)
{
    (void)state;
    enum { SIZE = 2000000 };
    uint8_t *bytes = text(SIZE);
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_open(&s, path, NULL), 0);
    pgk_sink_zeros(s, 8);
    pgk_sink_bytes(s, bytes, SIZE);
    /* What is long gone from the buffer of a plain file can be changed as well. */
    pgk_sink_patch_u64(s, 0, 0x4847464544434241u);
    assert_int_equal(pgk_sink_off(s), SIZE + 8);
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    size_t file_size;
    char *file = test_read_file(path, &file_size);
    assert_int_equal(pgk_compression_of((const uint8_t *)file, file_size), PGK_ZSTD);
    assert_true(file_size < SIZE / 2);
    free(file);
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, path, NULL), 0);
    assert_int_equal(m.size, SIZE + 8);
    assert_false(m.mapped);
    assert_memory_equal(m.bytes, "ABCDEFGH", 8);
    assert_memory_equal(m.bytes + 8, bytes, SIZE);
    pgk_filemap_close(&m);
    free(bytes);
}

static void an_empty_file_in_a_compressed_one(void **state)
{
    (void)state;
    struct pgk_sink *s;
    struct pgk_filemap m;
    assert_int_equal(pgk_sink_open(&s, path, NULL), 0);
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    assert_int_equal(pgk_filemap_open(&m, path, NULL), 0);
    assert_int_equal(m.size, 0);
    assert_non_null(m.bytes);
    pgk_filemap_close(&m);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    byte_vec file = as_zstd("some text", 9);
    uint8_t *got = NULL;
    size_t size;
    struct pgk_err err = {0};
    pgk_mem_fail_after(1);
    assert_int_equal(pgk_decompress(PGK_ZSTD, file.v, file.n, "f", &got, &size, &err),
                     PGK_E_NOMEM);
    pgk_mem_fail_after(0);
    assert_null(got);
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_open(&s, path, NULL), 0);
    pgk_sink_bytes(s, "some text", 9);
    pgk_mem_fail_after(1);
    assert_int_equal(pgk_sink_commit(&s, &err), PGK_E_NOMEM);
    pgk_mem_fail_after(0);
    assert_int_equal(test_folder_entries(folder), 0);
    pgk_vec_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(pieces_follow_each_other),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(kinds_are_distinguished),
        cmocka_unit_test_setup_teardown(sink_and_filemap_do_it_by_themselves, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(an_empty_file_in_a_compressed_one, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(running_out_of_memory_is_reported, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
