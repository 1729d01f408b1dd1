/* Tests of lib/object/symboliser.c and what it stands on, with DWARF made by hand. */
#include "../dwarf_samples.h"

#include <inttypes.h>
#include <pthread.h>

static unsigned warnings;

static void count_warning(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)text;
    warnings += level == PGK_LOG_WARNING;
}

static void frames_of_a_typical_unit(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    typical(&d);
    EXPECT(&d, {0x1fff, ""}, {0x2000, "outer a.c:6:0:0 a.c:4"}, {0x200f, "outer a.c:6:0:0 a.c:4"},
           {0x2010, "_Zmiddle a.c:7:7:0 a.c:300 < outer dir/b.h:8:3:1 a.c:4"},
           {0x2020, "_Zin dir/b.h:5:7:9 dir/b.h:20 < _Zmiddle dir/b.h:9:4:2 a.c:300 < "
                    "outer dir/b.h:8:3:1 a.c:4"},
           {0x202f, "_Zin a.c:10:7:0 dir/b.h:20 < _Zmiddle dir/b.h:9:4:2 a.c:300 < "
                    "outer dir/b.h:8:3:1 a.c:4"},
           {0x2030, "_Zmiddle a.c:10:7:0 a.c:300 < outer dir/b.h:8:3:1 a.c:4"},
           {0x2050, "outer a.c:10:7:0 a.c:4"}, {0x2080, "leaf a.c:10:7:0 a.c:1"},
           {0x2100, "leaf ?:0:0:0 a.c:1"}, {0x2180, ""}, {0x9999, ""}, {UINT64_MAX, ""});
    td_free(&d);
}

struct names {
    char text[256];
    size_t count;
    int stop_after;
};

static int add_name(void *ctx, const struct pgk_sym_function *f)
{
    struct names *n = ctx;
    size_t len = strlen(n->text);
    snprintf(n->text + len, sizeof n->text - len, "%s %s:%u, ", f->name,
             f->decl_file ? f->decl_file : "?", f->decl_line);
    n->count++;
    return n->stop_after && (int)n->count == n->stop_after ? 7 : 0;
}

static void functions_are_listed_once(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    typical(&d);
    struct opened o = open_dwarf(&d);
    struct names names = {0};
    assert_int_equal(pgk_symboliser_functions(o.sym, add_name, &names, NULL), 0);
    assert_string_equal(names.text, "_Zin dir/b.h:20, _Zmiddle a.c:300, outer a.c:4, leaf a.c:1, ");
    struct names two = {.stop_after = 2};
    assert_int_equal(pgk_symboliser_functions(o.sym, add_name, &two, NULL), 7);
    assert_int_equal(two.count, 2);
    close_dwarf(&o);
    td_free(&d);
}

static void batches_are_checked(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    typical(&d);
    struct opened o = open_dwarf(&d);
    struct pgk_arena arena = {0};
    struct pgk_sym_chain chains[2];
    struct pgk_err err = {0};
    assert_int_equal(pgk_symbolise(o.sym, NULL, 0, 1, &arena, NULL, &err), 0);
    assert_int_equal(pgk_symbolise(o.sym, (uint64_t[]){2, 1}, 2, 1, &arena, chains, &err),
                     PGK_E_ARG);
    assert_int_equal(pgk_symbolise(o.sym, (uint64_t[]){2, 2}, 2, 1, &arena, chains, &err),
                     PGK_E_ARG);
    pgk_arena_free(&arena);
    close_dwarf(&o);
    td_free(&d);
}

static void addresses_of_a_copy_share_its_chain(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x1000, 0xffffffff);
    size_t in = abstract(&d, "_Zin", 1, 20);
    function(&d, "outer", 0x2000, 0x100, 1);
    inlined(&d, in, 0x2010, 0x10, 8, 3, 0);
    tb_u8(&d.info, 0);
    inlined(&d, in, 0x2020, 0x10, 9, 3, 0);
    tb_u8(&d.info, 0);
    tb_u8(&d.info, 0);
    end_unit(&d, unit);
    struct opened o = open_dwarf(&d);
    struct pgk_arena arena = {0};
    struct pgk_sym_chain c[6];
    const uint64_t addrs[] = {0x2000, 0x2010, 0x2018, 0x2020, 0x2030, 0x3000};
    assert_int_equal(pgk_symbolise_copies(o.sym, addrs, 6, 1, &arena, c, NULL), 0);
    assert_true(c[0].frames == c[4].frames && c[1].frames == c[2].frames);
    assert_true(c[1].frames != c[0].frames && c[3].frames != c[1].frames);
    assert_int_equal(c[3].count, 2);
    assert_int_equal(c[3].frames[1].line, 9);
    assert_true(!c[5].count && !c[5].frames);
    pgk_arena_free(&arena);
    close_dwarf(&o);
    td_free(&d);
}

