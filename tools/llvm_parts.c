/* --llvm PARTS of pgokit show. */
#include "llvm_parts.h"

#include <string.h>

static const struct {
    const char *word;
    uint32_t bit;
} parts[] = {
    {"totals", 0},
    {"all", PGK_LLVM_ALL_FUNCTIONS},
    {"counts", PGK_LLVM_COUNTS},
    {"targets", PGK_LLVM_TARGETS},
    {"vtables", PGK_LLVM_VTABLES},
    {"memops", PGK_LLVM_MEMOPS},
    {"covered", PGK_LLVM_COVERED},
    {"hot", PGK_LLVM_HOT},
    {"ids", PGK_LLVM_BINARY_IDS},
    {"version", PGK_LLVM_VERSION},
    {"traces", PGK_LLVM_TRACES},
    {"summary", PGK_LLVM_SUMMARY},
    {"symbols", PGK_LLVM_SYMBOLS},
    {"sections", PGK_LLVM_SECTIONS},
    {"json", PGK_LLVM_JSON},
    {"text", PGK_LLVM_TEXT},
};
enum { PARTS = sizeof parts / sizeof *parts };

const char *llvm_part_word(size_t i)
{
    return i < PARTS ? parts[i].word : NULL;
}

static bool add_part(struct llvm_parts *into, const char *word, size_t len)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strlen(parts[i].word) == len && !strncmp(parts[i].word, word, len)) {
            into->bits |= parts[i].bit;
            return true;
        }
    return false;
}

void llvm_take_parts(const struct option_given *given)
{
    struct llvm_parts *into = given->into;
    into->given = true;
    for (const char *word = given->value; word;) {
        size_t len = strcspn(word, ",");
        if (!add_part(into, word, len))
            option_refuse(given, "'%.*s' is no part of llvm-profdata's output", (int)len, word);
        word = word[len] ? word + len + 1 : NULL;
    }
}
