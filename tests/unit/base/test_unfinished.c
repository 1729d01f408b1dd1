/* Tests of what a signal leaves behind where temporary files have names. */
#include "pgk_test.h"

#include "sink.h"
#include "unfinished_list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];

/* A file system without unnamed files. Takes the place of libc's. */
int openat(int dir, const char *name, int flags, ...)
{
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

static int make_folder(void **state)
{
    (void)state;
    test_folder(folder);
    test_write_file(test_join(path, folder, "out"), "old", 3);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void on_signal(int number)
{
    pgk_unfinished_delete();
    signal(number, SIG_DFL);
    raise(number);
}

static void a_signal_leaves_the_old_file_alone(void **state)
{
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct pgk_sink *s[3];
        char other[TEST_PATH_SIZE];
        signal(SIGTERM, on_signal);
        if (pgk_sink_open(&s[0], path, NULL) ||
            pgk_sink_open(&s[1], test_join(other, folder, "more"), NULL) ||
            pgk_sink_open(&s[2], test_join(other, folder, "dropped"), NULL))
            _exit(1);
        pgk_sink_zeros(s[0], 2000000);
        pgk_sink_drop(&s[2]);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char byte;
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    assert_int_equal(test_folder_entries(folder), 3); /* the old file and two temporary ones */
    assert_int_equal(kill(child, SIGTERM), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_int_equal(test_folder_entries(folder), 1);
    test_assert_file(path, "old");
}

/* What was committed or dropped is not the list's any more, however many there were. */
static void finished_files_stay(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct pgk_sink *s;
        assert_int_equal(pgk_sink_open(&s, path, NULL), 0);
        pgk_sink_bytes(s, "new", 3);
        if (i % 2)
            pgk_sink_drop(&s);
        else
            assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    }
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_open(&s, path, NULL), 0);
    assert_int_equal(test_folder_entries(folder), 2);
    pgk_unfinished_delete();
    assert_int_equal(test_folder_entries(folder), 1);
    test_assert_file(path, "new");
    pgk_sink_drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_signal_leaves_the_old_file_alone, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(finished_files_stay, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
