/* Walking and building heap profiles by the public functions. */
#include "function_name.h"
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

static void what_is_walked_can_be_built(void **state)
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

static int copy_call_sites(void *to, const struct pgk_heap_record *r)
{
    for (size_t i = 0; i < r->n_call_sites; i++) {
        const struct pgk_heap_call_site *s = &r->call_sites[i];
        const struct pgk_heap_call call = {
            .struct_size = sizeof call, .frames = s->frames, .n_frames = s->n_frames,
            .callees = s->callees, .n_callees = s->n_callees, .guid = r->guid};
        assert_int_equal(pgk_heap_build_call_site(to, &call, NULL), 0);
    }
    return 0;
}

static void copy_data(const struct pgk_heap *from, struct pgk_heap *to)
{
    struct pgk_heap_data_place places[MAX_FRAMES];
    for (size_t i = 0; i < pgk_heap_data_items(from); i++) {
        struct pgk_heap_data item;
        pgk_heap_data_item(from, i, &item);
        assert_int_equal(pgk_heap_data_places(from, i, places, MAX_FRAMES), item.n_places);
        assert_in_range(item.n_places, 0, MAX_FRAMES);
        item.places = places;
        assert_int_equal(pgk_heap_build_data(to, &item, 1, NULL), 0);
    }
}

static struct pgk_heap *copy_all(const struct pgk_heap *from)
{
    struct pgk_heap *to;
    assert_int_equal(pgk_heap_new(&to, NULL), 0);
    for (size_t i = 0; i < pgk_heap_contexts(from); i++)
        copy_context(from, i, to);
    assert_int_equal(pgk_heap_records(from, copy_call_sites, to), 0);
    copy_data(from, to);
    return to;
}

static int print_call_sites(void *out, const struct pgk_heap_record *r)
{
    for (size_t i = 0; i < r->n_call_sites; i++) {
        const struct pgk_heap_call_site *c = &r->call_sites[i];
        fprintf(out, "%llx:", (unsigned long long)r->guid);
        for (size_t k = 0; k < c->n_frames; k++)
            fprintf(out, " %llx+%u:%u", (unsigned long long)c->frames[k].guid,
                    c->frames[k].line_offset, c->frames[k].column);
        for (size_t k = 0; k < c->n_callees; k++)
            fprintf(out, " calls %llx", (unsigned long long)c->callees[k]);
        fputc('\n', out);
    }
    return 0;
}

/* Call sites with callees, and data. */
static char *print_all(const struct pgk_heap *h)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(pgk_heap_records(h, print_call_sites, out), 0);
    for (size_t i = 0; i < pgk_heap_data_items(h); i++) {
        struct pgk_heap_data d;
        pgk_heap_data_item(h, i, &d);
        fprintf(out, "%s %llu %llu %d %zu\n", d.symbol, (unsigned long long)d.literal,
                (unsigned long long)d.accesses, d.cold, d.n_places);
    }
    fclose(out);
    return text;
}

static const struct pgk_heap_data_place PLACES[] = {{"b.c", 4}, {"a.c", 9}, {"a.c", 2}};
static const struct pgk_heap_data DATA[] = {
    {.symbol = "rare", .accesses = 3},
    {.symbol = "table", .accesses = 70, .places = PLACES, .n_places = 3},
    {.literal = 99, .accesses = 5},
    {.symbol = "unused", .cold = true},
    {.literal = 77, .cold = true},
    {.symbol = "table.llvm.12", .accesses = 30, .places = PLACES, .n_places = 1},
};
enum { N_DATA = sizeof DATA / sizeof *DATA };

/* Stacks add call sites of their own, so that only a copy of a copy has no others. */
static void callees_and_data_that_are_walked_can_be_built(void **state)
{
    (void)state;
    struct pgk_heap *from;
    assert_int_equal(pgk_heap_new(&from, NULL), 0);
    sample_fill(from, 9, 60, 20, true);
    assert_int_equal(pgk_heap_build_data(from, DATA, N_DATA, NULL), 0);
    struct pgk_heap *first = copy_all(from), *second = copy_all(first);
    char *x = print_all(first), *y = print_all(second);
    assert_true(pgk_heap_callees(from) > 10);
    assert_int_equal(pgk_heap_callees(first), pgk_heap_callees(from));
    assert_string_equal(x, y);
    assert_non_null(strstr(x, "table 0 100 0 3\n"));
    free(x);
    free(y);
    pgk_heap_close(&from);
    pgk_heap_close(&first);
    pgk_heap_close(&second);
}

