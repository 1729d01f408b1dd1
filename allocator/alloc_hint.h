/* Hints of how often an object will be used, as compilers pass them: from 0, hardly, to 255. */
#ifndef PGAL_HINT_H
#define PGAL_HINT_H

#include "alloc_object.h"

#pragma GCC visibility push(hidden)

/* LLVM says 1 for cold, 128 for not cold, 222 where contexts differ, 254 for hot. */
enum { PGAL_HINT_COLD_BELOW = 128, PGAL_HINT_HOT_FROM = 240 };

/* A plan that has the context knows more than the compiler, which may have seen only its leaf. */
PGG_INLINE u32 pgal_group_of_hint(uint8_t hint, const void *frame)
{
    const u32 planned = pgal_group_of_stack(frame);
    if (planned || (hint >= PGAL_HINT_COLD_BELOW && hint < PGAL_HINT_HOT_FROM))
        return planned;
    return !pgal_groups_ready() ? 0 : hint < PGAL_HINT_COLD_BELOW ? PGAL_COLD : PGAL_HOT;
}

#pragma GCC visibility pop
#endif
