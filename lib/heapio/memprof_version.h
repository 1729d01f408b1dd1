/* What the versions of the heap data in an indexed profile can hold: records/memprof_versions.def.
 */
#ifndef PGK_MEMPROF_VERSION_H
#define PGK_MEMPROF_VERSION_H

#include "mib.h"

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
    uint32_t since_later; /* first release that reads it with fields behind last_tag */
    bool extras; /* callees, a summary and a data access profile */
};
/* The row of a version, or NULL. */
const struct pgk_memprof_version *pgk_memprof_version(uint64_t version);
/* The newest generation of frame ids that a release of LLVM knows. */
uint32_t pgk_memprof_frame_ids(uint32_t release);

/* Can the version hold the field; in a full schema, or in one of the compiler's fields? */
bool pgk_memprof_holds(const struct pgk_memprof_version *v, enum pgk_mib_id id, bool full_schema);

#endif
