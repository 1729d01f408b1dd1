/* Which contexts and call sites stand in which function record of an indexed profile. */
#ifndef PGK_RECORD_MEMBERS_H
#define PGK_RECORD_MEMBERS_H

#include "radix_stacks.h"

struct pgk_record_members {
    PGK_VEC(uint64_t) guids; /* of the records, rising */
    uint32_t *first;         /* by record: its part of `refs`; one more at the end */
    uint32_t *refs;          /* contexts first, as ranks of their stacks, then sites with
                                PGK_MEMBER_SITE set; each by rank of the stack */
};

/* `owned`, by rank: is it the stack of a context that stands in the records of its inline chain?
 * The contexts themselves are not needed. */
PGK_MUST_USE int pgk_record_members_make(struct pgk_record_members *m, const struct pgk_heap *h,
                                         const struct pgk_radix_stacks *radix, const bool *owned,
                                         unsigned threads, struct pgk_err *err);
void pgk_record_members_free(struct pgk_record_members *m);

#endif
