/* Units made by hand and what the symboliser should say of them. */
#ifndef DWARF_SAMPLES_H
#define DWARF_SAMPLES_H

#include "elf_image.h"

#include "elf_priv.h"
#include "mem.h"
#include "pgokit/log.h"
#include "symboliser.h"

enum { AT_DISCRIMINATOR = 0x2136 };

/* ---- answers as text ---- */

enum { TEXT_SIZE = 4096 };

/* "name file:line:column:discriminator decl_file:decl_line", innermost first, joined by
 * " < "; "" for no function. */
static inline const char *chain_text(char text[TEXT_SIZE], const struct pgk_sym_chain *c)
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < c->count && n < TEXT_SIZE; i++) {
        const struct pgk_sym_frame *f = &c->frames[i];
        assert_int_equal(f->inlined, i + 1 < c->count);
        n += (size_t)snprintf(text + n, TEXT_SIZE - n, "%s%s %s:%u:%u:%u %s:%u", i ? " < " : "",
                              f->function ? f->function : "?", f->file ? f->file : "?", f->line,
                              f->column, f->discriminator, f->decl_file ? f->decl_file : "?",
                              f->decl_line);
    }
    return text;
}

struct opened {
    struct test_bytes image;
    struct pgk_elf *elf;
    struct pgk_symboliser *sym;
};

static inline struct opened open_dwarf(const struct test_dwarf *d)
{
    struct opened o = {.image = td_elf(d)};
    struct pgk_err err = {0};
    char text[8192];
    if (pgk_elf_open_memory(&o.elf, o.image.v, o.image.n, "image", PGK_ELF_PROGRAM, &err) < 0 ||
        pgk_symboliser_open(&o.sym, o.elf, &err) < 0)
        fail_msg("%s", test_printed(text, &err));
    return o;
}

static inline void close_dwarf(struct opened *o)
{
    pgk_symboliser_close(&o->sym);
    pgk_elf_close(&o->elf);
    tb_free(&o->image);
}

struct expected {
    uint64_t addr;
    const char *text;
};

/* What is known of the copies of functions is the same, whoever looks at the lines. */
static inline void expect_copies(struct pgk_symboliser *sym, const uint64_t *addrs,
                                 const struct pgk_sym_chain *chains, size_t n)
{
    struct pgk_arena arena = {0};
    struct pgk_sym_chain copies[64];
    assert_int_equal(pgk_symbolise_copies(sym, addrs, n, 2, &arena, copies, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(copies[i].count, chains[i].count);
        for (uint32_t k = 0; k < copies[i].count; k++) {
            const struct pgk_sym_frame *a = &copies[i].frames[k], *b = &chains[i].frames[k];
            assert_true(a->function == b->function && a->decl_line == b->decl_line);
            assert_int_equal(a->inlined, b->inlined);
            assert_int_equal(a->line, k ? b->line : 0);
            assert_int_equal(a->discriminator, k ? b->discriminator : 0);
            assert_null(a->file);
        }
    }
    pgk_arena_free(&arena);
}

static inline void expect(struct pgk_symboliser *sym, const struct expected *e, size_t n)
{
    uint64_t addrs[64];
    struct pgk_sym_chain chains[64];
    struct pgk_err err = {0};
    char text[TEXT_SIZE];
    assert_in_range(n, 1, 64);
    for (size_t i = 0; i < n; i++)
        addrs[i] = e[i].addr;
    /* The second time everything has been decoded already. */
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct pgk_arena arena = {0};
        memset(chains, 0xff, sizeof chains);
        assert_int_equal(pgk_symbolise(sym, addrs, n, threads, &arena, chains, &err), 0);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(chain_text(text, &chains[i]), e[i].text);
        expect_copies(sym, addrs, chains, n);
        pgk_arena_free(&arena);
    }
    /* One address at a time gives the same. */
    for (size_t i = 0; i < n; i++) {
        struct pgk_arena arena = {0};
        assert_int_equal(pgk_symbolise(sym, addrs + i, 1, 1, &arena, chains, &err), 0);
        assert_string_equal(chain_text(text, &chains[0]), e[i].text);
        pgk_arena_free(&arena);
    }
}

