/* Memory for the guest itself, from the system. */
#ifndef PGG_MEMORY_H
#define PGG_MEMORY_H

#include "guest.h"

#pragma GCC visibility push(hidden)

void *pgg_map(size_t bytes); /* zeroed private pages, or NULL */
void pgg_unmap(void *start, size_t bytes);
size_t pgg_page(void); /* bytes of a page of the kernel: PGG_PAGE or a multiple of it */
extern u64 pgg_mapped_bytes; /* by these two, at present */

#pragma GCC visibility pop
#endif
