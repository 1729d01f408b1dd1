/* Heap profiles of allocators: both forms, maps, samples, refusals. */
#include "allocator_heap.h"

#include "pgk_test.h"

static int read_text(const char *text, size_t size, struct pgk_heap **h, struct pgk_err *err)
{
    struct pgk_source src = {.file = "h.heap", .format = "heap profile of an allocator"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_allocator_heap_read(*h, (const uint8_t *)text, size, &src, err);
}

static struct pgk_heap *good(const char *text)
{
    struct pgk_heap *h;
    struct pgk_err err;
    assert_true(pgk_allocator_heap_sniff((const uint8_t *)text, strlen(text)));
    if (read_text(text, strlen(text), &h, &err))
        fail_msg("%s: %s", err.field, err.found);
    return h;
}

#define MAP                                                                  \
    "\nMAPPED_LIBRARIES:\n"                                                  \
    "400000-401000 r--p 00000000 fe:00 1    /bin/a b\n"                      \
    "401000-402000 r-xp 00001000 fe:00 1    /bin/a b\n"                      \
    "7f0000-7f1000 r-xp 00026000 fe:00 2    /lib/libc.so.6\n"                \
    "7f2000-7f3000 r-xp 00000000 00:00 0    [vdso]\n"                        \
    "7f4000-7f5000 rw-p 00000000 00:00 0 \n"
#define JEMALLOC                                                             \
    "heap_v2/1\n  t*: 3: 48 [9: 144]\n  t0: 3: 48 [9: 144]\n"                \
    "@ 0x401010 0x7f0011\n  t*: 1: 16 [3: 48]\n  t0: 1: 16 [3: 48]\n"        \
    "@ 0x401020 0x7f2011\n  t*: 2: 32 [6: 96]\n"
#define GPERFTOOLS                                                           \
    "heap profile:      3:       48 [     9:      144] @ heapprofile\n"      \
    "     1:       16 [     3:       48] @ 0x401010 0x7f0011\n"              \
    "     2:       32 [     6:       96] @ 0x401020 0x7f2011\n"

static void check_contexts(struct pgk_heap *h)
{
    struct pgk_heap_frame f[3];
    assert_int_equal(pgk_heap_contexts(h), 2);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_AllocCount), 3);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_TotalSize), 48);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_ExitCount), 1);
    assert_int_equal(pgk_heap_value(h, 1, PGK_MIB_TotalSize), 96);
    assert_int_equal(pgk_heap_value(h, 1, PGK_MIB_ExitSize), 32);
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_TotalAccessCount));
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_PeakSize));
    assert_int_equal(pgk_heap_stack(h, 0, f, 3), 2);
    assert_int_equal(f[0].address, 0x100f); /* in the file, before the return address */
    assert_int_equal(f[1].address, 0x26010);
    assert_int_equal(pgk_heap_stack(h, 1, f, 3), 2);
    assert_int_equal(f[1].address, 0x7f2010); /* of no file */
    assert_int_equal(h->modules.n, 2);
    assert_string_equal(pgk_intern_str(&h->strings, h->modules.v[0].name), "/bin/a b");
    assert_true(h->modules.v[0].by_file_off);
    pgk_heap_close(&h);
}

static void jemalloc_counts_each_stack(void **state)
{
    (void)state;
    check_contexts(good(JEMALLOC MAP));
}

static void gperftools_counts_each_stack(void **state)
{
    (void)state;
    check_contexts(good(GPERFTOOLS MAP));
}

/* Without prof_accum only what is alive is known. */
static void what_is_alive_stands_for_all(void **state)
{
    (void)state;
    struct pgk_heap *h = good("heap_v2/1\n  t*: 1: 16 [0: 0]\n@ 0x401010\n  t*: 1: 16 [0: 0]\n"
                              "@ 0x401020\n  t*: 0: 0 [0: 0]\n");
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_AllocCount), 1);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_TotalSize), 16);
    pgk_heap_close(&h);
}

/* An object as large as the rate is sampled with probability 1 - 1/e; one that is much larger
 * always. */
static void samples_stand_for_more(void **state)
{
    (void)state;
    struct pgk_heap *h = good("heap_v2/1000\n@ 0x1\n  t*: 1000: 1000000 [0: 0]\n"
                              "@ 0x2\n  t*: 2: 2000000 [3: 3000000]\n");
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_AllocCount), 1582);
    assert_int_equal(pgk_heap_value(h, 0, PGK_MIB_TotalSize), 1581977);
    assert_int_equal(pgk_heap_value(h, 1, PGK_MIB_TotalSize), 3000000);
    assert_int_equal(pgk_heap_value(h, 1, PGK_MIB_ExitCount), 2);
    pgk_heap_close(&h);
}

static void refused(const char *text, int status, const char *field)
{
    struct pgk_heap *h;
    struct pgk_err err;
    assert_int_equal(read_text(text, strlen(text), &h, &err), status);
    assert_string_equal(err.field, field);
    assert_int_not_equal(err.offset, PGK_NO_OFFSET);
    assert_string_not_equal(err.found, "");
    pgk_heap_close(&h);
}

static void what_is_damaged_is_refused(void **state)
{
    (void)state;
    refused("heap_v2/x\n", PGK_E_VERSION, "kind");
    refused("heap profile: 1: 2 [3: 4] @ heap/524288\n", PGK_E_VERSION, "kind");
    refused("heap profile: 1: 2 [3 4] @ heapprofile\n", PGK_E_CORRUPT, "counts");
    refused("heap_v2/1\n@ 0x\n", PGK_E_CORRUPT, "address");
    refused("heap_v2/1\n@ 0x0\n", PGK_E_CORRUPT, "address");
    refused("heap_v2/1\n@\n", PGK_E_CORRUPT, "addresses");
    refused("heap_v2/1\n@ 0x4010", PGK_E_TRUNCATED, "addresses");
    refused("heap_v2/1\n@ 0x1\n  t*: 1: 2\n", PGK_E_CORRUPT, "counts");
    refused("heap profile: 1: 2 [3: 4] @ heapprofile\n 1: 2 [3: 4]\n", PGK_E_CORRUPT, "counts");
    refused("heap_v2/1\nMAPPED_LIBRARIES:\nzz\n", PGK_E_CORRUPT, "addresses");
    refused("heap_v2/1\nMAPPED_LIBRARIES:\n1-2 r-xp z\n", PGK_E_CORRUPT, "offset");
}

static void cut_files_are_read_or_refused(void **state)
{
    static const char *const texts[] = {JEMALLOC MAP, GPERFTOOLS MAP};
    (void)state;
    for (size_t t = 0; t < PGK_COUNTOF(texts); t++)
        for (size_t n = 0; n < strlen(texts[t]); n++) {
            struct pgk_heap *h;
            struct pgk_err err;
            if (read_text(texts[t], n, &h, &err))
                assert_string_not_equal(err.field, "");
            pgk_heap_close(&h);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jemalloc_counts_each_stack),
        cmocka_unit_test(gperftools_counts_each_stack),
        cmocka_unit_test(what_is_alive_stands_for_all),
        cmocka_unit_test(samples_stand_for_more),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(cut_files_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
