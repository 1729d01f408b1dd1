/* The function metadata section: checksums and attributes reach the staged functions. */
#include "sample_cases.h"

#include "elf_image.h"
#include "sample_metadata.h"

enum { MAIN, INLINED, DEEP, NAMES }; /* indexes of names, which are ids 10 to 12 */
enum { ID = 10 };

struct opened {
    struct test_bytes bytes;
    struct pgk_sample_name_table names;
    struct pgk_sample_metadata m;
    struct pgk_sample_stage stage;
};

/* The section's numbers are all below 128 here: a byte each. */
static struct opened section(const void *numbers, size_t n)
{
    struct opened o = {0};
    tb_put(&o.bytes, numbers, n);
    for (uint32_t i = 0; i < NAMES; i++)
        assert_true(pgk_vec_push(&o.names.ids, ID + i));
    return o;
}
#define SECTION(...) \
    section(((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__}))

static int open_as(struct opened *o, const struct pgk_metadata_layout *layout, struct pgk_err *err)
{
    static const struct pgk_source src = {
        .file = "t.afdo", .format = "sample profile", .base_off = 100};
    struct pgk_cursor c;
    pgk_cur_init(&c, o->bytes.v, o->bytes.n, &src);
    return pgk_metadata_open(&o->m, &c, layout, &o->names, err);
}

static void opens(struct opened *o, struct pgk_metadata_layout layout)
{
    struct pgk_err err = {0};
    char printed[8192];
    if (open_as(o, &layout, &err))
        fail_msg("%s", test_printed(printed, &err));
}

static void end(struct opened *o)
{
    pgk_metadata_close(&o->m);
    pgk_stage_free(&o->stage);
    pgk_vec_free(&o->names.ids);
    tb_free(&o->bytes);
}

static void refused(struct opened o, struct pgk_metadata_layout layout, int status,
                    const char *field, uint64_t offset)
{
    struct pgk_err err = {0};
    assert_int_equal(open_as(&o, &layout, &err), status);
    assert_int_equal(err.status, status);
    assert_string_equal(err.field, field);
    assert_string_equal(err.record, "function metadata");
    assert_string_equal(err.file, "t.afdo");
    assert_int_equal(err.offset, offset);
    assert_true(*err.found && *err.expected);
    end(&o);
}

/* A staged function alone, with what the section has for this identity. */
static struct pgk_stage_node applied(struct opened *o, uint64_t identity)
{
    assert_true(pgk_stage_begin(&o->stage, ID));
    assert_int_equal(pgk_metadata_apply(&o->m, identity, &o->stage, NULL), 0);
    return o->stage.slots.v[0];
}

static void entries_are_found_in_any_order(void **state)
{
    (void)state;
    struct opened o = SECTION(2, 72, 2, 0, 70, 1);
    opens(&o, (struct pgk_metadata_layout){true, true, false, 4, NULL, 0});
    struct pgk_stage_node n = applied(&o, 0);
    assert_true(n.checksum == 70 && n.attributes == 1);
    n = applied(&o, 2);
    assert_true(n.checksum == 72 && n.attributes == 2);
    for (uint64_t identity = 1; identity <= 5; identity += 2) { /* 1 and 3 have none, 5 is none */
        n = applied(&o, identity);
        assert_true(n.checksum == 0 && n.attributes == 0);
    }
    end(&o);
}

static void checksums_and_attributes_come_alone_too(void **state)
{
    (void)state;
    struct opened o = SECTION(1, 71, 0, 70);
    opens(&o, (struct pgk_metadata_layout){true, false, false, 2, NULL, 0});
    struct pgk_stage_node n = applied(&o, 1);
    assert_true(n.checksum == 71 && n.attributes == 0);
    end(&o);

    o = SECTION(1, 3, 0, 2);
    opens(&o, (struct pgk_metadata_layout){false, true, false, 2, NULL, 0});
    n = applied(&o, 1);
    assert_true(n.checksum == 0 && n.attributes == 3);
    end(&o);

    o = SECTION(0);
    o.bytes.n = 0;
    opens(&o, (struct pgk_metadata_layout){true, true, true, 2, NULL, 0});
    n = applied(&o, 0);
    assert_true(n.checksum == 0 && n.attributes == 0);
    end(&o);
}

static void checksums_may_have_64_bits(void **state)
{
    (void)state;
    struct opened o = SECTION(0);
    tb_uleb(&o.bytes, UINT64_MAX - 1);
    opens(&o, (struct pgk_metadata_layout){true, false, false, 1, NULL, 0});
    assert_true(applied(&o, 0).checksum == UINT64_MAX - 1);
    end(&o);
}

