/* What lay at an address of a process at a time. */
#include "mem.h"
#include "process_map.h"

#include "pgk_test.h"

static void map(struct pgk_process_map *m, int32_t pid, uint64_t time, uint64_t start,
                uint64_t size, const char *path)
{
    struct pgk_perf_mapping mapping = {.pid = pid, .time = time, .start = start, .size = size,
                                       .prot = PGK_PROT_EXEC, .path = path,
                                       .path_len = strlen(path)};
    assert_int_equal(pgk_process_map_add(m, &mapping, NULL), 0);
}

static void task(struct pgk_process_map *m, enum pgk_perf_task_kind kind, int32_t pid,
                 int32_t parent, uint64_t time, const char *name)
{
    struct pgk_perf_task t = {.kind = kind, .pid = pid, .tid = pid, .parent = parent,
                              .time = time, .name = name, .name_len = strlen(name)};
    assert_int_equal(pgk_process_map_task(m, &t, NULL), 0);
}

static const char *at(struct pgk_process_map *m, int32_t pid, uint64_t time, uint64_t addr)
{
    size_t n;
    assert_int_equal(pgk_process_map_ready(m, NULL), 0);
    struct pgk_process_place p = pgk_process_map_find(m, pid, time, addr);
    if (!p.mapping)
        return "nothing";
    assert_true(p.start <= addr && addr < p.end);
    return pgk_process_map_files(m, &n)[p.mapping->file].path;
}

static struct pgk_process_map *fresh(void)
{
    struct pgk_process_map *m;
    assert_int_equal(pgk_process_map_new(&m, NULL), 0);
    return m;
}

static void test_later_mapping_covers_earlier(void **state)
{
    (void)state;
    struct pgk_process_map *m = fresh();
    map(m, 1, 0, 0x1000, 0x3000, "/a");
    map(m, 1, 10, 0x2000, 0x1000, "/b");
    assert_string_equal(at(m, 1, 5, 0x2000), "/a");
    assert_string_equal(at(m, 1, 10, 0x2000), "/b");
    assert_string_equal(at(m, 1, 10, 0x1fff), "/a");
    assert_string_equal(at(m, 1, 10, 0x2fff), "/b");
    assert_string_equal(at(m, 1, 10, 0x3000), "/a");
    assert_string_equal(at(m, 1, 10, 0x4000), "nothing");
    assert_string_equal(at(m, 1, 10, 0xfff), "nothing");
    pgk_process_map_close(&m);
}

static void test_exec_begins_anew(void **state)
{
    (void)state;
    struct pgk_process_map *m = fresh();
    map(m, 1, 1, 0x1000, 0x1000, "/shell");
    task(m, PGK_PERF_EXEC, 1, 0, 5, "program");
    map(m, 1, 6, 0x1000, 0x1000, "/program");
    assert_string_equal(at(m, 1, 4, 0x1000), "/shell");
    assert_string_equal(at(m, 1, 5, 0x1000), "nothing");
    assert_string_equal(at(m, 1, 6, 0x1000), "/program");
    assert_string_equal(pgk_process_map_name(m, 1), "program");
    pgk_process_map_close(&m);
}

static void test_fork_has_what_its_parent_had(void **state)
{
    (void)state;
    struct pgk_process_map *m = fresh();
    map(m, 1, 1, 0x1000, 0x1000, "/parent");
    task(m, PGK_PERF_FORK, 2, 1, 5, "");
    task(m, PGK_PERF_FORK, 1, 1, 6, ""); /* a thread */
    map(m, 1, 7, 0x5000, 0x1000, "/later");
    task(m, PGK_PERF_EXEC, 2, 0, 9, "child");
    assert_string_equal(at(m, 2, 5, 0x1000), "/parent");
    assert_string_equal(at(m, 2, 8, 0x5000), "nothing");
    assert_string_equal(at(m, 2, 9, 0x1000), "nothing");
    assert_string_equal(at(m, 1, 9, 0x1000), "/parent");
    pgk_process_map_close(&m);
}

static void test_number_of_a_process_is_used_again(void **state)
{
    (void)state;
    struct pgk_process_map *m = fresh();
    map(m, 1, 1, 0x1000, 0x1000, "/one");
    map(m, 2, 1, 0x1000, 0x1000, "/old");
    task(m, PGK_PERF_FORK, 2, 1, 5, "");
    assert_string_equal(at(m, 2, 4, 0x1000), "/old");
    assert_string_equal(at(m, 2, 5, 0x1000), "/one");
    pgk_process_map_close(&m);
}

static void test_kernel_and_unknown_processes(void **state)
{
    (void)state;
    struct pgk_process_map *m = fresh();
    map(m, PGK_PID_KERNEL, 0, UINT64_C(0xffffffff81000000), 0x1000000, "[kernel.kallsyms]_text");
    map(m, 7, 1, 0x1000, 0x1000, "/seven");
    assert_string_equal(at(m, 7, 2, UINT64_C(0xffffffff81000010)), "[kernel.kallsyms]_text");
    assert_string_equal(at(m, PGK_PID_UNKNOWN, 2, 0x1000), "/seven");
    assert_string_equal(at(m, 99, 2, 0x1000), "/seven");
    assert_string_equal(at(m, 7, 2, 0), "nothing");
    pgk_process_map_close(&m);
}

