/* Printed heap profiles: both forms, what runtimes get wrong, refusals. */
#include "heap_text.h"

#include "heap_samples.h"

static int read_text(const char *text, size_t size, struct pgk_heap **h, struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.txt", .format = "printed heap profile"};
    *err = (struct pgk_err){0};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_heap_text_read(*h, (const uint8_t *)text, size, &src, err);
}

static struct pgk_heap *good(const char *text)
{
    struct pgk_heap *h;
    struct pgk_err err;
    assert_true(pgk_heap_text_sniff((const uint8_t *)text, strlen(text)));
    assert_int_equal(read_text(text, strlen(text), &h, &err), 0);
    return h;
}

#define BLOCK(id, count, size, accesses, life)                     \
    "Memory allocation stack id = " id "\n"                        \
    "\talloc_count " count ", size (ave/min/max) " size "\n"       \
    "\taccess_count (ave/min/max): " accesses "\n"                 \
    "\tlifetime (ave/min/max): " life "\n"                         \
    "\tnum migrated: 1, num lifetime overlaps: 2, num same alloc cpu: 3, num same dealloc_cpu: 4\n"
#define STACK(id)                                                        \
    "Stack for id " id ":\n"                                             \
    "    #0 0x449d6d  (/tmp/prog+0x449d6d)\n"                            \
    "    #1 0x469956  (/tmp/prog+0x469956)\n"                            \
    "    #2 0x7f0550add249  (libc.so.6+0x27249)\n"                       \
    "    #3 0xd502c14ba19a47ff  (<unknown module>)\n\n"

/* The runtime of clang 13 prints evicted blocks one by one, and no build ids. */
static void text_of_clang_13(void **state)
{
    (void)state;
    struct pgk_heap *h = good(
        "Evicted:\n" BLOCK("7", "2", "15.50 / 10 / 21", "0.33 / 0 / 1", "1.00 / 1 / 1")
        "==1905==WARNING: invalid path to external symbolizer!\n"
        "Overall miss rate: 0 / 3 = 0.00%\n"
        "Live on exit:\n" BLOCK("7", "1", "40.00 / 40 / 40", "5.00 / 5 / 5", "9.00 / 9 / 9")
        STACK("7") STACK("8"));
    assert_int_equal(pgk_heap_contexts(h), 1);
    const struct pgk_mib *m = pgk_heap_mib(h, 0, PGK_MIB_SPACE);
    assert_int_equal(m->v[PGK_MIB_AllocCount], 3);
    assert_int_equal(m->v[PGK_MIB_TotalSize], 31 + 40);
    assert_int_equal(m->v[PGK_MIB_MinSize], 10);
    assert_int_equal(m->v[PGK_MIB_MaxSize], 40);
    assert_int_equal(m->v[PGK_MIB_TotalAccessCount], 1 + 5);
    assert_int_equal(m->v[PGK_MIB_TotalLifetime], 11);
    assert_int_equal(m->v[PGK_MIB_NumSameAllocCpu], 6);
    assert_int_equal(m->known >> PGK_MIB_AllocTimestamp & 1, 0);
    assert_int_equal(m->known >> PGK_MIB_TotalAccessDensity & 1, 0);
    struct pgk_heap_frame f[4];
    assert_int_equal(pgk_heap_stack(h, 0, f, 4), 4);
    assert_int_equal(f[0].address, 0x449d6d);
    assert_int_equal(f[2].address, 0x27249); /* in libc */
    assert_int_equal(f[3].address, 0xd502c14ba19a47ff);
    assert_string_equal(pgk_intern_str(&h->strings, h->modules.v[0].name), "/tmp/prog");
    assert_true(h->modules.v[0].fixed);
    assert_false(h->modules.v[1].fixed);
    pgk_heap_close(&h);
}

/* That of clang 14 prints the smallest size and access count as the largest, too. */
static void maxima_of_clang_14(void **state)
{
    (void)state;
    struct pgk_heap *h = good("Recorded MIBs (incl. live on exit):\n"
                              BLOCK("1", "3", "28.00 / 20 / 20", "5.00 / 5 / 5", "0.00 / 0 / 0")
                              STACK("1"));
    const struct pgk_mib *m = pgk_heap_mib(h, 0, PGK_MIB_SPACE);
    assert_int_equal(m->v[PGK_MIB_TotalSize], 84);
    assert_int_equal(m->known >> PGK_MIB_MaxSize & 1, 0);
    assert_int_equal(m->known >> PGK_MIB_MinSize & 1, 1);
    assert_int_equal(m->known >> PGK_MIB_MaxAccessCount & 1, 1); /* all alike */
    pgk_heap_close(&h);
}

