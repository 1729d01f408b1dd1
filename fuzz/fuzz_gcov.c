/* Counters of gcc: refusals tell where, and what can be read once can be added again. */
#include "gcov_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_gcov *g;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "gcc counters"};
    if (pgk_gcov_new(&g, &err))
        return 0;
    int status = pgk_gcov_add(g, bytes, size, &src, 3, &err);
    /* The same again is of the same build and shape. */
    if (!status && pgk_gcov_add(g, bytes, size, &src, 1, &err))
        abort();
    if (status && (err.status != status || !*err.field))
        abort();
    pgk_gcov_close(&g);
    return 0;
}
