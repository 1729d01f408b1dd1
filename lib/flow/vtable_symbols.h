/* The virtual tables of a binary by address. */
#ifndef PGK_VTABLE_SYMBOLS_H
#define PGK_VTABLE_SYMBOLS_H

#include "elf_file.h"
#include "vec.h"

struct pgk_vtable_symbol {
    uint64_t addr, size;
    const char *name; /* belongs to the binary */
    size_t len;       /* of the name, without what LLVM appends to local ones in each link */
};

struct pgk_vtable_symbols {
    PGK_VEC(struct pgk_vtable_symbol) list; /* ascending, one at an address */
};

/* False when out of memory. */
bool pgk_vtable_symbols_open(struct pgk_vtable_symbols *symbols, const struct pgk_elf *elf);
void pgk_vtable_symbols_free(struct pgk_vtable_symbols *symbols);
/* The table that holds an address; NULL if none does. */
const struct pgk_vtable_symbol *pgk_vtable_symbol_at(const struct pgk_vtable_symbols *symbols,
                                                     uint64_t addr);

bool pgk_is_vtable_name(const char *name);
/* Length of a table's name as above. */
size_t pgk_vtable_name_length(const char *name);

#endif
