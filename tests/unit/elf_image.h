/* ELF images and DWARF sections made by hand, for the tests of lib/object. */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include "pgk_test.h"

#include <dwarf.h>
#include <elf.h>
#include <stdbool.h>

/* Bytes that grow; little-endian. */
struct test_bytes {
    uint8_t *v;
    size_t n, cap;
};

static inline void tb_put(struct test_bytes *b, const void *bytes, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = (b->n + n) * 2 + 64;
        b->v = realloc(b->v, b->cap);
        assert_non_null(b->v);
    }
    if (n)
        memcpy(b->v + b->n, bytes, n);
    b->n += n;
}

static inline void tb_int(struct test_bytes *b, uint64_t v, size_t size)
{
    tb_put(b, &v, size);
}

static inline void tb_u8(struct test_bytes *b, uint64_t v)
{
    tb_int(b, v, 1);
}
static inline void tb_u16(struct test_bytes *b, uint64_t v)
{
    tb_int(b, v, 2);
}
static inline void tb_u32(struct test_bytes *b, uint64_t v)
{
    tb_int(b, v, 4);
}
static inline void tb_u64(struct test_bytes *b, uint64_t v)
{
    tb_int(b, v, 8);
}

static inline void tb_uleb(struct test_bytes *b, uint64_t v)
{
    do {
        tb_u8(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
}

static inline void tb_str(struct test_bytes *b, const char *s)
{
    tb_put(b, s, strlen(s) + 1);
}

/* Writes over 4 bytes that are there. */
static inline void tb_patch_u32(struct test_bytes *b, size_t at, size_t v)
{
    uint32_t word = (uint32_t)v;
    assert_true(at + 4 <= b->n);
    memcpy(b->v + at, &word, sizeof word);
}

static inline void tb_free(struct test_bytes *b)
{
    free(b->v);
    memset(b, 0, sizeof *b);
}

struct test_section {
    const char *name;
    uint32_t type; /* 0: SHT_PROGBITS */
    uint64_t flags;
    const void *bytes;
    size_t size;
    uint32_t link;
    uint64_t addr;
};

enum { TEST_CODE = 0x1000, TEST_CODE_SIZE = 0x100000 }; /* the executable segment */

/* An x86-64 executable with the sections, numbered from 1, and one executable segment. */
static inline struct test_bytes test_elf(uint16_t type, const struct test_section *sections,
                                         size_t n)
{
    struct test_bytes b = {0}, names = {0}, headers = {0};
    Elf64_Ehdr h = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = type,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof h,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)(n + 2),
        .e_shstrndx = (Elf64_Half)(n + 1)};
    Elf64_Phdr code = {
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEST_CODE, .p_memsz = TEST_CODE_SIZE};
    if (type != ET_REL) {
        h.e_phoff = sizeof h;
        h.e_phnum = 1;
        h.e_phentsize = sizeof code;
    }
    tb_put(&b, &h, sizeof h);
    tb_put(&b, &code, sizeof code);
    tb_str(&names, "");
    tb_put(&headers, &(Elf64_Shdr){0}, sizeof(Elf64_Shdr));
    for (size_t i = 0; i <= n; i++) {
        bool last = i == n;
        Elf64_Shdr s = {.sh_name = (Elf64_Word)names.n, .sh_offset = b.n, .sh_addralign = 1};
        tb_str(&names, last ? ".shstrtab" : sections[i].name);
        if (last) {
            s.sh_type = SHT_STRTAB;
            s.sh_size = names.n;
            tb_put(&b, names.v, names.n);
        } else {
            s.sh_type = sections[i].type ? sections[i].type : SHT_PROGBITS;
            s.sh_flags = sections[i].flags;
            s.sh_size = sections[i].size;
            s.sh_link = sections[i].link;
            s.sh_addr = sections[i].addr;
            if (s.sh_type != SHT_NOBITS)
                tb_put(&b, sections[i].bytes, sections[i].size);
        }
        tb_put(&headers, &s, sizeof s);
    }
    while (b.n % 8)
        tb_u8(&b, 0);
    h.e_shoff = b.n;
    tb_put(&b, headers.v, headers.n);
    memcpy(b.v, &h, sizeof h);
    tb_free(&names);
    tb_free(&headers);
    return b;
}

/* A note section with a build id. */
static inline struct test_bytes test_build_id(const void *id, size_t size)
{
    struct test_bytes b = {0};
    tb_u32(&b, sizeof ELF_NOTE_GNU);
    tb_u32(&b, size);
    tb_u32(&b, NT_GNU_BUILD_ID);
    tb_put(&b, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU);
    tb_put(&b, id, size);
    return b;
}

/* ---- DWARF ---- */

/* Sections under construction. */
struct test_dwarf {
    struct test_bytes abbrev, info, line, str, ranges, rnglists, addr, str_offsets, aranges;
};

