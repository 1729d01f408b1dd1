/* Addresses in modules with build ids become offsets in files, and the other way round. */
#include "heap_raw.h"

#include "heap_binaries.h"
#include "heap_samples.h"

/* The code of a program and a library, in their files. */
enum { APP_OFF = 0x3000, APP_SIZE = 0x1800, LIB_OFF = 0x5080, LIB_SIZE = 0x2800 };
enum { APP_MAPPED = 0x2000, LIB_MAPPED = 0x3000 }; /* in pages */
/* Where a stack goes through: the leaf is in the library. */
enum { LIB_PC = TEST_CODE + 0x24, APP_PC = TEST_CODE + 0x1008, OUTSIDE = 0x7f0010 };
enum { BY_OFFSET = 2, BY_BUILD_ID = 5 }; /* versions */

static struct test_binaries binaries(bool app, bool lib)
{
    struct test_binaries b = test_binaries();
    if (app)
        test_binaries_add(&b, "app", "app id", ET_EXEC, APP_OFF, APP_SIZE);
    if (lib)
        test_binaries_add(&b, "lib", "lib id", ET_DYN, LIB_OFF, LIB_SIZE);
    return b;
}

static uint32_t module(struct pgk_heap *h, const char *id, bool fixed, uint64_t size)
{
    struct pgk_heap_module m = {.text_size = size, .fixed = fixed};
    m.build_id = pgk_intern_cstr(&h->strings, id);
    uint32_t i = pgk_heap_module(h, &m);
    assert_true(pgk_heap_note_loaded(h, "a.profraw", i));
    assert_true(pgk_heap_note_text(h, i, TEST_CODE, size));
    return i;
}

static void add_stack(struct pgk_heap *h, uint32_t lib, uint32_t app)
{
    const uint32_t frames[] = {pgk_heap_frame(h, PGK_FRAME_ADDRESS, lib, LIB_PC),
                               pgk_heap_frame(h, PGK_FRAME_ADDRESS, app, APP_PC),
                               pgk_heap_frame(h, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, OUTSIDE)};
    uint64_t seed = 4;
    struct pgk_mib mib = sample_mib(&seed);
    mib.v[PGK_MIB_TotalSize] = 4321;
    uint32_t stack = pgk_stack_add(&h->stacks, frames, PGK_COUNTOF(frames));
    assert_int_equal(pgk_heap_add(h, stack, &mib, NULL), 0);
}

/* As a raw profile with build ids is read. */
static struct pgk_heap *profile(void)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    uint32_t app = module(h, "app id", true, APP_SIZE), lib = module(h, "lib id", false, LIB_SIZE);
    add_stack(h, lib, app);
    return h;
}

static struct pgk_heap *rebased(const struct pgk_heap *from, struct pgk_binaries *set,
                                uint32_t version)
{
    struct pgk_heap *to = NULL;
    struct pgk_err err = {0};
    char printed[8192];
    if (pgk_heap_rebase(&to, from, set, version, &err))
        fail_msg("%s", test_printed(printed, &err));
    return to;
}

/* Frame i of the only stack, leaf first. */
static const struct pgk_frame *frame(const struct pgk_heap *h, size_t i)
{
    assert_int_equal(h->contexts.n, 1);
    uint32_t node = h->contexts.v[0].stack;
    for (; i; i--)
        node = h->stacks.nodes.v[node].parent;
    return &h->frames.v[h->stacks.nodes.v[node].frame];
}

static const struct pgk_heap_module *module_of(const struct pgk_heap *h, size_t i)
{
    assert_true(frame(h, i)->ref < h->modules.n);
    return &h->modules.v[frame(h, i)->ref];
}

static void expect_build_id(const struct pgk_heap *h, const struct pgk_heap_module *m,
                            const char *id)
{
    assert_false(m->by_file_off);
    assert_string_equal(pgk_intern_str(&h->strings, m->build_id), id);
    assert_int_equal(m->text_off, 0);
    assert_int_equal(m->bias, 0);
}

