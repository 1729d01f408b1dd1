/* The cache of the symboliser's answers: what it gives is what was looked up, and damage,
 * age and company do no harm. */
#include "../dwarf_samples.h"

#include "binary_set.h"
#include "symbol_cache.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

static const uint64_t addresses[] = {0x1fff, 0x2010, 0x2020, 0x2030, 0x2050, 0x2080,
                                     0x2100, 0x2180, 0x9999};
enum { ADDRESSES = sizeof addresses / sizeof *addresses };

static char folder[TEST_PATH_SIZE], program[TEST_PATH_SIZE], cache_dir[TEST_PATH_SIZE];

/* A program with this build id; `pad` is of its abbreviations. */
static void write_program(const char *path, const char *id, size_t pad, bool debug)
{
    struct test_dwarf d = {0};
    if (debug)
        typical(&d);
    for (size_t i = 0; i < pad; i++)
        tb_u8(&d.abbrev, 0);
    struct test_bytes note = test_build_id(id, strlen(id));
    struct test_section s = {
        .name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n};
    struct test_bytes image = td_elf_with(&d, &s, 1);
    test_write_file(path, image.v, image.n);
    tb_free(&image);
    tb_free(&note);
    td_free(&d);
}

static int set_up(void **state)
{
    (void)state;
    test_folder(folder);
    write_program(test_join(program, folder, "program"), "build id", 0, true);
    test_join(cache_dir, folder, "new/folders");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static struct pgk_symbol_cache_place place_of(const char *path)
{
    struct pgk_symbol_cache_place place;
    struct pgk_elf *elf;
    assert_int_equal(pgk_elf_open(&elf, path, NULL), 0);
    assert_true(pgk_symbol_cache_place(&place, cache_dir, elf));
    pgk_elf_close(&elf);
    return place;
}

/* What the whole way answers, as text. */
static char *answers(const char *cache, const uint64_t *addrs, size_t n)
{
    struct pgk_binaries_opts opts = {.struct_size = sizeof opts, .cache_folder = cache};
    struct pgk_binaries *set;
    struct pgk_sym_chain chains[ADDRESSES];
    struct pgk_arena arena = {0};
    struct pgk_err err = {0};
    char printed[8192], one[TEXT_SIZE];
    char *all = calloc(ADDRESSES, TEXT_SIZE);
    assert_non_null(all);
    assert_int_equal(pgk_binaries_new(&set, &opts, NULL), 0);
    assert_int_equal(pgk_binaries_add(set, program, NULL), 0);
    if (pgk_binaries_symbolise(set, 0, addrs, n, &arena, chains, &err))
        fail_msg("%s", test_printed(printed, &err));
    for (size_t i = 0; i < n; i++) {
        strcat(all, chain_text(one, &chains[i]));
        strcat(all, "\n");
    }
    pgk_arena_free(&arena);
    pgk_binaries_close(&set);
    return all;
}

static void assert_right(const uint64_t *addrs, size_t n)
{
    char *want = answers(NULL, addrs, n), *got = answers(cache_dir, addrs, n);
    assert_string_equal(got, want);
    free(want);
    free(got);
}

static void answers_are_the_same(void **state)
{
    (void)state;
    struct pgk_symbol_cache cache;
    struct pgk_symbol_cache_place place = place_of(program);
    assert_false(pgk_symbol_cache_open(&cache, &place));
    char *want = answers(NULL, addresses, ADDRESSES);
    assert_non_null(strstr(want, "_Zmiddle"));
    free(want);
    assert_right(addresses + 2, 2);
    assert_right(addresses + 2, 2);
    assert_true(pgk_symbol_cache_open(&cache, &place));
    assert_int_equal(cache.count, 2);
    pgk_symbol_cache_close(&cache);
    /* Some are known, some are new, around them and between them. */
    for (int again = 0; again < 2; again++)
        assert_right(addresses, ADDRESSES);
    assert_right((const uint64_t[]){0x2060}, 1);
    assert_true(pgk_symbol_cache_open(&cache, &place));
    assert_int_equal(cache.count, ADDRESSES + 1);
    pgk_symbol_cache_close(&cache);
    assert_int_equal(test_folder_entries(cache_dir), 1);
}

/* With all answers at hand the debug information is not looked at: it may be damaged. */
static void the_cache_is_used(void **state)
{
    (void)state;
    struct pgk_symbol_cache_place place = place_of(program);
    struct pgk_sym_frame frame = {.function = "from the cache", .decl_line = 7, .file = ""};
    struct pgk_sym_chain chain = {&frame, 1};
    struct pgk_symbol_cache none = {0};
    assert_true(pgk_symbol_cache_save(&place, &none, addresses, &chain, 1,
                                      PGK_SYMBOL_CACHE_BYTES));
    char *got = answers(cache_dir, addresses, 1);
    assert_string_equal(got, "from the cache :0:0:0 ?:7\n"); /* no file is not an empty name */
    free(got);
}

static void another_program_is_another_key(void **state)
{
    (void)state;
    char other[TEST_PATH_SIZE];
    struct pgk_symbol_cache_place one = place_of(program), two;
    struct pgk_elf *elf;
    write_program(test_join(other, folder, "other"), "build id", 4, true);
    two = place_of(other);
    assert_string_equal(one.path, two.path);
    assert_true(one.key != two.key);
    write_program(other, "another", 0, true);
    two = place_of(other);
    assert_string_not_equal(one.path, two.path);
    /* Not for the cache: no debug information; no build id. */
    write_program(other, "another", 0, false);
    assert_int_equal(pgk_elf_open(&elf, other, NULL), 0);
    assert_false(pgk_symbol_cache_place(&two, cache_dir, elf));
    pgk_elf_close(&elf);
    write_program(other, "", 0, true);
    assert_int_equal(pgk_elf_open(&elf, other, NULL), 0);
    assert_false(pgk_symbol_cache_place(&two, cache_dir, elf));
    pgk_elf_close(&elf);
}

/* Whatever stands in the entry, the answers are right and the entry is sound again. */
static void damage_is_ignored_and_repaired(void **state)
{
    (void)state;
    struct pgk_symbol_cache_place place = place_of(program);
    struct pgk_symbol_cache cache;
    size_t size;
    assert_right(addresses, ADDRESSES);
    char *good = test_read_file(place.path, &size);
    for (size_t at = 0; at < size; at += at < 200 ? 1 : 37) {
        char *bad = malloc(size);
        assert_non_null(bad);
        memcpy(bad, good, size);
        bad[at] = (char)(bad[at] ^ 0x41);
        test_write_file(place.path, bad, size);
        assert_false(pgk_symbol_cache_open(&cache, &place));
        test_write_file(place.path, good, at);
        assert_false(pgk_symbol_cache_open(&cache, &place));
        free(bad);
    }
    assert_right(addresses, ADDRESSES);
    char *again = test_read_file(place.path, &(size_t){0});
    assert_memory_equal(again, good, size);
    free(again);
    test_write_file(place.path, good, size);
    FILE *f = fopen(place.path, "ab");
    assert_non_null(f);
    fputc(0, f);
    fclose(f);
    assert_false(pgk_symbol_cache_open(&cache, &place));
    free(good);
}

/* Sums that fit, over content that does not: bounds are checked all the same. */
static void forged_content_is_refused(void **state)
{
    (void)state;
    struct pgk_symbol_cache_place place = place_of(program);
    struct pgk_symbol_cache cache, none = {0};
    struct pgk_sym_frame frames[2] = {{.function = "f", .inlined = false}, {.function = "g"}};
    const struct pgk_sym_chain chain = {frames, 2};
    /* The first frame of two is not inlined into the second. */
    assert_true(pgk_symbol_cache_save(&place, &none, addresses, &chain, 1, 1 << 20));
    assert_false(pgk_symbol_cache_open(&cache, &place));
    /* Addresses that do not rise. */
    frames[0].inlined = true;
    const struct pgk_sym_chain both[] = {chain, chain};
    assert_true(pgk_symbol_cache_save(&place, &none, (const uint64_t[]){2, 1}, both, 2, 1 << 20));
    assert_false(pgk_symbol_cache_open(&cache, &place));
    assert_true(pgk_symbol_cache_save(&place, &none, (const uint64_t[]){1, 2}, both, 2, 1 << 20));
    assert_true(pgk_symbol_cache_open(&cache, &place));
    pgk_symbol_cache_close(&cache);
}

static void make_entry(const char *name, size_t size, int age_s)
{
    char path[TEST_PATH_SIZE];
    struct timespec now, times[2];
    char *bytes = calloc(1, size);
    assert_non_null(bytes);
    test_write_file(test_join(path, cache_dir, name), bytes, size);
    free(bytes);
    clock_gettime(CLOCK_REALTIME, &now);
    times[0] = times[1] = (struct timespec){.tv_sec = now.tv_sec - age_s};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool exists(const char *name)
{
    char path[TEST_PATH_SIZE];
    return access(test_join(path, cache_dir, name), F_OK) == 0;
}

static void the_folder_stays_small(void **state)
{
    (void)state;
    struct pgk_symbol_cache_place place = place_of(program);
    struct pgk_symbol_cache none = {0}, cache;
    struct pgk_sym_chain unknown = {0};
    assert_true(pgk_symbol_cache_save(&place, &none, addresses, &unknown, 1, 5000));
    make_entry("aa.symbols", 2000, 300);
    make_entry("bb.symbols", 2000, 100);
    make_entry(".cc.symbols.pgokit-1-1.tmp", 2000, 500); /* its writer was killed */
    make_entry("keep.txt", 9000, 900);                     /* not ours */
    assert_true(pgk_symbol_cache_save(&place, &none, addresses, &unknown, 1, 5000));
    assert_false(exists(".cc.symbols.pgokit-1-1.tmp"));
    assert_true(exists("aa.symbols") && exists("bb.symbols") && exists("keep.txt"));
    assert_true(pgk_symbol_cache_save(&place, &none, addresses, &unknown, 1, 3000));
    assert_false(exists("aa.symbols"));
    assert_true(exists("bb.symbols"));
    /* The entry itself stays, even if it is too large alone; use makes an entry young. */
    assert_true(pgk_symbol_cache_save(&place, &none, addresses, &unknown, 1, 1));
    assert_false(exists("bb.symbols"));
    struct stat before, after;
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, place.path, old, 0), 0);
    assert_int_equal(stat(place.path, &before), 0);
    assert_true(pgk_symbol_cache_open(&cache, &place));
    pgk_symbol_cache_close(&cache);
    assert_int_equal(stat(place.path, &after), 0);
    assert_true(after.st_mtim.tv_sec > before.st_mtim.tv_sec);
}

