/* Blocks that are pages of their own: those of large objects that realloc makes larger. The system
 * moves such pages without touching them. */
#ifndef PGRT_MAPPED_H
#define PGRT_MAPPED_H

#include "runtime_object.h"

#pragma GCC visibility push(hidden)

/* Objects from here on get pages when they grow. */
enum { PGRT_MAPPED_LEAST = 512 << 10 };

/* An object of n bytes, zeroed, where `like` could be moved to: as far into a page. NULL: no
 * memory, or too many such blocks, of each of which the kernel keeps a record. */
void *pgrt_mapped_new(size_t n, const void *like);
/* Another size where it is; false: it would have to move. */
bool pgrt_mapped_resize(const struct pgrt_object *o, size_t n);
void pgrt_mapped_free(const struct pgrt_object *o);
/* The bytes of an object go to one from pgrt_mapped_new. */
void pgrt_mapped_move(void *to, const struct pgrt_object *from);

#pragma GCC visibility pop
#endif