static void expect_text(const struct pgk_heap *h, uint32_t module, uint64_t at, uint64_t size)
{
    size_t found = 0;
    for (size_t i = 0; i < h->texts.n; i++)
        if (h->texts.v[i].module == module) {
            assert_int_equal(h->texts.v[i].at, at);
            assert_int_equal(h->texts.v[i].size, size);
            found++;
        }
    assert_int_equal(found, 1);
}

/* The profile as it was. */
static void expect_by_build_id(const struct pgk_heap *h)
{
    assert_int_equal(frame(h, 0)->where, LIB_PC);
    assert_int_equal(frame(h, 1)->where, APP_PC);
    assert_int_equal(frame(h, 2)->where, OUTSIDE);
    assert_int_equal(frame(h, 2)->ref, PGK_INDEX_NONE);
    assert_int_equal(h->modules.n, 2);
    expect_build_id(h, module_of(h, 0), "lib id");
    expect_build_id(h, module_of(h, 1), "app id");
    assert_true(module_of(h, 1)->fixed && !module_of(h, 0)->fixed);
    expect_text(h, frame(h, 0)->ref, TEST_CODE, LIB_SIZE);
    expect_text(h, frame(h, 1)->ref, TEST_CODE, APP_SIZE);
}

static void link_addresses_become_offsets(void **state)
{
    (void)state;
    struct test_binaries b = binaries(true, true);
    struct pgk_heap *from = profile(), *to = rebased(from, b.set, BY_OFFSET);
    assert_int_equal(frame(to, 0)->where, LIB_OFF + 0x24);
    assert_int_equal(frame(to, 1)->where, APP_OFF + 0x1008);
    assert_int_equal(frame(to, 2)->where, OUTSIDE);
    assert_int_equal(frame(to, 2)->ref, PGK_INDEX_NONE);
    assert_int_equal(to->modules.n, 2);
    const struct pgk_heap_module *lib = module_of(to, 0), *app = module_of(to, 1);
    assert_true(lib->by_file_off && app->by_file_off && !lib->build_id && !app->build_id);
    assert_true(lib->text_off == 0x5000 && lib->text_size == LIB_MAPPED);
    assert_true(app->text_off == APP_OFF && app->text_size == APP_MAPPED);
    assert_true(!lib->fixed && lib->bias == 0);
    assert_true(app->fixed && app->bias == (uint64_t)TEST_CODE - APP_OFF);
    expect_text(to, frame(to, 0)->ref, 0x5000, LIB_MAPPED);
    expect_text(to, frame(to, 1)->ref, APP_OFF, APP_MAPPED);
    /* The program comes first, and both are of the profile. */
    assert_int_equal(to->loaded.n, 2);
    assert_int_equal(to->loaded.v[0].module, frame(to, 1)->ref);
    assert_int_equal(to->loaded.v[1].module, frame(to, 0)->ref);
    assert_string_equal(pgk_intern_str(&to->strings, to->loaded.v[1].profile), "a.profraw");
    assert_int_equal(pgk_heap_mib(to, 0, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize], 4321);
    expect_by_build_id(from);
    pgk_heap_close(&from);
    pgk_heap_close(&to);
    test_binaries_end(&b);
}

static void offsets_become_link_addresses_again(void **state)
{
    (void)state;
    struct test_binaries b = binaries(true, true);
    struct pgk_heap *from = profile(), *by_offset = rebased(from, b.set, BY_OFFSET),
                    *back = rebased(by_offset, b.set, BY_BUILD_ID);
    expect_by_build_id(back);
    assert_int_equal(back->loaded.n, 2);
    assert_int_equal(back->loaded.v[0].module, frame(back, 1)->ref);
    pgk_heap_close(&from);
    pgk_heap_close(&by_offset);
    pgk_heap_close(&back);
    test_binaries_end(&b);
}

