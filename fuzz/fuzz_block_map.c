/* Fuzz target: the block address map of an ELF image, and lookups of all that it says. */
#include "block_map.h"
#include "elf_priv.h"
#include "pgokit/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

/* Blocks may overlap; a place that is found begins at the address, or holds it. */
static void look_up(const struct pgk_block_map *m)
{
    for (size_t i = 0; i < m->blocks.n; i++) {
        const struct pgk_map_block *b = &m->blocks.v[i];
        if (b->function >= m->functions.n)
            abort();
        size_t at = pgk_block_map_at(m, b->low);
        if (at != SIZE_MAX && m->blocks.v[m->by_address.v[at]].low != b->low)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pgk_elf *elf;
    struct pgk_block_map map;
    pgk_log_set(ignore_message, NULL);
    if (pgk_elf_open_memory(&elf, data, size, "/nowhere/image", PGK_ELF_PROGRAM, NULL) < 0)
        return 0;
    if (!pgk_block_map_open(&map, elf, NULL)) {
        look_up(&map);
        pgk_block_map_close(&map);
    }
    pgk_elf_close(&elf);
    return 0;
}
