/* Sheets: what threads have recorded since the last finished dump. */
#ifndef PGRT_SHEETS_H
#define PGRT_SHEETS_H

#include "runtime_notes.h"

#pragma GCC visibility push(hidden)

struct pgrt_thread;
enum {
    PGRT_POINTS_MAX = 1024,
    PGRT_BREAKDOWN_EVERY = 8, /* points: the last one of so many has one */
    PGRT_BREAKDOWNS_MAX = PGRT_POINTS_MAX / PGRT_BREAKDOWN_EVERY,
};
struct pgrt_sheets {
    /* Those that take the next records of the thread, of each kind; NULL: it has none. */
    struct pgrt_sheet *allocated, *stacks, *mibs;
    u64 stacks_bytes; /* of that sheet */
};
/* An entry of a sheet is also known by its place, which is not 0, until a dump is finished. */
extern char *pgrt_sheets_base; /* of the first sheet */
PGG_INLINE u32 pgrt_sheets_place(const void *entry)
{
    return (u32)((size_t)((const char *)entry - pgrt_sheets_base) / sizeof(u64));
}

PGG_INLINE void *pgrt_sheets_at(u32 place)
{
    return pgrt_sheets_base + place * sizeof(u64);
}

void pgrt_sheets_leave(struct pgrt_thread *t); /* its sheet is full, or gone */
/* A context new to this thread, in a sheet of it, stack written; NULL when there is no space. */
struct pgrt_allocated *pgrt_sheets_allocated(struct pgrt_thread *t, u32 context);
/* Reserves its MIB, which counts once pgrt_sheets_publish is called. */
struct pgrt_mib *pgrt_sheets_entry(struct pgrt_thread *t);
void pgrt_sheets_publish(struct pgrt_thread *t);
/* Calls back with each entry of each sheet. */
void pgrt_sheets_each(void (*f)(void *arg, const struct pgrt_mib *m), void *arg);
/* Calls back with what each thread allocated in each context. */
void pgrt_sheets_each_allocated(void (*f)(void *arg, const struct pgrt_allocated *b), void *arg);
/* The notes of the first sheet, and its points: PGRT_POINTS_MAX at most. NULL: there is no
 * store. */
struct pgrt_notes *pgrt_sheets_notes(void);
struct pgrt_point *pgrt_sheets_points(const struct pgrt_notes *notes);
struct pgrt_breakdown *pgrt_sheets_breakdowns(const struct pgrt_notes *notes);
/* Adds the bytes alive of each context below `n` by its number, while threads go on; how many
 * entries that took. */
u64 pgrt_sheets_add_alive(u64 *bytes, u32 n);
void pgrt_sheets_mark(bool complete); /* whether anything comes after what the sheets have */
void pgrt_sheets_note_flags(void);    /* pgrt_notes_flags() have changed */

#pragma GCC visibility pop
#endif
