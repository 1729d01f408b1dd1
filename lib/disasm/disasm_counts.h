/* The counts of a sample profile for the instructions and probes of a program. */
#ifndef PGK_DISASM_COUNTS_H
#define PGK_DISASM_COUNTS_H

#include "pgokit/sample.h"
#include "probes.h"
#include "sample_lookup.h"
#include "symboliser.h"

struct pgk_disasm_counts;

/* What the profile says of a place. */
struct pgk_disasm_count {
    bool known; /* the profile has the place */
    uint64_t samples;
    /* Call targets and types of objects, valid until the next count. */
    const struct pgk_sample_rec *values;
    size_t n_values;
};
/* ... and of a function that was not inlined. */
struct pgk_disasm_heat {
    size_t profiles; /* that it has in different contexts; 0: the profile does not know it */
    uint64_t samples, head;
    double share; /* of the samples of all functions, 0 to 1 */
};

enum pgk_disasm_temperature {
    PGK_DISASM_NEVER, /* no samples */
    PGK_DISASM_COLD,
    PGK_DISASM_WARM,
    PGK_DISASM_HOT,
};
enum { PGK_DISASM_MARKS = 5 };

/* Counts know nothing until one of the two says where places are: by probes or by lines. What
 * is given must outlive them. */
int pgk_disasm_counts_open(struct pgk_disasm_counts **counts, const struct pgk_sample *profile,
                           struct pgk_err *err);
int pgk_disasm_counts_use_probes(struct pgk_disasm_counts *c, const struct pgk_probes *probes,
                                 const struct pgk_probe_index *index, struct pgk_err *err);
void pgk_disasm_counts_use_lines(struct pgk_disasm_counts *c, bool flow_sensitive);
void pgk_disasm_counts_close(struct pgk_disasm_counts **counts);

struct pgk_disasm_count pgk_disasm_count_probe(struct pgk_disasm_counts *c, uint32_t probe);
struct pgk_disasm_count pgk_disasm_count_frames(struct pgk_disasm_counts *c,
                                                const struct pgk_sym_chain *frames);
struct pgk_disasm_heat pgk_disasm_heat(struct pgk_disasm_counts *c, const char *function);
/* True if one of the above is missing because memory ran out. */
bool pgk_disasm_counts_failed(const struct pgk_disasm_counts *c);

/* True if the profile was made of other code of the probe's function than the program has, so
 * that its numbers may stand for other places. To be asked after the count. */
bool pgk_disasm_is_stale(const struct pgk_disasm_counts *c, uint32_t probe);
/* True if pgk_disasm_is_stale is true for the first time for the probe's function; gives the hashes
 * that the profile and the program have for it. */
bool pgk_disasm_first_stale(struct pgk_disasm_counts *c, uint32_t probe, uint64_t *profile_hash,
                            uint64_t *program_hash);
uint64_t pgk_disasm_stale_functions(const struct pgk_disasm_counts *c);

const struct pgk_sample *pgk_disasm_profile(const struct pgk_disasm_counts *c);
const struct pgk_sample_summary *pgk_disasm_summary(const struct pgk_disasm_counts *c);
/* As the compiler takes it. */
enum pgk_disasm_temperature pgk_disasm_temperature(const struct pgk_disasm_counts *c,
                                                   uint64_t samples);
/* 0 without samples, else 1 .. PGK_DISASM_MARKS: each less is a quarter of the samples, the
 * most being half of the profile's hottest place, or more. */
unsigned pgk_disasm_marks(const struct pgk_disasm_counts *c, uint64_t samples);

#endif
