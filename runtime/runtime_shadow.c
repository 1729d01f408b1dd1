/* The shadow, reserved as one range for all addresses where that may be: 2^44 bytes for the 47 bits
 * that addresses have on x86-64. */
#include "runtime_shadow.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

PGRT_EXPORT uintptr_t __memprof_shadow_memory_dynamic_address;
bool pgrt_histogram;
uintptr_t pgrt_words;
u64 pgrt_shadow_bytes;

/* Something is, or can be, at the upper end of addresses of so many bits. */
static bool has_bits(u32 bits)
{
    const uintptr_t last = ((uintptr_t)1 << bits) - PGG_PAGE_MOST;
    const long p = pgg_sys_pages_at(last - PGG_PAGE_MOST, PGG_PAGE_MOST);
    if (p >= 0)
        pgg_sys_unmap((void *)p, PGG_PAGE_MOST);
    return p == -EEXIST || (uintptr_t)p == last - PGG_PAGE_MOST;
}

/* On AArch64 the kernel determines the length of addresses. Programs have to ask for each address
 * of more than 48 bits. */
static u32 address_bits(void)
{
    static const u32 fewer[] = {47, 42, 39, 36};
    if (PGG_ADDRESS_BITS <= fewer[0] || has_bits(PGG_ADDRESS_BITS))
        return PGG_ADDRESS_BITS;
    for (u32 i = 0; i < sizeof fewer / sizeof *fewer; i++)
        if (has_bits(fewer[i]))
            return fewer[i];
    return PGG_ADDRESS_BITS;
}

void pgrt_shadow_reserve(void)
{
    if (!pgrt_shadow_bytes)
        pgrt_shadow_bytes = UINT64_C(1) << address_bits() >> 3;
    uintptr_t p = (uintptr_t)pgg_map(pgrt_shadow_bytes);
    if (!p)
        return;
    pgg_mapped_bytes -= pgrt_shadow_bytes; /* it is sparse; see pgrt_cost_bytes */
    /* Counters are sparse, so huge pages would waste memory; a core dump needs none. */
    pgg_sys_advise((void *)p, pgrt_shadow_bytes, MADV_NOHUGEPAGE);
    pgg_sys_advise((void *)p, pgrt_shadow_bytes, MADV_DONTDUMP);
    __memprof_shadow_memory_dynamic_address = p;
}

bool pgrt_shadow_init(void)
{
    if (!__memprof_shadow_memory_dynamic_address)
        pgrt_shadow_reserve();
    if (!__memprof_shadow_memory_dynamic_address) {
        pgrt_space_is_limited = true;
        __memprof_shadow_memory_dynamic_address = pgrt_demand_begin();
    }
    pgrt_words = pgrt_histogram ? 0 : __memprof_shadow_memory_dynamic_address;
    return __memprof_shadow_memory_dynamic_address;
}

/* Whole pages go back to the system, which also zeroes them fastest. */
void pgrt_shadow_reset_large(u64 *first, u64 *end)
{
    const uintptr_t page = pgg_page(), lo = ((uintptr_t)first + page - 1) & ~(page - 1),
                    hi = (uintptr_t)end & ~(page - 1);
    if (lo >= hi || pgg_confined || pgg_sys_advise((void *)lo, hi - lo, MADV_DONTNEED) < 0) {
        pgg_zero(first, (size_t)((char *)end - (char *)first));
        return;
    }
    pgg_zero(first, lo - (uintptr_t)first);
    pgg_zero((void *)hi, (uintptr_t)end - hi);
}

/* The kernel's state of one page: in memory, or swapped out. */
static bool is_touched(u64 page)
{
    return page >> 62;
}

/* Asks the kernel for 512 pages at a time which ones are present. Its answer is ignored if it does
 * not know the page with the mark, as in an emulator, whose addresses are not the kernel's. */
u64 pgrt_shadow_sum_large(const u64 *mark, const u64 *end, u64 *used)
{
    enum { PAGES = 512 };
    const uintptr_t page = pgg_page(), last = ((uintptr_t)end + page - 1) / page;
    u64 touched[PAGES], sum = 0;
    const u64 *word = mark + 1;
    const int fd = pgg_confined
                       ? -1
                       : (int)pgg_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    for (uintptr_t at = (uintptr_t)mark / page; fd >= 0 && at < last;) {
        const u64 n = last - at < PAGES ? last - at : PAGES;
        const long got = pgg_sys_pread(fd, touched, n * sizeof *touched,
                                       (off_t)(at * sizeof *touched));
        if (got < (long)sizeof *touched || (word == mark + 1 && !is_touched(touched[0])))
            break;
        for (long i = 0; i < got / (long)sizeof *touched; i++) {
            const u64 *next = (const u64 *)(++at * page);
            next = next < end ? next : end;
            if (is_touched(touched[i]))
                sum += pgg_words_sum(word, next, used);
            word = next;
        }
    }
    if (fd >= 0)
        pgg_sys_close(fd);
    return sum + pgg_words_sum(word, end, used);
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
