/* The versions of the heap data in an indexed profile. */
#include "memprof_version.h"

#include "fail.h"

static const struct pgk_memprof_version versions[] = {
#define PGK_MEMPROF_VERSION(version, since, until, word, stacks, schema, last_tag, since_later, \
                            extras)                                                            \
    {version, since,   until, word, PGK_MEMPROF_BY_##stacks, PGK_MEMPROF_SCHEMA_##schema,      \
     last_tag, since_later, extras},
#include "memprof_versions.def"
#undef PGK_MEMPROF_VERSION
};
_Static_assert(PGK_COUNTOF(versions) == PGK_MEMPROF_NOW + 1, "the newest version is last");

const struct pgk_memprof_version *pgk_memprof_version(uint64_t version)
{
    return version < PGK_COUNTOF(versions) ? &versions[version] : NULL;
}

uint32_t pgk_memprof_frame_ids(uint32_t release)
{
    uint32_t newest = 0;
#define PGK_MEMPROF_FRAME_IDS(generation, since) \
    if (release >= (since))                      \
        newest = (generation);
#include "memprof_versions.def"
#undef PGK_MEMPROF_FRAME_IDS
    return newest;
}

bool pgk_memprof_holds(const struct pgk_memprof_version *v, enum pgk_mib_id id, bool full_schema)
{
    return pgk_mib_fields[id].tag <= v->last_tag &&
           (full_schema || v->schema == PGK_MEMPROF_SCHEMA_ALL || pgk_mib_is_compilers(id));
}

bool pgk_memprof_holds_callees(uint32_t memprof_version)
{
    const struct pgk_memprof_version *v = pgk_memprof_version(memprof_version);
    return v && v->extras;
}
