/* Fuzz target: records of what compiles used. What is read has known outcomes; what is not is
 * refused with a place. */
#include "use_record.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_use_record record = {0};
    struct pgk_source src = {.file = "fuzz", .format = "record of what a compile used"};
    struct pgk_err err = {0};
    int status = pgk_use_record_read(&record, bytes, size, &src, &err);
    if (status && (err.status != status || !*err.field || err.offset > size))
        abort();
    for (size_t i = 0; i < record.lines.n; i++)
        if (record.lines.v[i].use >= PGK_USES)
            abort();
    pgk_use_record_free(&record);
    return 0;
}
