/* The fields that versions of the heap data in an indexed profile can hold:
 * records/memprof_versions.def. */
#ifndef PGK_MEMPROF_VERSION_H
#define PGK_MEMPROF_VERSION_H

#include "heap_model.h"

#include "memprof_versions.def"

enum pgk_memprof_stacks { PGK_MEMPROF_BY_FRAMES, PGK_MEMPROF_BY_ID, PGK_MEMPROF_BY_PLACE };
enum pgk_memprof_schema { PGK_MEMPROF_SCHEMA_ALL, PGK_MEMPROF_SCHEMA_CHOSEN };

struct pgk_memprof_version {
    uint32_t version;
    uint32_t since, until; /* releases of LLVM that read it */
    bool word; /* of the version, in front */
    enum pgk_memprof_stacks stacks; /* how records name them */
    enum pgk_memprof_schema schema;
    uint8_t last_tag;
    uint32_t since_later; /* first release that reads it with fields after last_tag */
    bool extras; /* callees, a summary and a data access profile */
};
/* The row of a version, or NULL. */
const struct pgk_memprof_version *pgk_memprof_version(uint64_t version);
/* The newest generation of frame ids that a release of LLVM knows. */
uint32_t pgk_memprof_frame_ids(uint32_t release);

/* The fields that a profile is written with, as bits. V0 and V1 always have all that LLVM 16 knows,
 * as it refuses a file with others. Later ones have the compiler's fields and signs of what is not
 * known; in a full schema also what any context knows: the rest is better not there than 0. */
uint64_t pgk_memprof_schema(const struct pgk_memprof_version *v, const struct pgk_heap *heap,
                            bool full_schema);

#endif