static void entries_that_are_not_wanted_are_passed_over(void **state)
{
    (void)state;
    static const uint64_t only[] = {3, 5, 8};
    struct opened o = SECTION(8, 78, 4, 74, 0, 70, 5, 75, 9, 79);
    opens(&o, (struct pgk_metadata_layout){true, false, false, 10, only, PGK_COUNTOF(only)});
    static const uint64_t want[10] = {[5] = 75, [8] = 78};
    for (uint64_t identity = 0; identity < PGK_COUNTOF(want); identity++)
        assert_int_equal(applied(&o, identity).checksum, want[identity]);
    assert_int_equal(o.m.entry_of.n, PGK_COUNTOF(only));
    end(&o);
}

static void identities_are_found_in_rising_lists(void **state)
{
    (void)state;
    static const uint64_t v[] = {3, 5, 8};
    for (size_t i = 0; i < PGK_COUNTOF(v); i++)
        assert_int_equal(pgk_find_identity(v, PGK_COUNTOF(v), v[i]), i);
    static const uint64_t others[] = {0, 4, 9, UINT64_MAX};
    for (size_t i = 0; i < PGK_COUNTOF(others); i++)
        assert_int_equal(pgk_find_identity(v, PGK_COUNTOF(v), others[i]), PGK_COUNTOF(v));
    assert_int_equal(pgk_find_identity(v, 0, 3), 0);
}

/* main, with two inlinees of one name at two places, the second of which has one of its own. */
static const uint8_t NESTED[] = {
    MAIN, 70, 0, 3,
    9, 1, INLINED, 73, 2, 1, /* at 9.1 */
    4, 0, DEEP, 74, 3, 0,    /* at 4 of that */
    2, 0, INLINED, 72, 1, 0, /* at 2 */
    8, 0, DEEP, 78, 0, 1,    /* at 8, which the profile does not have */
    1, 0, DEEP, 79, 0, 0,
};

static const struct pgk_metadata_layout nested = {true, true, true, 2, NULL, 0};

static void inlinees_get_what_is_at_their_place(void **state)
{
    (void)state;
    struct opened o = section(NESTED, sizeof NESTED);
    opens(&o, nested);
    assert_true(pgk_stage_begin(&o.stage, ID + MAIN));
    const uint32_t at_2 = pgk_stage_inlinee(&o.stage, 0, pgk_sample_loc(2, 0), ID + INLINED),
                   at_9 = pgk_stage_inlinee(&o.stage, 0, pgk_sample_loc(9, 1), ID + INLINED),
                   deep = pgk_stage_inlinee(&o.stage, at_9, pgk_sample_loc(4, 0), ID + DEEP),
                   other = pgk_stage_inlinee(&o.stage, at_2, pgk_sample_loc(4, 0), ID + DEEP),
                   renamed = pgk_stage_inlinee(&o.stage, 0, pgk_sample_loc(8, 0), ID + INLINED);
    assert_int_equal(pgk_metadata_apply(&o.m, MAIN, &o.stage, NULL), 0);
    const struct pgk_stage_node *v = o.stage.slots.v;
    assert_true(v[0].checksum == 70 && v[0].attributes == 0);
    assert_true(v[at_2].checksum == 72 && v[at_2].attributes == 1);
    assert_true(v[at_9].checksum == 73 && v[at_9].attributes == 2);
    assert_true(v[deep].checksum == 74 && v[deep].attributes == 3);
    assert_true(v[other].checksum == 0 && v[renamed].checksum == 0);
    /* Again, with another function behind it, as readers use it. */
    assert_true(applied(&o, MAIN).checksum == 70);
    assert_true(applied(&o, 1).checksum == 0);
    end(&o);
}

/* Inlinees of one place and name: the first has the entry. */
static void of_equal_inlinees_the_first_gets_it(void **state)
{
    (void)state;
    struct opened o = section(NESTED, sizeof NESTED);
    opens(&o, nested);
    assert_true(pgk_stage_begin(&o.stage, ID));
    for (int i = 0; i < 3; i++)
        pgk_stage_inlinee(&o.stage, 0, pgk_sample_loc(2, 0), ID + INLINED);
    assert_int_equal(pgk_metadata_apply(&o.m, MAIN, &o.stage, NULL), 0);
    assert_int_equal(o.stage.slots.v[1].checksum, 72);
    assert_int_equal(o.stage.slots.v[2].checksum, 0);
    assert_int_equal(o.stage.slots.v[3].checksum, 0);
    end(&o);
}

