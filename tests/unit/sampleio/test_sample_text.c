/* Sample profiles as text: the grammar, odd lines, refusals. */
#include "sample_cases.h"

static void same(const char *text)
{
    case_expect(case_read(text), text);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    same(CASE_PLAIN);
    same(CASE_CONTEXTS);
    same(CASE_PROBES);
    same("a:18446744073709551615:18446744073709551615\n 1: 18446744073709551615\n");
    same("f:1:1\n 1: preinlined:1\n  1: 1\n  !Attributes: 2\n !Attributes: 1\n");
}

struct odd_case {
    const char *text, *means;
};

/* What llvm-profdata 22 makes of these. */
static void odd_lines_are_read_as_by_llvm(void **state)
{
    (void)state;
    static const struct odd_case cases[] = {
        {"# a comment\n\n   \nf:2:1\r\n 1: 2\r\n", "f:2:1\n 1: 2\n"},
        {"1:2:3\n 1: 2\n", "1:2:3\n 1: 2\n"},
        {"123:45\n", NULL},
        {"a::b:2:1\n 1: 2\n", "a::b:2:1\n 1: 2\n"},
        {"f:2:1\n 1: 1\nf:3:1\n 1: 3\n 2: 4\n", "f:5:2\n 1: 4\n 2: 4\n"},
        {"f:2:1\n 1: 1 g:1\n 1: 3 g:2 h:1\n", "f:2:1\n 1: 4 g:3 h:1\n"},
        {"f:2:1\n 1: 9 g:1 g:5\n", "f:2:1\n 1: 9 g:5\n"},
        {"f:2:1\n 1: 9  op new(int, x):3 std::f:2\n", "f:2:1\n 1: 9 op new(int, x):3 std::f:2\n"},
        {"f:2:1\n 1: g:1\n  1: 1\n 1: g:2\n  1: 2\n", "f:2:1\n 1: g:3\n  1: 3\n"},
        {"f:2:1\n 2: 1\n 1: 1\n", "f:2:1\n 1: 1\n 2: 1\n"},
        {"f:2:1\n 1: g:1\n  1: 1\n 2: 5\n", "f:2:1\n 2: 5\n 1: g:1\n  1: 1\n"},
        {"f:2:1\n 1:10\n", "f:2:1\n 1: 0\n"},
        {"f:2:1\n 9: vtables  b:2   a:1  \n 9: 4\n 9: vtables a:1\n",
         "f:2:1\n 9: 4\n 9: vtables a:2 b:2 \n"},
        {"f:2:1\n 9: vtables: a:1\n", "f:2:1\n 9: vtables: a:1\n"},
        {"f:1:1\n 1: 1\n !Flat\n", "f:1:1\n 1: 1\n"},
        {"f:1:1\n 1: 1\n !CFGChecksum:  0 \n", "f:1:1\n 1: 1\n"},
        {"[main:1@foo]:2:1\n 1: 2\n", "[main]:2:1\n 1: 2\n"},
        {"[main:x.y @ foo:7]:2:1\n 1: 2\n", "[main:0 @ foo]:2:1\n 1: 2\n"},
        {"foo:3:1\n 1: 3\n[main]:2:1\n 1: 2\n", "[foo]:3:1\n 1: 3\n[main]:2:1\n 1: 2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pgk_sample *p;
        struct pgk_err err;
        bool refused = case_try_text(cases[i].text, strlen(cases[i].text), &p, &err) != 0;
        assert_int_equal(refused, !cases[i].means);
        if (refused)
            pgk_sample_close(&p);
        else
            case_expect(p, cases[i].means);
    }
}

/* Attributes survive whatever metadata follows them, which they do not in LLVM. */
/* Few and many are compared in different ways. */
static void targets_named_twice_add_up(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n++) {
        char text[4096] = "f:9:1\n 1: 9", means[4096] = "f:9:1\n 1: 9";
        for (int i = 0; i < 2 * n; i++)
            sprintf(text + strlen(text), " t%02d:%d", i % n, 3 * n - i);
        for (int i = n; i < 2 * n; i++)
            sprintf(means + strlen(means), " t%02d:%d", i % n, 3 * n - i);
        struct pgk_sample *p;
        struct pgk_err err;
        assert_int_equal(case_try_text(strcat(text, "\n"), strlen(text), &p, &err), 0);
        case_expect(p, strcat(means, "\n"));
    }
}

