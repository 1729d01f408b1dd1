/* Sample profiles as text: the grammar, odd lines, refusals. */
#include "sample_cases.h"

static void same(const char *text)
{
    case_expect(case_read(text), text);
}

static void test_round_trips(void **state)
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
static void test_odd_lines(void **state)
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
static void test_metadata_order(void **state)
{
    (void)state;
    case_expect(case_read("f:1:1\n 1: 1\n !Attributes: 2\n !CFGChecksum: 5\n"),
                "f:1:1\n 1: 1\n !CFGChecksum: 5\n !Attributes: 2\n");
    case_expect(case_read("f:1:1\n 1: 1\n !Attributes: 2\n !Flat\n"),
                "f:1:1\n 1: 1\n !Attributes: 2\n");
}

/* GUIDs in decimal are names of functions, in places where LLVM cannot read them back, too. */
static void test_guids(void **state)
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

static void test_refusals(void **state)
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

static void test_depth_is_limited(void **state)
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

static void test_sniffing(void **state)
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

static void test_out_of_memory(void **state)
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
        cmocka_unit_test(test_round_trips),      cmocka_unit_test(test_odd_lines),
        cmocka_unit_test(test_metadata_order),   cmocka_unit_test(test_guids),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_sniffing),         cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
