/* pgokit gen --format bolt and preaggregated: files for llvm-bolt and perf2bolt. */
#ifndef PGK_OUTPUT_BOLT_H
#define PGK_OUTPUT_BOLT_H

#include "cli.h"

struct bolt_output_form {
    const char *name, *suffix;
    enum pgk_bolt_form form;
};
/* The form of that name; NULL if there is none. */
const struct bolt_output_form *bolt_output_form(const char *name);
/* Name `i` of them; NULL past the last. */
const char *bolt_output_word(size_t i);

/* Writes the counts of the one binary that was sampled, or into a folder those of each. */
int bolt_output_write(struct pgk_gen *gen, const struct bolt_output_form *form,
                      const struct pgk_binaries *binaries, const char *path, struct pgk_err *err);

#endif
