/* The contents of the versions of files of counters, and the index version a profile is written at
 * so that compilers find its functions.
 *
 * clang looks functions up by a hash of their structure. That of its front end had 64 bits up to
 * LLVM 19 and has the lower 60 of them in LLVM 22; index versions up to 12 mean the former,
 * later ones the latter. Reports of coverage look for the hash that the program itself has, so
 * that hashes stay as they are: the version follows the hashes, never the hashes the version.
 * Those of rustc have 64 bits always. Hashes of IR do not depend on it. */
#include "instr_version.h"

#include "instr_raw.h"
#include "value_sites.h"

#include <inttypes.h>

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
#define PGK_INSTR_RAW_VERSION(number, hashes, counts, since, until) \
    case number:                                                    \
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

int pgk_instr_check_variant(const struct pgk_cursor *c, uint64_t word, uint64_t off,
                            const char *record, struct pgk_err *err)
{
    uint64_t unknown = word & ~(uint64_t)UINT32_MAX;
#define PGK_INDEXED_FLAG(name, bit, meaning) unknown &= ~(UINT64_C(1) << (bit));
#include "indexed.def"
#undef PGK_INDEXED_FLAG
    if (!unknown)
        return 0;
    return pgk_cur_reject(c, err, PGK_E_VERSION, off, .record = record,
                          .field = "variants in the version word",
                          .found = PGK_F("bit %d (0x%016" PRIx64 ")", __builtin_ctzll(unknown),
                                         unknown),
                          .expected = "variants that pgokit knows",
                          .hint = "the profile is newer than this pgokit; use a newer one");
}

/* Hashes of functions with few branches pack one number of 6 bits for each, and are the same in all
 * releases; those of others are spread over all bits, so among many the upper bits show which they
 * are. */
#define SPREAD_HASH (UINT64_C(1) << 54)
#define LONG_HASH (UINT64_C(1) << 60)

struct spread_hashes {
    size_t long_ones, short_ones;
};

/* None in profiles of IR, whose hashes are the same in all releases. */
static struct spread_hashes count_spread(const struct pgk_instr *p)
{
    struct spread_hashes n = {0};
    if (pgk_instr_origin(p) != PGK_INSTR_FRONT_END)
        return n;
    for (size_t i = 0; i < p->funcs.n; i++) {
        uint64_t hash = p->funcs.v[i].hash;
        n.long_ones += hash >= LONG_HASH;
        n.short_ones += hash >= SPREAD_HASH && hash < LONG_HASH;
    }
    return n;
}

enum hash_kind { ANY_HASHES, LONG_HASHES, SHORT_HASHES };

/* The hashes themselves decide, not the versions of the inputs: llvm-profdata 22 writes long ones
 * at index version 13. If most are short, files of old versions have long ones whose upper bits
 * happen to be 0. */
static enum hash_kind hash_kind(const struct pgk_instr *p, struct spread_hashes n)
{
    if (n.long_ones + n.short_ones == 0)
        return ANY_HASHES;
    return n.long_ones >= n.short_ones || p->hash_age == PGK_HASHES_OLD ? LONG_HASHES
                                                                        : SHORT_HASHES;
}

/* Whether compilers look some functions up by other hashes in files of the age. */
static bool misses_some(const struct pgk_instr *p, enum pgk_hash_age age)
{
    struct spread_hashes n = count_spread(p);
    if (age != PGK_HASHES_OLD)
        return age == PGK_HASHES_NEW && n.long_ones;
    return p->hash_age & PGK_HASHES_NEW && n.short_ones &&
           (p->hash_age & PGK_HASHES_OLD || hash_kind(p, n) == SHORT_HASHES);
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
    loss->hashes = misses_some(p, holds->hashes);
}

static uint32_t newest_for(enum pgk_hash_age age)
{
    uint32_t version = PGK_INDEX_NOW;
    while (index_hashes(version) != age)
        version--;
    return version;
}

uint32_t pgk_instr_index_version(const struct pgk_instr *p, uint32_t wanted)
{
    enum hash_kind kind = hash_kind(p, count_spread(p));
    uint32_t newest_old = newest_for(PGK_HASHES_OLD);
    if (kind == LONG_HASHES && wanted > newest_old)
        return newest_old;
    if (kind == SHORT_HASHES && wanted <= newest_old)
        return newest_old + 1;
    return wanted;
}

/* At an old version where nothing shows that the hashes are new, because of a partial profile the
 * version is all that says so. */
uint32_t pgk_instr_lossless_version(const struct pgk_instr *p)
{
    uint32_t version = newest_for(PGK_HASHES_OLD);
    const struct pgk_instr_holds holds = pgk_index_holds(version);
    struct pgk_instr_loss loss = {0};
    pgk_instr_note_loss(p, &holds, &loss);
    bool as_old = pgk_instr_origin(p) == PGK_INSTR_FRONT_END && !loss.uniform_functions &&
                  hash_kind(p, count_spread(p)) != SHORT_HASHES;
    return as_old ? version : PGK_INDEX_NOW;
}
