/* Tests of lib/object/debug_caches.c: where other tools' caches are, and what is used of them. */
#include "../dwarf_samples.h"

#include "debug_caches.h"

#include <stdlib.h>

#define BUILD_ID "\xab\xcd" "0123456789"
#define HEX_TAIL "30313233343536373839"

static const char *const variables[] = {"HOME", "XDG_CACHE_HOME", "DEBUGINFOD_CACHE_PATH",
                                        "DEBUGINFOD_URLS", "PERF_BUILDID_DIR", "PERF_CONFIG"};
static unsigned warnings;

static void count_warning(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)text;
    warnings += level == PGK_LOG_WARNING;
}

struct fixture {
    char folder[TEST_PATH_SIZE];
    struct test_bytes debug, program; /* with debug information, and without */
};

static void make_folders(const char *path)
{
    char part[2 * TEST_PATH_SIZE];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        (void)mkdir(part, 0700);
        *slash = '/';
    }
}

static void put(const struct fixture *f, const char *name, const void *bytes, size_t size)
{
    char path[2 * TEST_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    make_folders(path);
    test_write_file(path, bytes, size);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct test_dwarf d = {0};
    assert_non_null(f);
    test_folder(f->folder);
    typical(&d);
    struct test_bytes note = test_build_id(BUILD_ID, sizeof BUILD_ID - 1);
    const struct test_section s = {
        .name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n};
    f->debug = td_elf_with(&d, &s, 1);
    f->program = test_elf(ET_EXEC, &s, 1);
    tb_free(&note);
    td_free(&d);
    for (size_t i = 0; i < PGK_COUNTOF(variables); i++)
        unsetenv(variables[i]);
    setenv("HOME", f->folder, 1);
    setenv("PERF_CONFIG", "/dev/null", 1);
    pgk_log_set(count_warning, NULL);
    warnings = 0;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    pgk_log_set(NULL, NULL);
    test_folder_remove(f->folder);
    tb_free(&f->debug);
    tb_free(&f->program);
    free(f);
    return 0;
}

/* Whether the caches, as the environment has them, have the file. */
static bool found(enum pgk_id_file what)
{
    struct pgk_debug_caches *caches = pgk_debug_caches_new(true);
    struct pgk_elf *elf = NULL;
    assert_non_null(caches);
    assert_int_equal(pgk_debug_caches_open(caches, what, PGK_ELF_DEBUG,
                                           (const uint8_t *)BUILD_ID, sizeof BUILD_ID - 1, &elf,
                                           NULL),
                     0);
    const bool is_found = elf;
    pgk_elf_close(&elf);
    pgk_debug_caches_close(&caches);
    assert_null(caches);
    return is_found;
}

static void expect_places(const char *perf, const char *debuginfod)
{
    struct pgk_debug_caches *caches = pgk_debug_caches_new(false);
    assert_non_null(caches);
    assert_string_equal(pgk_debug_caches_perf(caches), perf);
    assert_string_equal(pgk_debug_caches_debuginfod(caches), debuginfod);
    pgk_debug_caches_close(&caches);
}

static void places_follow_the_environment(void **state)
{
    (void)state;
    setenv("HOME", "/h", 1);
    expect_places("/h/.debug", "/h/.cache/debuginfod_client");
    setenv("XDG_CACHE_HOME", "/x", 1);
    expect_places("/h/.debug", "/x/debuginfod_client");
    setenv("PERF_BUILDID_DIR", "/p", 1);
    setenv("DEBUGINFOD_CACHE_PATH", "/d", 1);
    expect_places("/p", "/d");
    for (size_t i = 0; i < PGK_COUNTOF(variables); i++)
        unsetenv(variables[i]);
    setenv("PERF_CONFIG", "/dev/null", 1);
    expect_places("", "");
}

static void an_old_folder_of_debuginfod_counts(void **state)
{
    const struct fixture *f = *state;
    char perf[TEST_PATH_SIZE], old[TEST_PATH_SIZE];
    test_join(perf, f->folder, ".debug");
    test_join(old, f->folder, ".debuginfod_client_cache");
    setenv("XDG_CACHE_HOME", "/x", 1);
    expect_places(perf, "/x/debuginfod_client");
    assert_int_equal(mkdir(old, 0700), 0);
    expect_places(perf, old);
}

static void perfs_configuration_is_read(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        const char *text, *dir; /* NULL: none is set */
    } configs[] = {
        {"[buildid]\n dir = /a\n", "/a"},
        {"# x\n[report]\ndir=/no\n[buildid]\n\tdir=/b # c\n[x]\ndir=/no\n", "/b"},
        {"[buildid]\n dir = \"/with blank\" ; c\n", "/with blank"},
        {"[buildid]\n directory = /no\n", NULL},
        {"[buildid]\n dir =\n", NULL},
        {"dir = /no\n[buildid", NULL},
        {"", NULL},
    };
    char config[TEST_PATH_SIZE], home[TEST_PATH_SIZE], perf[TEST_PATH_SIZE],
        caches[TEST_PATH_SIZE];
    test_join(config, f->folder, "config");
    test_join(home, f->folder, ".perfconfig");
    test_join(perf, f->folder, ".debug");
    test_join(caches, f->folder, ".cache/debuginfod_client");
    for (size_t i = 0; i < PGK_COUNTOF(configs); i++) {
        setenv("PERF_CONFIG", config, 1);
        test_write_file(config, configs[i].text, strlen(configs[i].text));
        expect_places(configs[i].dir ? configs[i].dir : perf, caches);
    }
    test_write_file(home, configs[0].text, strlen(configs[0].text));
    expect_places(perf, caches); /* PERF_CONFIG alone counts */
    unsetenv("PERF_CONFIG");
    expect_places("/a", caches);
}