/* perf before 3.13; with an address of its first symbol, or none where users may not see it. */
static void test_kernel_from_address_zero_hides_no_process(void **state)
{
    (void)state;
    static const uint64_t text[] = {UINT64_C(0xffffffff81000000), 0};
    for (size_t i = 0; i < PGK_COUNTOF(text); i++) {
        struct pgk_process_map *m = fresh();
        struct pgk_perf_mapping kernel = {.pid = PGK_PID_KERNEL,
                                          .size = UINT64_C(0xffffffff9fffffff),
                                          .file_offset = text[i],
                                          .path = "[kernel.kallsyms]_text",
                                          .path_len = 22};
        assert_int_equal(pgk_process_map_add(m, &kernel, NULL), 0);
        map(m, 7, 1, 0x1000, 0x1000, "/seven");
        assert_string_equal(at(m, 7, 2, 0x5000), "nothing");
        assert_string_equal(at(m, 7, 2, 0x1000), "/seven");
        assert_string_equal(at(m, 7, 2, UINT64_C(0xffffffff81000010)), "[kernel.kallsyms]_text");
        struct pgk_process_place p = pgk_process_map_find(m, 7, 2, UINT64_C(0xffffffff81000010));
        assert_int_equal(p.start, text[i] ? text[i] : UINT64_C(1) << 63);
        assert_int_equal(p.end, UINT64_C(0xffffffff9fffffff));
        pgk_process_map_close(&m);
    }
}

static void test_mappings_between_samples(void **state)
{
    (void)state;
    struct pgk_process_map *m = fresh();
    map(m, 1, 1, 0x1000, 0x1000, "/a");
    assert_string_equal(at(m, 1, 2, 0x1000), "/a");
    map(m, 1, 3, 0x1000, 0x1000, "/b");
    assert_string_equal(at(m, 1, 2, 0x1000), "/a");
    assert_string_equal(at(m, 1, 3, 0x1000), "/b");
    map(m, 1, 2, 0x1000, 0x1000, "/late"); /* told out of the order of time */
    assert_string_equal(at(m, 1, 2, 0x1000), "/late");
    assert_string_equal(at(m, 1, 3, 0x1000), "/b");
    pgk_process_map_close(&m);
}

/* The plain version: the last mapping of the process in the order of time that covers it. */
static void test_random_against_plain(void **state)
{
    (void)state;
    enum { MAPPINGS = 200, PIDS = 3, PAGES = 32, TIMES = 50 };
    struct { int32_t pid; uint64_t time, start, end; char path[8]; } all[MAPPINGS];
    uint64_t random = 0;
    for (int round = 0; round < 20; round++) {
        struct pgk_process_map *m = fresh();
        for (int i = 0; i < MAPPINGS; i++) {
            all[i].pid = (int32_t)(test_random(&random) % PIDS);
            all[i].time = test_random(&random) % TIMES;
            all[i].start = test_random(&random) % PAGES * 0x1000;
            all[i].end = all[i].start + (1 + test_random(&random) % 4) * 0x1000;
            snprintf(all[i].path, sizeof all[i].path, "/%d", i);
            map(m, all[i].pid, all[i].time, all[i].start, all[i].end - all[i].start, all[i].path);
        }
        for (int i = 0; i < 2000; i++) {
            int32_t pid = (int32_t)(test_random(&random) % PIDS);
            uint64_t time = test_random(&random) % TIMES;
            uint64_t addr = test_random(&random) % (PAGES * 0x1000 + 0x5000);
            const char *plain = "nothing";
            uint64_t latest = 0;
            for (int k = 0; k < MAPPINGS; k++) {
                if (all[k].pid == pid && all[k].time <= time && all[k].time >= latest &&
                    all[k].start <= addr && addr < all[k].end) {
                    latest = all[k].time;
                    plain = all[k].path;
                }
            }
            assert_string_equal(at(m, pid, time, addr), plain);
        }
        pgk_process_map_close(&m);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        struct pgk_process_map *m = NULL;
        pgk_mem_fail_after(nth);
        int status = pgk_process_map_new(&m, NULL);
        struct pgk_perf_mapping one = {.pid = 1, .start = 0x1000, .size = 0x3000, .path = "/a",
                                       .path_len = 2};
        struct pgk_perf_mapping two = {.pid = 1, .time = 2, .start = 0x2000, .size = 0x1000,
                                       .path = "/b", .path_len = 2};
        struct pgk_perf_task fork = {.kind = PGK_PERF_FORK, .pid = 2, .tid = 2, .parent = 1,
                                     .time = 3};
        if (!status)
            status = pgk_process_map_add(m, &one, NULL);
        if (!status)
            status = pgk_process_map_add(m, &two, NULL);
        if (!status)
            status = pgk_process_map_task(m, &fork, NULL);
        if (!status)
            status = pgk_process_map_ready(m, NULL);
        pgk_mem_fail_after(0);
        pgk_process_map_close(&m);
        if (!status)
            return;
        assert_int_equal(status, PGK_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_mapping_covers_earlier),
        cmocka_unit_test(test_exec_begins_anew),
        cmocka_unit_test(test_fork_has_what_its_parent_had),
        cmocka_unit_test(test_number_of_a_process_is_used_again),
        cmocka_unit_test(test_kernel_and_unknown_processes),
        cmocka_unit_test(test_kernel_from_address_zero_hides_no_process),
        cmocka_unit_test(test_mappings_between_samples),
        cmocka_unit_test(test_random_against_plain),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