static inline void expect_of(const struct test_dwarf *d, const struct expected *e, size_t n)
{
    struct opened o = open_dwarf(d);
    expect(o.sym, e, n);
    close_dwarf(&o);
}
#define EXPECT(d, ...)                                     \
    expect_of((d), (const struct expected[]){__VA_ARGS__}, \
              sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

/* ---- a vocabulary of DIEs, DWARF 4 ---- */

enum { A_UNIT = 1, A_ABSTRACT, A_FUNCTION, A_INLINED, A_BLOCK, A_SPEC, A_BARE, A_RANGES, A_ORIGIN,
       A_PLACED, A_DEFINED };

static inline void common_abbrevs(struct test_dwarf *d)
{
    TD_ABBREV(d, A_UNIT, DW_TAG_compile_unit, true, DW_AT_name, DW_FORM_string, DW_AT_stmt_list,
              DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4);
    TD_ABBREV(d, A_ABSTRACT, DW_TAG_subprogram, false, DW_AT_linkage_name, DW_FORM_string,
              DW_AT_name, DW_FORM_string, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line,
              DW_FORM_udata, DW_AT_inline, DW_FORM_data1);
    TD_ABBREV(d, A_FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
              DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_decl_file, DW_FORM_data1,
              DW_AT_decl_line, DW_FORM_data2);
    TD_ABBREV(d, A_INLINED, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin, DW_FORM_ref4,
              DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_call_file,
              DW_FORM_data1, DW_AT_call_line, DW_FORM_data1, DW_AT_call_column, DW_FORM_data1,
              AT_DISCRIMINATOR, DW_FORM_data1);
    TD_ABBREV(d, A_BLOCK, DW_TAG_lexical_block, true, DW_AT_low_pc, DW_FORM_addr);
    TD_ABBREV(d, A_SPEC, DW_TAG_subprogram, true, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
              DW_FORM_addr, DW_AT_specification, DW_FORM_ref4);
    TD_ABBREV(d, A_BARE, DW_TAG_variable, false, DW_AT_location, DW_FORM_exprloc, DW_AT_name,
              DW_FORM_string);
    TD_ABBREV(d, A_RANGES, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_ranges,
              DW_FORM_sec_offset);
    TD_ABBREV(d, A_ORIGIN, DW_TAG_subprogram, false, DW_AT_abstract_origin, DW_FORM_ref4,
              DW_AT_specification, DW_FORM_ref4);
    TD_ABBREV(d, A_PLACED, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, DW_AT_decl_file,
              DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, DW_AT_location, DW_FORM_exprloc);
    TD_ABBREV(d, A_DEFINED, DW_TAG_variable, false, DW_AT_specification, DW_FORM_ref4,
              DW_AT_location, DW_FORM_exprloc);
    tb_u8(&d->abbrev, 0);
}

static inline size_t begin_unit(struct test_dwarf *d, uint64_t low, uint64_t size, size_t lines)
{
    size_t at = td_unit(d, 4);
    tb_uleb(&d->info, A_UNIT);
    tb_str(&d->info, "unit");
    tb_u32(&d->info, lines);
    tb_u64(&d->info, low);
    tb_u32(&d->info, size);
    return at;
}

static inline void end_unit(struct test_dwarf *d, size_t at)
{
    tb_u8(&d->info, 0);
    td_unit_end(d, at);
}

/* Returns the offset for references, which count from the unit's header. */
static inline size_t abstract(struct test_dwarf *d, const char *linkage, unsigned file,
                              unsigned line)
{
    size_t at = d->info.n;
    tb_uleb(&d->info, A_ABSTRACT);
    tb_str(&d->info, linkage);
    tb_str(&d->info, "plain");
    tb_u8(&d->info, file);
    tb_uleb(&d->info, line);
    tb_u8(&d->info, DW_INL_inlined);
    return at;
}

/* Begins a DIE with children; ended by a zero. */
static inline void function(struct test_dwarf *d, const char *name, uint64_t low, uint64_t size,
                            unsigned line)
{
    tb_uleb(&d->info, A_FUNCTION);
    tb_str(&d->info, name);
    tb_u64(&d->info, low);
    tb_u32(&d->info, size);
    tb_u8(&d->info, 1);
    tb_u16(&d->info, line);
}

static inline void empty_function(struct test_dwarf *d, const char *name, uint64_t low,
                                  uint64_t size)
{
    function(d, name, low, size, 1);
    tb_u8(&d->info, 0);
}

static inline void inlined(struct test_dwarf *d, size_t origin, uint64_t low, uint64_t size,
                           unsigned line, unsigned column, unsigned discriminator)
{
    tb_uleb(&d->info, A_INLINED);
    tb_u32(&d->info, origin);
    tb_u64(&d->info, low);
    tb_u32(&d->info, size);
    tb_u8(&d->info, 2);
    tb_u8(&d->info, line);
    tb_u8(&d->info, column);
    tb_u8(&d->info, discriminator);
}

static inline void block(struct test_dwarf *d)
{
    tb_uleb(&d->info, A_BLOCK);
    tb_u64(&d->info, 0);
}

static inline void variable(struct test_dwarf *d)
{
    tb_uleb(&d->info, A_BARE);
    tb_uleb(&d->info, 200); /* a length of two bytes */
    for (int i = 0; i < 200; i++)
        tb_u8(&d->info, A_FUNCTION);
    tb_str(&d->info, "v");
}

/* A place of nine bytes: an operation and an address. */
static inline void address_place(struct test_dwarf *d, unsigned operation, uint64_t addr)
{
    tb_uleb(&d->info, 9);
    tb_u8(&d->info, operation);
    tb_u64(&d->info, addr);
}

/* Returns the offset for references. */
static inline size_t placed_variable(struct test_dwarf *d, unsigned file, unsigned line,
                                     unsigned operation, uint64_t addr)
{
    size_t at = d->info.n;
    tb_uleb(&d->info, A_PLACED);
    tb_str(&d->info, "placed");
    tb_u8(&d->info, file);
    tb_u8(&d->info, line);
    address_place(d, operation, addr);
    return at;
}

/* Two inlined calls inside a block inside a function, and a function after it. */
static inline void typical(struct test_dwarf *d)
{
    common_abbrevs(d);
    size_t lines = td_lines(d, 1, 1);
    td_set_address(d, 0x2000);
    td_row(d, 0, 5); /* 0x2000: line 6 */
    tb_put(&d->line, "\x05\x07", 2);
    td_row(d, 16, 1); /* 0x2010: line 7 column 7 */
    tb_put(&d->line, "\x04\x02", 2);
    tb_put(&d->line, "\0\2\4\x09", 4);
    td_row(d, 16, -2); /* 0x2020: b.h line 5, discriminator 9 */
    tb_put(&d->line, "\x04\x01", 2);
    td_row(d, 15, 4); /* 0x202f: line 9 */
    td_row(d, 0, 1);  /* the same address: line 10 counts */
    td_end_sequence(d, 0x100 - 0x2f);
    td_lines_end(d, lines);

    size_t unit = begin_unit(d, 0x2000, 0x200, lines);
    size_t in = abstract(d, "_Zin", 2, 20), middle = abstract(d, "_Zmiddle", 1, 300);
    function(d, "outer", 0x2000, 0x80, 4);
    variable(d);
    block(d);
    inlined(d, middle, 0x2010, 0x40, 8, 3, 1);
    variable(d);
    inlined(d, in, 0x2020, 0x10, 9, 4, 2);
    tb_put(&d->info, "\0\0\0\0", 4);
    empty_function(d, "leaf", 0x2080, 0x100);
    end_unit(d, unit);
}

static inline void put_range(struct test_bytes *b, uint64_t low, uint64_t high)
{
    tb_u64(b, low);
    tb_u64(b, high);
}

/* ---- DWARF 5 ---- */

/* A unit with indexed strings, addresses and range lists, and implicit constants. */
static inline void version_5(struct test_dwarf *d)
{
    static const char strings[] = "unit\0split_name\0_Zinlined";
    tb_put(&d->str, strings, sizeof strings);
    tb_u32(&d->str_offsets, 16);
    tb_u16(&d->str_offsets, 5);
    tb_u16(&d->str_offsets, 0);
    tb_u32(&d->str_offsets, 0);
    tb_u32(&d->str_offsets, 5);
    tb_u32(&d->str_offsets, 16);
    tb_u32(&d->addr, 4 + 4 * 8);
    tb_put(&d->addr, "\5\0\10\0", 4);
    static const uint64_t addresses[] = {0x2000, 0x2010, 0x4000, 0x4100};
    for (int i = 0; i < 4; i++)
        tb_u64(&d->addr, addresses[i]);
    /* One offset, then the lists. */
    tb_u32(&d->rnglists, 0);
    tb_put(&d->rnglists, "\5\0\10\0\1\0\0\0", 8);
    tb_u32(&d->rnglists, 4);
    tb_u8(&d->rnglists, DW_RLE_startx_length), tb_uleb(&d->rnglists, 0),
        tb_uleb(&d->rnglists, 0x100);
    tb_u8(&d->rnglists, DW_RLE_startx_endx), tb_uleb(&d->rnglists, 2), tb_uleb(&d->rnglists, 3);
    tb_u8(&d->rnglists, DW_RLE_base_addressx), tb_uleb(&d->rnglists, 2);
    tb_u8(&d->rnglists, DW_RLE_offset_pair), tb_uleb(&d->rnglists, 0x1000),
        tb_uleb(&d->rnglists, 0x1010);
    tb_u8(&d->rnglists, DW_RLE_base_address), tb_u64(&d->rnglists, 0x6000);
    tb_u8(&d->rnglists, DW_RLE_offset_pair), tb_uleb(&d->rnglists, 0), tb_uleb(&d->rnglists, 16);
    tb_u8(&d->rnglists, DW_RLE_start_end), tb_u64(&d->rnglists, 0x7000),
        tb_u64(&d->rnglists, 0x7010);
    tb_u8(&d->rnglists, DW_RLE_start_length), tb_u64(&d->rnglists, 0x8000),
        tb_uleb(&d->rnglists, 16);
    tb_u8(&d->rnglists, DW_RLE_end_of_list);
    tb_patch_u32(&d->rnglists, 0, d->rnglists.n - 4);

    TD_ABBREV(d, 1, DW_TAG_compile_unit, true, DW_AT_name, DW_FORM_strx1, DW_AT_str_offsets_base,
              DW_FORM_sec_offset, DW_AT_addr_base, DW_FORM_sec_offset, DW_AT_rnglists_base,
              DW_FORM_sec_offset, DW_AT_ranges, DW_FORM_rnglistx);
    TD_ABBREV(d, 2, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_strx, DW_AT_ranges,
              DW_FORM_rnglistx);
    tb_uleb(&d->abbrev, 3);
    tb_uleb(&d->abbrev, DW_TAG_inlined_subroutine);
    tb_u8(&d->abbrev, false);
    static const uint16_t pairs[] = {DW_AT_abstract_origin, DW_FORM_ref_udata, DW_AT_low_pc,
                                     DW_FORM_addrx1,        DW_AT_high_pc,     DW_FORM_udata,
                                     DW_AT_call_line,       DW_FORM_indirect,  DW_AT_call_column,
                                     DW_FORM_implicit_const};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        tb_uleb(&d->abbrev, pairs[i]);
    tb_uleb(&d->abbrev, 33); /* the implicit constant */
    tb_u16(&d->abbrev, 0);
    TD_ABBREV(d, 4, DW_TAG_subprogram, false, DW_AT_linkage_name, DW_FORM_strx4, DW_AT_decl_line,
              DW_FORM_sdata, DW_AT_inline, DW_FORM_flag_present);
    tb_u8(&d->abbrev, 0);

    size_t unit = td_unit(d, 5);
    tb_uleb(&d->info, 1), tb_u8(&d->info, 0);
    tb_u32(&d->info, 8), tb_u32(&d->info, 8), tb_u32(&d->info, 12);
    tb_uleb(&d->info, 0);
    size_t origin = d->info.n;
    tb_uleb(&d->info, 4), tb_u32(&d->info, 2), tb_uleb(&d->info, 55);
    tb_uleb(&d->info, 2), tb_uleb(&d->info, 1), tb_uleb(&d->info, 0);
    tb_uleb(&d->info, 3), tb_uleb(&d->info, origin), tb_u8(&d->info, 1), tb_uleb(&d->info, 4);
    tb_uleb(&d->info, DW_FORM_data2), tb_u16(&d->info, 999);
    tb_u8(&d->info, 0);
    end_unit(d, unit);
}

#endif