#define SYMBOLISED                                                              \
    "Recorded MIBs (incl. live on exit):\n"                                     \
    BLOCK("1", "1", "20.00 / 20 / 20", "5.00 / 5 / 5", "0.00 / 0 / 0")          \
    "AccessCountHistogram[3]: 5 0 7 \n"                                         \
    BLOCK("2", "1", "900.00 / 900 / 900", "5.00 / 5 / 5", "0.00 / 0 / 0")       \
    "AccessCountHistogram[40]: 5 0 7 \n"                                        \
    "Stack for id 1:\n"                                                         \
    "    #0 0x55a7e26da19d in operator new(unsigned long) (/p+0x8a19d) (BuildId: 024cac)\n" \
    "    #1 0x55a7e26ddbee in inner(int) /src/a b.cpp:225:14\n"                 \
    "    #2 0x55a7e26ddbee in outer(int) /src/a b.cpp:642:2\n"                  \
    "    #3 0x55a7e26ddbee in inner(int) /src/a b.cpp:225:14\n"                 \
    "    #4 0x55a7e26ddbee in outer(int) /src/a b.cpp:642:2\n"                  \
    "    #5 0x55a7e26dc680 in main /src/a b.cpp:146:17\n"                       \
    "    #6 0x7f5886365249 in __libc_start_call_main csu/libc_start_call_main.h:58:16\n\n" \
    "Stack for id 2:\n"                                                         \
    "    #0 0x55a7e26da19d in operator new(unsigned long) (/p+0x8a19d) (BuildId: 024cac)\n" \
    "    #1 0x55a7e26ddbee in f(int (*)(int)) (/p+0x8dbee) (BuildId: 024cac)\n\n"

/* Lines of one address are one inline chain; copies of the chain are recursion. Addresses without
 * module are the program's if they are near its runtime. */
static void symbolised_stacks(void **state)
{
    (void)state;
    struct pgk_heap *h = good(SYMBOLISED);
    struct pgk_heap_frame f[8];
    assert_int_equal(pgk_heap_stack(h, 0, f, 8), 5);
    const uint64_t expected[] = {0x8a19d, 0x8dbee, 0x8dbee, 0x8c680, 0x7f5886365249};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(f[i].address, expected[i]);
        assert_int_equal(f[i].build_id_size, i < 4 ? 3 : 0);
    }
    assert_int_equal(f[0].build_id[2], 0xac);
    assert_int_equal(pgk_heap_stack(h, 1, f, 8), 2);
    assert_int_equal(f[1].address, 0x8dbee);
    const struct pgk_mib *m = pgk_heap_mib(h, 0, PGK_MIB_SPACE);
    assert_int_equal(m->hist_count, 3);
    assert_int_equal(m->hist[2], 7);
    m = pgk_heap_mib(h, 1, PGK_MIB_SPACE); /* only 32 elements are ever printed */
    assert_int_equal(m->hist_count, 0);
    assert_int_equal(m->v[PGK_MIB_AccessHistogramSize], 40);
    pgk_heap_close(&h);
}

static void terse_lines(void **state)
{
    (void)state;
    struct pgk_heap *h = good("MIB:StackID/AllocCount/AveSize/MinSize\n"
                              "MIB:5/3/28.00/20/36/3.00/3/3/0.33/0/1/0/1/2/2\n" STACK("5"));
    const struct pgk_mib *m = pgk_heap_mib(h, 0, PGK_MIB_SPACE);
    assert_int_equal(m->v[PGK_MIB_AllocCount], 3);
    assert_int_equal(m->v[PGK_MIB_MaxSize], 36);
    assert_int_equal(m->v[PGK_MIB_TotalLifetime], 1);
    assert_int_equal(m->v[PGK_MIB_NumLifetimeOverlaps], 1);
    assert_int_equal(m->v[PGK_MIB_NumSameDeallocCpu], 2);
    pgk_heap_close(&h);
}

