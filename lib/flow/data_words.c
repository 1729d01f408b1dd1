/* Words of a binary's data, relocations applied. */
#include "data_words.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Symbols of other files stand at addresses that no file has: each has space for its object. */
#define FOREIGN UINT64_C(0x8000000000000000)
#define BEHIND_FOREIGN UINT64_C(0xc000000000000000)
enum { OFFSET_BITS = 24 };

static int compare_patches(const void *a, const void *b)
{
    const struct pgk_patch *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_symbol(uint64_t type)
{
    return type == R_X86_64_64 || type == R_AARCH64_ABS64;
}

/* An entry of the table of addresses that code reads. */
static bool is_slot(uint64_t type)
{
    return type == R_X86_64_GLOB_DAT || type == R_AARCH64_GLOB_DAT;
}

static uint64_t symbol_address(const uint8_t *symbols, size_t size, uint64_t number)
{
    Elf64_Sym sym;
    if (!symbols || number >= size / sizeof sym)
        return 0;
    memcpy(&sym, symbols + number * sizeof sym, sizeof sym);
    return sym.st_shndx == SHN_UNDEF && number ? FOREIGN + (number << OFFSET_BITS) : sym.st_value;
}

static bool add_patches(struct pgk_data_words *w, const struct pgk_elf_section_info *s)
{
    size_t size;
    const uint8_t *symbols = pgk_elf_section(w->elf, ".dynsym", &size);
    for (size_t at = 0; s->size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, s->bytes + at, sizeof r);
        uint64_t type = ELF64_R_TYPE(r.r_info), value = (uint64_t)r.r_addend;
        if (is_symbol(type) || is_slot(type))
            value += symbol_address(symbols, size, ELF64_R_SYM(r.r_info));
        else if (type != R_X86_64_RELATIVE && type != R_AARCH64_RELATIVE)
            continue;
        if (!pgk_vec_push(&w->patches, (struct pgk_patch){r.r_offset, value}))
            return false;
    }
    return true;
}

bool pgk_data_words_open(struct pgk_data_words *w, const struct pgk_elf *elf)
{
    *w = (struct pgk_data_words){.elf = elf};
    for (size_t i = 0; i < pgk_elf_section_count(elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(elf, i);
        if (s.bytes && s.type == SHT_RELA && s.flags & SHF_ALLOC && !add_patches(w, &s))
            return false;
    }
    if (w->patches.n)
        qsort(w->patches.v, w->patches.n, sizeof *w->patches.v, compare_patches);
    return true;
}

void pgk_data_words_free(struct pgk_data_words *w)
{
    pgk_vec_free(&w->patches);
}

static bool holds(const struct pgk_elf_section_info *s, uint64_t addr)
{
    return s->bytes && s->flags & SHF_ALLOC && addr >= s->addr && s->size >= PGK_WORD &&
           addr - s->addr <= s->size - PGK_WORD;
}

bool pgk_data_words_have(struct pgk_data_words *w, uint64_t addr)
{
    for (size_t i = 0; i < pgk_elf_section_count(w->elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(w->elf, i);
        if (!holds(&s, addr))
            continue;
        w->last = s;
        return true;
    }
    return false;
}

uint64_t pgk_data_word(struct pgk_data_words *w, uint64_t addr)
{
    const struct pgk_patch key = {.at = addr};
    const struct pgk_patch *p = w->patches.n ? bsearch(&key, w->patches.v, w->patches.n, sizeof key,
                                                       compare_patches)
                                             : NULL;
    uint64_t value = 0;
    if (p)
        return p->value;
    if (!holds(&w->last, addr) && !pgk_data_words_have(w, addr))
        return 0;
    memcpy(&value, w->last.bytes + (addr - w->last.addr), sizeof value);
    return value;
}

bool pgk_is_foreign(uint64_t value)
{
    return value >= FOREIGN && value < BEHIND_FOREIGN;
}

const char *pgk_foreign_name(const struct pgk_elf *elf, uint64_t value, uint64_t *off)
{
    size_t size, names_size;
    const uint8_t *symbols = pgk_elf_section(elf, ".dynsym", &size);
    const char *names = (const char *)pgk_elf_section(elf, ".dynstr", &names_size);
    uint64_t number = (value - FOREIGN) >> OFFSET_BITS;
    Elf64_Sym sym;
    if (!pgk_is_foreign(value) || !symbols || !names || number >= size / sizeof sym)
        return NULL;
    memcpy(&sym, symbols + number * sizeof sym, sizeof sym);
    if (sym.st_name >= names_size || !memchr(names + sym.st_name, 0, names_size - sym.st_name))
        return NULL;
    *off = value & (((uint64_t)1 << OFFSET_BITS) - 1);
    return names + sym.st_name;
}