static void damage_is_refused(void **state)
{
    (void)state;
    const struct pgk_metadata_layout plain = {true, true, false, 2, NULL, 0};
    refused(SECTION(0, 70, 0, 2, 70, 0), plain, PGK_E_CORRUPT, "function", 103);
    refused(SECTION(0, 70), plain, PGK_E_TRUNCATED, "attributes", 102);
    refused(SECTION(0, 70, 0, 0x80), plain, PGK_E_TRUNCATED, "function", 103);
    refused(SECTION(0, 70, 0, 1), nested, PGK_E_CORRUPT, "number of inlinees", 103);
    refused(SECTION(0, 70, 0, 2, 1, 0, 1, 0, 0, 0), nested, PGK_E_CORRUPT, "number of inlinees",
            103);
    /* 2^32, which is not 0. */
    refused(SECTION(0, 70, 0x80, 0x80, 0x80, 0x80, 0x10), plain, PGK_E_CORRUPT, "attributes", 102);
    refused(SECTION(0, 70, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 70, 0, 0), nested,
            PGK_E_CORRUPT, "line offset of inlinee", 104);
    refused(SECTION(0, 70, 0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 70, 0, 0), nested,
            PGK_E_CORRUPT, "discriminator of inlinee", 105);
    for (size_t size = 1; size < sizeof NESTED; size++) {
        struct opened o = section(NESTED, size);
        struct pgk_err err = {0};
        int status = open_as(&o, &nested, &err);
        assert_true(status == PGK_E_TRUNCATED || status == PGK_E_CORRUPT);
        assert_true(*err.field && err.offset >= 100 && err.offset <= 100 + size);
        end(&o);
    }
}

/* Names are resolved, and so found to be missing, only when the function is wanted. */
static void an_inlinee_of_no_name_is_refused(void **state)
{
    (void)state;
    struct opened o = SECTION(MAIN, 70, 0, 1, 2, 0, NAMES, 72, 1, 0);
    struct pgk_err err = {0};
    opens(&o, nested);
    assert_true(pgk_stage_begin(&o.stage, ID));
    assert_int_equal(pgk_metadata_apply(&o.m, MAIN, &o.stage, &err), PGK_E_CORRUPT);
    assert_string_equal(err.field, "inlinee");
    assert_int_equal(err.offset, 106);
    end(&o);
}

/* As deep as functions may nest, and one level deeper. */
static void inlinees_nest_up_to_a_limit(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct opened o = SECTION(MAIN);
        struct pgk_err err = {0};
        for (int level = 0; level < PGK_SAMPLE_MAX_DEPTH + more; level++)
            tb_put(&o.bytes, (const uint8_t[]){70, 0, 1, 1, 0, DEEP}, 6);
        tb_put(&o.bytes, (const uint8_t[]){70, 0, 0}, 3);
        int status = open_as(&o, &nested, &err);
        assert_int_equal(status, more ? PGK_E_CORRUPT : 0);
        if (more) {
            assert_string_equal(err.field, "number of inlinees");
            assert_non_null(strstr(err.found, "at depth 1000"));
        }
        end(&o);
    }
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM, failures = -1;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++, failures++) {
        struct opened o = section(NESTED, sizeof NESTED);
        struct pgk_err err = {0};
        assert_true(pgk_stage_begin(&o.stage, ID));
        pgk_stage_inlinee(&o.stage, 0, pgk_sample_loc(2, 0), ID + INLINED);
        pgk_mem_fail_after(nth);
        status = open_as(&o, &nested, &err);
        if (!status)
            status = pgk_metadata_apply(&o.m, MAIN, &o.stage, &err);
        pgk_mem_fail_after(0);
        assert_int_equal(err.status, status);
        end(&o);
        assert_in_range(nth, 1, 10);
    }
    assert_int_equal(status, 0);
    assert_int_equal(failures, 2); /* entries, and inlinees */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found_in_any_order),
        cmocka_unit_test(checksums_and_attributes_come_alone_too),
        cmocka_unit_test(checksums_may_have_64_bits),
        cmocka_unit_test(entries_that_are_not_wanted_are_passed_over),
        cmocka_unit_test(identities_are_found_in_rising_lists),
        cmocka_unit_test(inlinees_get_what_is_at_their_place),
        cmocka_unit_test(of_equal_inlinees_the_first_gets_it),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(an_inlinee_of_no_name_is_refused),
        cmocka_unit_test(inlinees_nest_up_to_a_limit),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
