/* Words of a binary's data as they are when the program runs, relocations applied. */
#ifndef PGK_DATA_WORDS_H
#define PGK_DATA_WORDS_H

#include "elf_file.h"
#include "vec.h"

enum { PGK_WORD = 8 };

struct pgk_patch { /* what a relocation makes of a word */
    uint64_t at, value;
};

struct pgk_data_words {
    const struct pgk_elf *elf;
    PGK_VEC(struct pgk_patch) patches;
    struct pgk_elf_section_info last; /* that was read */
};

/* Keeps `elf`, which must stay open. False when out of memory. */
bool pgk_data_words_open(struct pgk_data_words *words, const struct pgk_elf *elf);
void pgk_data_words_free(struct pgk_data_words *words);

/* Whether the file has a word there. */
bool pgk_data_words_have(struct pgk_data_words *words, uint64_t addr);
/* 0 outside of the file. An address in another file has none here: it is that of the symbol, as
 * pgk_foreign_name knows it, and what is added to it. */
uint64_t pgk_data_word(struct pgk_data_words *words, uint64_t addr);
bool pgk_is_foreign(uint64_t value);
/* Name of the symbol of another file whose address and `off` more is a value of such a word; NULL
 * if it is none. */
const char *pgk_foreign_name(const struct pgk_elf *elf, uint64_t value, uint64_t *off);

#endif
