/* Memory for the guest itself, and how much of it there is. */
#include "guest_memory.h"

#include "guest_processor.h"
#include "guest_sys.h"

#include <sys/auxv.h>

u64 pgg_mapped_bytes;

/* Known before the first call into the program. */
size_t pgg_page(void)
{
    static size_t page;
    if ((size_t)PGG_PAGE_MOST == (size_t)PGG_PAGE)
        return PGG_PAGE;
    size_t bytes = __atomic_load_n(&page, __ATOMIC_RELAXED);
    if (!bytes) {
        bytes = getauxval(AT_PAGESZ);
        __atomic_store_n(&page, bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

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
