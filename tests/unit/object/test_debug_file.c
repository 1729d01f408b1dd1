/* Tests of lib/object/debug_file.c: where debug information is looked for. */
#include "../dwarf_samples.h"

#include <limits.h>
#include <zlib.h>

static unsigned warnings;

static void count_warning(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)text;
    warnings += level == PGK_LOG_WARNING;
}

#define BUILD_ID \
    "\xab\xcd"   \
    "0123456789"
#define BUILD_ID_FILE ".build-id/ab/cd30313233343536373839.debug"

struct fixture {
    char folder[TEST_PATH_SIZE], program[TEST_PATH_SIZE];
    struct test_bytes debug; /* the debug file's image */
};

/* A program without debug information that names "prog.debug" with this checksum. */
static void write_program(const struct fixture *f, uint32_t crc)
{
    struct test_bytes note = test_build_id(BUILD_ID, sizeof BUILD_ID - 1), link_ = {0};
    tb_str(&link_, "prog.debug");
    tb_u8(&link_, 0);
    tb_u32(&link_, crc);
    const struct test_section s[] = {
        {.name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n},
        {.name = ".gnu_debuglink", .bytes = link_.v, .size = link_.n},
    };
    struct test_bytes image = test_elf(ET_EXEC, s, 2);
    test_write_file(f->program, image.v, image.n);
    tb_free(&image);
    tb_free(&note);
    tb_free(&link_);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct test_dwarf d = {0};
    assert_non_null(f);
    test_folder(f->folder);
    test_join(f->program, f->folder, "prog");
    typical(&d);
    struct test_bytes note = test_build_id(BUILD_ID, sizeof BUILD_ID - 1);
    struct test_section s = {
        .name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n};
    f->debug = td_elf_with(&d, &s, 1);
    write_program(f, (uint32_t)crc32(0, f->debug.v, (uInt)f->debug.n));
    tb_free(&note);
    td_free(&d);
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
    free(f);
    return 0;
}

/* Makes the folders on the way to folder/name and writes the debug file there. */
static void put_debug(const struct fixture *f, const char *name)
{
    char path[2 * TEST_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    for (char *slash = path + strlen(f->folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    test_write_file(path, f->debug.v, f->debug.n);
}

static int look(const struct fixture *f, const char *debug_dir, struct pgk_err *err)
{
    char dir[TEST_PATH_SIZE];
    const char *dirs[] = {"/nowhere", dir};
    const struct pgk_debug_places places = {.dirs = dirs, .n_dirs = 2};
    struct pgk_elf *elf;
    struct pgk_symboliser *sym = NULL;
    struct pgk_arena arena = {0};
    struct pgk_sym_chain chain;
    test_join(dir, f->folder, debug_dir);
    assert_int_equal(pgk_elf_open(&elf, f->program, err), 0);
    pgk_elf_look_in(elf, &places);
    int status = pgk_symboliser_open(&sym, elf, err);
    if (status == 0) {
        assert_int_equal(pgk_symbolise(sym, (uint64_t[]){0x2080}, 1, 1, &arena, &chain, err), 0);
        assert_int_equal(chain.count, 1);
        assert_string_equal(chain.frames[0].function, "leaf");
    }
    pgk_arena_free(&arena);
    pgk_symboliser_close(&sym);
    pgk_elf_close(&elf);
    return status;
}

static void beside_the_program(void **state)
{
    struct pgk_err err = {0};
    put_debug(*state, "prog.debug");
    assert_int_equal(look(*state, "none", &err), 0);
    assert_int_equal(warnings, 0);
}

static void in_a_hidden_folder(void **state)
{
    struct pgk_err err = {0};
    put_debug(*state, ".debug/prog.debug");
    assert_int_equal(look(*state, "none", &err), 0);
}

static void by_build_id_in_a_debug_folder(void **state)
{
    struct pgk_err err = {0};
    put_debug(*state, "root/" BUILD_ID_FILE);
    assert_int_equal(look(*state, "none", &err), PGK_E_NODEBUG);
    assert_int_equal(look(*state, "root", &err), 0);
}

static void by_the_programs_folder_below_a_debug_folder(void **state)
{
    const struct fixture *f = *state;
    struct pgk_err err = {0};
    char real[PATH_MAX], name[2 * PATH_MAX];
    assert_non_null(realpath(f->folder, real));
    snprintf(name, sizeof name, "root%s/prog.debug", real);
    put_debug(f, name);
    assert_int_equal(look(f, "root", &err), 0);
}

static void not_with_another_checksum(void **state)
{
    struct pgk_err err = {0};
    write_program(*state, 12345);
    put_debug(*state, "prog.debug");
    assert_int_equal(look(*state, "none", &err), PGK_E_NODEBUG);
    assert_int_equal(warnings, 1);
}

static void not_with_another_build_id(void **state)
{
    struct fixture *f = *state;
    struct pgk_err err = {0};
    uint8_t *id = memmem(f->debug.v, f->debug.n, BUILD_ID, sizeof BUILD_ID - 1);
    assert_non_null(id);
    id[5] ^= 1;
    put_debug(f, "root/" BUILD_ID_FILE);
    assert_int_equal(look(f, "root", &err), PGK_E_NODEBUG);
    assert_int_equal(warnings, 1);
}

static void the_message_says_where_it_was_looked_for(void **state)
{
    const struct fixture *f = *state;
    struct pgk_err err = {0};
    char text[8192];
    assert_int_equal(look(f, "none", &err), PGK_E_NODEBUG);
    assert_string_equal(err.file, f->program);
    test_printed(text, &err);
    assert_non_null(strstr(err.found, "/nowhere/" BUILD_ID_FILE));
    assert_string_not_equal(err.hint, "");
}

static void damaged_links_are_no_links(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *bytes;
        size_t size;
    } links[] = {
        {"", 0}, {"x", 1}, {"prog.debug", 10}, {"prog.debug\0\0\1\2", 14}, {"\0\0\0\0\0", 5}};
    put_debug(f, "prog.debug");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct test_section s = {
            .name = ".gnu_debuglink", .bytes = links[i].bytes, .size = links[i].size};
        struct test_bytes image = test_elf(ET_EXEC, &s, 1);
        struct pgk_err err = {0};
        test_write_file(f->program, image.v, image.n);
        assert_int_equal(look(f, "none", &err), PGK_E_NODEBUG);
        tb_free(&image);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(beside_the_program),
        CASE(in_a_hidden_folder),
        CASE(by_build_id_in_a_debug_folder),
        CASE(by_the_programs_folder_below_a_debug_folder),
        CASE(not_with_another_checksum),
        CASE(not_with_another_build_id),
        CASE(the_message_says_where_it_was_looked_for),
        CASE(damaged_links_are_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
