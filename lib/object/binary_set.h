/* Looking up and symbolising in a set of binaries; see the public binaries.h. */
#ifndef PGK_BINARY_SET_H
#define PGK_BINARY_SET_H

#include "symboliser.h"
#include "pgokit/binaries.h"

/* Position of the binary with this build id, or PGK_INDEX_NONE. */
uint32_t pgk_binaries_find(const struct pgk_binaries *set, const uint8_t *build_id, size_t size);
const struct pgk_elf *pgk_binaries_elf(const struct pgk_binaries *set, uint32_t pos);
unsigned pgk_binaries_threads(const struct pgk_binaries *set);
/* The symboliser of the binary, opened on first use. Not thread-safe. */
int pgk_binaries_symboliser(struct pgk_binaries *set, uint32_t pos, struct pgk_symboliser **sym,
                            struct pgk_err *err);
/* Build id as lower-case hex; "none" for size 0. Returns buf. */
#define PGK_BUILD_ID_TEXT 80
const char *pgk_build_id_text(char buf[PGK_BUILD_ID_TEXT], const uint8_t *id, size_t size);

#endif
