/* --llvm of pgokit diff: what llvm-profdata overlap prints. */
#ifndef PGK_LLVM_OVERLAP_OPTIONS_H
#define PGK_LLVM_OVERLAP_OPTIONS_H

#include "cli.h"

struct llvm_overlap_options {
    bool wanted;
    struct pgk_llvm_overlap_opts opts;
};
extern const struct option_table llvm_overlap_table;

/* Checks them, and names the files; `verb` takes two operands, which begin at optind. */
void llvm_overlap_ready(struct llvm_overlap_options *o, char **operands, bool contextual);

#endif
