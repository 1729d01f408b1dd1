/* Finding binaries by build id in debug folders and sysroots. */
#include "../dwarf_samples.h"

#include "binary_set.h"
#include "sysroot.h"

static char folder[TEST_PATH_SIZE];

static void put(const char *name, const char *id, bool debug)
{
    char path[2 * TEST_PATH_SIZE];
    struct test_dwarf d = {0};
    if (debug)
        typical(&d);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
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
    char path[TEST_PATH_SIZE];
    (void)state;
    test_folder(folder);
    put("usr/bin/app", "app", false);
    put("usr/bin/copy/of/app", "app", true);
    put("usr/lib/libone.so.1", "one", false);
    put("usr/lib/debug/.build-id/6f/6e65.debug", "one", true); /* "one" in hex */
    put("opt/bare.so", "bare", false);
    put("opt/anonymous", "", true);
    put("opt/.build-id/77/726f6e67.debug", "not wrong", true);
    test_write_file(test_join(path, folder, "opt/short"), "\177ELF", 4);
    char junk[200] = "\177ELF";
    test_write_file(test_join(path, folder, "opt/junk"), junk, sizeof junk);
    assert_int_equal(mkfifo(test_join(path, folder, "opt/pipe"), 0600), 0);
    assert_int_equal(symlink("/", test_join(path, folder, "opt/everything")), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static struct pgk_binaries *open_set(bool sysroot, const char *debug_dir)
{
    char path[TEST_PATH_SIZE];
    const char *roots[] = {folder}, *dirs[] = {path};
    struct pgk_binaries_opts opts = {.struct_size = sizeof opts, .sysroots = roots,
                                     .n_sysroots = sysroot, .debug_dirs = dirs,
                                     .n_debug_dirs = debug_dir != NULL};
    struct pgk_binaries *set;
    if (debug_dir)
        test_join(path, folder, debug_dir);
    assert_int_equal(pgk_binaries_new(&set, &opts, NULL), 0);
    return set;
}

/* The path below the folder of what was found, or NULL. */
static const char *found_at(struct pgk_binaries *set, const char *place, const char *id)
{
    uint32_t pos = 77;
    struct pgk_err err = {0};
    char path[TEST_PATH_SIZE];
    const struct pgk_program_wanted wanted = {
        .path = place ? test_join(path, folder, place) : NULL,
        .build_id = (const uint8_t *)id,
        .build_id_size = strlen(id)};
    assert_int_equal(pgk_binaries_look_for(set, &wanted, &pos, &err), 0);
    if (pos == PGK_INDEX_NONE)
        return NULL;
    return pgk_elf_path(pgk_binaries_elf(set, pos)) + strlen(folder) + 1;
}

static const char *found(struct pgk_binaries *set, const char *id)
{
    return found_at(set, NULL, id);
}

static void ignore(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

static void a_sysroot_is_searched(void **state)
{
    (void)state;
    struct pgk_binaries *set = open_set(true, NULL);
    struct pgk_sym_chain chain;
    struct pgk_arena arena = {0};
    char text[TEXT_SIZE];
    pgk_log_set(ignore, NULL);
    assert_string_equal(found(set, "app"), "usr/bin/copy/of/app"); /* it says more */
    assert_int_equal(pgk_binaries_count(set), 1);
    assert_string_equal(found(set, "app"), "usr/bin/copy/of/app");
    assert_int_equal(pgk_binaries_count(set), 1);
    assert_string_equal(found(set, "one"), "usr/lib/debug/.build-id/6f/6e65.debug");
    assert_null(found(set, "bare")); /* would answer nothing */
    assert_null(found(set, "nobody"));
    assert_null(found(set, ""));
    assert_int_equal(pgk_binaries_count(set), 2);
    assert_int_equal(pgk_binaries_symbolise(set, 0, (const uint64_t[]){0x2080}, 1, &arena, &chain,
                                            NULL),
                     0);
    assert_string_equal(chain_text(text, &chain), "leaf a.c:10:7:0 a.c:1");
    pgk_arena_free(&arena);
    pgk_binaries_close(&set);
    pgk_log_set(NULL, NULL);
}

static void debug_folders_are_searched(void **state)
{
    (void)state;
    struct pgk_binaries *set = open_set(false, "usr/lib/debug");
    assert_string_equal(found(set, "one"), "usr/lib/debug/.build-id/6f/6e65.debug");
    assert_null(found(set, "app"));
    pgk_binaries_close(&set);
    set = open_set(false, "opt");
    assert_null(found(set, "wrong")); /* that file's own id is another */
    pgk_binaries_close(&set);
    set = open_set(false, NULL);
    assert_null(found(set, "one"));
    pgk_binaries_close(&set);
}

/* At its path first if its build id fits; before folders that say more only if it says enough. */
static void paths_of_profiles_are_searched(void **state)
{
    (void)state;
    char path[TEST_PATH_SIZE];
    const char *roots[] = {test_join(path, folder, "usr")};
    struct pgk_binaries_opts opts = {.struct_size = sizeof opts, .sysroots = roots,
                                     .n_sysroots = 1, .use_paths = true};
    struct pgk_binaries *set;
    pgk_log_set(ignore, NULL);
    assert_int_equal(pgk_binaries_new(&set, &opts, NULL), 0);
    assert_string_equal(found_at(set, "opt/anonymous", "app"), "usr/bin/copy/of/app");
    assert_string_equal(found_at(set, "usr/lib/libone.so.1", "one"),
                        "usr/lib/debug/.build-id/6f/6e65.debug");
    assert_null(found_at(set, "opt/bare.so", "bare")); /* not even symbols */
    assert_null(found_at(set, "opt/nothing", "nobody"));
    assert_false(pgk_binaries_at_path(set, 0));
    pgk_binaries_close(&set);

    assert_int_equal(pgk_binaries_new(&set, &opts, NULL), 0);
    assert_string_equal(found_at(set, "usr/bin/copy/of/app", "app"), "usr/bin/copy/of/app");
    assert_true(pgk_binaries_at_path(set, 0));
    pgk_binaries_close(&set);

    /* The user gave where to look: profiles for compilers have no more than what is there. */
    opts.use_paths = false;
    opts.n_sysroots = 0;
    assert_int_equal(pgk_binaries_new(&set, &opts, NULL), 0);
    assert_null(found_at(set, "usr/bin/copy/of/app", "app"));
    pgk_binaries_close(&set);
    pgk_log_set(NULL, NULL);
}

/* Where the target had it, without a look at all files: for the one at the path is taken that says
 * less than a copy elsewhere. */
static void paths_below_a_sysroot_come_first(void **state)
{
    (void)state;
    struct pgk_sysroot files = {0};
    struct pgk_elf *elf = NULL;
    const char *roots[] = {folder};
    char path[TEST_PATH_SIZE];
    const struct {
        const char *path, *id, *found;
        bool walks;
    } rows[] = {
        {"/usr/bin/app", "app", "usr/bin/app", false},
        {"/usr/lib/libone.so.1", "one", "usr/lib/libone.so.1", false},
        {"/opt/bare.so", "app", "usr/bin/copy/of/app", true}, /* another file is there by now */
        {"/gone", "app", "usr/bin/copy/of/app", true},
        {"", "app", "usr/bin/copy/of/app", true},
        {NULL, "app", "usr/bin/copy/of/app", true},
        {"usr/bin/app", "nobody", NULL, true},
        {"[vdso]", "app", NULL, false},
        {"linux-vdso.so.1", "app", NULL, false},
    };
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        const struct pgk_sysroot_wanted wanted = {rows[i].path, (const uint8_t *)rows[i].id,
                                                  strlen(rows[i].id)};
        assert_int_equal(pgk_find_in_sysroots(&elf, &files, roots, 1, &wanted, NULL), 0);
        assert_int_equal(files.walked, rows[i].walks);
        if (rows[i].found)
            assert_string_equal(pgk_elf_path(elf), test_join(path, folder, rows[i].found));
        else
            assert_null(elf);
        pgk_elf_close(&elf);
        pgk_sysroot_free(&files);
    }
}

static void running_out_of_memory(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    pgk_log_set(ignore, NULL);
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_binaries *set = open_set(true, NULL);
        const struct pgk_program_wanted wanted = {
            .build_id = (const uint8_t *)"nobody", .build_id_size = 6};
        uint32_t pos;
        pgk_mem_fail_after(nth);
        status = pgk_binaries_look_for(set, &wanted, &pos, NULL);
        pgk_mem_fail_after(0);
        pgk_binaries_close(&set);
        assert_in_range(nth, 1, 1000);
    }
    assert_int_equal(status, 0);
    pgk_log_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sysroot_is_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(debug_folders_are_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_of_profiles_are_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_below_a_sysroot_come_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
