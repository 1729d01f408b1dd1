/* Rows of types: any bytes are read, with rows left out, and what was read is found. */
#include "type_rows.h"

#include "pgokit/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void ignore_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_type_rows rows = {0};
    pgk_log_set(ignore_message, NULL);
    if (pgk_type_rows_read(&rows, bytes, size, "fuzz"))
        for (size_t i = 0; i < rows.list.n; i++) {
            const struct pgk_type_row *row = &rows.list.v[i];
            if (pgk_type_rows_find(&rows, row->guid, row->place, row->allocates) != row)
                abort();
        }
    pgk_type_rows_free(&rows);
    return 0;
}
