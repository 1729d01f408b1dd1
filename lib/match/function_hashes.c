/* Checksums of functions that builds record themselves. */
#include "function_hashes.h"

#include "build_index.h"
#include "format_row.h"
#include "instr_raw_layout.h"
#include "probes.h"

#include "instr_raw.def"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

static bool add(struct pgk_hashes *h, uint64_t guid, uint64_t hash)
{
    PGK_INDEX_FOR (&h->by_guid, guid, i)
        if (h->list.v[i].guid == guid && h->list.v[i].hash == hash)
            return true;
    return pgk_vec_push(&h->list, (struct pgk_function_hash){guid, hash}) &&
           pgk_index_add(&h->by_guid, guid, (uint32_t)h->list.n - 1);
}

void pgk_hashes_free(struct pgk_hashes *h)
{
    pgk_vec_free(&h->list);
    pgk_index_free(&h->by_guid);
}

static enum pgk_match_level level_by(const struct pgk_hashes *h, uint64_t guid, uint64_t hash,
                                     uint64_t *now)
{
    enum pgk_match_level level = PGK_MATCH_GONE;
    *now = 0;
    PGK_INDEX_FOR (&h->by_guid, guid, i) {
        if (h->list.v[i].guid != guid)
            continue;
        *now = h->list.v[i].hash;
        if (*now == hash)
            return PGK_MATCH_EXACT;
        level = PGK_MATCH_FUNCTIONS;
    }
    return level;
}

enum pgk_match_level pgk_hashes_level(const struct pgk_hashes *h, const struct pgk_hash_key *key,
                                      uint64_t *now)
{
    enum pgk_match_level level = level_by(h, key->guid, key->hash, now);
    if (level != PGK_MATCH_GONE || !key->plain)
        return level;
    level = level_by(h, key->plain, key->hash, now);
    return level == PGK_MATCH_EXACT ? PGK_MATCH_REROUTED : level;
}

/* ---- pseudo probes ---- */

static int add_probes(struct pgk_hashes *h, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct pgk_probes *probes = NULL;
    struct pgk_err own = {0};
    bool ok = true;
    int status = pgk_probes_open_elf(&probes, elf, &own);
    if (status == PGK_E_EMPTY) /* another binary of the set may have some */
        return 0;
    if (status) {
        if (err)
            *err = own;
        return status;
    }
    for (size_t i = 0; ok && i < pgk_probe_descs(probes); i++) {
        struct pgk_probe_desc d = pgk_probe_desc_at(probes, i);
        ok = add(h, d.guid, d.hash) && add(h, pgk_build_guid(d.name, d.name_len), d.hash) &&
             add(h, pgk_build_bare_guid(d.name, d.name_len), d.hash);
    }
    pgk_probes_close(&probes);
    return ok ? 0 : pgk_fail_nomem(err);
}

int pgk_hashes_of_probes(struct pgk_hashes *h, struct pgk_binaries *set, struct pgk_err *err)
{
    size_t n = pgk_binaries_count(set);
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(add_probes(h, pgk_binaries_elf(set, i), err));
    if (h->list.n || !n)
        return 0;
    return pgk_fail(err, PGK_E_EMPTY, .file = pgk_elf_path(pgk_binaries_elf(set, 0)),
                    .field = "pseudo probes", .found = "none",
                    .expected = "those of the functions of a profile by probes",
                    .hint = "build with -fpseudo-probe-for-profiling, as for the profile");
}

/* ---- counters ---- */

static uint64_t number(const uint8_t *record, struct pgk_raw_place at)
{
    uint64_t v = 0;
    memcpy(&v, record + at.off, at.size);
    return v;
}

struct pgk_elf_section_info pgk_hashes_section(const struct pgk_elf *elf, const char *name)
{
    for (size_t i = 0; i < pgk_elf_section_count(elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(elf, i);
        if (!strcmp(s.name, name))
            return s;
    }
    return (struct pgk_elf_section_info){.bytes = NULL};
}

/* The layout is that of the version at which the records have all of the counters, of 8 bytes or of
 * 1 each: nothing that cannot be stripped says which it is. */
static bool find_layout(const uint8_t *data, size_t size, uint64_t counters,
                        struct pgk_raw_record_layout *layout)
{
    for (uint32_t v = PGK_INSTR_RAW_FIRST; v <= PGK_INSTR_RAW_NOW; v++) {
        uint64_t sum = 0;
        *layout = pgk_raw_record_layout(v, 8);
        if (size % layout->bytes)
            continue;
        for (size_t at = 0; at < size; at += layout->bytes)
            sum += number(data + at, layout->n_counters);
        if (sum == counters || sum * 8 == counters)
            return true;
    }
    return false;
}

int pgk_hashes_of_records(struct pgk_hashes *h, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct pgk_elf_section_info s = pgk_hashes_section(elf, "__llvm_prf_data");
    struct pgk_raw_record_layout layout;
    if (!s.bytes && s.size && s.type != SHT_NOBITS)
        return pgk_fail(err, PGK_E_CORRUPT, .file = pgk_elf_path(elf), .format = s.name,
                        .offset = &s.offset, .field = "records",
                        .found = PGK_F("%" PRIu64 " bytes, which end outside of the file", s.size),
                        .expected = "all of them in the file",
                        .hint = "the file was cut; build the program again");
    if (!s.bytes)
        return 0;
    if (!find_layout(s.bytes, s.size, pgk_hashes_section(elf, "__llvm_prf_cnts").size, &layout))
        return pgk_fail(err, PGK_E_VERSION, .file = pgk_elf_path(elf), .format = s.name,
                        .offset = &s.offset, .field = "records",
                        .found = PGK_F("%" PRIu64 " bytes", s.size),
                        .expected = "those of LLVM 14 to " PGK_LLVM_NOW_TEXT
                                    ", with the program's counters",
                        .hint = "give the program as it was linked, or build it again");
    for (size_t at = 0; at < s.size; at += layout.bytes)
        if (!add(h, number(s.bytes + at, layout.name_ref), number(s.bytes + at, layout.hash)))
            return pgk_fail_nomem(err);
    return 0;
}

int pgk_hashes_of_counters(struct pgk_hashes *h, struct pgk_binaries *set, struct pgk_err *err)
{
    size_t n = pgk_binaries_count(set);
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(pgk_hashes_of_records(h, pgk_binaries_elf(set, i), err));
    if (h->list.n || !n)
        return 0;
    return pgk_fail(err, PGK_E_EMPTY, .file = pgk_elf_path(pgk_binaries_elf(set, 0)),
                    .field = "counters", .found = "none",
                    .expected = "an instrumented build, which alone says what hashes its functions "
                                "have",
                    .hint = "give a build by -fprofile-generate or -fprofile-instr-generate, as "
                            "the profile's was");
}
