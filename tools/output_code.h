/* pgokit gen --format: what ran in a binary, for other tools than compilers: llvm-bolt, perf2bolt,
 * linkers. */
#ifndef PGK_OUTPUT_CODE_H
#define PGK_OUTPUT_CODE_H

#include "cli.h"

#include <limits.h>

struct code_output;

struct code_output_form {
    const char *name, *suffix;
    const char *next; /* the options of a compiler that end with the file; NULL: none */
    const char *next_symbols; /* the same of the second file, before these */
    int (*write)(const struct code_output *output, uint32_t binary, const char *path,
                 struct pgk_err *err);
    union {
        enum pgk_bolt_form bolt;
        enum pgk_order_form order;
    };
    bool traces; /* counts branches with what ran after them */
    bool stacks; /* counts call stacks, of all binaries together */
};

/* The form of that name; NULL if there is none. */
const struct code_output_form *code_output_form(const char *name);
/* Name `i` of them; NULL past the last. */
const char *code_output_word(size_t i);

/* What must be counted for it. */
void code_output_needs(const struct code_output_form *form, struct pgk_gen_opts *opts);

/* What is written. */
struct code_output {
    struct pgk_gen *gen;
    const struct code_output_form *form;
    const char *symbols; /* the second file, of forms that have one; NULL: PATH.order, if there is
                          * a file */
};

/* Writes the file of the one binary that was sampled, or into a folder those of each. */
int code_output_write(const struct code_output *output, const struct pgk_binaries *binaries,
                      const char *path, struct pgk_err *err);
/* Path of the second file; "": none, as the output is no file. */
void code_output_symbols(char symbols[PATH_MAX], const struct code_output *output,
                         const char *path);

#endif
