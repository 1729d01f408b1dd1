/* --llvm PARTS of pgokit show: which parts of llvm-profdata's output are printed. */
#ifndef PGK_LLVM_PARTS_H
#define PGK_LLVM_PARTS_H

#include "cli.h"

struct llvm_parts {
    bool given;
    uint32_t bits; /* of enum pgk_llvm_part */
    unsigned release; /* whose words; 0: the newest */
};

/* For OPTION_CALL_FOR: adds the parts of a list with commas. */
void llvm_take_parts(const struct option_given *given);
const char *llvm_part_word(size_t i);

#define LLVM_PARTS_ROW(type, member)                                                           \
    {"llvm", 0, "PARTS", "the output of llvm-profdata show, for scripts that read it",         \
     OPTION_CALL_FOR(type, member, llvm_take_parts), OPTION_WORDS(llvm_part_word),             \
     .page = "as LLVM 22 prints it; a list with commas: `totals`, which is always there, and " \
             "what else is wanted of `all`, `counts`, `targets`, `vtables`, `memops`, "        \
             "`covered`, `hot`, `ids`, `version`, `traces`, `summary`, `symbols`, "            \
             "`sections`, `json`, `text`"},                                                    \
    {"llvm-release", 0, "N", "with --llvm: the release of LLVM whose words it has",            \
     OPTION_NUMBER(type, member.release, 1, 99)}

#endif