static void any_bytes_are_a_configuration(void **state)
{
    const struct fixture *f = *state;
    static const char letters[] = "[]=#\";\n \tdirbuildid/\0\xff";
    char config[TEST_PATH_SIZE], bytes[300];
    test_join(config, f->folder, "config");
    setenv("PERF_CONFIG", config, 1);
    srand(1);
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = letters[(size_t)rand() % sizeof letters];
        memcpy(bytes, "[buildid]\ndir", (size_t)(round % 14));
        test_write_file(config, bytes, sizeof bytes);
        assert_false(found(PGK_ID_DEBUG));
    }
}

static void in_debuginfods_cache(void **state)
{
    const struct fixture *f = *state;
    put(f, ".cache/debuginfod_client/abcd" HEX_TAIL "/debuginfo", f->debug.v, f->debug.n);
    assert_true(found(PGK_ID_DEBUG));
    assert_false(found(PGK_ID_PROGRAM));
    put(f, ".cache/debuginfod_client/abcd" HEX_TAIL "/executable", f->program.v, f->program.n);
    assert_true(found(PGK_ID_PROGRAM));
    assert_int_equal(warnings, 0);
}

/* perf's link from the build id to what it copied. */
static void link_id(const struct fixture *f)
{
    char link[TEST_PATH_SIZE];
    test_join(link, f->folder, ".debug/.build-id/ab/cd" HEX_TAIL);
    make_folders(link);
    assert_int_equal(symlink("../../usr/bin/prog/abcd" HEX_TAIL, link), 0);
}

static void in_perfs_cache(void **state)
{
    const struct fixture *f = *state;
    put(f, ".debug/usr/bin/prog/abcd" HEX_TAIL "/elf", f->program.v, f->program.n);
    link_id(f);
    assert_true(found(PGK_ID_PROGRAM));
    assert_false(found(PGK_ID_DEBUG)); /* it is stripped, and no debug file is there */
    put(f, ".debug/usr/bin/prog/abcd" HEX_TAIL "/debug", f->debug.v, f->debug.n);
    assert_true(found(PGK_ID_DEBUG));
    assert_int_equal(warnings, 0);
}

static void in_the_cache_of_an_old_perf(void **state)
{
    const struct fixture *f = *state;
    put(f, ".debug/usr/bin/prog/abcd" HEX_TAIL, f->debug.v, f->debug.n);
    link_id(f);
    assert_true(found(PGK_ID_PROGRAM));
    assert_true(found(PGK_ID_DEBUG));
}

static void what_is_wrong_is_not_used(void **state)
{
    struct fixture *f = *state;
    static const char name[] = ".cache/debuginfod_client/abcd" HEX_TAIL "/debuginfo";
    put(f, name, "", 0);
    assert_false(found(PGK_ID_DEBUG));
    assert_int_equal(warnings, 0); /* it says that no server had it */
    for (size_t size = 1; size < f->debug.n; size += 97) {
        put(f, name, f->debug.v, size);
        (void)found(PGK_ID_DEBUG);
    }
    put(f, name, "no ELF file", 11);
    warnings = 0;
    assert_false(found(PGK_ID_DEBUG));
    assert_int_equal(warnings, 1);
    uint8_t *id = memmem(f->debug.v, f->debug.n, BUILD_ID, sizeof BUILD_ID - 1);
    assert_non_null(id);
    id[5] ^= 1;
    put(f, name, f->debug.v, f->debug.n);
    assert_false(found(PGK_ID_DEBUG));
    assert_int_equal(warnings, 2);
}

static void ids_of_odd_sizes_are_nowhere(void **state)
{
    (void)state;
    static const uint8_t id[65] = {1};
    struct pgk_debug_caches *caches = pgk_debug_caches_new(false);
    struct pgk_elf *elf = NULL;
    assert_non_null(caches);
    for (size_t size = 0; size < 2; size++)
        assert_int_equal(pgk_debug_caches_open(caches, PGK_ID_DEBUG, PGK_ELF_DEBUG, id, size, &elf,
                                               NULL), 0);
    assert_int_equal(pgk_debug_caches_open(caches, PGK_ID_DEBUG, PGK_ELF_DEBUG, id, 65, &elf,
                                           NULL), 0);
    assert_int_equal(pgk_debug_caches_open(NULL, PGK_ID_DEBUG, PGK_ELF_DEBUG, id, 20, &elf, NULL),
                     0);
    assert_null(elf);
    pgk_debug_caches_close(&caches);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(places_follow_the_environment),
        CASE(an_old_folder_of_debuginfod_counts),
        CASE(perfs_configuration_is_read),
        CASE(any_bytes_are_a_configuration),
        CASE(in_debuginfods_cache),
        CASE(in_perfs_cache),
        CASE(in_the_cache_of_an_old_perf),
        CASE(what_is_wrong_is_not_used),
        CASE(ids_of_odd_sizes_are_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
