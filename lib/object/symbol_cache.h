/* The symboliser's answers for one binary, kept in a file.
 *
 *     FOLDER/<build id>.symbols
 *
 * An entry holds addresses and the chains of frames that pgk_symbolise gave for them, and the key
 * they were found under: another revision of the symboliser, or other debug information of
 * the same build id, has another key. An entry that is damaged, cut short, of another version or
 * key is as good as none, and replaced by the next save. Writing is to a temporary file that is
 * renamed, so that any number of processes may share a folder; when two save at once, the last
 * one's answers stay. The folder is kept below a size by deleting what was used least
 * recently. Nothing here is an error: without a usable cache everything is looked up. */
#ifndef PGK_SYMBOL_CACHE_H
#define PGK_SYMBOL_CACHE_H

#include "filemap.h"
#include "symboliser.h"

/* Raise when the symboliser answers differently, or the layout changes. */
enum { PGK_SYMBOL_CACHE_REVISION = 1 };

#define PGK_SYMBOL_CACHE_BYTES ((uint64_t)256 << 20) /* of a folder, by default */

/* An entry in memory; strings of chains point into it. */
struct pgk_symbol_cache {
    struct pgk_filemap map;
    const uint64_t *addresses; /* ascending */
    const uint32_t *first;     /* frame of address i; one more than addresses */
    const uint8_t *frames;
    const char *strings;
    size_t count;
};

/* The place of the entry of a binary, and its key; false if the binary is not cached because it has
 * no build id or no debug information. */
struct pgk_symbol_cache_place {
    char path[4096];
    uint64_t key;
};
bool pgk_symbol_cache_place(struct pgk_symbol_cache_place *place, const char *folder,
                            const struct pgk_elf *elf);

/* False, and `cache` empty, if there is no usable entry. Notes that the entry was used. */
bool pgk_symbol_cache_open(struct pgk_symbol_cache *cache,
                           const struct pgk_symbol_cache_place *place);
/* Accepts a zeroed struct; zeroes it. */
void pgk_symbol_cache_close(struct pgk_symbol_cache *cache);

/* The chain of an address; false if it is not in the cache or memory is short. */
bool pgk_symbol_cache_find(const struct pgk_symbol_cache *cache, uint64_t address,
                           struct pgk_arena *arena, struct pgk_sym_chain *chain);

/* Replaces the entry by these answers together with what `old` has besides (which may be the
 * entry being replaced), and keeps the folder below `folder_bytes`. Addresses ascend. False
 * if nothing was written. */
bool pgk_symbol_cache_save(const struct pgk_symbol_cache_place *place,
                           const struct pgk_symbol_cache *old, const uint64_t *addresses,
                           const struct pgk_sym_chain *chains, size_t count,
                           uint64_t folder_bytes);

#endif
