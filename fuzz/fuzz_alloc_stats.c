/* Lines in which the allocator says what groups hold: any are taken, passed over or refused with a
 * field, and what is taken is of a group of the plan. */
#include "placement.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_plan plan = {.n_groups = 3};
    const char *at = (const char *)bytes, *end = at + size;
    for (uint64_t number = 1; at < end; number++) {
        struct pgk_err err = {0};
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const int status =
            pgk_plan_take_stats(&plan, "fuzz", at, (size_t)(stop - at), number, &err);
        if (status && (err.status != status || !*err.field || !*err.record))
            abort();
        at = stop + 1;
    }
    for (uint32_t g = 0; g < PGK_PLAN_HELD; g++)
        if ((!g || (g >= plan.n_groups && g < PGK_PLAN_HINT_COLD)) && plan.held[g].objects)
            abort();
    return 0;
}
