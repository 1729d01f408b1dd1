/* What the versions of files of counters hold, and which index version a profile is written at so
 * that compilers find its functions.
 *
 * clang looks functions up by a hash of their structure. That of its front end had 64 bits up to
 * LLVM 19 and has the lower 60 of them in LLVM 22; index versions up to 12 mean the former,
 * later ones the latter. So a profile of older hashes can be written for either, one of
 * newer hashes for the newer only. Hashes of IR do not depend on it. */
#include "instr_version.h"

#include "instr_raw.h"
#include "value_sites.h"

static enum pgk_hash_age index_hashes(uint32_t index_version)
{
    switch (index_version) {
#define PGK_INDEX_VERSION(number, since, hashes) \
    case number:                                 \
        return PGK_HASHES_##hashes;
#include "indexed.def"
#undef PGK_INDEX_VERSION
    }
    return PGK_HASHES_UNKNOWN;
}

static enum pgk_hash_age raw_hashes(uint32_t raw_version)
{
    switch (raw_version) {
#define PGK_INSTR_RAW_VERSION(number, hashes, counts, releases) \
    case number:                                                \
        return PGK_HASHES_##hashes;
#include "instr_raw.def"
#undef PGK_INSTR_RAW_VERSION
    }
    return PGK_HASHES_UNKNOWN;
}

struct pgk_instr_holds pgk_index_holds(uint32_t index_version)
{
    struct pgk_instr_holds holds = {.hashes = index_hashes(index_version)};
#define PGK_INDEX_HOLDS(name, first, meaning) holds.name = index_version >= (first);
#include "indexed.def"
#undef PGK_INDEX_HOLDS
    return holds;
}

struct pgk_instr_holds pgk_raw_holds(uint32_t raw_version)
{
    struct pgk_instr_holds holds = {.hashes = raw_hashes(raw_version)};
#define PGK_INSTR_RAW_HOLDS(name, first, meaning) holds.name = raw_version >= (first);
#include "instr_raw.def"
#undef PGK_INSTR_RAW_HOLDS
    return holds;
}

void pgk_instr_note_loss(const struct pgk_instr *p, const struct pgk_instr_holds *holds,
                         struct pgk_instr_loss *loss)
{
    for (size_t i = 0; i < p->funcs.n; i++) {
        const struct pgk_instr_func *f = &p->funcs.v[i];
        loss->bitmap_functions += !holds->bitmaps && f->n_bitmap;
        loss->vtable_functions += !holds->vtables && f->n_sites[PGK_VALUE_VTABLE];
        loss->uniform_functions += !holds->uniformity && f->uniformity;
        loss->cut_sites += pgk_values_cut(f);
    }
    loss->loop_entries = !holds->loop_entries && p->flags >> PGK_INDEXED_LOOP_ENTRIES & 1;
    loss->hashes = holds->hashes == PGK_HASHES_OLD && p->hash_age & PGK_HASHES_NEW &&
                   pgk_instr_origin(p) == PGK_INSTR_FRONT_END;
}

/* Hashes of functions with few branches pack one number of 6 bits for each; those of others
 * are spread over all bits, so that among many the upper bits tell. */
#define SPREAD_HASH (UINT64_C(1) << 54)

enum hash_kind { ANY_HASHES, LONG_HASHES, SHORT_HASHES };

static enum hash_kind hash_kind(const struct pgk_instr *p)
{
    bool spread = false;
    if (p->hash_age & PGK_HASHES_NEW)
        return SHORT_HASHES;
    if (p->hash_age & PGK_HASHES_OLD)
        return LONG_HASHES;
    for (size_t i = 0; i < p->funcs.n; i++) {
        if (p->funcs.v[i].hash & ~PGK_HASH_SHORT_MASK)
            return LONG_HASHES;
        spread |= p->funcs.v[i].hash >= SPREAD_HASH;
    }
    return spread ? SHORT_HASHES : ANY_HASHES;
}

uint32_t pgk_instr_index_version(const struct pgk_instr *p, uint32_t wanted)
{
    if (pgk_instr_origin(p) != PGK_INSTR_FRONT_END || hash_kind(p) != SHORT_HASHES)
        return wanted;
    while (wanted < PGK_INDEX_NOW && index_hashes(wanted) != PGK_HASHES_NEW)
        wanted++;
    return wanted;
}

uint32_t pgk_instr_lossless_version(const struct pgk_instr *p)
{
    bool shortens = pgk_instr_origin(p) == PGK_INSTR_FRONT_END && hash_kind(p) != SHORT_HASHES;
    uint32_t version = PGK_INDEX_NOW;
    while (shortens && index_hashes(version) == PGK_HASHES_NEW)
        version--;
    return version;
}

uint64_t pgk_instr_written_hash(const struct pgk_instr *p, uint64_t hash, uint32_t index_version)
{
    bool shorten =
        pgk_instr_origin(p) == PGK_INSTR_FRONT_END && index_hashes(index_version) == PGK_HASHES_NEW;
    return shorten ? hash & PGK_HASH_SHORT_MASK : hash;
}
