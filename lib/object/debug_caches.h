/* Files of build ids in the caches of perf and debuginfod, and from debuginfod's servers. */
#ifndef PGK_DEBUG_CACHES_H
#define PGK_DEBUG_CACHES_H

#include "debuginfod.h"
#include "elf_priv.h"

struct pgk_debug_caches;
/* Finds out where the caches of this user are; `download`: also asks the servers of
 * DEBUGINFOD_URLS. NULL when out of memory. */
struct pgk_debug_caches *pgk_debug_caches_new(bool download);
void pgk_debug_caches_close(struct pgk_debug_caches **caches);
/* perf's folder, and that of debuginfod; "": none. */
const char *pgk_debug_caches_perf(const struct pgk_debug_caches *caches);
const char *pgk_debug_caches_debuginfod(const struct pgk_debug_caches *caches);
/* Opens the file with this build id as `kind`; *elf stays NULL if there is none, also without
 * caches. What cannot be used is warned of. Debug information is .debug_info or .symtab.
 * PGK_E_NOMEM only. May be called by several threads. */
PGK_MUST_USE int pgk_debug_caches_open(struct pgk_debug_caches *caches, enum pgk_id_file what,
                                       enum pgk_elf_kind kind, const uint8_t *id, size_t size,
                                       struct pgk_elf **elf, struct pgk_err *err);

#endif
