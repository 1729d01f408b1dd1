/* The folder of a symbol cache. */
#ifndef PGK_SYMBOL_CACHE_PRIV_H
#define PGK_SYMBOL_CACHE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define PGK_SYMBOL_CACHE_SUFFIX ".symbols"
enum { PGK_CACHE_FRAME_BYTES = 32 };

/* Makes the folder of the entry, and those above it, as far as they are not there. */
bool pgk_symbol_cache_make_folder(const char *entry);
/* Deletes entries that were used least recently, except for `entry` itself, until all
 * together have at most so many bytes. */
void pgk_symbol_cache_keep_below(const char *entry, uint64_t bytes);

#endif
