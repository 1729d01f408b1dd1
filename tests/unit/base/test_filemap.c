/* Tests of reading files, pipes and what is neither. */
#include "pgk_test.h"
#include "sink.h"

#include "filemap.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[TEST_PATH_SIZE];

static int make_folder(void **state)
{
    (void)state;
    test_folder(folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void maps_a_file(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    test_write_file(test_join(path, folder, "plain"), "hello\n", 6);
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, path, NULL), 0);
    assert_true(m.mapped);
    assert_int_equal(m.size, 6);
    assert_memory_equal(m.bytes, "hello\n", 6);
    pgk_filemap_done(&m, 0, 6);
    pgk_filemap_close(&m);
    assert_null(m.bytes);
    pgk_filemap_close(&m);
}

static void bytes_that_were_let_go_can_be_read_again(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    enum { SIZE = 100000 };
    static char bytes[SIZE];
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 7);
    test_write_file(test_join(path, folder, "large"), bytes, SIZE);
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, path, NULL), 0);
    for (size_t n = 0; n <= SIZE; n += 1111) {
        pgk_filemap_done(&m, n / 2, n);
        assert_memory_equal(m.bytes, bytes, SIZE);
    }
    pgk_filemap_done(&m, 0, SIZE_MAX);
    assert_memory_equal(m.bytes, bytes, SIZE);
    pgk_filemap_close(&m);
}

/* Pages of files that are in this process's memory. */
static long resident_file_pages(void)
{
    long size, resident, shared;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld %ld", &size, &resident, &shared), 3);
    fclose(f);
    return shared;
}

static void bytes_that_were_let_go_leave_memory(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    enum { SIZE = 32 << 20 };
    test_write_file(test_join(path, folder, "larger"), "", 0);
    assert_int_equal(truncate(path, SIZE), 0);
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, path, NULL), 0);
    for (size_t i = 0; i < SIZE; i += 512)
        assert_int_equal(m.bytes[i], 0);
    long before = resident_file_pages(), half = SIZE / 2 / sysconf(_SC_PAGESIZE);
    pgk_filemap_done(&m, 0, SIZE / 2);
    long after = resident_file_pages();
    pgk_filemap_close(&m);
    /* The kernel's count may be some pages behind. */
    if (before - after < half * 3 / 4 || before - after > half * 5 / 4)
        fail_msg("%ld pages before, %ld after, %ld to let go", before, after, half);
}

static void an_empty_file_has_bytes_and_no_size(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    test_write_file(test_join(path, folder, "empty"), "", 0);
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, path, NULL), 0);
    assert_non_null(m.bytes);
    assert_int_equal(m.size, 0);
    pgk_filemap_done(&m, 0, 10);
    pgk_filemap_close(&m);
}

static void files_whose_size_is_not_known_are_read(void **state)
{
    (void)state;
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, "/proc/self/status", NULL), 0);
    assert_true(m.size > 50);
    assert_memory_equal(m.bytes, "Name:", 5);
    pgk_filemap_close(&m);
}

