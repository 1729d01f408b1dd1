/* Which index version a profile is written at so that compilers find its functions.
 *
 * clang looks functions up by a hash of their structure. That of its front end had 64 bits up to
 * LLVM 19 and has the lower 60 of them in LLVM 22; index versions up to 12 mean the former,
 * later ones the latter. So a profile of older hashes can be written for either, one of
 * newer hashes for the newer only. Hashes of IR do not depend on it. */
#include "instr_model.h"

#include "indexed.def"

enum { LAST_OF_LONG_HASHES = 12, FIRST_OF_SHORT_HASHES = 13 };

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
    return wanted < FIRST_OF_SHORT_HASHES ? FIRST_OF_SHORT_HASHES : wanted;
}

uint32_t pgk_instr_lossless_version(const struct pgk_instr *p)
{
    bool shortens = pgk_instr_origin(p) == PGK_INSTR_FRONT_END && hash_kind(p) != SHORT_HASHES;
    return shortens ? LAST_OF_LONG_HASHES : PGK_INDEX_NOW;
}

uint64_t pgk_instr_written_hash(const struct pgk_instr *p, uint64_t hash, uint32_t index_version)
{
    bool shorten =
        pgk_instr_origin(p) == PGK_INSTR_FRONT_END && index_version > LAST_OF_LONG_HASHES;
    return shorten ? hash & PGK_HASH_SHORT_MASK : hash;
}
