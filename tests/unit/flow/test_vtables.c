/* Functions of virtual tables by their displacement, and the types that declare them. */
#include "elf_image.h"

#include "elf_priv.h"
#include "mem.h"
#include "vtables.h"

enum { DATA = 0x4000, ELSEWHERE = 0x900000 };
enum { RUN = 0x1100, STOP = 0x1200, RUN_2 = 0x1300, STOP_2 = 0x1400, MORE = 0x1500 };
/* What types begin with: how they are to be compared, and a name. */
#define TYPE_HEAD ELSEWHERE, ELSEWHERE + 8

/* A program under construction, of data alone. */
struct image {
    struct test_bytes data, symbols, names, patches, dynamic, elf;
};

static struct image image(void)
{
    struct image i = {0};
    tb_u8(&i.names, 0);
    tb_put(&i.symbols, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    tb_put(&i.dynamic, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    return i;
}

static uint64_t add(struct image *i, const char *name, const uint64_t *words, size_t n)
{
    const Elf64_Sym s = {.st_name = (Elf64_Word)i->names.n,
                         .st_info = STT_OBJECT | STB_GLOBAL << 4,
                         .st_shndx = 1,
                         .st_value = DATA + i->data.n,
                         .st_size = n * sizeof *words};
    tb_str(&i->names, name);
    tb_put(&i->symbols, &s, sizeof s);
    tb_put(&i->data, words, n * sizeof *words);
    return s.st_value;
}
/* Words of data with a symbol; gives their address. */
#define ADD(image, name, ...)                               \
    add((image), (name), ((const uint64_t[]){__VA_ARGS__}), \
        sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A relocation of the word at an address; to symbol 1 of the dynamic ones if it is named. */
static void patch(struct image *i, uint64_t at, uint32_t type, uint64_t addend)
{
    const Elf64_Rela r = {at, ELF64_R_INFO((uint64_t)(type == R_X86_64_64), type),
                          (Elf64_Sxword)addend};
    tb_put(&i->patches, &r, sizeof r);
}

static int read_from(struct image *i, struct pgk_vtables *v, uint64_t fail_after,
                     struct pgk_err *err)
{
    const struct test_section sections[] = {
        {".data", 0, SHF_ALLOC, i->data.v, i->data.n, 0, DATA},
        {".symtab", SHT_SYMTAB, 0, i->symbols.v, i->symbols.n, 3, 0},
        {".strtab", SHT_STRTAB, 0, i->names.v, i->names.n, 0, 0},
        {".rela.dyn", SHT_RELA, SHF_ALLOC, i->patches.v, i->patches.n, 5, 0x200},
        {".dynsym", SHT_DYNSYM, SHF_ALLOC, i->dynamic.v, i->dynamic.n, 3, 0x300},
    };
    struct pgk_elf *elf;
    tb_free(&i->elf);
    i->elf = test_elf(ET_DYN, sections, PGK_COUNTOF(sections));
    assert_int_equal(pgk_elf_open_memory(&elf, i->elf.v, i->elf.n, "image", PGK_ELF_PROGRAM, NULL),
                     0);
    pgk_mem_fail_after(fail_after);
    int status = pgk_vtables_read(v, elf, err);
    pgk_mem_fail_after(0);
    pgk_elf_close(&elf);
    return status;
}

static struct pgk_vtables tables_of(struct image *i)
{
    struct pgk_vtables v = {0};
    assert_int_equal(read_from(i, &v, 0, NULL), 0);
    return v;
}

static void end(struct image *i, struct pgk_vtables *v)
{
    pgk_vtables_free(v);
    tb_free(&i->data), tb_free(&i->symbols), tb_free(&i->names);
    tb_free(&i->patches), tb_free(&i->dynamic), tb_free(&i->elf);
}

static void expect(const struct pgk_vtables *v, const struct pgk_vtable_entry *want, size_t n)
{
    assert_int_equal(v->list.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(v->list.v[i].slot, want[i].slot);
        assert_int_equal(v->list.v[i].function, want[i].function);
        assert_int_equal(v->list.v[i].family, want[i].family);
    }
}
#define EXPECT(vtables, ...)                                          \
    expect((vtables), (const struct pgk_vtable_entry[]){__VA_ARGS__}, \
           sizeof((const struct pgk_vtable_entry[]){__VA_ARGS__}) /   \
               sizeof(struct pgk_vtable_entry))

static void functions_are_found_by_displacement(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t base = ADD(&i, "_ZTI4Base", TYPE_HEAD);
    ADD(&i, "_ZTV4Base", 0, base, STOP, RUN);
    uint64_t other = ADD(&i, "_ZTI5Other", TYPE_HEAD);
    ADD(&i, "_ZTV5Other", 0, other, RUN);
    ADD(&i, "table", 0, base, MORE);
    struct pgk_vtables v = tables_of(&i);
    size_t n;
    EXPECT(&v, {0, RUN, other}, {0, STOP, base}, {8, RUN, base});
    assert_ptr_equal(pgk_vtables_at(&v, 0, &n), &v.list.v[0]);
    assert_int_equal(n, 2);
    assert_ptr_equal(pgk_vtables_at(&v, 8, &n), &v.list.v[2]);
    assert_int_equal(n, 1);
    pgk_vtables_at(&v, 4, &n);
    assert_int_equal(n, 0);
    pgk_vtables_at(&v, 16, &n);
    assert_int_equal(n, 0);
    assert_true(pgk_vtables_have(&v, 0, RUN) && pgk_vtables_have(&v, 0, STOP));
    assert_true(pgk_vtables_have(&v, 8, RUN));
    assert_false(pgk_vtables_have(&v, 8, STOP));
    assert_false(pgk_vtables_have(&v, 16, RUN));
    end(&i, &v);
}

static void a_program_without_tables_has_none(void **state)
{
    (void)state;
    struct image i = image();
    ADD(&i, "_ZTI4Base", TYPE_HEAD);
    struct pgk_vtables v = tables_of(&i);
    size_t n = 1;
    assert_int_equal(v.list.n, 0);
    assert_null(pgk_vtables_at(&v, 0, &n));
    assert_int_equal(n, 0);
    assert_false(pgk_vtables_have(&v, 0, RUN));
    end(&i, &v);
}

/* What a derived type takes over and what it replaces is the base's, what it adds its own. */
static void slots_are_of_the_type_that_declares_them(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t base = ADD(&i, "_ZTI4Base", TYPE_HEAD);
    ADD(&i, "_ZTV4Base", 0, base, RUN, STOP);
    uint64_t derived = ADD(&i, "_ZTI7Derived", TYPE_HEAD, base);
    ADD(&i, "_ZTV7Derived", 0, derived, RUN_2, STOP, MORE);
    uint64_t last = ADD(&i, "_ZTI4Last", TYPE_HEAD, derived);
    ADD(&i, "_ZTV4Last", 0, last, RUN, STOP_2, MORE);
    struct pgk_vtables v = tables_of(&i);
    EXPECT(&v, {0, RUN, base}, {0, RUN_2, base}, {8, STOP, base}, {8, STOP_2, base},
           {16, MORE, derived});
    end(&i, &v);
}

/* Linkers leave out the tables of abstract types. */
static void a_base_without_table_has_all_slots(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t root = ADD(&i, "_ZTI4Root", TYPE_HEAD), base = ADD(&i, "_ZTI4Base", TYPE_HEAD, root),
             one = ADD(&i, "_ZTI3One", TYPE_HEAD, base), two = ADD(&i, "_ZTI3Two", TYPE_HEAD, base);
    ADD(&i, "_ZTV3One", 0, one, RUN, STOP);
    ADD(&i, "_ZTV3Two", 0, two, RUN_2);
    struct pgk_vtables v = tables_of(&i);
    EXPECT(&v, {0, RUN, base}, {0, RUN_2, base}, {8, STOP, base});
    end(&i, &v);
}

/* The type of several bases: flags and number, then each base and its place. */
static void second_bases_have_tables_of_their_own(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t first = ADD(&i, "_ZTI5First", TYPE_HEAD), second = ADD(&i, "_ZTI6Second", TYPE_HEAD);
    ADD(&i, "_ZTV5First", 0, first, RUN);
    ADD(&i, "_ZTV6Second", 0, second, STOP);
    uint64_t both =
        ADD(&i, "_ZTI4Both", TYPE_HEAD, (uint64_t)2 << 32, first, 2, second, 16 << 8 | 2);
    ADD(&i, "_ZTV4Both", 0, both, RUN_2, MORE, (uint64_t)-16, both, STOP_2);
    struct pgk_vtables v = tables_of(&i);
    size_t n;
    const struct pgk_vtable_entry *e = pgk_vtables_at(&v, 0, &n);
    assert_int_equal(n, 4);
    assert_true(e[0].function == RUN && e[0].family == first);
    assert_true(e[1].function == STOP && e[1].family == second);
    assert_true(e[2].function == RUN_2 && e[2].family == first);
    assert_true(e[3].function == STOP_2 && e[3].family == second);
    e = pgk_vtables_at(&v, 8, &n);
    assert_int_equal(n, 1);
    assert_true(e->function == MORE && e->family == both);
    assert_int_equal(v.list.n, 5);
    end(&i, &v);
}

/* A base at a place in a base, by way of a single one; and one that no list of bases tells. */
static void second_bases_of_bases_are_found(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t first = ADD(&i, "_ZTI5First", TYPE_HEAD), second = ADD(&i, "_ZTI6Second", TYPE_HEAD);
    ADD(&i, "_ZTV6Second", 0, second, RUN);
    uint64_t both =
        ADD(&i, "_ZTI4Both", TYPE_HEAD, (uint64_t)2 << 32, first, 2, second, 16 << 8 | 2);
    uint64_t mid = ADD(&i, "_ZTI3Mid", TYPE_HEAD, both);
    uint64_t last = ADD(&i, "_ZTI4Last", TYPE_HEAD, (uint64_t)2 << 32, first, 2, mid, 8 << 8 | 2);
    uint64_t table = ADD(&i, "_ZTV4Last", 0, last, MORE, (uint64_t)-24, last, STOP, (uint64_t)-32,
                         last, STOP_2);
    struct pgk_vtables v = tables_of(&i);
    EXPECT(&v, {0, RUN, second}, {0, STOP, second}, {0, STOP_2, table + 64}, {0, MORE, first});
    end(&i, &v);
}

/* The table of a virtual base, or of one further behind, is not continued. */
static void other_bases_do_not_declare_slots(void **state)
{
    (void)state;
    static const uint64_t places[] = {1, 16 << 8};
    for (size_t k = 0; k < PGK_COUNTOF(places); k++) {
        struct image i = image();
        uint64_t base = ADD(&i, "_ZTI4Base", TYPE_HEAD);
        ADD(&i, "_ZTV4Base", 0, base, RUN);
        uint64_t type = ADD(&i, "_ZTI4Type", TYPE_HEAD, (uint64_t)1 << 32, base, places[k]);
        ADD(&i, "_ZTV4Type", 0, type, RUN_2);
        struct pgk_vtables v = tables_of(&i);
        EXPECT(&v, {0, RUN, base}, {0, RUN_2, type});
        end(&i, &v);
    }
}

/* A pure function of a library is 0 in the file, so that the table behind the type looks like the
 * rest of one with bases. */
static void a_type_ends_where_its_symbol_does(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t derived = DATA, base = DATA + 7 * sizeof(uint64_t);
    ADD(&i, "_ZTI7Derived", TYPE_HEAD, base);
    ADD(&i, "_ZTV4Base", 0, base, RUN, STOP);
    assert_int_equal(ADD(&i, "_ZTI4Base", TYPE_HEAD), base);
    ADD(&i, "_ZTV7Derived", 0, derived, 0, STOP_2);
    struct pgk_vtables v = tables_of(&i);
    EXPECT(&v, {0, RUN, base}, {8, STOP, base}, {8, STOP_2, base});
    end(&i, &v);
}

static void relocations_are_applied(void **state)
{
    (void)state;
    struct image i = image();
    const Elf64_Sym named = {.st_shndx = 1, .st_value = STOP - 4};
    tb_put(&i.dynamic, &named, sizeof named);
    uint64_t base = ADD(&i, "_ZTI4Base", TYPE_HEAD), derived = ADD(&i, "_ZTI7Derived", 0, 0, 0),
             table = ADD(&i, "_ZTV7Derived", 0, 0, 0, MORE, MORE);
    patch(&i, table + 24, R_X86_64_64, 4);
    patch(&i, table + 32, R_X86_64_JUMP_SLOT, RUN_2); /* none of those that data has */
    patch(&i, table + 8, R_X86_64_RELATIVE, derived);
    patch(&i, derived + 16, R_AARCH64_RELATIVE, base);
    patch(&i, table + 16, R_X86_64_RELATIVE, RUN);
    struct pgk_vtables v = tables_of(&i);
    EXPECT(&v, {0, RUN, base}, {8, STOP, base}, {16, MORE, base});
    end(&i, &v);
}

static void what_points_nowhere_is_passed_over(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t base = ADD(&i, "_ZTI4Base", TYPE_HEAD);
    ADD(&i, "_ZTV4Base", 0, base, RUN, 0, STOP);
    const Elf64_Sym symbols[] = {
        {.st_shndx = 1, .st_value = ELSEWHERE, .st_size = 32},   /* in no section */
        {.st_shndx = SHN_UNDEF, .st_value = DATA, .st_size = 8}, /* of a library */
        {.st_shndx = 1, .st_value = DATA, .st_size = UINT64_MAX},
        {.st_shndx = 1, .st_value = DATA, .st_size = 0},
    };
    for (size_t k = 0; k < PGK_COUNTOF(symbols); k++) {
        Elf64_Sym s = symbols[k];
        s.st_name = (Elf64_Word)i.names.n;
        tb_put(&i.symbols, &s, sizeof s);
    }
    tb_str(&i.names, "_ZTV3Bad");
    patch(&i, UINT64_MAX - 3, R_X86_64_RELATIVE, RUN);
    tb_u64(&i.patches, 0); /* less than a relocation */
    struct pgk_vtables v = tables_of(&i);
    EXPECT(&v, {0, RUN, base}, {16, STOP, base});
    end(&i, &v);
}

/* Bases in a circle, which only a damaged file has, end after some steps. */
static void bases_in_a_circle_end(void **state)
{
    (void)state;
    struct image i = image();
    uint64_t one = ADD(&i, "_ZTI3One", TYPE_HEAD, DATA + 24),
             two = ADD(&i, "_ZTI3Two", TYPE_HEAD, one);
    ADD(&i, "_ZTV3One", 0, one, RUN);
    ADD(&i, "_ZTV3Two", 0, two, STOP);
    struct pgk_vtables v = tables_of(&i);
    assert_int_equal(v.list.n, 2);
    assert_true(pgk_vtables_have(&v, 0, RUN) && pgk_vtables_have(&v, 0, STOP));
    end(&i, &v);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    struct image i = image();
    struct pgk_vtables v = {0};
    uint64_t base = ADD(&i, "_ZTI4Base", TYPE_HEAD), table = ADD(&i, "_ZTV4Base", 0, base, RUN, 0);
    patch(&i, table + 24, R_X86_64_RELATIVE, STOP);
    int status = PGK_E_NOMEM, failures = -1;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++, failures++) {
        struct pgk_err err = {0};
        pgk_vtables_free(&v);
        status = read_from(&i, &v, nth, &err);
        assert_int_equal(err.status, status);
        assert_in_range(nth, 1, 50);
    }
    assert_int_equal(status, 0);
    assert_true(failures >= 4); /* relocations, types, entries, tables */
    EXPECT(&v, {0, RUN, base}, {8, STOP, base});
    end(&i, &v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_by_displacement),
        cmocka_unit_test(a_program_without_tables_has_none),
        cmocka_unit_test(slots_are_of_the_type_that_declares_them),
        cmocka_unit_test(a_base_without_table_has_all_slots),
        cmocka_unit_test(second_bases_have_tables_of_their_own),
        cmocka_unit_test(second_bases_of_bases_are_found),
        cmocka_unit_test(other_bases_do_not_declare_slots),
        cmocka_unit_test(a_type_ends_where_its_symbol_does),
        cmocka_unit_test(relocations_are_applied),
        cmocka_unit_test(what_points_nowhere_is_passed_over),
        cmocka_unit_test(bases_in_a_circle_end),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
