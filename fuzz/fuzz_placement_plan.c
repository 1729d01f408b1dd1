/* Plans for the allocator: any bytes are accepted or refused with a place, and what is accepted
 * leads to nothing outside of the file. */
#include "placement.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const uint64_t *bytes, size_t size)
{
    struct pgk_placement p;
    struct pgk_placement_fault fault = {0};
    if (!pgk_placement_check(bytes, size, &p, &fault)) {
        if (!fault.field || !fault.what || fault.offset > size)
            abort();
        return;
    }
    if ((const char *)(p.nodes + p.header->n_nodes) != (const char *)bytes + size)
        abort();
    for (uint32_t i = 1; i < p.header->n_nodes; i++)
        if (p.nodes[i].parent >= i || p.nodes[i].parent < p.nodes[i - 1].parent ||
            p.nodes[i].group >= p.header->n_groups || p.nodes[i].module >= p.header->n_modules)
            abort();
}

/* As it is, and with the sum that it should have, so that what is behind it is looked at, too. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t *copy = malloc(size + sizeof *copy);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    check(copy, size);
    struct pgk_placement_header *h = (struct pgk_placement_header *)copy;
    if (size >= sizeof *h) {
        h->checksum = pgk_placement_sum(h + 1, size - sizeof *h);
        check(copy, size);
    }
    free(copy);
    return 0;
}
