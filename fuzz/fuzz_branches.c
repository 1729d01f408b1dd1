/* Recordings of the branch recorder: any bytes are read or refused with a message that names a
 * place, and what is read leads to nothing outside of the file. */
#include "branch_view.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct pgk_source src = {.file = "fuzz", .format = "branch recording"};
    struct pgk_err err = {0};
    struct pgk_branches_view v;
    if (pgk_branches_check(&v, bytes, size, &src, &err)) {
        if (err.offset == PGK_NO_OFFSET || !*err.field)
            abort();
        return 0;
    }
    uint64_t sum = 0;
    for (uint64_t i = 0; i < v.head.modules; i++)
        sum += (uint8_t)pgk_branches_module(&v, i).path[0];
    for (uint64_t i = 0; i < v.head.entries; i++) {
        const struct pgk_branch_entry e = pgk_branches_entry(&v, i);
        if (pgk_branches_module_of(&v, e.from) > v.head.modules ||
            pgk_branches_module_of(&v, e.to) > v.head.modules)
            abort();
        sum += pgk_branches_place(e.from);
        if (e.under > i) /* so that following calls ends */
            abort();
    }
    return sum == UINT64_MAX; /* which it never is, so that the sum is needed */
}
