/* The choice of the machine, for what instructions do with addresses. */
#include "insn_effect.h"

#include "insn_priv.h"

#include <elf.h>
#include <string.h>

void pgk_insn_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn_effect *effect)
{
    if (d->machine == EM_X86_64)
        pgk_x86_effect(d, bytes, n, addr, effect);
    else
        pgk_arm64_effect(bytes, n, addr, effect);
}

/* An address stands in code as it is, or as its distance from the end of the instruction, behind
 * which an immediate of up to 4 bytes may be. */
static bool x86_may_name(const uint8_t *bytes, size_t n, uint64_t addr, uint64_t low, uint64_t high)
{
    enum { DISTANCE = 4, IMMEDIATE = 4 };
    const uint64_t room = high - low, room_around = room + IMMEDIATE;
    for (size_t i = 0; i + DISTANCE <= n; i++) {
        int32_t number;
        memcpy(&number, bytes + i, sizeof number);
        uint64_t near = addr + i + DISTANCE + (uint64_t)(int64_t)number;
        if ((uint32_t)number - low <= room || near + IMMEDIATE - low <= room_around)
            return true;
    }
    return false;
}

/* In its first instruction a page is named, or an address. */
static bool arm64_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                           uint64_t addr, uint64_t low, uint64_t high)
{
    enum { PAGE = 4096, LENGTH = 4 };
    struct pgk_insn insn;
    for (size_t i = 0; i + LENGTH <= n; i += LENGTH) {
        pgk_insn_decode(d, bytes + i, n - i, addr + i, &insn);
        if (insn.data && insn.data + PAGE > low && insn.data <= high)
            return true;
    }
    return false;
}

bool pgk_insn_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                       uint64_t addr, uint64_t low, uint64_t high)
{
    return d->machine == EM_X86_64 ? x86_may_name(bytes, n, addr, low, high)
                                   : arm64_may_name(d, bytes, n, addr, low, high);
}
