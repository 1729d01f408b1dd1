/* Counters of one binary as text, before anything is looked up in debug information: what
 * llvm-profgen --skip-symbolization writes and --unsymbolized-profile reads.
 * docs/formats/raw-counters.md */
#ifndef PGK_RAW_COUNTERS_H
#define PGK_RAW_COUNTERS_H

#include "call_trie.h"
#include "cursor.h"
#include "sink.h"

/* Whether bytes look like the start of such a text. */
bool pgk_raw_counters_sniff(const uint8_t *bytes, size_t size);

/* What addresses are told from: the page of the first executable segment. */
uint64_t pgk_raw_counters_base(const struct pgk_elf *elf);

/* Where counters come from and go to; with contexts `calls`, else `counters`. */
struct pgk_raw_counters {
    struct pgk_counters *counters;
    struct pgk_call_trie *calls;
    struct pgk_code *code; /* to see whether ranges can be */
    uint64_t base;
    bool contexts;
};

/* Adds what the text says; `contexts` is set by it. PGK_E_CORRUPT for what is no such text. */
int pgk_raw_counters_read(struct pgk_raw_counters *into, const uint8_t *bytes, size_t size,
                          const struct pgk_source *src, struct pgk_err *err);
/* Writes counters that are settled. */
int pgk_raw_counters_write(const struct pgk_raw_counters *from, struct pgk_sink *out,
                           struct pgk_err *err);

#endif
