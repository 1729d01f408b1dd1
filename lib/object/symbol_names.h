/* Functions by the symbols of a file, for programs without debug information. Their names need not
 * be those that compilers hash, and there are no files, lines or inlined functions: good enough for
 * people, where nothing better is to be had. */
#ifndef PGK_SYMBOL_NAMES_H
#define PGK_SYMBOL_NAMES_H

#include "symboliser.h"

/* True if the file has a symbol of a function of its own. */
bool pgk_symbol_names_any(const struct pgk_elf *elf);
/* As pgk_symbolise; `by_symbol` is for the frames, and then only symbols with a size count: other
 * code of the file, which debug information does not cover, may follow one without. Strings are the
 * file's. */
int pgk_symbol_names_chains(const struct pgk_elf *elf, const uint64_t *addrs, size_t count,
                            bool by_symbol, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                            struct pgk_err *err);
/* The symbol of a function that begins nearest to an address, at most 64 KiB from it, for one that
 * none covers; "" if there is none. */
const char *pgk_symbol_names_near(const struct pgk_elf *elf, uint64_t addr);
/* As pgk_symboliser_functions. */
int pgk_symbol_names_functions(const struct pgk_elf *elf, pgk_sym_function_fn *fn, void *ctx,
                               struct pgk_err *err);

#endif
