/* Names of functions and vtables in a sample profile: 32-bit ids, 0 being none.
 *
 * A name is known by its spelling, by its GUID (the first 8 bytes of its MD5), or by both. A
 * name seen as a GUID in one file and spelled out in another is one name, whichever came
 * first. A decimal number beyond 32 bits is a GUID that a careless tool spelled out.
 *
 * The MD5 of a spelling is taken only when a GUID has been seen, or when it is asked for. */
#ifndef PGK_SAMPLE_NAMES_H
#define PGK_SAMPLE_NAMES_H

#include "arena.h"
#include "index.h"
#include "vec.h"

struct pgk_sample_name {
    const char *s;   /* ends with a NUL; NULL: known by its GUID alone */
    uint64_t guid;   /* valid if has_guid */
    uint32_t len;
    bool has_guid;
};

struct pgk_sample_names {
    struct pgk_arena arena;
    PGK_VEC(struct pgk_sample_name) list; /* list.v[0] is not used */
    struct pgk_index by_spelling;
    struct pgk_index by_guid;          /* complete once `guids` is set */
    bool guids;                        /* some name came as a GUID */
};

void pgk_sample_names_free(struct pgk_sample_names *t);
/* The id of the name, added if new; 0 when out of memory. */
uint32_t pgk_sample_names_add(struct pgk_sample_names *t, const char *s, size_t len);
/* Many names at once, which is faster as the memory of the table is asked for ahead: sets the
 * id of each. False when out of memory. */
struct pgk_spelling {
    const char *s;
    size_t len;
    uint64_t hash; /* of the bytes; the caller leaves it alone */
    uint32_t id;
};
bool pgk_sample_names_add_many(struct pgk_sample_names *t, struct pgk_spelling *v, size_t n);
uint32_t pgk_sample_names_add_guid(struct pgk_sample_names *t, uint64_t guid);
/* The id of a name that is there, or 0. */
uint32_t pgk_sample_names_find(const struct pgk_sample_names *t, const char *s, size_t len);
/* If a name is known by the GUID of this spelling alone, spells it. False when out of memory. */
bool pgk_sample_names_spell(struct pgk_sample_names *t, const char *s, size_t len);
uint64_t pgk_sample_names_guid(struct pgk_sample_names *t, uint32_t id);
/* The same of one name, without keeping it. */
uint64_t pgk_name_guid(const struct pgk_sample_name *name);
/* True if some name is known by its GUID alone. */
bool pgk_sample_names_unspelled(const struct pgk_sample_names *t);

/* Length of a function's name without what the compiler drops when it looks the function up:
 * ".llvm.N" and ".part.N". */
size_t pgk_sample_drop_suffixes(const char *s, size_t len);
/* Length without a suffix that ends the name but for a number, as ".isra." in "f.isra.0". */
size_t pgk_sample_drop_numbered(const char *s, size_t len, const char *const *suffixes, size_t n);

/* Length without the suffixes of all clones and parts that gcc makes of a function. */
size_t pgk_sample_drop_gcc_suffixes(const char *s, size_t len);

/* Sets rank[id] so that ranks order names as LLVM does: GUIDs by number, then spellings bytewise.
 * `rank` has space for t->v.n numbers. False when out of memory. */
bool pgk_sample_names_rank(const struct pgk_sample_names *t, uint32_t *rank);

/* If the bytes are a GUID in decimal: true, and *guid is set. */
bool pgk_sample_name_is_guid(const char *s, size_t len, uint64_t *guid);

#endif
