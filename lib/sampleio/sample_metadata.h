/* The function metadata section of an extensible binary: checksums and attributes, which stand
 * apart from the functions they belong to and in no order. */
#ifndef PGK_SAMPLE_METADATA_H
#define PGK_SAMPLE_METADATA_H

#include "sample_records.h"

struct pgk_metadata_layout {
    bool checksums, attributes;
    bool nested;          /* inlinees have entries of their own */
    size_t n_identities;
    const uint64_t *only; /* NULL: all; else these alone are wanted, rising */
    size_t n_only;
};

struct pgk_sample_metadata {
    struct pgk_metadata_layout layout;
    struct pgk_cursor c;
    const struct pgk_sample_name_table *names;
    PGK_VEC(uint64_t) entry_of; /* by identity, or by place in `only`: position in the section
                                   + 1, or 0 */
    PGK_VEC(uint32_t) slots;    /* inlinees of the function at hand, by place */
};

/* The position of the identity in a rising list; n if it is not there. */
size_t pgk_find_identity(const uint64_t *v, size_t n, uint64_t identity);

/* Looks through the section, whose bytes must outlive the struct. */
PGK_MUST_USE int pgk_metadata_open(struct pgk_sample_metadata *m, const struct pgk_cursor *c,
                                   const struct pgk_metadata_layout *layout,
                                   const struct pgk_sample_name_table *names,
                                   struct pgk_err *err);
void pgk_metadata_close(struct pgk_sample_metadata *m);
/* Ask for the memory that pgk_metadata_apply will want: first where it is known, then of it. */
static inline void pgk_metadata_prefetch_entry(const struct pgk_sample_metadata *m,
                                               uint64_t identity)
{
    if (identity < m->entry_of.n)
        __builtin_prefetch(&m->entry_of.v[identity]);
}
static inline void pgk_metadata_prefetch(const struct pgk_sample_metadata *m, uint64_t identity)
{
    if (identity < m->entry_of.n && m->entry_of.v[identity])
        __builtin_prefetch(m->c.start + (m->entry_of.v[identity] - 1));
}
/* Gives the staged function and its inlinees what the section has for them. */
PGK_MUST_USE int pgk_metadata_apply(struct pgk_sample_metadata *m, uint64_t identity,
                                    struct pgk_sample_stage *stage, struct pgk_err *err);

#endif
