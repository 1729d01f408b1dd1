/* Functions of a binary by address, from debug information.
 *
 * Functions are distinguished by name alone, because that is how a compiler looks a profile up: two
 * static functions of one name are one function with two ranges, and the parts of a split function,
 * too. */
#ifndef PGK_FUNCTIONS_H
#define PGK_FUNCTIONS_H

#include "symboliser.h"

struct pgk_function_range {
    uint64_t low, high; /* first, for searching */
    uint32_t function;
    bool is_entry; /* calls go to its first instruction */
};

struct pgk_function {
    const char *name;
    uint32_t first, n; /* its ranges in `by_function` */
};

struct pgk_functions {
    struct pgk_arena arena;
    PGK_VEC(struct pgk_function_range) ranges; /* ascending; no two start at one address */
    PGK_VEC(uint32_t) by_function;             /* numbers of ranges, grouped */
    PGK_VEC(struct pgk_function) functions;
    size_t same_start; /* ranges left out, since another starts there */
};

/* Functions in the units of debug information (`sym`, or NULL) that the sorted addresses lie in;
 * with `symbols` also those that only the symbol table has. */
int pgk_functions_open(struct pgk_functions *f, struct pgk_symboliser *sym,
                       const struct pgk_elf *elf, bool symbols, const uint64_t *addrs, size_t n,
                       unsigned threads, struct pgk_err *err);
void pgk_functions_close(struct pgk_functions *f);

/* The range that holds `addr`; NULL if none does. */
const struct pgk_function_range *pgk_functions_at(const struct pgk_functions *f, uint64_t addr);
/* As pgk_functions_at, for addresses that are mostly in the range of the one before, which `last`
 * (NULL at first) is set to. */
static inline const struct pgk_function_range *
pgk_functions_at_next(const struct pgk_functions *f, uint64_t addr,
                      const struct pgk_function_range **last)
{
    const struct pgk_function_range *r = *last;
    if (r && addr >= r->low && addr < r->high &&
        (r + 1 == f->ranges.v + f->ranges.n || addr < r[1].low))
        return r;
    return *last = pgk_functions_at(f, addr);
}
/* The function that a branch to `addr` enters; NULL if it is no entry of one. */
const struct pgk_function *pgk_functions_entered(const struct pgk_functions *f, uint64_t addr);

/* Length of a symbol's name without all that compilers append to those of parts and copies of a
 * function. */
size_t pgk_symbol_length(const char *name);

#endif
