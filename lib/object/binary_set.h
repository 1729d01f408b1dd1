/* Looking up and symbolising in a set of binaries; see the public binaries.h. */
#ifndef PGK_BINARY_SET_H
#define PGK_BINARY_SET_H

#include "symboliser.h"
#include "pgokit/binaries.h"

/* Position of the binary with this build id, or PGK_INDEX_NONE. */
uint32_t pgk_binaries_find(const struct pgk_binaries *set, const uint8_t *build_id, size_t size);
/* Position of the binary that was opened from this file, or PGK_INDEX_NONE. */
uint32_t pgk_binaries_find_file(const struct pgk_binaries *set, const char *path);
/* A program or library as it ran. */
struct pgk_program_wanted {
    const char *path;        /* where it was; NULL: not known */
    const uint8_t *build_id; /* if build_id_size is 0 what is at `path` is taken for it */
    size_t build_id_size;
    bool with_main;          /* only a file that has a function main */
};
/* Position of the binary with this build id; one that was not given is searched at its path, if it
 * is still there and the set uses paths, and in the debug folders and sysroots that were given, and
 * joins the set if there is debug information for it. *pos is PGK_INDEX_NONE if it was not
 * found. */
int pgk_binaries_look_for(struct pgk_binaries *set, const struct pgk_program_wanted *wanted,
                          uint32_t *pos, struct pgk_err *err);
/* Looks for it at its path, in sysroots and, if the set looks for binaries, by its build id in
 * caches and on servers, and adds it to the set; *pos is PGK_INDEX_NONE if it was not found.
 * `other`, which may be NULL, becomes true if another build is at its path. */
int pgk_binaries_look_for_program(struct pgk_binaries *set,
                                  const struct pgk_program_wanted *wanted, uint32_t *pos,
                                  bool *other, struct pgk_err *err);
/* Is that build at the path that is wanted? Then *symbols says whether it has symbols. */
bool pgk_is_at_path(const struct pgk_program_wanted *wanted, bool *symbols);
/* Has the file a function main, so that it is a program? Of one that is stripped false. */
bool pgk_elf_has_main(const struct pgk_elf *elf);
/* Was it found at the path that a profile has? */
bool pgk_binaries_at_path(const struct pgk_binaries *set, uint32_t pos);
const struct pgk_elf *pgk_binaries_elf(const struct pgk_binaries *set, uint32_t pos);
unsigned pgk_binaries_threads(const struct pgk_binaries *set);
/* The symboliser of the binary, opened on first use. Not thread-safe. */
int pgk_binaries_symboliser(struct pgk_binaries *set, uint32_t pos, struct pgk_symboliser **sym,
                            struct pgk_err *err);
/* As pgk_symbolise, by the symboliser of the binary or from the cache. Strings of the chains
 * live as long as the set, or until it rests. Not thread-safe. */
int pgk_binaries_symbolise(struct pgk_binaries *set, uint32_t pos, const uint64_t *addrs,
                           size_t count, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                           struct pgk_err *err);
/* As pgk_symboliser_functions. */
int pgk_binaries_functions(struct pgk_binaries *set, uint32_t pos, pgk_sym_function_fn *fn,
                           void *ctx, struct pgk_err *err);
/* Gives back what look-ups have taken; later ones take it again. Strings of chains end here. */
void pgk_binaries_trim(struct pgk_binaries *set);

#endif