/* Feeds `size` bytes through a pipe, as standard input or under a name. */
static void assert_reads_pipe(bool as_stdin, size_t size)
{
    char fifo[TEST_PATH_SIZE];
    int ends[2], old_stdin = -1;
    if (as_stdin) {
        assert_int_equal(pipe(ends), 0);
    } else {
        test_join(fifo, folder, "fifo");
        assert_int_equal(mkfifo(fifo, 0600), 0);
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int out = as_stdin ? ends[1] : open(fifo, O_WRONLY);
        for (size_t i = 0; i < size; i++) {
            char c = (char)(i * 11);
            if (write(out, &c, 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    if (as_stdin) {
        old_stdin = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
    }
    struct pgk_filemap m;
    assert_int_equal(pgk_filemap_open(&m, as_stdin ? "-" : fifo, NULL), 0);
    assert_false(m.mapped);
    assert_int_equal(m.size, size);
    assert_non_null(m.bytes);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(m.bytes[i], (i * 11) & 0xff);
    pgk_filemap_done(&m, 0, size);
    pgk_filemap_close(&m);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (as_stdin) {
        dup2(old_stdin, STDIN_FILENO);
        close(old_stdin);
    } else {
        unlink(fifo);
    }
}

static void pipes_are_read(void **state)
{
    (void)state;
    assert_reads_pipe(true, 0);
    assert_reads_pipe(true, 200000);
    assert_reads_pipe(false, 3);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    struct pgk_filemap m = {0};
    struct pgk_err err;
    char buf[8192], path[TEST_PATH_SIZE];
    assert_int_equal(pgk_filemap_open(&m, "/", &err), PGK_E_IO);
    assert_int_equal(err.sys_errno, EISDIR);
    assert_string_equal(test_printed(buf, &err),
                        "/: cannot read: Is a directory. Name a file inside it.");
    assert_int_equal(pgk_filemap_open(&m, "/dev/null", &err), PGK_E_IO);
    assert_string_equal(test_printed(buf, &err),
                        "/dev/null: cannot read a profile from a device. Name a file, or pipe "
                        "one in and name it '-'.");
    test_join(path, folder, "missing");
    assert_int_equal(pgk_filemap_open(&m, path, &err), PGK_E_IO);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_non_null(strstr(test_printed(buf, &err), "missing: cannot open: No such file"));
    assert_int_equal(pgk_filemap_open(&m, "", NULL), PGK_E_IO);
    assert_null(m.bytes); /* untouched */
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    struct pgk_filemap m = {0};
    struct pgk_err err;
    pgk_mem_fail_after(1);
    assert_int_equal(pgk_filemap_open(&m, "/proc/self/status", &err), PGK_E_NOMEM);
    pgk_mem_fail_after(0);
    assert_string_equal(err.file, "/proc/self/status");
    assert_null(m.bytes);
}

/* Of a large compressed file some pieces, of all others everything. */
static void the_head_of_a_compressed_file(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    static const size_t sizes[] = {1000, 4 << 20};
    for (int compressed = 0; compressed < 2; compressed++) {
        for (int large = 0; large < 2; large++) {
            size_t size = sizes[large];
            struct pgk_sink *out;
            struct pgk_filemap head, whole;
            uint64_t seed = size;
            test_join(path, folder, compressed ? "f.zst" : "f");
            assert_int_equal(pgk_sink_open(&out, path, NULL), 0);
            for (size_t i = 0; i < size / 8; i++)
                pgk_sink_u64(out, test_random(&seed) % 9);
            assert_int_equal(pgk_sink_commit(&out, NULL), 0);
            assert_int_equal(pgk_filemap_open(&whole, path, NULL), 0);
            assert_int_equal(pgk_filemap_open_head(&head, path, NULL), 0);
            assert_false(whole.cut);
            assert_int_equal(head.cut, compressed && large);
            assert_true(head.cut ? head.size < whole.size / 2 && head.size > 1 << 14
                                 : head.size == whole.size);
            assert_memory_equal(head.bytes, whole.bytes, head.size);
            pgk_filemap_close(&head);
            pgk_filemap_close(&whole);
        }
    }
}

/* Up to where it can be decompressed, with an error that names the place. */
static void a_cut_compressed_file_is_opened_as_far_as_it_goes(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char path[TEST_PATH_SIZE];
    struct pgk_filemap m = {0};
    struct pgk_sink *out;
    struct pgk_err err;
    struct stat st;
    uint64_t seed = 1;
    test_join(path, folder, "cut.zst");
    assert_int_equal(pgk_sink_open(&out, path, NULL), 0);
    for (size_t i = 0; i < BYTES / 8; i++)
        pgk_sink_u64(out, test_random(&seed) % 9);
    assert_int_equal(pgk_sink_commit(&out, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 1000), 0);
    assert_int_equal(pgk_filemap_open(&m, path, &err), PGK_E_TRUNCATED);
    assert_null(m.bytes);
    assert_int_equal(pgk_filemap_open_damaged(&m, path, &err), PGK_E_TRUNCATED);
    assert_int_equal(err.offset, st.st_size - 1000);
    assert_true(m.cut);
    assert_in_range(m.size, BYTES / 2, BYTES - 1);
    seed = 1;
    for (size_t i = 0; i < m.size / 8; i++) {
        uint64_t wanted = test_random(&seed) % 9;
        assert_memory_equal(m.bytes + 8 * i, &wanted, 8);
    }
    pgk_filemap_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_a_file),
        cmocka_unit_test(bytes_that_were_let_go_can_be_read_again),
        cmocka_unit_test(bytes_that_were_let_go_leave_memory),
        cmocka_unit_test(an_empty_file_has_bytes_and_no_size),
        cmocka_unit_test(files_whose_size_is_not_known_are_read),
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(the_head_of_a_compressed_file),
        cmocka_unit_test(a_cut_compressed_file_is_opened_as_far_as_it_goes),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
