/* Partial sample profiles: nothing is lost, damage is refused, shards come to the same. */
#include "sample_cases.h"

#include "sample_partial.h"

#define HEAD PGK_SAMPLE_PARTIAL_HEAD "\n"

static const char TWO_BUILDS[] =
    HEAD "marks: probes flow shared symbols\nsymbols: 2\n_Za\nmain\n"
    "main:9:2\n 1: 9\n 2: foo:4\n  1: 4\n  !CFGChecksum: 5\n"
    " 2: foo:6\n  1: 6\n  !CFGChecksum: 6\n !CFGChecksum: 1\n"
    "main:9:1\n 1: 9 foo:3\n !CFGChecksum: 2\n"
    "main:3:0\n 1: 3\n !CFGChecksum: 0\n";

static char *printed(struct pgk_sample *p)
{
    struct pgk_sink *out;
    struct pgk_err err = {0};
    char message[8192];
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, &err), 0);
    if (pgk_sample_partial_write(p, out, &err))
        fail_msg("%s", test_printed(message, &err));
    const uint8_t *bytes = pgk_sink_data(out, &size);
    char *text = strndup((const char *)bytes, size);
    pgk_sink_drop(&out);
    pgk_sample_close(&p);
    return text;
}

static void expect(struct pgk_sample *p, const char *means)
{
    char *text = printed(p);
    assert_string_equal(text, means);
    free(text);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TWO_BUILDS,
        HEAD "marks:\nsymbols: 0\n",
        HEAD "marks: contexts preinlined\nsymbols: 0\n[main:1 @ foo]:2:1\n 1: 2\n"
             " !Attributes: 2\n",
    };
    for (size_t i = 0; i < PGK_COUNTOF(texts); i++)
        expect(case_read(texts[i]), texts[i]);
    struct pgk_sample *p = case_read(CASE_PLAIN);
    char *text = printed(p);
    assert_non_null(strstr(text, "symbols: 0\n"));
    assert_string_equal(strstr(text, "main:"), CASE_PLAIN);
    expect(case_read(text), text);
    free(text);
}

/* The build with the most samples is known only when all shards are there. */
static void shards_merge_to_the_whole(void **state)
{
    (void)state;
    static const char *const builds[] = {
        "f:100:1\n 1: 100\n !CFGChecksum: 1\n",
        "f:60:1\n 1: 60\n !CFGChecksum: 2\n",
        "f:70:1\n 1: 70\n 2: g:7\n  1: 7\n  !CFGChecksum: 9\n !CFGChecksum: 2\n",
        "f:5:1\n 1: 5\n 2: g:5\n  1: 5\n  !CFGChecksum: 8\n !CFGChecksum: 2\n",
    };
    struct pgk_err err = {0};
    for (int split = 0; split <= 4; split++) {
        struct pgk_sample *all = case_read("");
        for (int half = 0; half < 2; half++) {
            struct pgk_sample *part = case_read("");
            for (int i = half ? split : 0; i < (half ? 4 : split); i++)
                assert_int_equal(pgk_sample_text_read(part, (const uint8_t *)builds[i],
                                                      strlen(builds[i]), &case_source, 1, &err),
                                 0);
            char *text = printed(part);
            assert_int_equal(pgk_sample_text_read(all, (const uint8_t *)text, strlen(text),
                                                  &case_source, 1, &err), 0);
            free(text);
        }
        case_expect(all, "f:135:3\n 1: 135\n 2: g:7\n  1: 7\n  !CFGChecksum: 9\n"
                         " !CFGChecksum: 2\n");
    }
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD "marks: fast\nsymbols: 0\n",  HEAD "mark: probes\nsymbols: 0\n",
        HEAD "marks:\nsymbols: x\n",       HEAD "marks:\nsymbols: 1\n",
        HEAD "marks:\nsymbols: 18446744073709551615\na\n", HEAD "marks:", HEAD "marks:\n",
        HEAD "marks:\nsymbols: 0\nf:1\n",
    };
    struct pgk_sample *p;
    struct pgk_err err;
    for (size_t i = 0; i < PGK_COUNTOF(texts); i++) {
        assert_int_equal(case_try_text(texts[i], strlen(texts[i]), &p, &err), PGK_E_CORRUPT);
        assert_true(*err.field && *err.found && *err.expected && *err.record);
        pgk_sample_close(&p);
    }
    for (size_t size = strlen(HEAD); size < strlen(TWO_BUILDS); size++) {
        int status = case_try_text(TWO_BUILDS, size, &p, &err);
        assert_true(!status || status == PGK_E_CORRUPT);
        assert_true(status || size > (size_t)(strstr(TWO_BUILDS, "main:9:2") - TWO_BUILDS) - 1);
        pgk_sample_close(&p);
    }
    assert_true(pgk_sample_text_sniff((const uint8_t *)TWO_BUILDS, strlen(TWO_BUILDS)));
    assert_false(pgk_sample_text_sniff((const uint8_t *)TWO_BUILDS, strlen(HEAD) - 1));
}

/* Contexts and plain profiles do not mix, nor do their shards. */
static void kinds_do_not_mix(void **state)
{
    (void)state;
    static const char contexts[] = HEAD "marks: contexts\nsymbols: 0\n";
    struct pgk_sample *p = case_read(CASE_PLAIN);
    struct pgk_err err = {0};
    assert_int_equal(pgk_sample_text_read(p, (const uint8_t *)contexts, strlen(contexts),
                                          &case_source, 1, &err), PGK_E_MISMATCH);
    pgk_sample_close(&p);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
        struct pgk_sample *p;
        struct pgk_sink *out = NULL;
        struct pgk_err err;
        pgk_mem_fail_after(nth);
        status = case_try_text(TWO_BUILDS, strlen(TWO_BUILDS), &p, &err);
        if (!status)
            status = pgk_sink_memory(&out, &err);
        if (!status)
            status = pgk_sample_partial_write(p, out, &err);
        if (!status)
            status = pgk_sink_commit(&out, &err);
        pgk_mem_fail_after(0);
        pgk_sink_drop(&out);
        pgk_sample_close(&p);
        assert_in_range(nth, 1, 500);
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(shards_merge_to_the_whole),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(kinds_do_not_mix),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