/* Also when items come one by one, in whatever order. */
static void data_are_added_up_and_ordered(void **state)
{
    (void)state;
    for (unsigned one_by_one = 0; one_by_one < 2; one_by_one++) {
        struct pgk_heap *h;
        struct pgk_heap_data item;
        struct pgk_heap_data_place p[4];
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        if (!one_by_one)
            assert_int_equal(pgk_heap_build_data(h, DATA, N_DATA, NULL), 0);
        for (size_t i = N_DATA; one_by_one && i-- > 0;)
            assert_int_equal(pgk_heap_build_data(h, &DATA[i], 1, NULL), 0);
        assert_int_equal(pgk_heap_data_items(h), 5);
        pgk_heap_data_item(h, 0, &item);
        assert_string_equal(item.symbol, "table");
        assert_true(item.accesses == 100 && item.n_places == 3 && !item.cold && !item.places);
        assert_int_equal(pgk_heap_data_places(h, 0, p, 4), 3);
        assert_true(!strcmp(p[0].file, "a.c") && p[0].line == 2 && p[1].line == 9);
        assert_string_equal(p[2].file, "b.c");
        pgk_heap_data_item(h, 1, &item);
        assert_true(!*item.symbol && item.literal == 99 && item.accesses == 5);
        pgk_heap_data_item(h, 3, &item);
        assert_true(item.cold && !strcmp(item.symbol, "unused") && !item.literal);
        pgk_heap_data_item(h, 4, &item);
        assert_true(item.cold && !*item.symbol && item.literal == 77);
        assert_int_equal(pgk_heap_data_places(h, 4, p, 4), 0);
        pgk_heap_close(&h);
    }
}

static void data_that_are_refused(void **state)
{
    (void)state;
    static const struct pgk_heap_data_place nowhere = {"", 1};
    static const struct {
        struct pgk_heap_data data;
        const char *field;
    } cases[] = {
        {{.symbol = "a\001b"}, "symbol"},
        {{.symbol = ".llvm.1"}, "symbol"},
        {{.symbol = "a", .literal = 1}, "literal"},
        {{.symbol = "a", .accesses = 1, .cold = true}, "cold"},
        {{.symbol = "a", .places = &nowhere, .n_places = 1}, "places[0].file"},
    };
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pgk_err err = {0};
        assert_int_equal(pgk_heap_build_data(h, &cases[i].data, 1, &err), PGK_E_ARG);
        assert_string_equal(err.field, cases[i].field);
    }
    assert_int_equal(pgk_heap_data_items(h), 0);
    pgk_heap_close(&h);
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
static void records_of_a_built_stack(void **state)
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

static int print_callees(void *ctx, const struct pgk_heap_record *r)
{
    char *out = ctx;
    for (size_t i = 0; i < r->n_call_sites; i++)
        for (size_t k = 0; k < r->call_sites[i].n_callees; k++)
            sprintf(out + strlen(out), "%s calls %llu\n", r->function,
                    (unsigned long long)r->call_sites[i].callees[k]);
    return 0;
}

static void callees_of_a_call_site(void **state)
{
    (void)state;
    struct pgk_heap *h;
    struct pgk_err err = {0};
    static const uint64_t callees[] = {5, 4, 5};
    char text[400] = "";
    struct pgk_heap_call call = {.struct_size = sizeof call, .frames = FRAMES, .n_frames = 2,
                                 .callees = callees, .n_callees = 3};
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    assert_int_equal(pgk_heap_build_call_site(h, &call, NULL), 0);
    call.frames = FRAMES + 2;
    call.n_frames = call.n_callees = 1;
    call.guid = pgk_heap_guid("main", 4);
    assert_int_equal(pgk_heap_build_call_site(h, &call, NULL), 0);
    assert_int_equal(pgk_heap_records(h, print_callees, text), 0);
    assert_non_null(strstr(text, "make calls 4\nmake calls 5\n"));
    assert_non_null(strstr(text, "parse calls 4\nparse calls 5\n"));
    assert_non_null(strstr(text, "main calls 5\n"));
    assert_int_equal(pgk_heap_callees(h), 5);

    call.guid = 1;
    assert_int_equal(pgk_heap_build_call_site(h, &call, &err), PGK_E_ARG);
    assert_string_equal(err.field, "guid");
    call.frames = FRAMES + 1;
    call.n_frames = 2;
    assert_int_equal(pgk_heap_build_call_site(h, &call, &err), PGK_E_ARG);
    assert_string_equal(err.field, "inlined");
    const struct pgk_heap_frame address = {.is_address = true, .address = 4096};
    call.frames = &address;
    call.n_frames = 1;
    assert_int_equal(pgk_heap_build_call_site(h, &call, &err), PGK_E_ARG);
    assert_string_equal(err.field, "is_address");
    pgk_heap_close(&h);
}

static void expect_refused(struct pgk_heap *h, const struct pgk_heap_allocation *a,
                           const char *field)
{
    struct pgk_err err = {0};
    assert_int_equal(pgk_heap_build_context(h, a, &err), PGK_E_ARG);
    assert_string_equal(err.field, field);
}

static void wrong_values_are_refused(void **state)
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

static void fields_are_found_by_name(void **state)
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
        cmocka_unit_test(what_is_walked_can_be_built),
        cmocka_unit_test(records_of_a_built_stack),
        cmocka_unit_test(callees_and_data_that_are_walked_can_be_built),
        cmocka_unit_test(callees_of_a_call_site),
        cmocka_unit_test(data_are_added_up_and_ordered),
        cmocka_unit_test(data_that_are_refused),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(fields_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
