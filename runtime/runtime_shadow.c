/* The shadow, reserved as one range of 2^44 bytes where that may be. */
#include "runtime_shadow.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_sys.h"

#include <sys/mman.h>

PGRT_EXPORT uintptr_t __memprof_shadow_memory_dynamic_address;
bool pgrt_histogram;
uintptr_t pgrt_words;

void pgrt_shadow_reserve(void)
{
    uintptr_t p = (uintptr_t)pgg_map(PGRT_SHADOW_BYTES);
    if (!p)
        return;
    pgg_mapped_bytes -= PGRT_SHADOW_BYTES; /* it is sparse; see pgrt_cost_bytes */
    /* Counters are sparse, so huge pages would waste memory; a core dump needs none. */
    pgg_sys_advise((void *)p, PGRT_SHADOW_BYTES, MADV_NOHUGEPAGE);
    pgg_sys_advise((void *)p, PGRT_SHADOW_BYTES, MADV_DONTDUMP);
    __memprof_shadow_memory_dynamic_address = p;
}

bool pgrt_shadow_init(void)
{
    if (!__memprof_shadow_memory_dynamic_address)
        pgrt_shadow_reserve();
    if (!__memprof_shadow_memory_dynamic_address) {
        pgrt_little_room = true;
        __memprof_shadow_memory_dynamic_address = pgrt_demand_begin();
    }
    pgrt_words = pgrt_histogram ? 0 : __memprof_shadow_memory_dynamic_address;
    return __memprof_shadow_memory_dynamic_address;
}

/* Whole pages go back to the system, which is also the fastest way to zero them. */
void pgrt_shadow_reset_large(u64 *first, u64 *end)
{
    uintptr_t lo = ((uintptr_t)first + PGG_PAGE - 1) & ~(uintptr_t)(PGG_PAGE - 1);
    uintptr_t hi = (uintptr_t)end & ~(uintptr_t)(PGG_PAGE - 1);
    if (lo >= hi || pgg_confined || pgg_sys_advise((void *)lo, hi - lo, MADV_DONTNEED) < 0) {
        pgg_zero(first, (size_t)((char *)end - (char *)first));
        return;
    }
    pgg_zero(first, lo - (uintptr_t)first);
    pgg_zero((void *)hi, (uintptr_t)end - hi);
}

u64 pgrt_shadow_sum_bytes(uintptr_t start, size_t n, u64 *used)
{
    const uint8_t *c = (const uint8_t *)(__memprof_shadow_memory_dynamic_address + (start >> 3));
    u64 sum = 0;
    for (size_t i = 0; i < (n + 7) / 8; i++) {
        sum += c[i];
        *used += c[i] != 0;
    }
    return sum;
}
