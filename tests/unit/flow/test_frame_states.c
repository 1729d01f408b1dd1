/* Where code of AArch64 has a frame. */
#include "../elf_image.h"

#include "elf_priv.h"
#include "frame_states.h"

enum { CODE = 0x2000 };

/* f sets up its frame on one way only; leaf has none; part is of a function that lies elsewhere. */
static const struct {
    const char *function; /* that begins here */
    uint32_t word;
    bool missing;
} code_words[] = {
    {"f", 0x340000e0, true},     /* cbz w0, f+28 */
    {NULL, 0xa9be7bfd, true},    /* stp x29, x30, [sp, #-32]! */
    {NULL, 0xf9000bf3, true},    /* str x19, [sp, #16] */
    {NULL, 0x910003fd, true},    /* mov x29, sp */
    {NULL, 0x94000008, false},   /* bl leaf */
    {NULL, 0x350000c1, false},   /* cbnz w1, f+44 */
    {NULL, 0xa8c27bfd, false},   /* ldp x29, x30, [sp], #32 */
    {NULL, 0xd65f03c0, true},    /* ret; f+28 */
    {NULL, 0xd503201f, false},   /* nop, which only an indirect jump may lead to */
    {NULL, 0xd61f0000, false},   /* br x0 */
    {NULL, 0xd503201f, false},   /* nop */
    {NULL, 0x17fffff9, false},   /* b f+16; f+44 */
    {"leaf", 0x35000040, true},  /* cbnz w0, leaf+8 */
    {NULL, 0xd65f03c0, true},    /* ret */
    {NULL, 0x0b000000, true},    /* add w0, w0, w0; leaf+8 */
    {NULL, 0xd65f03c0, true},    /* ret */
    {"part", 0xd503201f, false}, /* nop */
    {NULL, 0x97fffffb, false},   /* bl leaf */
    {"big", 0xd10083ff, true},   /* sub sp, sp, #32 */
    {NULL, 0xa9017bfd, true},    /* stp x29, x30, [sp, #16] */
    {NULL, 0x910043fd, true},    /* add x29, sp, #16 */
    {NULL, 0xd503201f, false},   /* nop */
    {NULL, 0xa9417bfd, false},   /* ldp x29, x30, [sp, #16] */
    {NULL, 0x910083ff, true},    /* add sp, sp, #32 */
    {NULL, 0x17fffff5, true},    /* b leaf */
};
enum { WORDS = PGK_COUNTOF(code_words) };

static void frames(void **state)
{
    (void)state;
    uint32_t text[WORDS];
    struct test_bytes names = {0}, symbols = {0};
    tb_u8(&names, 0);
    tb_put(&symbols, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (size_t i = 0; i < WORDS; i++) {
        text[i] = code_words[i].word;
        if (!code_words[i].function)
            continue;
        const Elf64_Sym s = {.st_name = (Elf64_Word)names.n,
                             .st_info = STT_FUNC | STB_GLOBAL << 4,
                             .st_shndx = 1,
                             .st_value = CODE + 4 * i,
                             .st_size = 4};
        tb_str(&names, code_words[i].function);
        tb_put(&symbols, &s, sizeof s);
    }
    const struct test_section sections[] = {
        {".text", 0, SHF_ALLOC | SHF_EXECINSTR, text, sizeof text, 0, CODE},
        {".symtab", SHT_SYMTAB, 0, symbols.v, symbols.n, 3, 0},
        {".strtab", SHT_STRTAB, 0, names.v, names.n, 0, 0},
    };
    struct test_bytes image = test_elf(ET_DYN, sections, PGK_COUNTOF(sections));
    ((Elf64_Ehdr *)(void *)image.v)->e_machine = EM_AARCH64;
    struct pgk_elf *elf;
    struct pgk_code code;
    assert_int_equal(
        pgk_elf_open_memory(&elf, image.v, image.n, "image", PGK_ELF_PROGRAM, NULL), 0);
    assert_int_equal(pgk_code_open(&code, elf, NULL), 0);
    for (size_t i = WORDS; i-- > 0;) {
        uint64_t at = CODE + 4 * i;
        if (pgk_frame_is_missing(&code, at) != code_words[i].missing)
            fail_msg("word %zu", i);
        assert_true(!code_words[i].missing || pgk_code_is_frame_edge(&code, at));
    }
    assert_false(pgk_frame_is_missing(&code, CODE - 4));
    assert_false(pgk_frame_is_missing(&code, UINT64_MAX - 3));
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    tb_free(&image);
    tb_free(&names);
    tb_free(&symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
