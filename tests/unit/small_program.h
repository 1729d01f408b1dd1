/* A program of three functions, for the tests of lib/flow and lib/gen.
 *
 *     f  2000 test   2002 je 2009   2004 call g   2009 ret
 *     g  2010 jmp h
 *     h  2020 xor    2022 ret */
#ifndef SMALL_PROGRAM_H
#define SMALL_PROGRAM_H

#include "elf_image.h"

#include "elf_priv.h"

enum { F = 0x2000, F_BRANCH = 0x2002, F_CALL = 0x2004, F_RET = 0x2009, G = 0x2010, H = 0x2020,
       H_RET = 0x2022, TEXT_SIZE = 0x23 };

static inline struct test_bytes small_program(void)
{
    static uint8_t text[TEXT_SIZE] = {
        0x85, 0xff, 0x74, 0x05, 0xe8, 0x07, 0, 0, 0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
        [G - F] = 0xeb, 0x0e, [H - F] = 0x31, 0xc0, 0xc3};
    static const char names[] = "\0f\0g\0h";
    const Elf64_Sym symbols[] = {
        {0},
        {.st_name = 1, .st_info = STT_FUNC | STB_GLOBAL << 4, .st_shndx = 1, .st_value = F,
         .st_size = 10},
        {.st_name = 3, .st_info = STT_FUNC | STB_GLOBAL << 4, .st_shndx = 1, .st_value = G,
         .st_size = 2},
        {.st_name = 5, .st_info = STT_FUNC | STB_GLOBAL << 4, .st_shndx = 1, .st_value = H,
         .st_size = 3},
    };
    const struct test_section sections[] = {
        {".text", 0, SHF_ALLOC | SHF_EXECINSTR, text, sizeof text, 0, F},
        {".symtab", SHT_SYMTAB, 0, symbols, sizeof symbols, 3, 0},
        {".strtab", SHT_STRTAB, 0, names, sizeof names, 0, 0},
    };
    struct test_bytes b = test_elf(ET_EXEC, sections, PGK_COUNTOF(sections));
    Elf64_Phdr code;
    memcpy(&code, b.v + sizeof(Elf64_Ehdr), sizeof code);
    code.p_offset = TEST_CODE;
    code.p_filesz = code.p_memsz;
    memcpy(b.v + sizeof(Elf64_Ehdr), &code, sizeof code);
    return b;
}

static inline struct pgk_elf *open_small_program(struct test_bytes *b)
{
    struct pgk_elf *elf;
    struct pgk_err err = {0};
    *b = small_program();
    assert_int_equal(pgk_elf_open_memory(&elf, b->v, b->n, "image", PGK_ELF_PROGRAM, &err), 0);
    return elf;
}

#endif
