/* What a DWARF discriminator says of a place. */
#include "discriminator.h"

/* A number of 0, 5 or 12 bits, with a leading bit that says which. */
static uint32_t prefix(uint32_t u)
{
    if (u & 1)
        return 0;
    u >>= 1;
    return u & 0x20 ? ((u >> 1) & 0xfe0) | (u & 0x1f) : u & 0x1f;
}

/* Data of a pseudo probe that stands in the field of the discriminator. */
static bool is_probe(uint32_t d)
{
    return (d & 7) == 7 && d & ~UINT32_C(7);
}

uint32_t pgk_discriminator_base(uint32_t d, bool flow_sensitive)
{
    if (flow_sensitive)
        return d;
    if (is_probe(d))
        return d >> 28 & 1 ? d >> 16 & 7 : d >> 3 & 0xffff;
    return prefix(d);
}

uint32_t pgk_discriminator_copies(uint32_t d, bool flow_sensitive)
{
    if (flow_sensitive)
        return 1;
    uint32_t copies = prefix(d & 1 ? d >> 1 : d >> (d & 0x40 ? 14 : 7));
    return copies ? copies : 1;
}

uint32_t pgk_discriminator_probe(uint32_t d)
{
    return d >> 3 & (d >> 28 & 1 ? 0x1fff : 0xffff);
}
