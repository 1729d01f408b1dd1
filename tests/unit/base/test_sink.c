/* Tests of atomic output. */
#include "pgk_test.h"

#include "mem.h"
#include "pool.h"
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];

/* Set: the file system is one that has no unnamed files. Takes the place of libc's. */
static int unnamed_files_errno;

int openat(int dir, const char *name, int flags, ...)
{
    if ((flags & O_TMPFILE) == O_TMPFILE && unnamed_files_errno) {
        errno = unnamed_files_errno;
        return -1;
    }
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

/* What syncing fails with, if not 0, and how often it was asked for. */
static int sync_errno, syncs;

int fsync(int fd)
{
    syncs++;
    if (sync_errno) {
        errno = sync_errno;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static int make_folder(void **state)
{
    (void)state;
    unnamed_files_errno = sync_errno = syncs = 0;
    test_folder(folder);
    test_join(path, folder, "out");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static struct pgk_sink *open_sink(const char *to)
{
    struct pgk_sink *s = NULL;
    struct pgk_err err;
    char buf[8192];
    if (pgk_sink_open(&s, to, &err) != 0)
        fail_msg("%s", test_printed(buf, &err));
    return s;
}

static void write_text(const char *to, const char *text)
{
    struct pgk_sink *s = open_sink(to);
    pgk_sink_bytes(s, text, strlen(text));
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    assert_null(s);
}

static mode_t mode_of(const char *file)
{
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    return st.st_mode & 07777;
}

static void padding_is_for_a_number_of_bytes_wherever_they_stand(void **state)
{
    (void)state;
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_memory(&s, NULL), 0);
    pgk_sink_u8(s, 1);
    for (uint64_t n = 0; n <= 17; n++) {
        uint64_t before = pgk_sink_off(s);
        pgk_sink_pad(s, n);
        uint64_t padded = n + (pgk_sink_off(s) - before);
        assert_int_equal(padded % 8, 0);
        assert_true(padded < n + 8);
    }
    pgk_sink_drop(&s);
}

static void every_kind_of_write(void **state)
{
    (void)state;
    struct pgk_sink *s;
    assert_int_equal(pgk_sink_memory(&s, NULL), 0);
    pgk_sink_u8(s, 0x11);
    pgk_sink_u16(s, 0x3322);
    pgk_sink_u32(s, 0x77665544);
    pgk_sink_u64(s, 0xffeeddccbbaa9988u);
    pgk_sink_uleb(s, 624485);
    pgk_sink_zeros(s, 2);
    pgk_sink_printf(s, "%d %s", 42, "x");
    pgk_sink_bytes(s, "", 0);
    pgk_sink_align(s, 8);
    pgk_sink_align(s, 8);
    pgk_sink_align(s, 0);
    assert_int_equal(pgk_sink_off(s), 24);
    pgk_sink_patch_u64(s, 16, 0x0807060504030201u);
    size_t size;
    const uint8_t *got = pgk_sink_data(s, &size);
    static const uint8_t expected[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                       0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0xe5,
                                       1,    2,    3,    4,    5,    6,    7,    8};
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(got, expected, size);
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    assert_null(s);
    pgk_sink_drop(&s);
}

static void an_empty_memory_sink_has_an_address(void **state)
{
    (void)state;
    struct pgk_sink *s;
    size_t size = 1;
    assert_int_equal(pgk_sink_memory(&s, NULL), 0);
    assert_non_null(pgk_sink_data(s, &size));
    assert_int_equal(size, 0);
    pgk_sink_drop(&s);
}

/* The same random writes go to memory and to a file, across many buffers. */
static void a_file_holds_what_memory_holds(void **state)
{
    (void)state;
    struct pgk_sink *sinks[2];
    assert_int_equal(pgk_sink_memory(&sinks[0], NULL), 0);
    sinks[1] = open_sink(path);
    enum { LARGE = 3 << 20 };
    uint8_t *bytes = malloc(LARGE);
    assert_non_null(bytes);
    uint64_t seed = 8;
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (uint8_t)test_random(&seed);
    for (int i = 0; i < 3000; i++) {
        uint64_t kind = test_random(&seed) % 8, r = test_random(&seed);
        for (int k = 0; k < 2; k++) {
            struct pgk_sink *s = sinks[k];
            if (kind < 3)
                pgk_sink_bytes(s, bytes, i % 500 == 3 ? r % LARGE : r % 3000);
            else if (kind == 3)
                pgk_sink_zeros(s, r % 20000);
            else if (kind == 4)
                pgk_sink_printf(s, "%*d", (int)(r % 2000), i);
            else if (kind == 5)
                pgk_sink_align(s, 1 + r % 64);
            else if (kind == 6)
                pgk_sink_u64(s, r);
            else if (pgk_sink_off(s) >= 8)
                pgk_sink_patch_u64(s, r % (pgk_sink_off(s) - 7), r);
        }
        assert_int_equal(pgk_sink_off(sinks[0]), pgk_sink_off(sinks[1]));
        /* Right where the buffer was emptied: half in the file, half in memory. */
        if (kind == 6)
            for (uint64_t back = 8; back < 16 && back < pgk_sink_off(sinks[0]); back++)
                for (int k = 0; k < 2; k++)
                    pgk_sink_patch_u64(sinks[k], pgk_sink_off(sinks[k]) - back, r * back);
    }
    free(bytes);
    size_t size, expected_size;
    const uint8_t *expected = pgk_sink_data(sinks[0], &expected_size);
    assert_non_null(expected);
    assert_true(expected_size > 4 << 20);
    assert_int_equal(pgk_sink_commit(&sinks[1], NULL), 0);
    char *got = test_read_file(path, &size);
    assert_int_equal(size, expected_size);
    assert_memory_equal(got, expected, size);
    free(got);
    pgk_sink_drop(&sinks[0]);
}

static void nothing_is_seen_before_commit(void **state)
{
    (void)state;
    struct pgk_sink *s = open_sink(path);
    pgk_sink_zeros(s, 2 << 20);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(test_folder_entries(folder), 1);
}

static void dropping_leaves_nothing(void **state)
{
    (void)state;
    struct pgk_sink *s = open_sink(path);
    pgk_sink_zeros(s, 2 << 20);
    pgk_sink_drop(&s);
    assert_null(s);
    assert_int_equal(test_folder_entries(folder), 0);

    write_text(path, "old");
    s = open_sink(path);
    pgk_sink_zeros(s, 2 << 20);
    pgk_sink_drop(&s);
    test_assert_file(path, "old");
    assert_int_equal(test_folder_entries(folder), 1);
}

static void replaces_a_file_and_keeps_its_mode(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    write_text(path, "first");
    assert_int_equal(mode_of(path), 0640);
    umask(mask);
    assert_int_equal(chmod(path, 0604), 0);
    write_text(path, "second");
    test_assert_file(path, "second");
    assert_int_equal(mode_of(path), 0604);
    assert_int_equal(test_folder_entries(folder), 1);
}

static void works_where_no_file_can_be_without_a_name(void **state)
{
    (void)state;
    const int answers[] = {EOPNOTSUPP, EISDIR};
    for (int i = 0; i < 2; i++) {
        unnamed_files_errno = answers[i];
        struct pgk_sink *s = open_sink(path);
        pgk_sink_zeros(s, 2 << 20);
        assert_int_equal(test_folder_entries(folder), 1 + i);
        assert_int_equal(access(path, F_OK), i - 1);
        pgk_sink_drop(&s);
        assert_int_equal(test_folder_entries(folder), i);

        struct pgk_sink *other = open_sink(path);
        s = open_sink(path);
        pgk_sink_printf(s, "round %d", i);
        pgk_sink_printf(other, "other");
        assert_int_equal(pgk_sink_commit(&other, NULL), 0);
        assert_int_equal(pgk_sink_commit(&s, NULL), 0);
        test_assert_file(path, i ? "round 1" : "round 0");
        assert_int_equal(test_folder_entries(folder), 1);
    }
}

static void a_reader_of_the_old_file_keeps_it(void **state)
{
    (void)state;
    write_text(path, "old");
    int fd = open(path, O_RDONLY);
    write_text(path, "newer");
    char text[8] = {0};
    assert_int_equal(read(fd, text, sizeof text), 3);
    assert_string_equal(text, "old");
    close(fd);
    test_assert_file(path, "newer");
}

static void links_are_followed(void **state)
{
    (void)state;
    char link[TEST_PATH_SIZE], chain[TEST_PATH_SIZE], sub[TEST_PATH_SIZE], target[TEST_PATH_SIZE];
    test_join(link, folder, "link");
    test_join(chain, folder, "chain");
    assert_int_equal(mkdir(test_join(sub, folder, "sub"), 0700), 0);
    test_join(target, sub, "target");
    assert_int_equal(symlink("sub/target", link), 0); /* dangles as yet */
    assert_int_equal(symlink(link, chain), 0);        /* absolute */
    struct stat st;
    for (int i = 0; i < 2; i++) {
        write_text(chain, i ? "second" : "first");
        test_assert_file(target, i ? "second" : "first");
        assert_int_equal(lstat(link, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        assert_int_equal(lstat(chain, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
    }
    assert_int_equal(test_folder_entries(folder), 3);
    assert_int_equal(test_folder_entries(sub), 1);

    struct pgk_sink *s = NULL;
    struct pgk_err err;
    char loop[TEST_PATH_SIZE];
    assert_int_equal(symlink("loop", test_join(loop, folder, "loop")), 0);
    assert_int_equal(pgk_sink_open(&s, loop, &err), PGK_E_IO);
    assert_int_equal(err.sys_errno, ELOOP);
}

static void relative_names_survive_a_change_of_folder(void **state)
{
    (void)state;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    struct pgk_sink *s = open_sink("out");
    pgk_sink_bytes(s, "x", 1);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    test_assert_file(path, "x");
}

static void assert_refuses(const char *to, int sys_errno, const char *says)
{
    struct pgk_sink *s = NULL;
    struct pgk_err err;
    char buf[8192];
    assert_int_equal(pgk_sink_open(&s, to, &err), PGK_E_IO);
    assert_null(s);
    assert_int_equal(err.sys_errno, sys_errno);
    if (!strstr(test_printed(buf, &err), says))
        fail_msg("\"%s\" does not say \"%s\"", buf, says);
}

static void what_cannot_be_written_is_refused_at_once(void **state)
{
    (void)state;
    char below[TEST_PATH_SIZE], missing[TEST_PATH_SIZE], slash[TEST_PATH_SIZE], name[301];
    assert_refuses(folder, EISDIR,
                   ": cannot write to: Is a directory. Name a file inside it with -o.");
    assert_refuses(test_join(missing, folder, "no/out"), ENOENT,
                   "no/out: cannot create: No such file or directory. Create the folder first, or "
                   "choose another one with -o.");
    assert_refuses(test_join(slash, folder, "no/"), EISDIR, "no/: cannot create: Is a directory");
    assert_refuses("", ENOENT, "cannot create");
    write_text(path, "x");
    assert_refuses(test_join(below, path, "out"), ENOTDIR,
                   "out/out: cannot create: Not a directory");
    memset(name, 'n', 300);
    name[300] = '\0';
    assert_refuses(test_join(missing, folder, name), ENAMETOOLONG, "cannot create");
    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0400), 0);
        assert_refuses(path, EACCES, "cannot replace: Permission denied. Choose a folder");
        assert_int_equal(chmod(folder, 0500), 0);
        assert_refuses(test_join(missing, folder, "new"), EACCES, "cannot create");
        assert_int_equal(chmod(folder, 0700), 0);
    }
    test_assert_file(path, "x");
    assert_int_equal(test_folder_entries(folder), 1);
}

static void the_longest_name_works(void **state)
{
    (void)state;
    char name[256], file[TEST_PATH_SIZE];
    memset(name, 'n', 255);
    name[255] = '\0';
    test_join(file, folder, name);
    write_text(file, "first");
    write_text(file, "second");
    test_assert_file(file, "second");
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    struct pgk_sink *s = open_sink("/dev/full");
    pgk_sink_u64(s, 1);
    struct pgk_err err;
    char buf[8192];
    assert_int_equal(pgk_sink_commit(&s, &err), PGK_E_IO);
    assert_null(s);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_string_equal(test_printed(buf, &err),
                        "/dev/full: cannot write: No space left on device. Free some space or "
                        "choose another folder with -o.");
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void devices_and_pipes_are_written_to(void **state)
{
    (void)state;
    write_text("/dev/null", "gone");
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct pgk_sink *s = open_sink(path);
    pgk_sink_u64(s, 0);
    pgk_sink_bytes(s, "pipe", 4);
    pgk_sink_patch_u64(s, 0, 0x4141414141414141u);
    char text[32] = {0};
    assert_int_equal(pgk_sink_commit(&s, NULL), 0);
    assert_int_equal(read(reader, text, sizeof text), 12);
    assert_string_equal(text, "AAAAAAAApipe");
    close(reader);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

static void standard_output_comes_at_commit_and_in_order(void **state)
{
    (void)state;
    fflush(stdout);
    int old = dup(STDOUT_FILENO), file = open(path, O_RDWR | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    close(file);
    struct pgk_sink *s = open_sink("-"), *dropped = open_sink("/dev/stdout");
    pgk_sink_printf(s, "second\n");
    pgk_sink_printf(dropped, "never\n");
    printf("first\n");
    int status = pgk_sink_commit(&s, NULL);
    pgk_sink_drop(&dropped);
    printf("third\n");
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    assert_int_equal(status, 0);
    test_assert_file(path, "first\nsecond\nthird\n");
}

static void a_failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    write_text(path, "old");
    /* A limit on the size of files stands in for a disk that fills up. */
    struct rlimit old, small = {.rlim_cur = 1 << 20};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct pgk_sink *s = open_sink(path);
    for (int i = 0; i < 100; i++)
        pgk_sink_zeros(s, 100000);
    pgk_sink_patch_u64(s, 8, 1);
    struct pgk_err err;
    char buf[8192];
    int status = pgk_sink_commit(&s, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, PGK_E_IO);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_non_null(strstr(test_printed(buf, &err), "out: cannot write: File too large. Raise"));
    test_assert_file(path, "old");
    assert_int_equal(test_folder_entries(folder), 1);
}

enum { PARTS = 40, PART_BYTES = 300001, IN_FRONT = 1000 };

static int write_part(void *ctx, size_t number, unsigned worker)
{
    struct pgk_sink *part;
    size_t mine = PARTS - 1 - number; /* the last one first */
    (void)worker;
    assert_int_equal(pgk_sink_part(&part, ctx, IN_FRONT + mine * PART_BYTES), 0);
    assert_int_equal(pgk_sink_off(part), IN_FRONT + mine * PART_BYTES);
    pgk_sink_u8(part, (uint8_t)mine);
    for (size_t i = 0; i < 3; i++)
        pgk_sink_zeros(part, (PART_BYTES - 1) / 3);
    pgk_sink_end_part(&part);
    assert_null(part);
    return 0;
}

static void write_in_parts(struct pgk_sink *s)
{
    pgk_sink_zeros(s, IN_FRONT);
    assert_int_equal(pgk_sink_leave(s, PARTS * PART_BYTES), IN_FRONT);
    assert_int_equal(pgk_sink_off(s), IN_FRONT + PARTS * PART_BYTES);
    assert_int_equal(pgk_pool_run(3, PARTS, write_part, s), 0);
    pgk_sink_u64(s, 7);
    pgk_sink_patch_u64(s, 8, 9);
}

static void parts_fill_the_room_that_was_left(void **state)
{
    (void)state;
    struct pgk_sink *memory, *file = open_sink(path);
    size_t size, again;
    assert_int_equal(pgk_sink_memory(&memory, NULL), 0);
    write_in_parts(memory);
    write_in_parts(file);
    assert_int_equal(pgk_sink_commit(&file, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(memory, &size);
    assert_int_equal(size, IN_FRONT + PARTS * PART_BYTES + 8);
    for (size_t i = 0; i < size; i++) {
        size_t in_part = (i - IN_FRONT) % PART_BYTES;
        uint8_t want = i == 8 ? 9 : 0;
        if (i >= IN_FRONT && i < size - 8 && !in_part)
            want = (uint8_t)((i - IN_FRONT) / PART_BYTES);
        if (i == size - 8)
            want = 7;
        if (bytes[i] != want)
            fail_msg("byte %zu is %u, not %u", i, bytes[i], want);
    }
    char *of_file = test_read_file(path, &again);
    assert_int_equal(size, again);
    assert_memory_equal(bytes, of_file, size);
    free(of_file);
    pgk_sink_drop(&memory);
}

static void a_failed_part_fails_the_whole(void **state)
{
    (void)state;
    struct rlimit old, small = {.rlim_cur = 1 << 20};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct pgk_sink *s = open_sink(path);
    pgk_sink_zeros(s, IN_FRONT);
    pgk_sink_leave(s, PARTS * PART_BYTES);
    assert_int_equal(pgk_pool_run(3, PARTS, write_part, s), 0);
    struct pgk_err err;
    int status = pgk_sink_commit(&s, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, PGK_E_IO);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_int_equal(test_folder_entries(folder), 0);
    assert_int_equal(pgk_sink_memory(&s, NULL), 0);
    pgk_mem_fail_after(1);
    struct pgk_sink *part = NULL;
    status = pgk_sink_part(&part, s, 0);
    pgk_mem_fail_after(0);
    assert_int_equal(status, PGK_E_NOMEM);
    assert_null(part);
    pgk_sink_drop(&s);
}

static void what_cannot_be_synced_keeps_the_old_file(void **state)
{
    (void)state;
    write_text(path, "old");
    assert_int_equal(syncs, 1);
    for (int named = 0; named < 2; named++) {
        unnamed_files_errno = named ? EOPNOTSUPP : 0;
        sync_errno = EIO;
        struct pgk_sink *s = open_sink(path);
        pgk_sink_bytes(s, "new", 3);
        struct pgk_err err;
        char buf[8192];
        assert_int_equal(pgk_sink_commit(&s, &err), PGK_E_IO);
        assert_null(s);
        assert_int_equal(err.sys_errno, EIO);
        assert_non_null(strstr(test_printed(buf, &err), "out: cannot write: Input/output error"));
        test_assert_file(path, "old");
        assert_int_equal(test_folder_entries(folder), 1);
    }

    /* Some file systems know no syncing; that is no reason to lose the file. */
    sync_errno = EINVAL;
    write_text(path, "new");
    test_assert_file(path, "new");
}

static void patching_what_is_not_there_is_an_error(void **state)
{
    (void)state;
    for (uint64_t off = 1; off; off = off == 1 ? UINT64_MAX : 0) {
        struct pgk_sink *s;
        struct pgk_err err;
        size_t size;
        assert_int_equal(pgk_sink_memory(&s, NULL), 0);
        pgk_sink_u64(s, 5);
        pgk_sink_patch_u64(s, 0, 6);
        pgk_sink_patch_u64(s, off, 7);
        assert_null(pgk_sink_data(s, &size));
        assert_int_equal(pgk_sink_commit(&s, &err), PGK_E_ARG);
        assert_true(err.offset == off);
    }
}

/* Kills a child while its sink is open: neither a part of the file nor a temporary one
 * may be left. A file system without unnamed files cannot keep that promise. */
static void a_killed_process_leaves_nothing(void **state)
{
    (void)state;
    int probe = open(folder, O_TMPFILE | O_RDWR, 0600);
    if (probe < 0)
        skip();
    close(probe);
    write_text(path, "old");
    const int signals[] = {SIGKILL, SIGTERM, SIGSEGV};
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            struct pgk_sink *s;
            if (pgk_sink_open(&s, path, NULL) != 0)
                _exit(1);
            pgk_sink_zeros(s, 3 << 20);
            kill(getpid(), signals[i]);
            pause();
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        test_assert_file(path, "old");
        assert_int_equal(test_folder_entries(folder), 1);
    }
}

static void running_out_of_memory_is_sticky(void **state)
{
    (void)state;
    char long_text[2000] = {0};
    memset(long_text, 'x', sizeof long_text - 1);
    for (uint64_t nth = 1; nth <= 20; nth++) {
        struct pgk_sink *s = NULL;
        struct pgk_err err;
        pgk_mem_fail_after(nth);
        int status = pgk_sink_memory(&s, &err);
        if (status == 0) {
            for (int i = 0; i < 1000; i++) {
                pgk_sink_printf(s, "%s", long_text);
                pgk_sink_u64(s, 1);
            }
            size_t size;
            assert_null(pgk_sink_data(s, &size));
            assert_int_equal(size, 0);
            pgk_mem_fail_after(0);
            pgk_sink_u64(s, 1); /* still failed */
            status = pgk_sink_commit(&s, &err);
        }
        pgk_mem_fail_after(0);
        assert_int_equal(status, PGK_E_NOMEM);
        assert_int_equal(err.status, PGK_E_NOMEM);
        assert_null(s);
    }
    for (uint64_t nth = 1; nth <= 3; nth++) {
        struct pgk_sink *s = NULL;
        pgk_mem_fail_after(nth);
        int status = pgk_sink_open(&s, path, NULL);
        pgk_mem_fail_after(0);
        assert_int_equal(status, PGK_E_NOMEM);
        assert_null(s);
        assert_int_equal(test_folder_entries(folder), 0);
    }
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_write),
        cmocka_unit_test(padding_is_for_a_number_of_bytes_wherever_they_stand),
        cmocka_unit_test(an_empty_memory_sink_has_an_address),
        IN_FOLDER(a_file_holds_what_memory_holds),
        IN_FOLDER(nothing_is_seen_before_commit),
        IN_FOLDER(dropping_leaves_nothing),
        IN_FOLDER(replaces_a_file_and_keeps_its_mode),
        IN_FOLDER(works_where_no_file_can_be_without_a_name),
        IN_FOLDER(a_reader_of_the_old_file_keeps_it),
        IN_FOLDER(links_are_followed),
        IN_FOLDER(relative_names_survive_a_change_of_folder),
        IN_FOLDER(what_cannot_be_written_is_refused_at_once),
        IN_FOLDER(the_longest_name_works),
        IN_FOLDER(a_full_disk_is_reported),
        IN_FOLDER(devices_and_pipes_are_written_to),
        IN_FOLDER(standard_output_comes_at_commit_and_in_order),
        IN_FOLDER(a_failed_write_keeps_the_old_file),
        IN_FOLDER(parts_fill_the_room_that_was_left),
        IN_FOLDER(a_failed_part_fails_the_whole),
        IN_FOLDER(what_cannot_be_synced_keeps_the_old_file),
        IN_FOLDER(patching_what_is_not_there_is_an_error),
        IN_FOLDER(a_killed_process_leaves_nothing),
        IN_FOLDER(running_out_of_memory_is_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
