/* Fuzz target: the records of counters in a program. What was read is found by name and hash. */
#include "elf_priv.h"
#include "function_hashes.h"
#include "pgokit/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pgk_elf *elf;
    struct pgk_hashes hashes = {0};
    pgk_log_set(ignore_message, NULL);
    if (pgk_elf_open_memory(&elf, data, size, "/nowhere/image", PGK_ELF_PROGRAM, NULL) < 0)
        return 0;
    if (!pgk_hashes_of_records(&hashes, elf, NULL))
        for (size_t i = 0; i < hashes.list.n; i++) {
            const struct pgk_function_hash *f = &hashes.list.v[i];
            struct pgk_hash_key key = {.guid = f->guid, .hash = f->hash};
            uint64_t now;
            if (pgk_hashes_level(&hashes, &key, &now) != PGK_MATCH_EXACT || now != f->hash)
                abort();
        }
    pgk_hashes_free(&hashes);
    pgk_elf_close(&elf);
    return 0;
}
