/* The blocks of a binary as the compiler numbered them: .llvm_bb_addr_map.
 * docs/formats/propeller.md section 1 */
#ifndef PGK_BLOCK_MAP_H
#define PGK_BLOCK_MAP_H

#include "elf_file.h"
#include "vec.h"

#define PGK_BLOCK_NONE UINT32_MAX

enum pgk_block_flag {
#define BLOCK_MAP_FLAG(bit, name) PGK_BLOCK_##name = (bit),
#include "bb_addr_map.def"
#undef BLOCK_MAP_FLAG
};

struct pgk_map_block {
    uint64_t low;
    uint32_t size;     /* bytes; may be 0 */
    uint32_t id;       /* number in its function */
    uint32_t function; /* position in `functions` */
    uint32_t flags;    /* PGK_BLOCK_... */
};

struct pgk_map_function {
    uint64_t entry;
    uint32_t first, n; /* in `blocks` */
};

struct pgk_block_map {
    PGK_VEC(struct pgk_map_block) blocks;       /* by function, in the order of their places */
    PGK_VEC(struct pgk_map_function) functions; /* in the order of the section */
    PGK_VEC(uint32_t) by_address;               /* blocks; of equal addresses in the above order */
    uint64_t outside; /* functions that are not in the code: the linker left them out */
    unsigned list;    /* version of lists that the compiler takes */
};

/* PGK_E_NODEBUG without such a section, or without a block in it; PGK_E_UNSUPPORTED for a version
 * that is not known. */
int pgk_block_map_open(struct pgk_block_map *map, const struct pgk_elf *elf, struct pgk_err *err);
void pgk_block_map_close(struct pgk_block_map *map);

/* Fills `by_address` when all blocks are there. False when out of memory. */
bool pgk_block_map_sort(struct pgk_block_map *map);
/* Position in `by_address` of the block that holds the byte; SIZE_MAX if none does. */
size_t pgk_block_map_holds(const struct pgk_block_map *map, uint64_t addr);
/* The same, but of the blocks of its function that begin there the first: those before the last
 * have no bytes. This is where control comes to. */
size_t pgk_block_map_at(const struct pgk_block_map *map, uint64_t addr);

#endif
