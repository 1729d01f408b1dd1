/* The branch recorder: included by all of its files. docs/design/recorder.md has the picture.
 *
 * The recorder runs in other people's processes, next to their code: no memory of the C library's
 * heap, no stdio, no locale. Files that run between two branches of the program (decode, translate,
 * dispatch) are compiled for general registers only, because vector registers hold the program's
 * values there. Functions that programs may call are marked PGBR_EXPORT and listed in
 * exports.txt. */
#ifndef PGBR_H
#define PGBR_H

#include "branch_recording.h"
#include "guest.h"
#include "guest_text.h"

#pragma GCC visibility push(hidden)

#define PGBR_EXPORT __attribute__((visibility("default"), used))
#define PGBR_WHO "pgokit branch recorder"

/* "pgokit branch recorder: A: B" on standard error, where B may be NULL. */
static inline void pgbr_say(const char *a, const char *b)
{
    pgg_say(PGBR_WHO, a, b);
}

/* ---- counters of pgk_branch_counter, which go into the file once there is one ---- */
extern u64 *pgbr_counters;
PGG_INLINE void pgbr_count_n(enum pgk_branch_counter what, u64 n)
{
    __atomic_fetch_add(&pgbr_counters[what], n, __ATOMIC_RELAXED);
}
PGG_INLINE void pgbr_count(enum pgk_branch_counter what)
{
    pgbr_count_n(what, 1);
}

#pragma GCC visibility pop
#endif
