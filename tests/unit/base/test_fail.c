/* Tests of errors: what is kept and how it reads. */
#include "pgk_test.h"

#include "fail.h"

#include <errno.h>

static void assert_prints(const struct pgk_err *err, const char *text)
{
    char buf[8192];
    assert_string_equal(test_printed(buf, err), text);
}

static void every_status_has_a_sentence(void **state)
{
    (void)state;
    assert_string_equal(pgk_status_text(0), "done");
    assert_string_equal(pgk_status_text(PGK_E_CORRUPT), "the file contradicts itself");
    assert_string_equal(pgk_status_text(-9999), "an unknown error");
    assert_string_equal(pgk_status_text(17), "an unknown error");
}

static void a_full_message(void **state)
{
    (void)state;
    struct pgk_err err;
    uint64_t off = 0x1a4;
    int status = pgk_fail(&err, PGK_E_CORRUPT, .file = "mem.profraw", .format = "raw heap profile",
                          .version = 4, .record = "MIB 17", .field = "stack id", .offset = &off,
                          .found = PGK_F("%d frames", 5000), .expected = "at most 4096",
                          .hint = "record the program again");
    assert_int_equal(status, PGK_E_CORRUPT);
    assert_int_equal(err.status, PGK_E_CORRUPT);
    assert_int_equal(err.offset, 0x1a4);
    assert_int_equal(err.sys_errno, 0);
    assert_prints(&err, "mem.profraw: raw heap profile v4: MIB 17, field stack id at offset "
                        "0x1a4 (420): found 5000 frames, expected at most 4096. Record the "
                        "program again.");
}

static void absent_parts_leave_no_gap(void **state)
{
    (void)state;
    struct pgk_err e;
    uint64_t zero = 0;

    pgk_fail(&e, PGK_E_EMPTY, .hint = NULL);
    assert_int_equal(e.offset, PGK_NO_OFFSET);
    assert_prints(&e, "nothing left to write");
    pgk_fail(&e, PGK_E_FORMAT, .file = "x");
    assert_prints(&e, "x: not a file of a known format");
    pgk_fail(&e, PGK_E_FORMAT, .file = "x", .hint = "see 'pgokit formats'");
    assert_prints(&e, "x: not a file of a known format. See 'pgokit formats'.");
    pgk_fail(&e, PGK_E_VERSION, .format = "indexed profile", .version = 99);
    assert_prints(&e, "indexed profile v99: a version that is not supported");
    pgk_fail(&e, PGK_E_VERSION, .file = "x", .version = 99);
    assert_prints(&e, "x: version 99: a version that is not supported");
    pgk_fail(&e, PGK_E_CORRUPT, .file = "x", .offset = &zero);
    assert_prints(&e, "x: at offset 0x0 (0): the file contradicts itself");
    pgk_fail(&e, PGK_E_CORRUPT, .file = "x", .record = "header", .offset = &zero);
    assert_prints(&e, "x: header at offset 0x0 (0): the file contradicts itself");
    pgk_fail(&e, PGK_E_CORRUPT, .file = "x", .field = "count", .expected = "1");
    assert_prints(&e, "x: field count: expected 1");
    pgk_fail(&e, PGK_E_CORRUPT, .file = "x", .field = "count", .found = "2");
    assert_prints(&e, "x: field count: found 2");
}

static void hints_read_as_sentences(void **state)
{
    (void)state;
    const struct {
        const char *hint, *printed;
    } rows[] = {
        {"try again", "out of memory. Try again."},
        {"Try again.", "out of memory. Try again."},
        {"is it yours?", "out of memory. Is it yours?"},
        {"clang-16 and newer can", "out of memory. clang-16 and newer can."},
        {"pgokit check tells more", "out of memory. pgokit check tells more."},
        {"'x' is missing", "out of memory. 'x' is missing."},
    };
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        struct pgk_err e;
        pgk_fail(&e, PGK_E_NOMEM, .hint = rows[i].hint);
        assert_prints(&e, rows[i].printed);
    }
}

