/* Salvage of damaged profiles, raw and indexed: what is saved of a raw one is sound. */
#include "heap_raw.h"
#include "indexed.h"
#include "salvage.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void note(void *ctx, const char *what)
{
    (void)ctx;
    if (!*what)
        abort();
}

static void save_raw(const uint8_t *bytes, size_t size, struct pgk_salvage *salvage)
{
    struct pgk_sink *clean;
    struct pgk_heap *h;
    struct pgk_source src = {.file = "fuzz", .format = "raw heap profile"};
    if (pgk_sink_memory(&clean, NULL))
        return;
    if (!pgk_heap_raw_salvage(clean, bytes, size, &src, salvage, NULL)) {
        const uint8_t *whole = pgk_sink_data(clean, &size);
        if (whole && !pgk_heap_new(&h, NULL)) {
            if (pgk_heap_raw_read(h, whole, size, &src, NULL, NULL))
                abort();
            pgk_heap_close(&h);
        }
    }
    pgk_sink_drop(&clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_heap *h;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "indexed profile"};
    struct pgk_salvage salvage = {.fn = note};
    save_raw(bytes, size, &salvage);
    if (pgk_heap_new(&h, NULL))
        return 0;
    int status = pgk_indexed_salvage(h, bytes, size, &src, &salvage, NULL, &err);
    if (status && (err.status != status || (status != PGK_E_NOMEM && !*err.field)))
        abort();
    pgk_heap_close(&h);
    return 0;
}
