/* YAML heap profiles: round trips, who owns a context, refusals. */
#include "heap_yaml.h"

#include "heap_samples.h"

static int read_text(const char *text, struct pgk_heap **h, struct pgk_heap_yaml_info *info,
                     struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.yaml", .format = "YAML heap profile"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_heap_yaml_read(*h, (const uint8_t *)text, strlen(text), &src, info, err);
}

/* NUL-terminated, to be freed. */
static char *write_text(const struct pgk_heap *h)
{
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_heap_yaml_write(h, NULL, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    char *text = strndup((const char *)bytes, size);
    pgk_sink_drop(&out);
    return text;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct pgk_heap *h, *back, *again;
        struct pgk_err err;
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        sample_fill(h, seed, 1 + (unsigned)seed * 5, 1 + (unsigned)seed % 9, seed & 1);
        char *first = write_text(h);
        assert_int_equal(read_text(first, &back, NULL, &err), 0);
        assert_int_equal(pgk_heap_contexts(back), pgk_heap_contexts(h));
        char *second = write_text(back);
        assert_int_equal(strlen(first), strlen(second));
        assert_int_equal(read_text(second, &again, NULL, &err), 0);
        char *third = write_text(again);
        assert_string_equal(second, third);
        free(first);
        free(second);
        free(third);
        pgk_heap_close(&h);
        pgk_heap_close(&back);
        pgk_heap_close(&again);
    }
}

#define FRAME(guid, inlined) \
    "- { Function: " guid ", LineOffset: 1, Column: 2, IsInlineFrame: " inlined " }\n"
#define SITE(frames) \
    "      - Callstack:\n" frames "        MemInfoBlock:\n          AllocCount:      3\n"
#define HEAD "---\nHeapProfileRecords:\n"

/* The inline chain is 0x1 and 0x2. Its records may be complete, lack one, or be another's. */
static void records_own_their_contexts(void **state)
{
    (void)state;
    static const char site[] =
        SITE("          " FRAME("0x1", "true") "          " FRAME("0x2", "false"));
    const char *const lists[][3] = {{"0x1", "0x2"}, {"0x1"}, {"0x9"}, {"0x1", "0x2", "0x9"}};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        char text[2000] = HEAD;
        for (int i = 0; i < 3 && lists[l][i]; i++)
            sprintf(text + strlen(text), "  - GUID:            %s\n    AllocSites:\n%s",
                    lists[l][i], site);
        strcat(text, "...\n");
        struct pgk_heap *h;
        struct pgk_err err;
        assert_int_equal(read_text(text, &h, NULL, &err), 0);
        assert_int_equal(pgk_heap_contexts(h), 1);
        assert_int_equal(pgk_heap_mib(h, 0, PGK_MIB_SPACE)->v[PGK_MIB_AllocCount], 3);
        assert_int_equal(h->contexts.v[0].owned_by_chain, l == 0 || l == 3);
        char *back = write_text(h);
        assert_string_equal(back, text);
        free(back);
        pgk_heap_close(&h);
    }
}

/* Equal stacks in one record are added up. */
static void equal_stacks_of_a_record_add_up(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_err err;
    assert_int_equal(read_text(HEAD "  - GUID: 0x1\n    AllocSites:\n" SITE(
                                   "          " FRAME("0x1", "false"))
                                   SITE("          " FRAME("0x1", "false")),
                               &h, NULL, &err),
                     0);
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_int_equal(pgk_heap_mib(h, 0, PGK_MIB_SPACE)->v[PGK_MIB_AllocCount], 6);
    pgk_heap_close(&h);
}

static void other_spellings_are_accepted(void **state)
{
    (void)state;
    const char *const texts[] = {
        "---\n# a comment\n---\nHeapProfileRecords: []\n...\n",
        "---\n{}\n...\n",
        "---\nDataAccessProfiles:\n  SampledRecords:\n    - Symbol: a\n      AccessCount: 1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pgk_heap *h;
        struct pgk_err err;
        struct pgk_heap_yaml_info info = {0};
        assert_int_equal(read_text(texts[i], &h, &info, &err), 0);
        assert_int_equal(info.has_data_access, i == 2);
        pgk_heap_close(&h);
    }
}

/* Records that have call sites only are heap data, too. */
static void records_of_call_sites_only(void **state)
{
    (void)state;
    static const char text[] = HEAD "  - GUID:            0x1\n    CallSites:\n      - Frames:\n"
                                    "          " FRAME("0x1", "false") "...\n";
    struct pgk_heap *h;
    struct pgk_err err;
    assert_int_equal(read_text(text, &h, NULL, &err), 0);
    assert_int_equal(pgk_heap_check_writable(h, "t.yaml", "", &err), 0);
    char *back = write_text(h);
    assert_string_equal(back, text);
    free(back);
    pgk_heap_close(&h);
}

static void wrong_documents_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"---\n- 1\n", "document"},
        {"---\n{ HeapProfileRecords: [\n", "syntax"},
        {"---\nOther: 1\n", "key"},
        {"---\nDataAccessProfiles:\n  KnownColdSymbols:\n    - .part.foo\n", "KnownColdSymbols"},
        {HEAD "  - AllocSites: []\n", "key"},
        {HEAD "  - GUID: 123\n", "GUID"},
        {HEAD "  - GUID: 0xzz\n", "GUID"},
        {HEAD "  - GUID: 0x11111111111111111\n", "GUID"},
        {HEAD "  - GUID: 0x1\n    AllocSites: 3\n", "AllocSites"},
        {HEAD "  - GUID: 0x1\n    AllocSites:\n      - Callstack: []\n", "Callstack"},
        {HEAD "  - GUID: 0x1\n    AllocSites:\n      - MemInfoBlock: { Size: 1 }\n", "key"},
        {HEAD "  - GUID: 0x1\n    AllocSites:\n      - MemInfoBlock: { MinSize: 4294967296 }\n",
         "MinSize"},
        {HEAD "  - GUID: 0x1\n    CallSites:\n      - Frames:\n          - { Function: 0x1 }\n",
         "key"},
        {HEAD "  - GUID: 0x1\n    CallSites:\n      - Frames:\n          - { Column: -1 }\n",
         "Column"},
        {HEAD "  - GUID: 0x1\n    CallSites:\n      - Frames:\n"
              "          - { IsInlineFrame: yes }\n", "IsInlineFrame"},
        {HEAD "  - GUID: 0x1\n    CallSites:\n      - CalleeGuids: [ 12x ]\n", "CalleeGuids"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pgk_heap *h;
        struct pgk_err err;
        assert_int_equal(read_text(cases[i].text, &h, NULL, &err), PGK_E_CORRUPT);
        assert_string_equal(err.field, cases[i].field);
        assert_non_null(strstr(err.record, "line "));
        assert_true(err.offset <= strlen(cases[i].text));
        pgk_heap_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(records_own_their_contexts),
        cmocka_unit_test(equal_stacks_of_a_record_add_up),
        cmocka_unit_test(other_spellings_are_accepted),
        cmocka_unit_test(wrong_documents_are_refused),
        cmocka_unit_test(records_of_call_sites_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
