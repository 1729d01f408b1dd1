/* What generation keeps of one binary. */
#ifndef PGK_GEN_BINARY_H
#define PGK_GEN_BINARY_H

#include "code.h"
#include "counters.h"
#include "functions.h"
#include "pgokit/gen.h"
#include "pgokit/probe.h"
#include "sample_model.h"
#include "symboliser.h"

struct pgk_gen_binary {
    const struct pgk_elf *elf;
    struct pgk_code code;
    bool has_code;                 /* `code` is open */
    bool flow_sensitive;           /* its discriminators are */
    struct pgk_symboliser *sym;    /* once needed; NULL without debug information */
    struct pgk_probes *probes;     /* once needed */
    struct pgk_counters counters;  /* as seen: ranges need not be sound */
    struct pgk_pairs vtables;      /* instruction, and number of the vtable's symbol + 1 */
};

/* Sorts the counters and drops ranges that cannot be; nothing may be counted any more. */
void pgk_gen_settle(struct pgk_gen_binary *binary, struct pgk_gen_stats *stats);
/* The functions around what was counted; with `symbols` also those without debug information. */
int pgk_gen_functions(const struct pgk_gen_binary *binary, struct pgk_functions *functions,
                      bool symbols, unsigned threads, struct pgk_err *err);

/* Functions that start a module run once, whatever the input: they have no profile. */
bool pgk_gen_is_start_up(const char *name, size_t len);

/* Add the counts of a binary, which are settled, to the profile: by source lines; by probes. */
int pgk_gen_lines(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                  struct pgk_gen_stats *stats, struct pgk_err *err);
int pgk_gen_probes(struct pgk_sample *into, struct pgk_gen_binary *binary, unsigned threads,
                   struct pgk_gen_stats *stats, struct pgk_err *err);

#endif