/* Several processes at once, each of which also damages the entry now and then. */
static void many_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4, ROUNDS = 40 };
    char *want = answers(NULL, addresses, ADDRESSES);
    pid_t children[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p])
            continue;
        struct pgk_symbol_cache_place place = place_of(program);
        for (int i = 0; i < ROUNDS; i++) {
            char *got = answers(cache_dir, addresses, ADDRESSES);
            if (strcmp(got, want))
                _exit(1);
            free(got);
            if (i % 8 == p)
                (void)unlink(place.path);
            if (i % 8 == p + 4) { /* as an editor would, not in place: maps stay whole */
                char temp[TEST_PATH_SIZE];
                const char *const names[PROCESSES] = {"0", "1", "2", "3"};
                test_write_file(test_join(temp, folder, names[p]), "damaged", 7);
                (void)rename(temp, place.path);
            }
        }
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_int_equal(status, 0);
    }
    free(want);
}

/* A folder that cannot be made, or is a file. */
static void no_cache_is_no_error(void **state)
{
    (void)state;
    test_write_file(test_join(cache_dir, folder, "file"), "", 0);
    assert_right(addresses, ADDRESSES);
    strcat(cache_dir, "/below");
    assert_right(addresses, ADDRESSES);
}

static void the_folder_of_a_user(void **state)
{
    (void)state;
    char buf[64], small[8];
    setenv("XDG_CACHE_HOME", "/cache", 1);
    setenv("HOME", "/home/me", 1);
    assert_string_equal(pgk_binaries_cache_folder(buf, sizeof buf), "/cache/pgokit");
    assert_null(pgk_binaries_cache_folder(small, sizeof small));
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    assert_string_equal(pgk_binaries_cache_folder(buf, sizeof buf), "/home/me/.cache/pgokit");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_null(pgk_binaries_cache_folder(buf, sizeof buf));
}

