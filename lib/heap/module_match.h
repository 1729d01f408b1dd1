/* Which binary a module of a heap profile is, and what the profile's addresses mean there. */
#ifndef PGK_MODULE_MATCH_H
#define PGK_MODULE_MATCH_H

#include "binary_set.h"
#include "heap_model.h"

/* The binary of a module: by build id; without one by its executable segment, or by its
 * file's name where the profile says no more. PGK_INDEX_NONE: none given. */
uint32_t pgk_module_binary(const struct pgk_heap *h, uint32_t module,
                           const struct pgk_binaries *binaries);

/* The same, but one with a build id that was not given may be found, as the options of the set
 * allow; *pos is PGK_INDEX_NONE if it was not. */
int pgk_module_look_for(const struct pgk_heap *h, uint32_t module, struct pgk_binaries *binaries,
                        uint32_t *pos, struct pgk_err *err);
/* How many addresses of call stacks lie in each module; to be freed, NULL when out of memory. */
size_t *pgk_module_addresses(const struct pgk_heap *h);

/* The link-time address of an address in the module, whose binary is `elf`; UINT64_MAX where
 * there is no code. */
uint64_t pgk_module_link_address(const struct pgk_heap *h, uint32_t module,
                                 const struct pgk_elf *elf, uint64_t where);

/* The part of the file that a process maps for an executable segment, in whole pages. */
struct pgk_mapped_text {
    uint64_t off, size;
};
struct pgk_mapped_text pgk_mapped_text(const struct pgk_segment *s);

#endif
