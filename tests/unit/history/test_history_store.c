/* A history: what is added is found again, and what is no history is refused. */
#include "pgk_test.h"

#include "history_movers.h"
#include "history_store.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>

static char folder[TEST_PATH_SIZE], file[TEST_PATH_SIZE];
static struct pgk_history *history;
static struct pgk_err err;

static int set_up(void **state)
{
    (void)state;
    test_folder(folder);
    snprintf(file, sizeof file, "%.400s/profile", folder);
    return pgk_history_open(&history, folder, true, &err);
}

static int tear_down(void **state)
{
    (void)state;
    pgk_history_close(&history);
    test_folder_remove(folder);
    return 0;
}

static void write_file(const char *text)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static struct pgk_history_entry entry(const char *version, const char *host, int64_t time_s)
{
    return (struct pgk_history_entry){.struct_size = sizeof(struct pgk_history_entry),
                                      .time_s = time_s,
                                      .name = "profile",
                                      .kind = "sample",
                                      .version = version,
                                      .host_class = host,
                                      .weight = 1000,
                                      .objects = PGK_HISTORY_UNKNOWN,
                                      .peak_bytes = PGK_HISTORY_UNKNOWN,
                                      .exit_bytes = 7,
                                      .functions = 2,
                                      .gain_percent = NAN,
                                      .match_percent = 99.5};
}

/* The id; the text is the profile. */
static int64_t add(const struct pgk_history_entry *e, const char *text,
                   const struct pgk_history_function *functions, size_t n, bool expect_new)
{
    int64_t id = 0;
    bool is_new = !expect_new;
    write_file(text);
    assert_int_equal(pgk_history_add(history, e, file, functions, n, &id, &is_new, &err), 0);
    assert_int_equal(is_new, expect_new);
    return id;
}

struct seen {
    size_t n;
    int64_t ids[8];
    struct pgk_history_entry last;
};

static int see(void *ctx, const struct pgk_history_entry *e)
{
    struct seen *s = ctx;
    assert_true(s->n < 8);
    s->ids[s->n++] = e->id;
    s->last = *e;
    assert_string_equal(e->kind, "sample");
    return 0;
}

static struct seen walk(const struct pgk_history_query *query)
{
    struct seen s = {0};
    assert_int_equal(pgk_history_walk(history, query, see, &s, &err), 0);
    return s;
}

static void test_what_was_added_is_found(void **state)
{
    (void)state;
    const struct pgk_history_entry late = entry("v2", "a", 200), early = entry("v1", "a", 100);
    assert_int_equal(add(&late, "two", NULL, 0, true), 1);
    assert_int_equal(add(&early, "one", NULL, 0, true), 2);
    struct seen s = walk(NULL);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.ids[0], 2); /* by time */
    assert_int_equal(s.last.weight, 1000);
    assert_true(s.last.objects == PGK_HISTORY_UNKNOWN);
    assert_int_equal(s.last.exit_bytes, 7);
    assert_true(isnan(s.last.gain_percent));
    assert_true(s.last.match_percent == 99.5);
    assert_int_equal(s.last.size_bytes, 3);
    s = walk(&(struct pgk_history_query){.struct_size = sizeof(struct pgk_history_query),
                                         .since_s = 101});
    assert_int_equal(s.n, 1);
    assert_int_equal(s.ids[0], 1);
    s = walk(&(struct pgk_history_query){.struct_size = sizeof(struct pgk_history_query),
                                         .until_s = 200, .newest = 5});
    assert_int_equal(s.n, 1);
    assert_int_equal(s.ids[0], 2);
    s = walk(&(struct pgk_history_query){.struct_size = sizeof(struct pgk_history_query),
                                         .version = "v9"});
    assert_int_equal(s.n, 0);
}

