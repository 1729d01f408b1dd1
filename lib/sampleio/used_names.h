/* The names that a binary file of a profile needs, in LLVM's order, and their indexes there. */
#ifndef PGK_USED_NAMES_H
#define PGK_USED_NAMES_H

#include "line_buffer.h"
#include "sample_model.h"

struct pgk_used_names {
    PGK_VEC(uint32_t) ids;      /* in order */
    PGK_VEC(uint32_t) index_of; /* by name; valid for those used */
};

/* Those of the first `n` tops by heat. False when out of memory. */
bool pgk_used_names(struct pgk_used_names *used, const struct pgk_sample *p, size_t n,
                    bool vtables);
void pgk_used_names_free(struct pgk_used_names *used);

#endif