static void expect_no_debug(const struct test_dwarf *d)
{
    struct test_bytes image = td_elf(d);
    struct pgk_elf *elf;
    struct pgk_symboliser *sym = NULL;
    struct pgk_err err = {0};
    assert_int_equal(pgk_elf_open_memory(&elf, image.v, image.n, "image", PGK_ELF_PROGRAM, &err),
                     0);
    assert_int_equal(pgk_symboliser_open(&sym, elf, &err), PGK_E_NODEBUG);
    assert_null(sym);
    assert_string_equal(err.file, "image");
    assert_non_null(strstr(err.hint, "-g"));
    pgk_elf_close(&elf);
    tb_free(&image);
}

static void without_functions_there_is_no_debug_information(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    expect_no_debug(&d);
    TD_ABBREV(&d, A_UNIT, DW_TAG_compile_unit, true, DW_AT_name, DW_FORM_string, DW_AT_stmt_list,
              DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4);
    tb_u8(&d.abbrev, 0);
    size_t lines = td_lines(&d, 1, 1);
    td_lines_end(&d, lines);
    end_unit(&d, begin_unit(&d, 0x2000, 0x100, lines));
    expect_no_debug(&d);
    td_free(&d);
}

/* ---- names ---- */

static void names_come_through_references(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x1000, 0xffffffff);
    size_t declared = abstract(&d, "_Zdeclared", 1, 77);
    size_t itself = d.info.n, other = itself + 9;
    tb_uleb(&d.info, A_ORIGIN); /* two DIEs that refer to each other and to themselves */
    tb_u32(&d.info, itself);
    tb_u32(&d.info, other);
    tb_uleb(&d.info, A_ORIGIN);
    tb_u32(&d.info, itself);
    tb_u32(&d.info, other);
    size_t to[] = {declared, itself, 0x7fffffff, 3};
    for (size_t i = 0; i < 4; i++) {
        tb_uleb(&d.info, A_SPEC);
        tb_u64(&d.info, 0x2000 + 0x10 * i);
        tb_u64(&d.info, 0x2010 + 0x10 * i);
        tb_u32(&d.info, to[i]);
        tb_u8(&d.info, 0);
    }
    end_unit(&d, unit);
    EXPECT(&d, {0x2000, "_Zdeclared ?:0:0:0 ?:77"}, {0x2010, "? ?:0:0:0 ?:0"},
           {0x2020, "? ?:0:0:0 ?:0"});
    td_free(&d);
}

static void long_chains_of_references_end(void **state)
{
    (void)state;
    enum { LINKS = 100000 };
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x1000, 0xffffffff);
    size_t last = abstract(&d, "_Zfar", 1, 77);
    for (int i = 0; i < LINKS; i++) {
        size_t here = d.info.n;
        tb_uleb(&d.info, A_ORIGIN);
        tb_u32(&d.info, last);
        tb_u32(&d.info, last);
        last = here;
    }
    tb_uleb(&d.info, A_SPEC);
    put_range(&d.info, 0x2000, 0x2010);
    tb_u32(&d.info, last);
    tb_u8(&d.info, 0);
    end_unit(&d, unit);
    EXPECT(&d, {0x2000, "? ?:0:0:0 ?:0"});
    td_free(&d);
}

static void deep_nesting_is_no_recursion(void **state)
{
    (void)state;
    enum { DEPTH = 300000 };
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t unit = begin_unit(&d, 0x2000, 0x1000, 0xffffffff);
    size_t in = abstract(&d, "_Zin", 1, 20);
    function(&d, "outer", 0x2000, 0x100, 1);
    for (int i = 0; i < DEPTH; i++)
        block(&d);
    inlined(&d, in, 0x2010, 0x10, 8, 3, 0);
    for (int i = 0; i < DEPTH + 2; i++)
        tb_u8(&d.info, 0);
    empty_function(&d, "after", 0x2100, 0x10);
    end_unit(&d, unit);
    EXPECT(&d, {0x2000, "outer ?:0:0:0 ?:1"}, {0x2010, "_Zin ?:0:0:0 ?:20 < outer ?:8:3:0 ?:1"},
           {0x2100, "after ?:0:0:0 ?:1"});
    td_free(&d);
}

