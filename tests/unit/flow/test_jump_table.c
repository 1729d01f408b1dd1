/* Tables of offsets in programs of AArch64 that are made here: which are read, and how far. */
#include "jump_table.h"

#include "elf_image.h"
#include "elf_priv.h"
#include "mem.h"

enum { CODE = 0x2000, TABLES = 0x4000 };

static const uint32_t text[] = {
    /* a table whose length the code tells */
    0x7100101f, /* 2000 cmp w0, #0x4 */
    0x54000128, /* 2004 b.hi 2028 */
    0xd0000001, /* 2008 adrp x1, 4000 */
    0x91004021, /* 200c add x1, x1, #0x10 */
    0x38604821, /* 2010 ldrb w1, [x1, w0, uxtw] */
    0x10000062, /* 2014 adr x2, 2020 */
    0x8b218841, /* 2018 add x1, x2, w1, sxtb #2 */
    0xd61f0020, /* 201c br x1 */
    0xd503201f, /* 2020 nop */
    0xd503201f, /* 2024 nop */
    0xd65f03c0, /* 2028 ret */
    /* one of words whose length it does not tell */
    0xd0000009, /* 202c adrp x9, 4000 */
    0x9100c129, /* 2030 add x9, x9, #0x30 */
    0xb8a8792a, /* 2034 ldrsw x10, [x9, x8, lsl #2] */
    0x8b090149, /* 2038 add x9, x10, x9 */
    0xd61f0120, /* 203c br x9 */
    /* one of bytes whose length it does not tell */
    0x38686921, /* 2040 ldrb w1, [x9, x8] */
    0x38686a81, /* 2044 ldrb w1, [x20, x8] */
    0x8b218841, /* 2048 add x1, x2, w1, sxtb #2 */
    0xd61f0020, /* 204c br x1 */
};

struct program {
    struct test_bytes symbols, elf;
    uint8_t tables[0x40];
    struct pgk_elf *file;
    struct pgk_code code;
    pgk_addr_vec targets;
};

static bool is_inside(const void *ctx, uint64_t addr)
{
    (void)ctx;
    return addr >= CODE && addr < CODE + sizeof text;
}

/* The targets of all tables of the program. */
static void open_program(struct program *p, const int8_t bytes[5], const int32_t *words, size_t n)
{
    static const char names[] = "\0code";
    const Elf64_Sym symbols[] = {{0},
                                 {.st_name = 1,
                                  .st_info = STT_FUNC | STB_GLOBAL << 4,
                                  .st_shndx = 1,
                                  .st_value = CODE,
                                  .st_size = sizeof text}};
    *p = (struct program){0};
    memcpy(p->tables + 0x10, bytes, 5);
    memcpy(p->tables + 0x30, words, n * sizeof *words);
    const struct test_section sections[] = {
        {".text", 0, SHF_ALLOC | SHF_EXECINSTR, text, sizeof text, 0, CODE},
        {".rodata", 0, SHF_ALLOC, p->tables, sizeof p->tables, 0, TABLES},
        {".symtab", SHT_SYMTAB, 0, symbols, sizeof symbols, 4, 0},
        {".strtab", SHT_STRTAB, 0, names, sizeof names, 0, 0},
    };
    p->elf = test_elf(ET_DYN, sections, PGK_COUNTOF(sections));
    ((Elf64_Ehdr *)(void *)p->elf.v)->e_machine = EM_AARCH64;
    assert_int_equal(
        pgk_elf_open_memory(&p->file, p->elf.v, p->elf.n, "image", PGK_ELF_PROGRAM, NULL), 0);
    assert_int_equal(pgk_code_open(&p->code, p->file, NULL), 0);
    struct pgk_arm64_jumps jumps = {0};
    for (uint64_t at = CODE; at < CODE + sizeof text; at += 4)
        assert_true(
            pgk_jump_table_step(&p->code, &jumps, at, is_inside, NULL, &p->targets));
}

static void close_program(struct program *p)
{
    pgk_vec_free(&p->targets);
    pgk_code_close(&p->code);
    pgk_elf_close(&p->file);
    tb_free(&p->elf);
}

static void expect(const struct program *p, const uint64_t *want, size_t n)
{
    assert_int_equal(p->targets.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(p->targets.v[i], want[i]);
}

static const int32_t two_words[] = {CODE - (TABLES + 0x30), CODE + 0x28 - (TABLES + 0x30), 0};

/* Of words whose number is not known, up to the first one that leads elsewhere. */
static void whole_tables(void **state)
{
    (void)state;
    static const uint64_t want[] = {0x2020, 0x2024, 0x2028, 0x2020, 0x2000, 0x2000, 0x2028};
    struct program p;
    open_program(&p, (const int8_t[]){0, 1, 2, 0, -8}, two_words, 3);
    expect(&p, want, PGK_COUNTOF(want));
    close_program(&p);
}

/* Its length is known, so it is none if it holds something else. */
static void not_in_part(void **state)
{
    (void)state;
    static const uint64_t want[] = {0x2000, 0x2028};
    struct program p;
    open_program(&p, (const int8_t[]){0, 1, 2, 0, -9}, two_words, 3);
    expect(&p, want, PGK_COUNTOF(want));
    close_program(&p);
}

/* Words up to the end of their section. */
static void at_the_end(void **state)
{
    (void)state;
    static const int32_t four[] = {CODE - (TABLES + 0x30), CODE - (TABLES + 0x30),
                                   CODE - (TABLES + 0x30), CODE - (TABLES + 0x30)};
    struct program p;
    open_program(&p, (const int8_t[]){0, 0, 0, 0, 0}, four, 4);
    assert_int_equal(p.targets.n, 5 + 4);
    close_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_tables),
        cmocka_unit_test(not_in_part),
        cmocka_unit_test(at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