static void metadata_may_stand_anywhere(void **state)
{
    (void)state;
    case_expect(case_read("f:1:1\n 1: 1\n !Attributes: 2\n !CFGChecksum: 5\n"),
                "f:1:1\n 1: 1\n !CFGChecksum: 5\n !Attributes: 2\n");
    case_expect(case_read("f:1:1\n 1: 1\n !Attributes: 2\n !Flat\n"),
                "f:1:1\n 1: 1\n !Attributes: 2\n");
}

/* GUIDs in decimal are names of functions, in places where LLVM cannot read them back, too. */
static void names_that_are_guids(void **state)
{
    (void)state;
    same("6699318081062747564:9:1\n 1: 3 16434608426314478903:2\n"
         " 2: 7546896869197086323:6\n  1: 6\n");
    /* The GUID of foo, and foo. */
    case_expect(case_read("6699318081062747564:9:1\n 1: 3\nfoo:1:1\n 1: 4\n"),
                "foo:10:2\n 1: 7\n");
    case_expect(case_read("foo:1:1\n 1: 4\n6699318081062747564:9:1\n 1: 3\n"),
                "foo:10:2\n 1: 7\n");
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        " 1: 1\n", "f:1\n", "f:x:1\n", "f:1:18446744073709551616\n", ":1:1\n",
        "f:1:1\n\t1: 1\n", "f:1:1\n 65536: 1\n", "f:1:1\n 1.4294967296: 1\n", "f:1:1\n 1\n",
        "f:1:1\n 1: 1 \n", "f:1:1\n 1: 1 g\n", "f:1:1\n 1: 1 g:x\n", "f:1:1\n 1:  1\n",
        "f:1:1\n 1: g\n", "f:1:1\n 1: g:-1\n", "f:1:1\n x: 1\n", "f:1:1\n 1: vtables a:1 a:2\n",
        "f:1:1\n 1: vtables a\n", "f:1:1\n 1: vtables a:x\n", "f:1:1\n !Other: 1\n",
        "f:1:1\n !Flat \n", "f:1:1\n 1: g:1\n  !Flat\n", "f:1:1\n !Attributes: 4294967296\n",
        "f:1:1\n !CFGChecksum: x\n", "f:1:1\n !CFGChecksum: 1\n 1: 1\n", "[]:1:1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pgk_sample *p;
        struct pgk_err err;
        if (case_try_text(texts[i], strlen(texts[i]), &p, &err) != PGK_E_CORRUPT)
            fail_msg("not refused: %s", texts[i]);
        assert_true(strncmp(err.record, "line ", 5) == 0);
        assert_true(*err.field && *err.found && *err.expected && *err.hint);
        assert_true(err.offset <= strlen(texts[i]));
        pgk_sample_close(&p);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    PGK_VEC(char) text = {0};
    const char head[] = "f:1:1\n", inlinee[] = "1: g:1\n";
    for (const char *c = head; *c; c++)
        assert_true(pgk_vec_push(&text, *c));
    for (int depth = 1; depth < 5000; depth++) {
        for (int i = 0; i < depth; i++)
            assert_true(pgk_vec_push(&text, ' '));
        for (const char *c = inlinee; *c; c++)
            assert_true(pgk_vec_push(&text, *c));
    }
    struct pgk_sample *p;
    struct pgk_err err;
    assert_int_equal(case_try_text(text.v, text.n, &p, &err), PGK_E_CORRUPT);
    assert_string_equal(err.field, "inlinee");
    pgk_sample_close(&p);
    pgk_vec_free(&text);
}