/* ---- hostile input ---- */

static void a_damaged_unit_leaves_the_others_alone(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t first = begin_unit(&d, 0x2000, 0x100, 0xffffffff);
    tb_uleb(&d.info, 100); /* no such abbreviation */
    empty_function(&d, "lost", 0x2000, 0x80);
    end_unit(&d, first);
    size_t second = begin_unit(&d, 0x3000, 0x100, 0xffffffff);
    empty_function(&d, "second", 0x3000, 0x80);
    end_unit(&d, second);
    pgk_log_set(count_warning, NULL);
    warnings = 0;
    EXPECT(&d, {0x2000, ""}, {0x3000, "second ?:0:0:0 ?:1"});
    assert_int_equal(warnings, 1);
    pgk_log_set(NULL, NULL);
    td_free(&d);
}

static int use_name(void *ctx, const struct pgk_sym_function *f)
{
    *(size_t *)ctx += (f->name ? strlen(f->name) : 0) + (f->decl_file ? strlen(f->decl_file) : 0);
    return 0;
}

/* Everything that can be asked of an image. */
static void use(const uint8_t *bytes, size_t size)
{
    uint64_t addrs[128];
    struct pgk_sym_chain chains[128];
    struct pgk_elf *elf;
    struct pgk_symboliser *sym;
    struct pgk_arena arena = {0};
    size_t sum = 0;
    char text[TEXT_SIZE];
    for (size_t i = 0; i < 128; i++)
        addrs[i] = i < 8 ? i : i < 124 ? 0x2000 + 8 * (i - 8) : UINT64_MAX - 127 + i;
    if (pgk_elf_open_memory(&elf, bytes, size, "image", PGK_ELF_DEBUG, NULL) < 0)
        return;
    if (pgk_symboliser_open(&sym, elf, NULL) == 0) {
        if (pgk_symbolise(sym, addrs, 128, 1, &arena, chains, NULL) == 0)
            for (size_t i = 0; i < 128; i++)
                sum += strlen(chain_text(text, &chains[i]));
        (void)pgk_symboliser_functions(sym, use_name, &sum, NULL);
        pgk_symboliser_close(&sym);
    }
    pgk_arena_free(&arena);
    pgk_elf_close(&elf);
}

static void mutate(const struct test_dwarf *d, unsigned rounds, uint64_t seed)
{
    struct test_bytes image = td_elf(d);
    size_t headers = 64 + 56;
    static const uint8_t favourites[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 2, 4};
    for (unsigned round = 0; round < rounds; round++) {
        uint8_t *copy = malloc(image.n);
        assert_non_null(copy);
        memcpy(copy, image.v, image.n);
        for (uint64_t k = test_random(&seed) % 6; k < 7; k++) {
            /* Section contents; sometimes headers, too. */
            size_t from = round % 16 ? headers : 0;
            size_t at = from + test_random(&seed) % (image.n - from);
            copy[at] = round & 1 ? (uint8_t)test_random(&seed)
                                 : favourites[test_random(&seed) % sizeof favourites];
        }
        use(copy, image.n);
        free(copy);
    }
    tb_free(&image);
}

/* Each section ends at each place once. */
static void cut_sections(struct test_dwarf *d)
{
    struct test_bytes *sections[] = {&d->abbrev, &d->info,        &d->line,
                                     &d->str,    &d->ranges,      &d->rnglists,
                                     &d->addr,   &d->str_offsets, &d->aranges};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        size_t whole = sections[i]->n;
        for (sections[i]->n = 0; sections[i]->n < whole; sections[i]->n++) {
            struct test_bytes image = td_elf(d);
            use(image.v, image.n);
            tb_free(&image);
        }
    }
}

