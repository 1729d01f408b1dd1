/* Counters of one binary as text, before anything is looked up in debug information: what
 * llvm-profgen --skip-symbolization writes and --unsymbolized-profile reads.
 * docs/formats/address-counts.md */
#ifndef PGK_ADDRESS_COUNTS_H
#define PGK_ADDRESS_COUNTS_H

#include "call_trie.h"
#include "context_path.h"
#include "cursor.h"
#include "pgokit/gen.h"
#include "sample_model.h"
#include "sink.h"

/* Whether bytes look like the start of such a text. */
bool pgk_address_counts_sniff(const uint8_t *bytes, size_t size);

/* The base of addresses: the page of the first executable segment, or of the first, or 0. */
uint64_t pgk_address_counts_base(const struct pgk_elf *elf, enum pgk_gen_raw_base from);

/* The source and target of counters: with contexts `named` and, unless `named` is written, `calls`;
 * otherwise `counters`. */
struct pgk_address_counts {
    struct pgk_counters *counters;
    struct pgk_call_trie *calls;
    struct pgk_named_counts *named; /* NULL: contexts are of calls */
    struct pgk_sample *profile;     /* has the nodes of `named` */
    struct pgk_code *code;          /* to see whether ranges can be */
    uint64_t base;
    struct pgk_context_limits limits; /* in writing, of contexts of calls */
    bool contexts;
    bool any_ranges; /* in reading: those that cannot be count, too */
    bool as_seen;   /* in reading: counts are divided by the scale */
    uint64_t scale; /* by which what windows of the branch recorder saw was multiplied; 0: it was
                     * not, or the text does not say */
    uint64_t seen, unfit; /* in reading: all counts, and those of addresses that are none of the
                           * program's instructions, which are left out */
};

/* Adds what the text says; `contexts` is set by it. PGK_E_CORRUPT for what is no such text. */
int pgk_address_counts_read(struct pgk_address_counts *into, const uint8_t *bytes, size_t size,
                          const struct pgk_source *src, struct pgk_err *err);
/* Writes counters that are settled. */
int pgk_address_counts_write(const struct pgk_address_counts *from, struct pgk_sink *out,
                           struct pgk_err *err);

#endif
