/* A group: arenas of jemalloc that take their pages from one range of addresses, so that an address
 * identifies the group. A few threads share an arena. */
#ifndef PGAL_GROUP_H
#define PGAL_GROUP_H

#include "pgal.h"

#pragma GCC visibility push(hidden)

/* Ranges of all groups, one after the other; 0 bytes until there are any. */
extern uintptr_t pgal_base, pgal_span;
extern u32 pgal_shift; /* bytes of one, as a power of two */

/* False: there are no addresses for them, and everything is in group 0. Only once; later calls
 * answer the same. */
bool pgal_groups_ready(void);
/* The arena of a group for threads of this number; 0: there is none, no memory. */
u32 pgal_group_arena(u32 group, u32 thread);
/* Pages of cold groups are given to swap when the next ones are asked for: PGAL_COLD's, and those
 * that are said to be cold. */
void pgal_groups_page_out(void);
void pgal_group_is_cold(u32 group);
/* Ranges of hot groups are for huge pages: of PGAL_HOT, and those that are said to be hot; or of
 * all groups that are not cold. Before there are any. */
enum pgal_huge {
    PGAL_HUGE_NONE,
    PGAL_HUGE_HOT,
    PGAL_HUGE_ALL,
};
void pgal_groups_huge(enum pgal_huge which);
void pgal_group_is_hot(u32 group);
/* In a child: who held a lock in the parent is not here. */
void pgal_groups_after_fork(void);
/* Gives the system the pages that nothing is in. */
void pgal_groups_purge(void);
/* One line for each group with objects, on standard error. */
void pgal_groups_print(void);
/* A signal asks for these lines: they come with the next object that jemalloc gives or takes, as
 * the code that was interrupted may hold its locks. */
extern volatile bool pgal_stats_asked;

/* 0 for an object that is in none. */
PGG_INLINE u32 pgal_group_of_object(const void *p)
{
    const uintptr_t at = (uintptr_t)p - pgal_base;
    return PGG_LIKELY(at >= pgal_span) ? 0 : (u32)(at >> pgal_shift);
}

#pragma GCC visibility pop
#endif