static void hostile_debug_information_does_no_harm(void **state)
{
    (void)state;
    struct test_dwarf d4 = {0}, d5 = {0};
    pgk_log_set(count_warning, NULL);
    typical(&d4);
    put_range(&d4.aranges, 0, 0);
    version_5(&d5);
    mutate(&d4, 20000, 1);
    mutate(&d5, 20000, 2);
    cut_sections(&d4);
    cut_sections(&d5);
    pgk_log_set(NULL, NULL);
    td_free(&d4);
    td_free(&d5);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    typical(&d);
    struct test_bytes image = td_elf(&d);
    pgk_log_set(count_warning, NULL);
    bool done = false;
    for (uint64_t nth = 1; !done; nth++) {
        struct pgk_elf *elf = NULL;
        struct pgk_symboliser *sym = NULL;
        struct pgk_arena arena = {0};
        struct pgk_sym_chain chain = {0};
        struct pgk_err err = {0};
        assert_in_range(nth, 1, 1000);
        pgk_mem_fail_after(nth);
        int status = pgk_elf_open_memory(&elf, image.v, image.n, "image", PGK_ELF_PROGRAM, &err);
        if (status == 0)
            status = pgk_symboliser_open(&sym, elf, &err);
        if (status == 0)
            status = pgk_symbolise(sym, (uint64_t[]){0x2020}, 1, 1, &arena, &chain, &err);
        pgk_mem_fail_after(0);
        done = status == 0;
        if (done) /* or the allocation that failed was of no importance */
            done = chain.count == 3;
        else
            assert_true(status == PGK_E_NOMEM || status == PGK_E_NODEBUG);
        pgk_arena_free(&arena);
        pgk_symboliser_close(&sym);
        pgk_elf_close(&elf);
    }
    pgk_log_set(NULL, NULL);
    tb_free(&image);
    td_free(&d);
}

/* ---- threads ---- */

static void *ask(void *arg)
{
    static const struct expected e[] = {
        {0x2000, "outer a.c:6:0:0 a.c:4"},
        {0x2020, "_Zin dir/b.h:5:7:9 dir/b.h:20 < _Zmiddle dir/b.h:9:4:2 a.c:300 < "
                 "outer dir/b.h:8:3:1 a.c:4"},
        {0x2080, "leaf a.c:10:7:0 a.c:1"},
    };
    for (int i = 0; i < 20; i++)
        expect(arg, e, 3);
    return NULL;
}

static void several_threads_may_ask_at_once(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    typical(&d);
    struct opened o = open_dwarf(&d);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, o.sym), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    close_dwarf(&o);
    td_free(&d);
}

struct declarations {
    char text[256];
    size_t n;
    int stop_after;
};

static int add_declaration(void *ctx, const struct pgk_sym_variable *v)
{
    struct declarations *d = ctx;
    d->n += (size_t)snprintf(d->text + d->n, sizeof d->text - d->n, "%" PRIx64 " %s:%u;", v->addr,
                             v->decl_file, v->decl_line);
    return --d->stop_after ? 0 : 42;
}

/* Also in functions, and where a class declares what is defined elsewhere. Not what is of a
 * thread, in a register or on a stack, or has no declaration. */
static void variables_at_addresses(void **state)
{
    (void)state;
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t lines = td_lines(&d, 1, 1);
    td_lines_end(&d, lines);
    size_t unit = begin_unit(&d, 0x2000, 0x200, lines);
    size_t declared = placed_variable(&d, 2, 7, DW_OP_const8u, 16);
    function(&d, "f", 0x2000, 16, 1);
    variable(&d);
    placed_variable(&d, 1, 3, DW_OP_addr, 0x5000);
    tb_u8(&d.info, 0);
    placed_variable(&d, 0, 3, DW_OP_addr, 0x5008);
    tb_uleb(&d.info, A_DEFINED);
    tb_u32(&d.info, declared);
    address_place(&d, DW_OP_addr, 0x4000);
    end_unit(&d, unit);
    struct opened o = open_dwarf(&d);
    struct declarations all = {0}, first = {.stop_after = 1};
    assert_int_equal(pgk_symboliser_variables(o.sym, add_declaration, &all, NULL), 0);
    assert_string_equal(all.text, "5000 a.c:3;4000 dir/b.h:7;");
    assert_int_equal(pgk_symboliser_variables(o.sym, add_declaration, &first, NULL), 42);
    assert_string_equal(first.text, "5000 a.c:3;");
    close_dwarf(&o);
    td_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_at_addresses),
        cmocka_unit_test(frames_of_a_typical_unit),
        cmocka_unit_test(functions_are_listed_once),
        cmocka_unit_test(batches_are_checked),
        cmocka_unit_test(addresses_of_a_copy_share_its_chain),
        cmocka_unit_test(without_functions_there_is_no_debug_information),
        cmocka_unit_test(names_come_through_references),
        cmocka_unit_test(long_chains_of_references_end),
        cmocka_unit_test(deep_nesting_is_no_recursion),
        cmocka_unit_test(a_damaged_unit_leaves_the_others_alone),
        cmocka_unit_test(hostile_debug_information_does_no_harm),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(several_threads_may_ask_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