/* One line out of pieces that lines have, in any order. */
static size_t random_line(uint64_t *seed, char *line)
{
    static const char *const pieces[] = {
        ":", ": ", " ", ".", "0", "7", "65535", "65536", "18446744073709551615",
        "18446744073709551616", "9999999999", "00000000000000000003", "f", "ab:", "vtables ", "f:2",
        " g:3", "4294967295", "4294967296", "!Flat"};
    size_t n = 0, wanted = 1 + (*seed >> 8) % 7;
    line[n++] = ' ';
    for (size_t i = 0; i < wanted; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const char *piece = i == 1 && *seed >> 63 ? ": " : pieces[(*seed >> 40) % 20];
        memcpy(line + n, piece, strlen(piece));
        n += strlen(piece);
    }
    return n;
}

/* Lines of samples are read in one go if they end with a newline alone; with a carriage return
 * before it they are taken apart like any other line. */
static void quick_and_plain_reading_agree(void **state)
{
    (void)state;
    uint64_t seed = 99;
    unsigned read = 0, refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        char quick[256] = "m:5:5\n 3: 4\n", plain[256] = "m:5:5\n 3: 4\n", line[200];
        size_t head = strlen(quick), n = random_line(&seed, line);
        memcpy(quick + head, line, n);
        memcpy(plain + head, line, n);
        strcpy(quick + head + n, "\n");
        strcpy(plain + head + n, "\r\n");
        struct pgk_sample *a, *b;
        struct pgk_err ea, eb;
        int sa = case_try_text(quick, strlen(quick), &a, &ea);
        int sb = case_try_text(plain, strlen(plain), &b, &eb);
        if (sa != sb)
            fail_msg("'%s': %d, with a carriage return %d", quick, sa, sb);
        if (sa) {
            assert_int_equal(ea.offset, eb.offset);
            assert_string_equal(ea.found, eb.found);
            pgk_sample_close(&b);
        } else {
            char *expected = case_text(b);
            case_expect(a, expected);
            free(expected);
            pgk_sample_close(&b);
            read++;
            continue;
        }
        pgk_sample_close(&a);
        refused++;
    }
    assert_in_range(read, 300, 19000);
    assert_in_range(refused, 1000, 19700);
}

static void text_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    static const char *const texts[] = {CASE_PLAIN, CASE_CONTEXTS, CASE_PROBES};
    for (size_t i = 0; i < 3; i++) {
        for (size_t size = 0; size < strlen(texts[i]); size++) {
            struct pgk_sample *p;
            struct pgk_err err;
            int status = case_try_text(texts[i], size, &p, &err);
            if (status) {
                assert_int_equal(status, PGK_E_CORRUPT);
                assert_true(err.offset <= size && *err.field && *err.found && *err.expected);
            }
            pgk_sample_close(&p);
        }
    }
}

static void text_is_recognised(void **state)
{
    (void)state;
    static const char *const good[] = {"f:1:1\n", "# x\n\nf:1:1", "[a @ b]:1:1\r\n"};
    static const char *const bad[] = {"", "\n\n", "# x\n", " f:1:1\n", "f:1\n", "\x7f\x45LF",
                                      "---\n"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(pgk_sample_text_sniff((const uint8_t *)good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pgk_sample_text_sniff((const uint8_t *)bad[i], strlen(bad[i])));
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sample *p;
        struct pgk_err err;
        pgk_mem_fail_after(nth);
        status = case_try_text(CASE_PLAIN, sizeof CASE_PLAIN - 1, &p, &err);
        if (!status)
            status = pgk_sample_finish(p, &err);
        pgk_mem_fail_after(0);
        pgk_sample_close(&p);
        assert_in_range(nth, 1, 500);
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(odd_lines_are_read_as_by_llvm),
        cmocka_unit_test(targets_named_twice_add_up),
        cmocka_unit_test(metadata_may_stand_anywhere),
        cmocka_unit_test(names_that_are_guids),
        cmocka_unit_test(quick_and_plain_reading_agree),
        cmocka_unit_test(text_may_be_cut_at_every_byte),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(text_is_recognised),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
