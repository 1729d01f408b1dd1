/* Memory info blocks in memory: values, what is known, merging, labels. */
#ifndef PGK_MIB_H
#define PGK_MIB_H

#include "arena.h"
#include "pgokit/heap.h"

#include <stdbool.h>
#include <stdint.h>

struct pgk_heap_origin;

/* A block with space for all of its values. */
struct pgk_mib {
    uint64_t known;       /* bit per pgk_mib_id: the profile has this field */
    uint32_t hist_count;  /* elements of `hist` */
    const uint64_t *hist; /* accesses to each 8 bytes of the objects; NULL if none */
    const struct pgk_heap_origin *origin; /* of the block's profile; NULL unknown */
    uint64_t v[PGK_MIB_FIELDS];
};
enum pgk_mib_label pgk_mib_label(const struct pgk_mib *m);
/* Bytes of objects that were freed early, by the mean of what one stack of addresses allocated: of
 * its own, or noted before such contexts became one. */
uint64_t pgk_mib_short_lived_bytes(const struct pgk_mib *m);
/* What the bytes of a context with this label count as short-lived: none if that is another one. */
static inline uint64_t pgk_mib_counted_short_lived(const struct pgk_mib *m,
                                                   enum pgk_mib_label label)
{
    return label == PGK_LABEL_SHORT_LIVED || label == PGK_LABEL_NONE ? pgk_mib_short_lived_bytes(m)
                                                                     : 0;
}
const char *pgk_mib_label_rule(enum pgk_mib_label label); /* in words */

/* The block of a context: fills in `space` and returns it; its histogram belongs to the profile. */
#define PGK_MIB_SPACE (&(struct pgk_mib){0}) /* lives as long as the block it stands in */
const struct pgk_mib *pgk_heap_mib(const struct pgk_heap *heap, size_t context,
                                   struct pgk_mib *space);

/* One row of records/heap_mib.def. */
struct pgk_mib_field {
    const char *name, *unit, *meaning;
    uint8_t bytes;       /* width in files: 4 or 8 */
    uint8_t first;       /* raw version that has it; PGK_MIB_NO_RAW: none */
    uint8_t sound;       /* first one whose values are right */
    uint16_t tag;        /* in an indexed schema, or in pgokit's own forms */
    uint8_t step, across; /* enum pgk_mib_rule */
};
extern const struct pgk_mib_field pgk_mib_fields[PGK_MIB_FIELDS];
#define PGK_MIB_NO_RAW UINT8_MAX
#define PGK_MIB_OWN_TAGS 1000 /* tags from here on are pgokit's */
/* Finds a field by its tag; false if there is none. */
bool pgk_mib_by_tag(uint64_t tag, enum pgk_mib_id *id);

extern const uint64_t pgk_mib_llvm_known; /* bits of LLVM's fields */

/* A field that neither raw blocks nor LLVM's files have. */
static inline bool pgk_mib_is_own(enum pgk_mib_id id)
{
    return pgk_mib_fields[id].tag >= PGK_MIB_OWN_TAGS;
}

enum pgk_mib_rule {
    PGK_RULE_NONE, PGK_RULE_SUM, PGK_RULE_MIN, PGK_RULE_MAX, PGK_RULE_LATER, PGK_RULE_FIRST,
    PGK_RULE_SAME, PGK_RULE_OVERLAP, PGK_RULE_EQ_ALLOC, PGK_RULE_EQ_DEALLOC, PGK_RULE_SAMPLES,
    PGK_RULE_VARIANCE,
};
/* Do values of this field add up over contexts? */
static inline bool pgk_mib_is_sum(enum pgk_mib_id id)
{
    return pgk_mib_fields[id].across == PGK_RULE_SUM ||
           pgk_mib_fields[id].across == PGK_RULE_SAMPLES ||
           pgk_mib_fields[id].across == PGK_RULE_VARIANCE;
}

/* Merges a later block of the same process into an earlier one (rule `step`). */
bool pgk_mib_step(struct pgk_mib *earlier, const struct pgk_mib *later, struct pgk_arena *arena);
/* Merges two blocks of one context, in any order (rule `across`). Both add histograms: that
 * of the first block, which must lie in `arena`, is changed in place or replaced by a
 * longer one. False when out of memory. */
bool pgk_mib_add(struct pgk_mib *into, const struct pgk_mib *other, struct pgk_arena *arena);

/* The block of `times` equal ones: what pgk_mib_add makes of so many copies. */
void pgk_mib_scale(struct pgk_mib *m, uint64_t times);

/* The compiler's rule for a cold context, on the values that a file would hold: unknown ones
 * are 0. The label of a context asks for known ones. */
bool pgk_mib_is_cold(const struct pgk_mib *m);

/* False for a field that means nothing outside of the profiled process: no model has a value. */
static inline bool pgk_mib_is_carried(enum pgk_mib_id id)
{
    return pgk_mib_fields[id].step != PGK_RULE_NONE;
}

/* One of the fields that say where the histogram is, which is shown as such or not at all. */
static inline bool pgk_mib_is_of_histogram(enum pgk_mib_id id)
{
    return id == PGK_MIB_AccessHistogramSize || id == PGK_MIB_AccessHistogram;
}

/* One of the fields that compilers use: what an indexed profile holds at least. */
bool pgk_mib_is_compilers(enum pgk_mib_id id);

/* An LLVM with assertions stops at a MIB without one of the compiler's fields, so these cannot be
 * left out of an indexed profile. That lifetimes, accesses or densities are not known has a sign
 * there: the smallest of them is all ones, and their sum is 0. Returns 0 if the field is no such
 * sign, or if its group is known. */
uint64_t pgk_mib_unknown_sign(enum pgk_mib_id id, uint64_t known);
/* The fields that are signs of something that not all contexts know, where any of them knows what
 * is in `any`, and all of them know what is in `all`. */
uint64_t pgk_mib_needed_signs(uint64_t any, uint64_t all);
/* Of the fields that are not known, those that are read back as such, by a sign in `schema`. */
uint64_t pgk_mib_unknown_by_signs(uint64_t known, uint64_t schema);
/* Of the known fields, those that are read back as known: not what a sign is written for. */
uint64_t pgk_mib_known_by_signs(uint64_t known);
/* Makes unknown what has the sign in a block that was read. */
void pgk_mib_take_signs(struct pgk_mib *m);
/* Of the objects of a context on average: seconds that they live; accesses per byte and second, as
 * LLVM has them; accesses per byte over their life. Files for compilers hold only the density: for
 * objects that lived for less than the clock's resolution it is the total number of accesses. */
double pgk_mib_seconds(const struct pgk_mib *m);
double pgk_mib_density(const struct pgk_mib *m);
double pgk_mib_heat(const struct pgk_mib *m);

static inline void pgk_mib_set(struct pgk_mib *m, enum pgk_mib_id id, uint64_t value)
{
    m->v[id] = value;
    m->known |= UINT64_C(1) << id;
}

/* A value as its field in files holds it: at most the largest of its width. */
uint64_t pgk_mib_cut(enum pgk_mib_id id, uint64_t v);

/* Makes the fields unknown that say how often objects were accessed, or how much of them, and the
 * histogram. */
void pgk_mib_forget_accesses(struct pgk_mib *m);
/* The same, but for densities over time. */
void pgk_mib_forget_counts(struct pgk_mib *m);

/* The value as a file field holds it: values too large for the width are cut to
 * its maximum, and unknown ones are 0. */
uint64_t pgk_mib_file_value(const struct pgk_mib *m, enum pgk_mib_id id);

#endif
