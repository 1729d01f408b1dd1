/* Prints the block address map of a program, a block a line: entry of the function, id, address,
 * size, flags. */
#include "block_map.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct pgk_elf *elf;
    struct pgk_block_map m;
    struct pgk_err err = {0};
    if (argc != 2 || pgk_elf_open(&elf, argv[1], &err))
        return 2;
    int status = pgk_block_map_open(&m, elf, &err);
    for (size_t i = 0; !status && i < m.blocks.n; i++) {
        const struct pgk_map_block *b = &m.blocks.v[i];
        printf("%" PRIx64 " %u %" PRIx64 " %u %u\n", m.functions.v[b->function].entry, b->id,
               b->low, b->size, b->flags);
    }
    if (status)
        pgk_err_print(&err, stderr);
    else
        pgk_block_map_close(&m);
    pgk_elf_close(&elf);
    return status ? 2 : 0;
}
