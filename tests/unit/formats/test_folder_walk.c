/* The profiles of a folder: all of them, in the order of names, with strangers told apart. */
#include "pgokit/inputs.h"

#include "pgk_test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char TEXT[] = ":ir\nf\n1\n1\n5\n", SAMPLES[] = "f:1:1\n 1: 1\n";

static void put(const char *folder, const char *name, const char *text)
{
    char path[TEST_PATH_SIZE];
    test_write_file(test_join(path, folder, name), text, strlen(text));
}

static void make(char folder[TEST_PATH_SIZE])
{
    char sub[TEST_PATH_SIZE], link[TEST_PATH_SIZE];
    test_folder(folder);
    test_join(sub, folder, "b");
    test_join(link, folder, "b/loop");
    assert_int_equal(mkdir(sub, 0700), 0);
    put(folder, "c.proftext", TEXT);
    put(folder, "a.prof", SAMPLES);
    put(folder, "b/z.proftext", TEXT);
    put(folder, "b/README", "no profile\n");
    put(folder, "b/empty", "");
    assert_int_equal(symlink("..", link), 0);
}

struct seen {
    const char *folder;
    char text[1000];
    int stop_at, n;
};

static int note(void *ctx, const char *path, const struct pgk_format *format)
{
    struct seen *s = ctx;
    const char *kind = format ? pgk_kind_name(format->kind) : "-";
    snprintf(s->text + strlen(s->text), sizeof s->text - strlen(s->text), "%s %s\n",
             path + strlen(s->folder) + 1, kind);
    return ++s->n == s->stop_at ? PGK_E_ARG : 0;
}

static void test_all_in_order(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE];
    make(folder);
    struct seen seen = {.folder = folder}, some = {.folder = folder, .stop_at = 2};
    assert_int_equal(pgk_folder_walk(folder, note, &seen, NULL), 0);
    assert_string_equal(seen.text, "a.prof sample\nb/README -\nb/empty -\nb/z.proftext instr\n"
                                   "c.proftext instr\n");
    assert_int_equal(pgk_folder_walk(folder, note, &some, NULL), PGK_E_ARG);
    assert_int_equal(some.n, 2);
    test_folder_remove(folder);
}

static void test_no_folder(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    struct seen seen = {.folder = ""};
    assert_int_equal(pgk_folder_walk("/dev/null/none", note, &seen, &err), PGK_E_IO);
    assert_string_equal(err.file, "/dev/null/none");
    assert_int_equal(seen.n, 0);
}

static void count(void *ctx, const struct pgk_input *input, const struct pgk_err *why)
{
    assert_string_equal(why->file, input->path);
    ++*(size_t *)ctx;
}

/* What cannot be read, or does not go with what was sound before, is left out; the rest keeps its
 * order and weights. */
static void test_sift(void **state)
{
    (void)state;
    char folder[TEST_PATH_SIZE], paths[5][TEST_PATH_SIZE];
    static const char *const names[] = {"b/README", "c.proftext", "fe", "b/z.proftext", "a.prof"};
    struct pgk_input inputs[5];
    size_t n = 5, left_out = 0;
    make(folder);
    put(folder, "fe", ":fe\nf\n1\n1\n5\n");
    for (size_t i = 0; i < n; i++) {
        test_join(paths[i], folder, names[i]);
        inputs[i] = (struct pgk_input){paths[i], i + 1};
    }
    assert_int_equal(pgk_inputs_sift(PGK_KIND_INSTR, inputs, &n, count, &left_out, NULL), 0);
    assert_int_equal(left_out, 3);
    assert_int_equal(n, 2);
    assert_ptr_equal(inputs[0].path, paths[1]);
    assert_ptr_equal(inputs[1].path, paths[3]);
    assert_int_equal(inputs[1].weight, 4);
    assert_int_equal(pgk_inputs_sift(PGK_KIND_GCOV, inputs, &n, count, &left_out, NULL),
                     PGK_E_ARG);
    n = 1;
    inputs[0].path = paths[4];
    assert_int_equal(pgk_inputs_sift(PGK_KIND_SAMPLE, inputs, &n, count, &left_out, NULL), 0);
    assert_int_equal(n, 1);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_in_order),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_sift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
