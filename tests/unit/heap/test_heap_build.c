/* Walking and building heap profiles by the public functions. */
#include "heap_samples.h"

enum { MAX_FRAMES = 32 };

static void copy_context(const struct pgk_heap *from, size_t context, struct pgk_heap *to)
{
    struct pgk_heap_frame frames[MAX_FRAMES];
    struct pgk_heap_value values[PGK_MIB_FIELDS];
    struct pgk_heap_allocation a = {.struct_size = sizeof a, .frames = frames, .values = values};
    a.n_frames = pgk_heap_stack(from, context, frames, MAX_FRAMES);
    assert_in_range(a.n_frames, 1, MAX_FRAMES);
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (pgk_heap_knows(from, context, id) && id != PGK_MIB_AccessHistogram)
            values[a.n_values++] = (struct pgk_heap_value){id, pgk_heap_value(from, context, id)};
    a.histogram = pgk_heap_histogram(from, context, &a.n_histogram);
    assert_int_equal(pgk_heap_build_context(to, &a, NULL), 0);
}

static void assert_same_context(const struct pgk_heap *x, const struct pgk_heap *y, size_t i)
{
    struct pgk_heap_frame f[MAX_FRAMES], g[MAX_FRAMES];
    size_t n = pgk_heap_stack(x, i, f, MAX_FRAMES), n_hist, m_hist;
    assert_int_equal(pgk_heap_stack(y, i, g, MAX_FRAMES), n);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(f[k].is_address, g[k].is_address);
        assert_int_equal(f[k].inlined, g[k].inlined);
        assert_true(f[k].guid == g[k].guid && f[k].address == g[k].address);
        assert_string_equal(f[k].function, g[k].function);
        assert_string_equal(f[k].file, g[k].file);
        assert_int_equal(f[k].line_offset, g[k].line_offset);
        assert_int_equal(f[k].column, g[k].column);
        assert_int_equal(f[k].discriminator, g[k].discriminator);
        assert_int_equal(f[k].build_id_size, g[k].build_id_size);
    }
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        assert_true(pgk_heap_value(x, i, id) == pgk_heap_value(y, i, id) &&
                    pgk_heap_knows(x, i, id) == pgk_heap_knows(y, i, id));
    assert_int_equal(pgk_heap_label(x, i), pgk_heap_label(y, i));
    const uint64_t *p = pgk_heap_histogram(x, i, &n_hist), *q = pgk_heap_histogram(y, i, &m_hist);
    assert_int_equal(n_hist, m_hist);
    if (n_hist)
        assert_memory_equal(p, q, n_hist * sizeof *p);
}

static void test_what_is_walked_can_be_built(void **state)
{
    (void)state;
    struct pgk_heap *from, *to;
    assert_int_equal(pgk_heap_new(&from, NULL), 0);
    assert_int_equal(pgk_heap_new(&to, NULL), 0);
    sample_fill(from, 7, 300, 40, false);
    for (size_t i = 0; i < pgk_heap_contexts(from); i++)
        copy_context(from, i, to);
    assert_int_equal(pgk_heap_contexts(to), pgk_heap_contexts(from));
    for (size_t i = 0; i < pgk_heap_contexts(from); i++)
        assert_same_context(from, to, i);
    pgk_heap_close(&from);
    pgk_heap_close(&to);
}

static const struct pgk_heap_frame FRAMES[] = {
    {.function = "make", .file = "a.c", .decl_line = 3, .line_offset = 2, .column = 5,
     .inlined = true, .discriminator = 7},
    {.function = "parse", .file = "a.c", .decl_line = 30, .line_offset = 9, .column = 1},
    {.function = "main", .file = "a.c", .decl_line = 80, .line_offset = 1, .column = 3},
};
static const struct pgk_heap_value VALUES[] = {{PGK_MIB_AllocCount, 2}, {PGK_MIB_TotalSize, 64}};

static struct pgk_heap_allocation allocation(void)
{
    return (struct pgk_heap_allocation){
        .struct_size = sizeof(struct pgk_heap_allocation), .frames = FRAMES, .n_frames = 3,
        .values = VALUES, .n_values = 2};
}

static int print_record(void *ctx, const struct pgk_heap_record *r)
{
    char *out = ctx;
    sprintf(out + strlen(out), "%s: %zu", r->function, r->n_alloc_sites);
    for (size_t i = 0; i < r->n_call_sites; i++)
        sprintf(out + strlen(out), " %s/%zu", r->call_sites[i].frames[0].function,
                r->call_sites[i].n_frames);
    strcat(out, "\n");
    return 0;
}

/* What compilers need to find the callers of an allocation. */
static void test_records_of_a_built_stack(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_heap_allocation a = allocation();
    char records[400] = "";
    static const uint64_t histogram[] = {1, 2, 3};
    a.histogram = histogram;
    a.n_histogram = 3;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    assert_int_equal(pgk_heap_build_context(h, &a, NULL), 0);
    assert_int_equal(pgk_heap_build_context(h, &a, NULL), 0);
    assert_int_equal(pgk_heap_contexts(h), 1);
    assert_true(pgk_heap_value(h, 0, PGK_MIB_TotalSize) == 128);
    assert_true(pgk_heap_knows(h, 0, PGK_MIB_AccessHistogramSize));
    assert_false(pgk_heap_knows(h, 0, PGK_MIB_MinSize));
    size_t n;
    assert_true(pgk_heap_histogram(h, 0, &n)[2] == 6 && n == 3);
    assert_int_equal(pgk_heap_records(h, print_record, records), 0);
    assert_non_null(strstr(records, "make: 1\n"));
    assert_non_null(strstr(records, "parse: 1 make/2\n"));
    assert_non_null(strstr(records, "main: 0 main/1\n"));
    pgk_heap_close(&h);
}

static void expect_refused(struct pgk_heap *h, const struct pgk_heap_allocation *a,
                           const char *field)
{
    struct pgk_err err = {0};
    assert_int_equal(pgk_heap_build_context(h, a, &err), PGK_E_ARG);
    assert_string_equal(err.field, field);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_heap_allocation a = allocation();
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    a.n_frames = 0;
    expect_refused(h, &a, "n_frames");
    a.n_frames = 1;
    expect_refused(h, &a, "inlined");
    struct pgk_heap_frame nameless = {.line_offset = 3};
    a.frames = &nameless;
    expect_refused(h, &a, "function");
    a = allocation();
    struct pgk_heap_value value = {PGK_MIB_AccessHistogram, 1};
    a.values = &value;
    a.n_values = 1;
    expect_refused(h, &a, "field");
    value = (struct pgk_heap_value){PGK_MIB_AllocCount, UINT64_C(1) << 32};
    expect_refused(h, &a, "AllocCount");
    assert_int_equal(pgk_heap_contexts(h), 0);
    pgk_heap_close(&h);
}

static void test_fields_by_name(void **state)
{
    (void)state;
    enum pgk_mib_id id = PGK_MIB_MinSize;
    assert_true(pgk_mib_find("TotalSize", &id) && id == PGK_MIB_TotalSize);
    assert_false(pgk_mib_find("Total", &id));
    assert_int_equal(id, PGK_MIB_TotalSize);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_walked_can_be_built),
        cmocka_unit_test(test_records_of_a_built_stack),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_fields_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
