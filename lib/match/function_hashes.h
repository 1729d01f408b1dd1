/* Checksums of functions that builds record themselves: of pseudo probes, and of counters. */
#ifndef PGK_FUNCTION_HASHES_H
#define PGK_FUNCTION_HASHES_H

#include "binary_set.h"
#include "index.h"
#include "pgokit/match.h"
#include "vec.h"

struct pgk_function_hash {
    uint64_t guid, hash;
};

/* A function may have several: of one name in several files, or compiled differently. */
struct pgk_hashes {
    PGK_VEC(struct pgk_function_hash) list;
    struct pgk_index by_guid;
};

/* The key of a function in the profile. */
struct pgk_hash_key {
    uint64_t guid;  /* of the name as it is */
    uint64_t plain; /* without what makes statics unique, which changes with their file; 0: the
                       name is not known */
    uint64_t hash;
};

/* Reads the descriptors of pseudo probes; PGK_E_EMPTY if no binary has any. Free in any case. */
PGK_MUST_USE int pgk_hashes_of_probes(struct pgk_hashes *h, struct pgk_binaries *set,
                                       struct pgk_err *err);
/* Reads the records of instrumented programs; PGK_E_EMPTY if none is one. Free in any case. */
PGK_MUST_USE int pgk_hashes_of_counters(struct pgk_hashes *h, struct pgk_binaries *set,
                                         struct pgk_err *err);
/* The same of one program, which may have none. PGK_E_CORRUPT if the section of its records is
 * outside of the file, PGK_E_VERSION if they are not those of a known layout. */
PGK_MUST_USE int pgk_hashes_of_records(struct pgk_hashes *h, const struct pgk_elf *elf,
                                       struct pgk_err *err);
/* A section of the program, with its bytes as stored; all zero if there is none. */
struct pgk_elf_section_info pgk_hashes_section(const struct pgk_elf *elf, const char *name);
void pgk_hashes_free(struct pgk_hashes *h);

/* Exact, by another name, of another hash, or gone; *now is that of the build, or 0. */
enum pgk_match_level pgk_hashes_level(const struct pgk_hashes *h, const struct pgk_hash_key *key,
                                      uint64_t *now);

#endif
