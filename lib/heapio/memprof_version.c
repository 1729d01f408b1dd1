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

#define BIT(id) (UINT64_C(1) << (id))

/* What the contexts of a chosen schema need, beside the compiler's fields. */
static uint64_t chosen_fields(const struct pgk_heap *h, bool full_schema)
{
    uint64_t any = 0, all = UINT64_MAX;
    for (size_t i = 0; i < h->contexts.n; i++) {
        const uint64_t known = pgk_mib_known_by_signs(h->contexts.v[i].known);
        any |= known;
        all &= known;
    }
    /* Lifetimes are what compilers ask for. */
    uint64_t signs = pgk_mib_needed_signs(any, all);
    if (!full_schema)
        return signs & BIT(PGK_MIB_MinLifetime);
    /* Where histograms are goes with their size. */
    if (any & BIT(PGK_MIB_AccessHistogramSize))
        any |= BIT(PGK_MIB_AccessHistogram);
    return any | signs;
}

uint64_t pgk_memprof_schema(const struct pgk_memprof_version *v, const struct pgk_heap *heap,
                            bool full_schema)
{
    const bool has_all = v->schema == PGK_MEMPROF_SCHEMA_ALL;
    const uint64_t chosen = has_all ? UINT64_MAX : chosen_fields(heap, full_schema);
    uint64_t fields = 0;
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (pgk_mib_fields[id].tag <= v->last_tag && (chosen & BIT(id) || pgk_mib_is_compilers(id)))
            fields |= BIT(id);
    return fields;
}

bool pgk_memprof_holds_callees(uint32_t memprof_version)
{
    const struct pgk_memprof_version *v = pgk_memprof_version(memprof_version);
    return v && v->extras;
}
