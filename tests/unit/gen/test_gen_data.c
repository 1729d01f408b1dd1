/* Data access profiles: counts of addresses become variables and literals, hot and cold. */
#include "../dwarf_samples.h"

#include "elf_priv.h"
#include "gen_data.h"
#include "hash.h"
#include "mem.h"
#include "pgokit/heap.h"

enum { DATA = 0x200000, BSS = 0x200100, CONSTANTS = 0x200200, STRINGS = 0x200300, TLS = 0x200400 };

static const char constants[] = "first words\0\001\002second\377";
static const char strings[] = "hot\0cold words\0hot\0";

/* A program with data of all sorts; x86-64 or AArch64 makes no difference to data. */
static struct pgk_elf *program(struct test_bytes *image)
{
    static const struct {
        const char *name;
        uint64_t addr, size;
        unsigned type;
    } named[] = {{"hot", DATA, 8, STT_OBJECT},        {"alias", DATA, 8, STT_OBJECT},
                 {"cold", DATA + 8, 8, STT_OBJECT},   {"zero", BSS, 16, STT_OBJECT},
                 {"number", CONSTANTS + 12, 2, STT_OBJECT}, {"empty", DATA + 16, 0, STT_OBJECT},
                 {"code", TEST_CODE, 16, STT_FUNC},   {"of_thread", TLS, 8, STT_OBJECT}};
    struct test_bytes symbols = {0}, names = {0};
    const uint8_t zeros[32] = {0};
    tb_u8(&names, 0);
    tb_put(&symbols, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (size_t i = 0; i < PGK_COUNTOF(named); i++) {
        const Elf64_Sym s = {.st_name = (Elf64_Word)names.n,
                             .st_info = (unsigned char)(STB_GLOBAL << 4 | named[i].type),
                             .st_shndx = 1,
                             .st_value = named[i].addr,
                             .st_size = named[i].size};
        tb_str(&names, named[i].name);
        tb_put(&symbols, &s, sizeof s);
    }
    const struct test_section sections[] = {
        {".data", 0, SHF_ALLOC | SHF_WRITE, zeros, sizeof zeros, 0, DATA},
        {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, zeros, sizeof zeros, 0, BSS},
        {".rodata", 0, SHF_ALLOC, constants, sizeof constants - 1, 0, CONSTANTS},
        {".rodata.str1.1", 0, SHF_ALLOC | SHF_MERGE | SHF_STRINGS, strings, sizeof strings - 1, 0,
         STRINGS},
        {".tdata", 0, SHF_ALLOC | SHF_WRITE | SHF_TLS, zeros, 8, 0, TLS},
        {".symtab", SHT_SYMTAB, 0, symbols.v, symbols.n, 7, 0},
        {".strtab", SHT_STRTAB, 0, names.v, names.n, 0, 0},
    };
    struct pgk_elf *elf;
    *image = test_elf(ET_EXEC, sections, PGK_COUNTOF(sections));
    assert_int_equal(pgk_elf_open_memory(&elf, image->v, image->n, "app", PGK_ELF_PROGRAM, NULL),
                     0);
    tb_free(&symbols);
    tb_free(&names);
    return elf;
}

/* Debug information of it: `hot` is declared in two units. */
static struct opened declarations(void)
{
    struct test_dwarf d = {0};
    common_abbrevs(&d);
    size_t lines = td_lines(&d, 1, 1);
    td_lines_end(&d, lines);
    for (unsigned line = 4; line <= 5; line++) {
        size_t unit = begin_unit(&d, TEST_CODE, 16, lines);
        empty_function(&d, "code", TEST_CODE, 16);
        placed_variable(&d, 1, line, DW_OP_addr, DATA);
        placed_variable(&d, 2, 9, DW_OP_addr, DATA);
        placed_variable(&d, 1, 8, DW_OP_addr, BSS);
        end_unit(&d, unit);
    }
    struct opened o = open_dwarf(&d);
    td_free(&d);
    return o;
}

/* A generator that has counted these accesses of one program. */
struct counted {
    struct test_bytes image;
    struct pgk_elf *elf;
    struct opened debug; /* its debug information */
    struct pgk_gen gen;
};

static void count(struct counted *c, const struct pgk_pair *accesses, size_t n)
{
    *c = (struct counted){0};
    c->elf = program(&c->image);
    c->debug = declarations();
    assert_true(pgk_vec_push(&c->gen.images,
                             (struct pgk_gen_binary){.elf = c->elf, .sym = c->debug.sym}));
    for (size_t i = 0; i < n; i++)
        assert_true(pgk_pairs_add(&c->gen.images.v[0].accesses, accesses[i].from, 0,
                                  accesses[i].count));
}

static void end(struct counted *c)
{
    pgk_pairs_free(&c->gen.images.v[0].accesses);
    pgk_vec_free(&c->gen.images);
    pgk_elf_close(&c->elf);
    close_dwarf(&c->debug);
    tb_free(&c->image);
}

static const struct pgk_pair some[] = {
    {DATA + 4, 0, 3}, {BSS + 8, 0, 2},           {CONSTANTS + 6, 0, 5},
    {STRINGS, 0, 1},  {CONSTANTS + 14, 0, 9}, /* whose text ends with no NUL */
    {STRINGS + 16, 0, 4}, {0x900000, 0, 7},      {TLS, 0, 8},
};

/* The item of a variable, or of a literal by its text; NULL: there is none. */
static const struct pgk_heap_data *item(const struct pgk_heap *heap, const char *symbol,
                                        const char *literal, uint64_t *accesses)
{
    static struct pgk_heap_data found;
    uint64_t hash = literal ? pgk_md5_low64(literal, strlen(literal) + 1) : 0;
    for (size_t i = 0; i < pgk_heap_data_items(heap); i++) {
        pgk_heap_data_item(heap, i, &found);
        *accesses = found.accesses;
        if (!strcmp(found.symbol, symbol) && found.literal == hash)
            return &found;
    }
    return NULL;
}

static void expect_item(const struct pgk_heap *heap, const char *symbol, const char *literal,
                        uint64_t want)
{
    uint64_t accesses;
    const struct pgk_heap_data *d = item(heap, symbol, literal, &accesses);
    assert_non_null(d);
    assert_int_equal(accesses, want);
    assert_int_equal(d->cold, !want);
}

static void what_is_accessed_is_hot_and_the_rest_cold(void **state)
{
    (void)state;
    struct counted c;
    struct pgk_heap *heap = NULL;
    count(&c, some, PGK_COUNTOF(some));
    assert_int_equal(pgk_gen_data_profile(&c.gen, &heap, NULL), 0);
    expect_item(heap, "hot", NULL, 3);
    expect_item(heap, "alias", NULL, 3);
    expect_item(heap, "zero", NULL, 2);
    expect_item(heap, "cold", NULL, 0);
    expect_item(heap, "number", NULL, 0);
    expect_item(heap, "", "first words", 5);
    expect_item(heap, "", "hot", 5); /* of two places */
    expect_item(heap, "", "cold words", 0);
    assert_int_equal(pgk_heap_data_items(heap), 8);
    assert_int_equal(c.gen.stats.data_samples, 3 + 2 + 5 + 1 + 4);
    pgk_heap_close(&heap);
    end(&c);
}

static void declared_at(const struct pgk_heap *heap, const char *symbol, const char *want)
{
    struct pgk_heap_data_place places[4];
    char text[100] = "";
    for (size_t i = 0; i < pgk_heap_data_items(heap); i++) {
        struct pgk_heap_data d;
        pgk_heap_data_item(heap, i, &d);
        if (strcmp(d.symbol, symbol))
            continue;
        size_t n = pgk_heap_data_places(heap, i, places, PGK_COUNTOF(places));
        assert_in_range(n, 0, PGK_COUNTOF(places));
        for (size_t k = 0, at = 0; k < n; k++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s:%u;", places[k].file,
                                   places[k].line);
    }
    assert_string_equal(text, want);
}

static void variables_have_the_places_of_their_declarations(void **state)
{
    (void)state;
    struct counted c;
    struct pgk_heap *heap = NULL;
    count(&c, some, PGK_COUNTOF(some));
    assert_int_equal(pgk_gen_data_profile(&c.gen, &heap, NULL), 0);
    declared_at(heap, "hot", "a.c:4;a.c:5;dir/b.h:9;");
    declared_at(heap, "alias", "a.c:4;a.c:5;dir/b.h:9;");
    declared_at(heap, "zero", "a.c:8;");
    pgk_heap_close(&heap);
    end(&c);
}

static void accesses_of_nothing_that_is_known_are_refused(void **state)
{
    (void)state;
    const struct pgk_pair stack = {0x900000, 0, 7};
    struct counted c;
    struct pgk_heap *heap = NULL;
    struct pgk_err err = {0};
    count(&c, &stack, 1);
    c.gen.stats.load_samples = 7;
    assert_int_equal(pgk_gen_data_profile(&c.gen, &heap, &err), PGK_E_EMPTY);
    assert_null(heap);
    assert_string_equal(err.field, "accesses of static data");
    assert_non_null(strstr(err.found, "none among 7 samples"));
    end(&c);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    int status = PGK_E_NOMEM;
    for (uint64_t n = 1; status; n++) {
        struct counted c;
        struct pgk_heap *heap = NULL;
        count(&c, some, PGK_COUNTOF(some));
        pgk_mem_fail_after(n);
        status = pgk_gen_data_profile(&c.gen, &heap, NULL);
        pgk_mem_fail_after(0);
        assert_true(status == 0 || status == PGK_E_NOMEM);
        assert_int_equal(status == 0, heap != NULL);
        pgk_heap_close(&heap);
        end(&c);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_accessed_is_hot_and_the_rest_cold),
        cmocka_unit_test(variables_have_the_places_of_their_declarations),
        cmocka_unit_test(accesses_of_nothing_that_is_known_are_refused),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