static void running_out_of_memory(void **state)
{
    (void)state;
    char *want = answers(NULL, addresses, ADDRESSES);
    for (uint64_t nth = 1; nth < 400; nth++) {
        struct pgk_binaries_opts opts = {.struct_size = sizeof opts, .cache_folder = cache_dir,
                                         .threads = 1};
        struct pgk_binaries *set;
        struct pgk_sym_chain chains[ADDRESSES];
        struct pgk_arena arena = {0};
        char one[TEXT_SIZE], *got = calloc(ADDRESSES, TEXT_SIZE);
        assert_non_null(got);
        assert_int_equal(pgk_binaries_new(&set, &opts, NULL), 0);
        assert_int_equal(pgk_binaries_add(set, program, NULL), 0);
        pgk_mem_fail_after(nth);
        int status = pgk_binaries_symbolise(set, 0, addresses, ADDRESSES, &arena, chains, NULL);
        pgk_mem_fail_after(0);
        assert_true(!status || status == PGK_E_NOMEM || status == PGK_E_NODEBUG);
        for (size_t i = 0; i < ADDRESSES && !status; i++) {
            strcat(got, chain_text(one, &chains[i]));
            strcat(got, "\n");
        }
        if (!status)
            assert_string_equal(got, want);
        free(got);
        pgk_arena_free(&arena);
        pgk_binaries_close(&set);
    }
    free(want);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(answers_are_the_same),
        TEST(the_cache_is_used),
        TEST(another_program_is_another_key),
        TEST(damage_is_ignored_and_repaired),
        TEST(forged_content_is_refused),
        TEST(the_folder_stays_small),
        TEST(many_at_once),
        TEST(no_cache_is_no_error),
        TEST(the_folder_of_a_user),
        TEST(running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
