/* What generation keeps of one binary. */
#ifndef PGK_GEN_BINARY_H
#define PGK_GEN_BINARY_H

#include "code.h"
#include "counters.h"
#include "pgokit/gen.h"
#include "sample_model.h"
#include "symboliser.h"

struct pgk_gen_binary {
    const struct pgk_elf *elf;
    struct pgk_code code;
    bool has_code;                 /* `code` is open */
    bool flow_sensitive;           /* its discriminators are */
    struct pgk_symboliser *sym;    /* once needed */
    struct pgk_counters counters;  /* as seen: ranges need not be sound */
    struct pgk_pairs vtables;      /* instruction, and number of the vtable's symbol + 1 */
};

/* Adds the counts of a binary to the profile, by source lines. */
int pgk_gen_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err);

#endif
