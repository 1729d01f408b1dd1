/* From addresses of processes to those of binaries. */
#include "../small_program.h"

#include "address_space.h"

#include <unistd.h>

enum { PID = 5 };
#define BASE UINT64_C(0x555500000000)
#define KERNEL UINT64_C(0xffffffff81000000)

struct set {
    struct pgk_binaries *binaries;
    char path[64];
};

static int open_set(void **state)
{
    static struct set s;
    struct test_bytes b = small_program();
    snprintf(s.path, sizeof s.path, "/tmp/pgokit-address-space-%d", (int)getpid());
    FILE *f = fopen(s.path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.v, 1, b.n, f), b.n);
    fclose(f);
    tb_free(&b);
    assert_int_equal(pgk_binaries_new(&s.binaries, NULL, NULL), 0);
    assert_int_equal(pgk_binaries_add(s.binaries, s.path, NULL), 0);
    *state = &s;
    return 0;
}

static int close_set(void **state)
{
    struct set *s = *state;
    pgk_binaries_close(&s->binaries);
    return unlink(s->path);
}

static void map(struct pgk_address_space *space, int32_t pid, uint64_t start, uint64_t offset,
                uint64_t time, const char *path)
{
    const struct pgk_perf_mapping m = {.pid = pid,
                                       .time = time,
                                       .start = start,
                                       .size = 0x3000,
                                       .file_offset = offset,
                                       .prot = PGK_PROT_READ | PGK_PROT_EXEC,
                                       .path = path,
                                       .path_len = strlen(path)};
    assert_int_equal(pgk_address_space_add(space, &m, NULL), 0);
    assert_int_equal(pgk_process_map_ready(space->map, NULL), 0);
}

static bool in_window(const struct pgk_address_window *w, int32_t pid, uint64_t time, uint64_t addr)
{
    return addr - w->start < pgk_address_window_size(w, pid, time);
}

static void test_window(void **state)
{
    const struct set *s = *state;
    struct pgk_address_space space;
    assert_int_equal(pgk_address_space_open(&space, s->binaries, NULL), 0);
    map(&space, PID, BASE + TEST_CODE, TEST_CODE, 10, s->path);
    assert_true(space.any_matched);
    struct pgk_address_window w = pgk_address_window(&space, PID, 20, BASE + H);
    assert_int_equal(w.binary, 0);
    assert_true(BASE + H - w.bias == H);
    assert_true(in_window(&w, PID, 20, BASE + F));
    assert_false(in_window(&w, PID, 20, BASE + TEST_CODE + 0x3000));
    assert_false(in_window(&w, PID + 1, 20, BASE + F));
    assert_false(in_window(&w, PID, 5, BASE + F)); /* before it was mapped */

    /* Another file takes the place; then nothing is known of the rest. */
    map(&space, PID, BASE + TEST_CODE, 0, 30, "/usr/lib/other.so");
    assert_int_equal(pgk_address_window(&space, PID, 40, BASE + H).binary, PGK_NO_BINARY);
    assert_int_equal(pgk_address_window(&space, PID, 20, BASE + H).binary, 0);
    assert_int_equal(pgk_address_window(&space, PID, 20, 0x1000).binary, PGK_NO_BINARY);
    pgk_address_space_close(&space);
}

static void test_kernel(void **state)
{
    const struct set *s = *state;
    for (int kernel = 0; kernel < 2; kernel++) {
        struct pgk_address_space space;
        assert_int_equal(pgk_address_space_open(&space, s->binaries, NULL), 0);
        space.kernel = kernel;
        map(&space, PGK_PID_KERNEL, KERNEL, KERNEL, 0, "[kernel.kallsyms]_text");
        struct pgk_address_window w = pgk_address_window(&space, PID, 9, KERNEL + H - TEST_CODE);
        assert_int_equal(w.binary, kernel ? 0 : PGK_NO_BINARY);
        if (kernel)
            assert_true(KERNEL + H - TEST_CODE - w.bias == H);
        pgk_address_space_close(&space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_kernel),
    };
    return cmocka_run_group_tests(tests, open_set, close_set);
}