static void test_the_same_profile_is_added_once(void **state)
{
    (void)state;
    const struct pgk_history_entry e = entry("v1", "a", 100), other = entry("v2", "a", 100),
                                   class = entry("v1", "b", 100);
    assert_int_equal(add(&e, "one", NULL, 0, true), 1);
    assert_int_equal(add(&e, "one", NULL, 0, false), 1);
    assert_int_equal(add(&other, "one", NULL, 0, true), 2);
    assert_int_equal(add(&class, "one", NULL, 0, true), 3);
    assert_int_equal(add(&e, "two", NULL, 0, true), 4);
}

static void test_profiles_by_version_id_and_last(void **state)
{
    (void)state;
    const struct pgk_history_entry first = entry("v1", "", 100), second = entry("v1", "", 300),
                                   third = entry("2", "", 200);
    int64_t id = 0;
    add(&first, "one", NULL, 0, true);
    add(&second, "two", NULL, 0, true);
    add(&third, "three", NULL, 0, true);
    assert_int_equal(pgk_history_find(history, "v1", &id, &err), 0);
    assert_int_equal(id, 2);
    assert_int_equal(pgk_history_find(history, "last", &id, &err), 0);
    assert_int_equal(id, 2);
    assert_int_equal(pgk_history_find(history, "2", &id, &err), 0);
    assert_int_equal(id, 3); /* a version before an id */
    assert_int_equal(pgk_history_find(history, "1", &id, &err), 0);
    assert_int_equal(id, 1);
    assert_int_equal(pgk_history_find(history, "1'; --", &id, &err), PGK_E_ARG);
    assert_non_null(strstr(err.found, "1'; --"));
}

static void test_content_comes_back(void **state)
{
    (void)state;
    char copy[TEST_PATH_SIZE], text[64] = "";
    const struct pgk_history_entry e = entry("v1", "", 100);
    const int64_t id = add(&e, "the profile itself", NULL, 0, true);
    snprintf(copy, sizeof copy, "%.400s/copy", folder);
    assert_int_equal(pgk_history_extract(history, id, copy, &err), 0);
    FILE *f = fopen(copy, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "the profile itself");
    assert_int_equal(pgk_history_extract(history, id + 1, copy, &err), PGK_E_ARG);
}

static void test_the_newest_of_each_class_are_kept(void **state)
{
    (void)state;
    size_t deleted = 0;
    for (int64_t i = 0; i < 6; i++) {
        const struct pgk_history_entry e =
            entry(i % 2 ? "odd" : "even", i % 2 ? "b" : "a", 600 - i);
        const char text[2] = {(char)('a' + i), 0};
        add(&e, text, &(struct pgk_history_function){"f", 1}, 1, true);
    }
    assert_int_equal(pgk_history_keep(history, 2, &deleted, &err), 0);
    assert_int_equal(deleted, 2);
    const struct seen s = walk(NULL);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.ids[0], 4); /* the oldest two were added last */
    assert_int_equal(s.ids[3], 1);
    assert_int_equal(pgk_history_extract(history, 6, file, &err), PGK_E_ARG);
    assert_int_equal(pgk_history_keep(history, 2, &deleted, &err), 0);
    assert_int_equal(deleted, 0);
    /* An id that was given once is not given again. */
    const struct pgk_history_entry e = entry("next", "a", 700);
    assert_int_equal(add(&e, "next", NULL, 0, true), 7);
}

struct movers {
    size_t n;
    char names[8][16];
    double change[8];
};

static void see_mover(void *ctx, const struct pgk_history_mover *m)
{
    struct movers *all = ctx;
    assert_true(all->n < 8);
    snprintf(all->names[all->n], 16, "%s", m->name);
    all->change[all->n++] = m->now_percent - m->before_percent;
}

static void test_movers_by_share(void **state)
{
    (void)state;
    struct pgk_history_entry a = entry("v1", "", 100), b = entry("v2", "", 200);
    const struct pgk_history_function before[] = {{"same", 500}, {"gone", 200}, {"grows", 100}},
                                      now[] = {{"grows", 900}, {"same", 1000}, {"new", 20}};
    struct movers m = {0};
    b.weight = 2000;
    add(&a, "one", before, 3, true);
    add(&b, "two", now, 3, true);
    assert_int_equal(pgk_history_movers(history, 1, 2, 8, see_mover, &m, &err), 0);
    assert_int_equal(m.n, 3); /* one has the share it had */
    assert_string_equal(m.names[0], "grows");
    assert_true(fabs(m.change[0] - 35) < 1e-9);
    assert_string_equal(m.names[1], "gone");
    assert_true(fabs(m.change[1] + 20) < 1e-9);
    assert_string_equal(m.names[2], "new");
    m.n = 0;
    assert_int_equal(pgk_history_movers(history, 1, 2, 1, see_mover, &m, &err), 0);
    assert_int_equal(m.n, 1);
}

