/* The lock of all that threads share. It lies on a page that fork wipes, so that it is free in the
 * child of any kind of fork, which it tells apart by the mark next to it. */
#include "sampler_lock.h"

#include "guest_memory.h"
#include "guest_sys.h"
#include "sampler_object.h"
#include "sampler_start.h"
#include "sampler_thread.h"

#include <sys/mman.h>

struct page {
    volatile u32 lock, marked;
};
static struct page *page;

/* Without memory for it, the child of a fork that the C library does not know is not noticed. */
void pgsm_lock_init(void)
{
    static struct page none;
    page = pgg_map(pgg_page());
    if (page)
        pgg_sys_advise(page, pgg_page(), MADV_WIPEONFORK);
    else
        page = &none;
    page->marked = 1;
}

void pgsm_lock(void)
{
    pgsm_hot.busy++;
    pgg_lock(&page->lock);
    if (PGG_UNLIKELY(!page->marked)) {
        page->marked = 1;
        pgsm_forked();
    }
    pgsm_end_waiting();
}

void pgsm_unlock(void)
{
    pgsm_end_waiting();
    pgg_unlock(&page->lock);
    pgsm_hot.busy--;
}

void pgsm_lock_before_fork(void)
{
    pgsm_lock();
}

/* In the child the page is wiped, unless the system cannot do so. */
void pgsm_lock_after_fork(void)
{
    pgg_unlock(&page->lock);
    pgsm_hot.busy--;
}