/* One abbreviation: pairs of attribute and form, ended by 0. */
static inline void td_abbrev(struct test_dwarf *d, unsigned code, unsigned tag, bool children,
                             const uint16_t *pairs)
{
    tb_uleb(&d->abbrev, code);
    tb_uleb(&d->abbrev, tag);
    tb_u8(&d->abbrev, children);
    for (; *pairs; pairs++)
        tb_uleb(&d->abbrev, *pairs);
    tb_u16(&d->abbrev, 0);
}
#define TD_ABBREV(d, code, tag, children, ...) \
    td_abbrev((d), (code), (tag), (children), (const uint16_t[]){__VA_ARGS__, 0})

/* Begins a unit; returns where its length is. */
static inline size_t td_unit(struct test_dwarf *d, unsigned version)
{
    size_t at = d->info.n;
    tb_u32(&d->info, 0);
    tb_u16(&d->info, version);
    if (version >= 5) {
        tb_u8(&d->info, DW_UT_compile);
        tb_u8(&d->info, 8);
        tb_u32(&d->info, 0);
    } else {
        tb_u32(&d->info, 0);
        tb_u8(&d->info, 8);
    }
    return at;
}

static inline void td_unit_end(struct test_dwarf *d, size_t at)
{
    tb_patch_u32(&d->info, at, d->info.n - at - 4);
}

/* A line table header of version 4 with files 1 "a.c" and 2 "dir/b.h"; returns where the
 * length is. Opcode base 13, line base -5, line range 14. */
static inline size_t td_lines(struct test_dwarf *d, unsigned min_inst, unsigned max_ops)
{
    size_t at = d->line.n;
    tb_u32(&d->line, 0);
    tb_u16(&d->line, 4);
    tb_u32(&d->line, 0);
    tb_u8(&d->line, min_inst);
    tb_u8(&d->line, max_ops);
    tb_u8(&d->line, 1);
    tb_u8(&d->line, (uint8_t)-5);
    tb_u8(&d->line, 14);
    tb_u8(&d->line, 13);
    tb_put(&d->line, "\0\1\1\1\1\0\0\0\1\0\0\1", 12);
    tb_str(&d->line, "dir");
    tb_u8(&d->line, 0);
    tb_str(&d->line, "a.c");
    tb_put(&d->line, "\0\0\0", 3);
    tb_str(&d->line, "b.h");
    tb_put(&d->line, "\1\0\0", 3);
    tb_u8(&d->line, 0);
    tb_patch_u32(&d->line, at + 6, d->line.n - at - 10);
    return at;
}

static inline void td_set_address(struct test_dwarf *d, uint64_t addr)
{
    tb_put(&d->line, "\0\x09\x02", 3);
    tb_u64(&d->line, addr);
}

/* A special opcode. */
static inline void td_row(struct test_dwarf *d, unsigned advance, int lines)
{
    tb_u8(&d->line, (unsigned)(lines + 5) + 14 * advance + 13);
}

static inline void td_end_sequence(struct test_dwarf *d, uint64_t advance)
{
    tb_u8(&d->line, DW_LNS_advance_pc);
    tb_uleb(&d->line, advance);
    tb_put(&d->line, "\0\1\1", 3);
}

static inline void td_lines_end(struct test_dwarf *d, size_t at)
{
    tb_patch_u32(&d->line, at, d->line.n - at - 4);
}

/* An executable with the sections of `d` and up to two more. */
static inline struct test_bytes td_elf_with(const struct test_dwarf *d,
                                            const struct test_section *more, size_t n_more)
{
    struct test_section sections[11] = {
        {.name = ".debug_abbrev", .bytes = d->abbrev.v, .size = d->abbrev.n},
        {.name = ".debug_info", .bytes = d->info.v, .size = d->info.n},
        {.name = ".debug_line", .bytes = d->line.v, .size = d->line.n},
        {.name = ".debug_str", .bytes = d->str.v, .size = d->str.n},
        {.name = ".debug_ranges", .bytes = d->ranges.v, .size = d->ranges.n},
        {.name = ".debug_rnglists", .bytes = d->rnglists.v, .size = d->rnglists.n},
        {.name = ".debug_addr", .bytes = d->addr.v, .size = d->addr.n},
        {.name = ".debug_str_offsets", .bytes = d->str_offsets.v, .size = d->str_offsets.n},
        {.name = ".debug_aranges", .bytes = d->aranges.v, .size = d->aranges.n},
    };
    assert_in_range(n_more, 0, 2);
    for (size_t i = 0; i < n_more; i++)
        sections[9 + i] = more[i];
    return test_elf(ET_EXEC, sections, 9 + n_more);
}

static inline struct test_bytes td_elf(const struct test_dwarf *d)
{
    return td_elf_with(d, NULL, 0);
}

static inline void td_free(struct test_dwarf *d)
{
    tb_free(&d->abbrev), tb_free(&d->info), tb_free(&d->line), tb_free(&d->str);
    tb_free(&d->ranges), tb_free(&d->rnglists), tb_free(&d->addr), tb_free(&d->str_offsets);
    tb_free(&d->aranges);
}

#endif