static void test_nothing_of_a_profile_that_cannot_be_read(void **state)
{
    (void)state;
    const struct pgk_history_entry e = entry("v1", "", 100);
    int64_t id = 0;
    bool is_new = false;
    char none[TEST_PATH_SIZE];
    snprintf(none, sizeof none, "%.400s/none", folder);
    assert_int_equal(pgk_history_add(history, &e, none, NULL, 0, &id, &is_new, &err), PGK_E_IO);
    assert_int_equal(id, 0);
    assert_int_equal(walk(NULL).n, 0);
}

/* Runs SQL in the file of the history, which is closed, and opens it again. */
static int open_after(const char *sql)
{
    char path[TEST_PATH_SIZE];
    sqlite3 *db;
    snprintf(path, sizeof path, "%.400s/history.sqlite", folder);
    pgk_history_close(&history);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    return pgk_history_open(&history, folder, false, &err);
}

static void test_files_of_others_are_refused(void **state)
{
    (void)state;
    assert_int_equal(open_after("PRAGMA user_version=2"), PGK_E_VERSION);
    assert_non_null(strstr(err.hint, "newer"));
    assert_int_equal(open_after("PRAGMA user_version=1; PRAGMA application_id=7"), PGK_E_FORMAT);
    assert_null(history);
}

static void test_damaged_files_are_refused(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    const struct pgk_history_entry e = entry("v1", "", 100);
    add(&e, "one", NULL, 0, true);
    pgk_history_close(&history);
    snprintf(path, sizeof path, "%.400s/history.sqlite", folder);
    const int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "no database at all", 18, 0), 18);
    assert_int_equal(pgk_history_open(&history, folder, false, &err), PGK_E_FORMAT);
    assert_int_equal(pgk_history_open(&history, folder, true, &err), PGK_E_FORMAT);
    close(fd);
}

static int no_history(void *ctx, const struct pgk_history_entry *e)
{
    (void)ctx, (void)e;
    return 0;
}

static void test_sizes_of_options(void **state)
{
    (void)state;
    struct pgk_history_query query = {0};
    struct pgk_history_entry e = {0};
    int64_t id;
    bool is_new;
    assert_int_equal(pgk_history_walk(history, &query, no_history, NULL, &err), PGK_E_ARG);
    assert_int_equal(pgk_history_add(history, &e, file, NULL, 0, &id, &is_new, &err), PGK_E_ARG);
    query.struct_size = sizeof(size_t); /* of an older caller */
    assert_int_equal(pgk_history_walk(history, &query, no_history, NULL, &err), 0);
}

static void test_there_is_none(void **state)
{
    (void)state;
    struct pgk_history *other = NULL;
    char none[TEST_PATH_SIZE];
    snprintf(none, sizeof none, "%.400s/none", folder);
    assert_int_equal(pgk_history_open(&other, none, false, &err), PGK_E_IO);
    assert_non_null(strstr(err.hint, "history add"));
    assert_null(other);
    pgk_history_close(&other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_what_was_added_is_found),
        TEST(test_the_same_profile_is_added_once),
        TEST(test_profiles_by_version_id_and_last),
        TEST(test_content_comes_back),
        TEST(test_the_newest_of_each_class_are_kept),
        TEST(test_movers_by_share),
        TEST(test_nothing_of_a_profile_that_cannot_be_read),
        TEST(test_files_of_others_are_refused),
        TEST(test_damaged_files_are_refused),
        TEST(test_sizes_of_options),
        TEST(test_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
