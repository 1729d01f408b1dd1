/* What unit tests share: cmocka in the order it wants, folders and files to play with,
 * random numbers that repeat, and printed errors. */
#ifndef PGK_TEST_H
#define PGK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pgokit/err.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEST_PATH_SIZE 512

/* Next number of a SplitMix64 sequence; a zeroed state is a good start. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A fresh empty folder; test_folder_remove takes it away with all that is in it. */
static inline void test_folder(char path[TEST_PATH_SIZE])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, TEST_PATH_SIZE, "%s/pgk-test-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
}

static inline int test_remove_one(const char *path, const struct stat *st, int type,
                                  struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void test_folder_remove(const char *path)
{
    assert_int_equal(nftw(path, test_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int test_folder_entries(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static inline const char *test_join(char path[TEST_PATH_SIZE], const char *folder, const char *name)
{
    assert_in_range(snprintf(path, TEST_PATH_SIZE, "%s/%s", folder, name), 1, TEST_PATH_SIZE - 1);
    return path;
}

static inline void test_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* The whole file, to be freed; fails the test if it cannot be read. */
static inline char *test_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct stat st;
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, (size_t)st.st_size + 1, f);
    bytes[*size] = '\0';
    fclose(f);
    return bytes;
}

static inline void test_assert_file(const char *path, const char *text)
{
    size_t size;
    char *bytes = test_read_file(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

/* What pgk_err_print says. */
static inline const char *test_printed(char buf[8192], const struct pgk_err *err)
{
    FILE *f = fmemopen(buf, 8192, "w");
    assert_non_null(f);
    assert_true(pgk_err_print(err, f) >= 0);
    fclose(f);
    return buf;
}

#endif
