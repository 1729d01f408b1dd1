/* The parts of a discriminator. */
#include "discriminator.h"

/* The part that begins at bit 0 of `parts`. */
static uint32_t first_part(uint32_t parts)
{
    if (parts & 1)
        return 0;
    uint32_t low = parts >> 1 & 0x1f, more = parts >> 7 & 0x7f;
    return parts & 0x40 ? more << 5 | low : low;
}

static uint32_t behind_first_part(uint32_t parts)
{
    unsigned bits = parts & 1 ? 1 : parts & 0x40 ? 14 : 7;
    return parts >> bits;
}

/* Calls in programs with probes have their probe's number there instead of parts. */
static bool is_probe(uint32_t d)
{
    return (d & 7) == 7 && d > 7;
}

static bool has_base(uint32_t probe)
{
    return probe >> 28 & 1;
}

uint32_t pgk_discriminator_base(uint32_t d, bool flow_sensitive)
{
    if (flow_sensitive)
        return d;
    if (!is_probe(d))
        return first_part(d);
    return has_base(d) ? d >> 16 & 7 : d >> 3 & 0xffff;
}

uint32_t pgk_discriminator_copies(uint32_t d, bool flow_sensitive)
{
    uint32_t copies = flow_sensitive ? 1 : first_part(behind_first_part(d));
    return copies ? copies : 1;
}

uint32_t pgk_discriminator_probe(uint32_t d)
{
    return d >> 3 & (has_base(d) ? 0x1fff : 0xffff);
}
