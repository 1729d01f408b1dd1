/* Tests of lib/emit/deflate_out.c: zlib unpacks what it packed. */
#include "../pgk_test.h"

#include "deflate_out.h"
#include "vec.h"

#include <zlib.h>

typedef PGK_VEC(uint8_t) packed_vec;

static void keep(void *ctx, const uint8_t *bytes, size_t n)
{
    packed_vec *packed = ctx;
    assert_true(pgk_vec_reserve(packed, n + 1));
    memcpy(packed->v + packed->n, bytes, n);
    packed->n += n;
}

/* window: 15 of zlib, 31 of gzip. */
static void round_trip(const uint8_t *bytes, size_t size, bool gzip)
{
    packed_vec packed = {0};
    uint8_t *plain = malloc(size + 1);
    assert_int_equal(pgk_deflate(bytes, size, gzip, keep, &packed, NULL), 0);
    z_stream z = {.next_in = packed.v, .avail_in = (uInt)packed.n};
    assert_int_equal(inflateInit2(&z, gzip ? 31 : 15), Z_OK);
    z.next_out = plain;
    z.avail_out = (uInt)size + 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, size);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    if (size)
        assert_memory_equal(plain, bytes, size);
    if (gzip) /* no time: the same bytes tomorrow */
        assert_int_equal(packed.v[4] | packed.v[5] | packed.v[6] | packed.v[7], 0);
    free(plain);
    pgk_vec_free(&packed);
}

static void zlib_unpacks_what_was_packed(void **state)
{
    (void)state;
    enum { MOST = 300000 };
    uint8_t *bytes = malloc(MOST);
    uint64_t random = 1;
    for (int round = 0; round < 6; round++) {
        size_t size = round ? test_random(&random) % MOST : 0;
        uint64_t values = round % 3 ? 256 : 2; /* random bytes grow, and take several pieces */
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(test_random(&random) % values);
        round_trip(bytes, size, round % 2);
        round_trip(bytes, size, round % 2 == 0);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zlib_unpacks_what_was_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