/* Between the end of the code and that of its last page, which a process maps, too. */
static void padding_of_the_last_page_stays_a_place(void **state)
{
    (void)state;
    enum { PADDING = 0x1900 };
    struct test_binaries b = binaries(true, true);
    struct pgk_heap *from;
    assert_int_equal(pgk_heap_new(&from, NULL), 0);
    struct pgk_heap_module app = {.by_file_off = true, .fixed = true, .text_off = APP_OFF,
                                  .text_size = APP_MAPPED, .bias = (uint64_t)TEST_CODE - APP_OFF};
    uint32_t module = pgk_heap_module(from, &app);
    const uint32_t frames[] = {
        pgk_heap_frame(from, PGK_FRAME_ADDRESS, module, APP_OFF + PADDING),
        pgk_heap_frame(from, PGK_FRAME_ADDRESS, module, APP_OFF + 0x1008)};
    assert_true(pgk_heap_note_loaded(from, "a.profraw", module));
    assert_true(pgk_heap_note_text(from, module, APP_OFF, APP_MAPPED));
    uint64_t seed = 4;
    struct pgk_mib mib = sample_mib(&seed);
    assert_int_equal(pgk_heap_add(from, pgk_stack_add(&from->stacks, frames, 2), &mib, NULL), 0);
    struct pgk_heap *to = rebased(from, b.set, BY_BUILD_ID);
    assert_int_equal(frame(to, 0)->where, TEST_CODE + PADDING);
    assert_int_equal(frame(to, 1)->where, APP_PC);
    expect_build_id(to, module_of(to, 0), "app id");
    assert_int_equal(frame(to, 0)->ref, frame(to, 1)->ref);
    pgk_heap_close(&from);
    pgk_heap_close(&to);
    test_binaries_end(&b);
}

static void what_is_right_already_needs_no_binaries(void **state)
{
    (void)state;
    struct pgk_heap *from = profile(), *to = rebased(from, NULL, BY_BUILD_ID);
    expect_by_build_id(to);
    pgk_heap_close(&from);
    pgk_heap_close(&to);
}

static void modules_without_binary_are_kept(void **state)
{
    (void)state;
    struct test_binaries b = binaries(false, true);
    struct pgk_heap *from = profile(), *to = rebased(from, b.set, BY_OFFSET);
    assert_int_equal(frame(to, 0)->where, LIB_OFF + 0x24);
    assert_true(module_of(to, 0)->by_file_off);
    assert_int_equal(frame(to, 1)->where, APP_PC);
    expect_build_id(to, module_of(to, 1), "app id");
    expect_text(to, frame(to, 1)->ref, TEST_CODE, APP_SIZE);
    assert_int_equal(to->loaded.v[0].module, frame(to, 1)->ref);
    pgk_heap_close(&from);
    pgk_heap_close(&to);
    test_binaries_end(&b);
}

/* Printed texts know modules by the names of their files alone. */
static void names_of_files_become_build_ids(void **state)
{
    (void)state;
    struct test_binaries b = binaries(true, true);
    struct pgk_heap *from;
    struct pgk_heap_module app = {0}, lib = {0};
    assert_int_equal(pgk_heap_new(&from, NULL), 0);
    app.name = pgk_intern_cstr(&from->strings, "/usr/bin/app");
    lib.name = pgk_intern_cstr(&from->strings, "lib");
    add_stack(from, pgk_heap_module(from, &lib), pgk_heap_module(from, &app));
    struct pgk_heap *to = rebased(from, b.set, BY_BUILD_ID);
    expect_by_build_id(to);
    pgk_heap_close(&from);
    pgk_heap_close(&to);
    test_binaries_end(&b);
}

static void places_in_functions_are_kept(void **state)
{
    (void)state;
    struct pgk_heap *from, *to;
    assert_int_equal(pgk_heap_new(&from, NULL), 0);
    sample_fill(from, 3, 30, 7, true);
    for (uint32_t version = BY_OFFSET; version <= BY_BUILD_ID; version++) {
        to = rebased(from, NULL, version);
        assert_int_equal(to->contexts.n, from->contexts.n);
        assert_int_equal(to->sites.n, from->sites.n);
        for (size_t c = 0; c < from->contexts.n; c++) {
            struct pgk_heap_frame a[16], z[16];
            size_t n = pgk_heap_stack(from, c, a, 16);
            assert_int_equal(pgk_heap_stack(to, c, z, 16), n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(a[i].guid, z[i].guid);
                assert_int_equal(a[i].line_offset, z[i].line_offset);
                assert_int_equal(a[i].column, z[i].column);
            }
        }
        pgk_heap_close(&to);
    }
    pgk_heap_close(&from);
}