static void refusals_of_the_system_say_why(void **state)
{
    (void)state;
    struct pgk_err e;
    errno = ENOENT;
    assert_int_equal(pgk_fail_errno(&e, "a.profraw", "open"), PGK_E_IO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_prints(&e, "a.profraw: cannot open: No such file or directory. Check the spelling of "
                      "the path.");
    errno = EDOM;
    pgk_fail_errno(&e, "a", "read");
    assert_prints(&e, "a: cannot read: Numerical argument out of domain");
    pgk_fail(&e, PGK_E_IO, .file = "a", .sys_errno = EACCES);
    assert_prints(&e, "a: the system refused: Permission denied");
    pgk_fail(&e, PGK_E_IO, .file = "a");
    assert_prints(&e, "a: the system refused");
    assert_int_equal(pgk_fail_errno(NULL, "a", "read"), PGK_E_IO);
}

static void long_texts_are_cut_and_say_so(void **state)
{
    (void)state;
    struct pgk_err e;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    pgk_fail(&e, PGK_E_CORRUPT, .file = text, .format = text, .record = text, .field = text,
             .found = text, .expected = text, .hint = text);
    assert_int_equal(strlen(e.file), sizeof e.file - 1);
    assert_int_equal(strlen(e.format), sizeof e.format - 1);
    assert_int_equal(strlen(e.hint), sizeof e.hint - 1);
    assert_string_equal(e.field + strlen(e.field) - 4, "x...");

    text[sizeof e.format - 1] = '\0';
    pgk_fail(&e, PGK_E_CORRUPT, .format = text);
    assert_string_equal(e.format, text);

    /* Not in the middle of a character. */
    for (int shift = 0; shift < 3; shift++) {
        char euros[128];
        memset(euros, 'y', sizeof euros);
        for (int i = shift; i + 3 < (int)sizeof euros; i += 3)
            memcpy(euros + i, "\xe2\x82\xac", 3);
        euros[sizeof euros - 1] = '\0';
        pgk_fail(&e, PGK_E_CORRUPT, .format = euros);
        size_t kept = strlen(e.format) - 3;
        assert_in_range(kept, sizeof e.format - 7, sizeof e.format - 4);
        assert_int_equal((kept - (size_t)shift) % 3, 0);
        assert_string_equal(e.format + kept, "...");
    }
}

static void everything_is_escaped_and_still_fits(void **state)
{
    (void)state;
    struct pgk_err e;
    char text[600], buf[8192];
    memset(text, '\x1b', sizeof text);
    text[sizeof text - 1] = '\0';
    uint64_t off = UINT64_MAX - 1;
    pgk_fail(&e, PGK_E_CORRUPT, .file = text, .format = text, .record = text, .field = text,
             .found = text, .expected = text, .hint = text, .version = UINT32_MAX, .offset = &off,
             .sys_errno = EIO);
    test_printed(buf, &e);
    assert_null(strchr(buf, '\x1b'));
    assert_string_equal(buf + strlen(buf) - 7, "\\x1b...");

    pgk_fail(&e, PGK_E_FORMAT, .file = "a\nb\x1b[2J");
    assert_prints(&e, "a\\x0ab\\x1b[2J: not a file of a known format");
}

static void without_a_place_to_write_only_the_status_returns(void **state)
{
    (void)state;
    assert_int_equal(pgk_fail(NULL, PGK_E_LIMIT, .file = "x"), PGK_E_LIMIT);
    assert_int_equal(pgk_fail_nomem(NULL), PGK_E_NOMEM);
    struct pgk_err e;
    assert_int_equal(pgk_fail_nomem(&e), PGK_E_NOMEM);
    assert_int_equal(e.status, PGK_E_NOMEM);
}

static int passes_on(int status, int *after)
{
    PGK_TRY(status);
    *after = 1;
    return 5;
}

static void try_returns_failures_only(void **state)
{
    (void)state;
    int after = 0;
    assert_int_equal(passes_on(PGK_E_IO, &after), PGK_E_IO);
    assert_int_equal(after, 0);
    assert_int_equal(passes_on(0, &after), 5);
    assert_int_equal(after, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_sentence),
        cmocka_unit_test(a_full_message),
        cmocka_unit_test(absent_parts_leave_no_gap),
        cmocka_unit_test(hints_read_as_sentences),
        cmocka_unit_test(refusals_of_the_system_say_why),
        cmocka_unit_test(long_texts_are_cut_and_say_so),
        cmocka_unit_test(everything_is_escaped_and_still_fits),
        cmocka_unit_test(without_a_place_to_write_only_the_status_returns),
        cmocka_unit_test(try_returns_failures_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
