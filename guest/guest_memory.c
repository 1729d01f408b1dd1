/* Memory for the guest itself, and how much of it there is. */
#include "guest_memory.h"

#include "guest_sys.h"

u64 pgg_mapped_bytes;

void *pgg_map(size_t bytes)
{
    const long p = pgg_sys_pages(bytes);
    if (p < 0)
        return NULL;
    __atomic_fetch_add(&pgg_mapped_bytes, bytes, __ATOMIC_RELAXED);
    return (void *)p;
}

void pgg_unmap(void *start, size_t bytes)
{
    __atomic_fetch_sub(&pgg_mapped_bytes, bytes, __ATOMIC_RELAXED);
    pgg_sys_unmap(start, bytes);
}