static void refused(const struct pgk_heap *from, struct pgk_binaries *set, uint32_t version,
                    int status, const char *found)
{
    struct pgk_heap *to = NULL;
    struct pgk_err err = {0};
    assert_int_equal(pgk_heap_rebase(&to, from, set, version, &err), status);
    assert_null(to);
    assert_string_equal(err.format, "raw heap profile");
    assert_string_equal(err.found, found);
    assert_true(*err.expected && *err.hint);
    assert_string_equal(err.file, status == PGK_E_MISMATCH ? "a.profraw" : "");
}

static void modules_of_other_binaries_are_refused(void **state)
{
    (void)state;
    struct test_binaries b = binaries(true, true), others = test_binaries();
    struct pgk_heap *from = profile(), *by_offset = rebased(from, b.set, BY_OFFSET);
    test_binaries_add(&others, "app", "another id", ET_EXEC, APP_OFF, APP_SIZE + 0x1000);
    struct pgk_binaries *const sets[] = {others.set, NULL};
    for (size_t i = 0; i < PGK_COUNTOF(sets); i++) {
        refused(from, sets[i], BY_OFFSET, PGK_E_MISMATCH, "modules known by build ids");
        refused(by_offset, sets[i], BY_BUILD_ID, PGK_E_MISMATCH,
                "modules without build ids, known by offsets in their files");
    }
    pgk_heap_close(&from);
    pgk_heap_close(&by_offset);
    test_binaries_end(&b);
    test_binaries_end(&others);
}

static void versions_that_are_none_are_refused(void **state)
{
    (void)state;
    struct pgk_heap *from = profile();
    refused(from, NULL, 0, PGK_E_ARG, "0");
    refused(from, NULL, PGK_RAW_NOW + 1, PGK_E_ARG, "6");
    pgk_heap_close(&from);
}

static void build_ids_that_get_lost_are_counted(void **state)
{
    (void)state;
    struct pgk_heap *h = profile();
    const struct pgk_heap_module without = {.text_size = 7};
    assert_int_equal(pgk_heap_module(h, &without), 2);
    for (uint32_t version = 0; version <= PGK_RAW_NOW + 1; version++)
        assert_int_equal(pgk_heap_build_ids_lost(h, version), version == 1 || version == 2 ? 2 : 0);
    pgk_heap_close(&h);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct test_binaries b = binaries(true, true);
    struct pgk_heap *from = profile();
    int status = PGK_E_NOMEM, failures = -1;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++, failures++) {
        struct pgk_heap *to = NULL;
        struct pgk_err err = {0};
        pgk_mem_fail_after(nth);
        status = pgk_heap_rebase(&to, from, b.set, BY_OFFSET, &err);
        pgk_mem_fail_after(0);
        assert_int_equal(err.status, status);
        assert_true(status ? !to : to != NULL);
        pgk_heap_close(&to);
        assert_in_range(nth, 1, 200);
    }
    assert_int_equal(status, 0);
    assert_true(failures > 5);
    pgk_heap_close(&from);
    test_binaries_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link_addresses_become_offsets),
        cmocka_unit_test(offsets_become_link_addresses_again),
        cmocka_unit_test(padding_of_the_last_page_stays_a_place),
        cmocka_unit_test(what_is_right_already_needs_no_binaries),
        cmocka_unit_test(modules_without_binary_are_kept),
        cmocka_unit_test(names_of_files_become_build_ids),
        cmocka_unit_test(places_in_functions_are_kept),
        cmocka_unit_test(modules_of_other_binaries_are_refused),
        cmocka_unit_test(versions_that_are_none_are_refused),
        cmocka_unit_test(build_ids_that_get_lost_are_counted),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
