/* Recordings of the branch recorder: what is read, and what is refused. */
#include "branch_view.h"

#include "../pgk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct image {
    struct pgk_branch_header head;
    struct pgk_branch_module modules[2];
    struct pgk_branch_entry entries[7];
};

static uint64_t at(uint64_t module, uint64_t place)
{
    return (module + 1) << PGK_BRANCH_MODULE_SHIFT | place;
}

static struct image good(void)
{
    struct image i = {
        .head = {.magic = PGK_BRANCH_MAGIC, .version = PGK_BRANCH_VERSION,
                 .modules_off = offsetof(struct image, modules), .modules = 2,
                 .entries_off = offsetof(struct image, entries), .entries = 7,
                 .n_counters = PGK_BRANCH_COUNTERS},
        .modules = {{.start = 0x1000, .end = 0x2000, .id_size = 20, .path = "/bin/one"},
                    {.start = 0x1000, .end = 0x9000, .path = "/lib/two"}},
        .entries = {{at(0, 0x1010), at(1, 0x1200), 7, PGK_BRANCH_TAKEN, 0},
                    {at(1, 0x1200), at(1, 0x1210), 7, PGK_BRANCH_RAN, 0},
                    {at(1, 0x1210), 0, 5, PGK_BRANCH_TAKEN, 0},
                    {at(1, 0x1210), at(0, 0x9000), 4, PGK_BRANCH_LOADED, 0},
                    {at(0, 0x1015), 0, 4, PGK_BRANCH_CALLED, 0},
                    {at(1, 0x1020), 0, 4, PGK_BRANCH_CALLED, 5},
                    {at(1, 0x1204), 0, 2, PGK_BRANCH_TICKED, 0}},
    };
    i.head.counters[PGK_BRANCH_WINDOWS] = 3;
    return i;
}

static int check(const struct image *i, size_t size, struct pgk_err *err)
{
    struct pgk_branches_view view;
    return pgk_branches_check(&view, (const uint8_t *)i, size,
                              &(struct pgk_source){.file = "f", .format = "branch recording"}, err);
}

static void is_read(void **state)
{
    const struct image i = good();
    struct pgk_err err = {0};
    struct pgk_branches_view v;
    (void)state;
    assert_true(pgk_branches_sniff((const uint8_t *)&i, sizeof i));
    assert_int_equal(pgk_branches_check(&v, (const uint8_t *)&i, sizeof i,
                                        &(struct pgk_source){.file = "f"}, &err),
                     0);
    const struct pgk_branch_entry e = pgk_branches_entry(&v, 0);
    assert_int_equal(pgk_branches_module_of(&v, e.from), 0);
    assert_int_equal(pgk_branches_module_of(&v, e.to), 1);
    assert_int_equal(pgk_branches_module_of(&v, 0), 2);
    assert_int_equal(pgk_branches_place(e.to), 0x1200);
}

static void cut_short(void **state)
{
    const struct image i = good();
    (void)state;
    for (size_t n = 0; n < sizeof i; n++) {
        struct pgk_err err = {0};
        assert_int_equal(check(&i, n, &err), PGK_E_TRUNCATED);
        assert_int_not_equal(err.offset, PGK_NO_OFFSET);
        assert_string_not_equal(err.field, "");
    }
}

/* A recorder that counts less or more than this library knows. */
static void other_counters(void **state)
{
    struct image i = good();
    struct pgk_err err = {0};
    (void)state;
    i.head.n_counters = 1;
    assert_int_equal(check(&i, sizeof i, &err), 0);
    i.head.n_counters = PGK_BRANCH_COUNTERS + 4;
    assert_int_equal(check(&i, sizeof i, &err), 0);
}

static void refused(void **state)
{
    struct pgk_err err;
    (void)state;
    for (int what = 0; what < 13; what++) {
        struct image i = good();
        int expected = PGK_E_CORRUPT;
        switch (what) {
        case 0: i.head.version = 2; expected = PGK_E_VERSION; break;
        case 1: i.head.modules = 256; expected = PGK_E_CORRUPT; break;
        case 2: i.head.entries = UINT64_MAX; expected = PGK_E_TRUNCATED; break;
        case 3: i.modules[1].id_size = 33; break;
        case 4: memset(i.modules[0].path, 'x', sizeof i.modules[0].path); break;
        case 5: i.entries[0].from = at(2, 0x1000); break;
        case 6: i.entries[2].to = UINT64_MAX; break;
        case 7: i.entries[1].to = at(0, 0x1210); break;
        case 8: i.entries[1].to = at(1, 0x11ff); break;
        case 9: i.entries[3].kind = PGK_BRANCH_KINDS; break;
        case 10: i.entries[4].under = 5; break; /* itself */
        case 11: i.entries[5].under = 4; break; /* no call */
        case 12: i.head.magic = PGK_BRANCH_MAGIC_UNRELEASED; expected = PGK_E_VERSION; break;
        }
        memset(&err, 0, sizeof err);
        assert_int_equal(check(&i, sizeof i, &err), expected);
    }
}

static void how_it_went(void **state)
{
    const struct image i = good();
    char path[] = "/tmp/pgokit-branches-XXXXXX";
    struct pgk_branches *b;
    struct pgk_err err = {0};
    struct pgk_branches_work work = {.struct_size = sizeof work};
    struct pgk_branches_file file = {.struct_size = sizeof file};
    (void)state;
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, &i, sizeof i), sizeof i);
    close(fd);
    assert_int_equal(pgk_branches_open(&b, path, &err), 0);
    assert_true(pgk_branches_work_at(b, PGK_BRANCH_WINDOWS, &work));
    assert_string_equal(work.name, "WINDOWS");
    assert_int_equal(work.n, 3);
    assert_false(pgk_branches_work_at(b, PGK_BRANCH_COUNTERS, &work));
    assert_true(pgk_branches_file_at(b, 1, &file));
    assert_string_equal(file.path, "/lib/two");
    assert_int_equal(file.branches, 5);
    assert_false(pgk_branches_file_at(b, 2, &file));
    pgk_branches_close(&b);
    assert_null(b);
    assert_int_equal(truncate(path, 4), 0);
    assert_int_equal(pgk_branches_open(&b, path, &err), PGK_E_FORMAT);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_read),        cmocka_unit_test(cut_short),
        cmocka_unit_test(other_counters), cmocka_unit_test(refused),
        cmocka_unit_test(how_it_went),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