/* For up to 100 objects the average tells the total. */
static void totals_are_found_from_means(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 300; i++) {
        char text[900];
        uint64_t count = 1 + sample_random(&seed) % 100,
                 total = count + sample_random(&seed) % 5000;
        snprintf(text, sizeof text,
                 "MIB:5/%llu/%llu.%02llu/1/9999/0.00/0/0/0.00/0/0/0/0/0/0\n" STACK("5"),
                 (unsigned long long)count, (unsigned long long)(total / count),
                 (unsigned long long)(total * 100 / count % 100));
        struct pgk_heap *h = good(text);
        assert_int_equal(pgk_heap_mib(h, 0, PGK_MIB_SPACE)->v[PGK_MIB_TotalSize], total);
        pgk_heap_close(&h);
    }
}

/* Cut anywhere, a text is refused, or a stack that no block needs is missing. */
static void every_truncation_is_refused_or_read(void **state)
{
    (void)state;
    const char text[] = SYMBOLISED;
    size_t first_stack = (size_t)(strstr(text, "Stack for") - text), refused = 0;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        struct pgk_heap *h;
        struct pgk_err err;
        char *part = malloc(n + 1);
        memcpy(part, text, n);
        int status = read_text(part, n, &h, &err);
        if (status) {
            refused++;
            assert_true(*err.field && *err.record && *err.found && *err.expected);
            assert_true(err.offset <= n);
        } else {
            assert_true(n < first_stack);
            assert_int_equal(pgk_heap_contexts(h), 0);
        }
        pgk_heap_close(&h);
        free(part);
    }
    assert_true(refused > sizeof text - 1 - 80); /* all but cuts in the first two lines */
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *field;
    } refusals[] = {
        {"Memory allocation stack id = x\n", "stack id"},
        {"Memory allocation stack id = 99999999999999999999\n", "stack id"},
        {"Memory allocation stack id = 1\n\talloc_count 1, size\n", "alloc_count"},
        {BLOCK("1", "1", "1.0 / 1 / 1", "1.00 / 1 / 1", "1.00 / 1 / 1"), "alloc_count"},
        {BLOCK("1", "1", "1.00 / 1 / 1", "1.00 / 1 1", "1.00 / 1 / 1"), "access_count"},
        {BLOCK("1", "1", "1.00 / 1 / 1", "1.00 / 1 / 1", "- / 1 / 1"), "lifetime"},
        {BLOCK("1", "1", "1.00 / 1 / 1", "1.00 / 1 / 1", "1.00 / 1 / 1"), "stack id"},
        {BLOCK("1", "1", "1.00 / 1 / 1", "1.00 / 1 / 1", "1.00 / 1 / 1")
         "AccessCountHistogram[2]: 1 \n", "element"},
        {"MIB:1/2/3\n", "MIB"},
        {"Stack for id :\n", "stack id"},
        {"Stack for id 1:\n    #0 zzz\n", "frame"},
        {"Stack for id 1:\n    #0 0x1  (p+0x1) (BuildId: 0q)\n", "build id"},
        {"Stack for id 1:\n    #0 0x1  (p+0x1)\n", "end"},
    };
    for (size_t i = 0; i < PGK_COUNTOF(refusals); i++) {
        struct pgk_heap *h;
        struct pgk_err err;
        assert_true(read_text(refusals[i].text, strlen(refusals[i].text), &h, &err) < 0);
        assert_string_equal(err.field, refusals[i].field);
        pgk_heap_close(&h);
    }
    assert_false(pgk_heap_text_sniff((const uint8_t *)"hello\nMIX:\n", 11));
    assert_false(pgk_heap_text_sniff((const uint8_t *)"MIB:\0", 5));
    assert_false(pgk_heap_text_sniff(NULL, 0));
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    for (uint64_t nth = 2; status == PGK_E_NOMEM; nth++) {
        struct pgk_heap *h;
        struct pgk_source src = {.file = "t.txt"};
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        pgk_mem_fail_after(nth);
        status = pgk_heap_text_read(h, (const uint8_t *)SYMBOLISED, strlen(SYMBOLISED), &src, NULL);
        pgk_mem_fail_after(0);
        pgk_heap_close(&h);
        assert_in_range(nth, 1, 200);
    }
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_clang_13),
        cmocka_unit_test(maxima_of_clang_14),
        cmocka_unit_test(symbolised_stacks),
        cmocka_unit_test(terse_lines),
        cmocka_unit_test(totals_are_found_from_means),
        cmocka_unit_test(every_truncation_is_refused_or_read),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
