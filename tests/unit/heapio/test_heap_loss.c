/* What each target loses is said, and nothing else. */
#include "estimate.h"
#include "rekey.h"

#include "heap_samples.h"

struct said {
    char text[2000];
};

static void note(void *ctx, const char *what)
{
    struct said *s = ctx;
    size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof s->text - n, "%s\n", what);
}

static int losses(const struct pgk_heap *h, enum pgk_heap_form form, uint32_t version, bool full,
                  struct said *s)
{
    *s = (struct said){0};
    return pgk_heap_losses(h, &(struct pgk_heap_target){form, version, full}, note, s, NULL);
}

static void what_raw_versions_cannot_hold(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct said s;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill_addresses(h, 1, 20, 2, false, true);
    assert_int_equal(losses(h, PGK_HEAP_RAW, 4, false, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_RAW, 5, false, &s), 1);
    assert_non_null(strstr(s.text, "12 bits"));
    assert_int_equal(losses(h, PGK_HEAP_RAW, 3, false, &s), 1);
    assert_non_null(strstr(s.text, "histograms of 13 contexts"));
    /* Modules of version 3 are not those of version 1, which lacks fields besides. */
    assert_int_equal(losses(h, PGK_HEAP_RAW, 1, false, &s), 3);
    assert_non_null(strstr(s.text, "TotalAccessDensity"));
    assert_non_null(strstr(s.text, "MaxSize"));
    assert_non_null(strstr(s.text, "the module of"));
    sample_set(h, 0, PGK_MIB_AllocCount, UINT64_C(1) << 40);
    h->contexts.v[1].known &= ~(UINT64_C(1) << PGK_MIB_MinSize);
    assert_int_equal(losses(h, PGK_HEAP_RAW, 4, false, &s), 2);
    assert_non_null(strstr(s.text, "now read as 0: MinSize\n"));
    assert_non_null(strstr(s.text, "1 value too large for its field, written as 4294967295"));
    pgk_heap_close(&h);
}

/* Compilers do not know how sure an estimate is. */
static void what_samples_leave_open(void **state)
{
    (void)state;
    static const struct {
        enum pgk_mib_id id;
        uint64_t value;
    } cold[] = {{PGK_MIB_AllocCount, 100}, {PGK_MIB_TotalSize, 4096},
                {PGK_MIB_TotalLifetime, 30000000}, {PGK_MIB_TotalLifetimeAccessDensity, 0},
                {PGK_MIB_SampleCount, 2}, {PGK_MIB_SampleHits, 0}, {PGK_MIB_CountVariance, 5000},
                {PGK_MIB_SizeVariance, 8000000}, {PGK_MIB_AccessVariance, 0}};
    struct pgk_heap *h;
    struct said s;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, 5, 30, 4, true);
    for (size_t i = 0; i < PGK_COUNTOF(cold); i++) {
        h->contexts.v[3].known |= UINT64_C(1) << cold[i].id;
        sample_set(h, 3, cold[i].id, cold[i].value);
    }
    assert_int_equal(losses(h, PGK_HEAP_PARTIAL, 0, false, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 4, true, &s), 2);
    assert_non_null(strstr(s.text, "the fields SampleCount, SampleHits, CountVariance, "
                                   "SizeVariance, AccessVariance\n"));
    assert_non_null(strstr(s.text, "that 1 context, 4.00 KiB, may be cold or hot"));
    assert_int_equal(losses(h, PGK_HEAP_YAML, 0, false, &s), 2);
    sample_set(h, 3, PGK_MIB_TotalAccessCount, 0); /* none was seen, which is not none */
    assert_int_equal(losses(h, PGK_HEAP_YAML, 0, false, &s), 2);
    assert_false(pgk_mib_known_without_samples(pgk_heap_mib(h, 3, PGK_MIB_SPACE)) >>
                     PGK_MIB_TotalAccessCount & 1);
    pgk_heap_close(&h);
}

static void what_memprof_versions_cannot_hold(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct said s;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, 5, 30, 4, true);
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 4, true, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_YAML, 0, false, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_PARTIAL, 0, false, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 3, true, &s), 1);
    assert_non_null(strstr(s.text, "targets of indirect calls"));
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 4, false, &s), 1);
    assert_non_null(strstr(s.text, "the fields TotalAccessCount, "));
    assert_null(strstr(s.text, "TotalSize"));
    struct pgk_data_store to = pgk_heap_data_store(h);
    assert_true(pgk_data_access_add_cold_hash(&to, 1));
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 4, true, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_PARTIAL, 0, false, &s), 0);
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 3, true, &s), 2);
    assert_non_null(strstr(s.text, "0 symbols and literals, 1 known"));
    pgk_heap_close(&h);
}

/* Static functions of one name, and lines too far away. */
static void what_is_the_same_for_llvm(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct said s;
    uint64_t seed = 1;
    struct pgk_mib m = sample_mib(&seed);
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (int i = 0; i < 3; i++) {
        uint32_t func = pgk_heap_func(h, 42, pgk_intern_cstr(&h->strings, "make"),
                                      pgk_intern_cstr(&h->strings, i ? "a.c" : "b.c"), 10);
        uint32_t frame = pgk_heap_frame(h, PGK_FRAME_CALLER, func,
                                        pgk_frame_place(i == 2 ? 65537 : 1, 2));
        assert_int_equal(pgk_heap_add(h, pgk_stack_add(&h->stacks, &frame, 1), &m, NULL), 0);
    }
    assert_int_equal(losses(h, PGK_HEAP_INDEXED, 4, true, &s), 3);
    assert_non_null(strstr(s.text, "1 function from others of the same name"));
    assert_non_null(strstr(s.text, "16 bits of 1 line offset,"));
    assert_non_null(strstr(s.text, "2 contexts from others"));
    assert_int_equal(losses(h, PGK_HEAP_PARTIAL, 0, false, &s), 0);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_raw_versions_cannot_hold),
        cmocka_unit_test(what_samples_leave_open),
        cmocka_unit_test(what_memprof_versions_cannot_hold),
        cmocka_unit_test(what_is_the_same_for_llvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
