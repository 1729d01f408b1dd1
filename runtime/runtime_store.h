/* The mapped profile: finished dumps, then sheets that threads fill. */
#ifndef PGRT_STORE_H
#define PGRT_STORE_H

#include "runtime_notes.h"

#pragma GCC visibility push(hidden)

struct pgrt_thread;
enum {
    PGRT_POINTS_MAX = 1024,
    PGRT_BREAKDOWN_EVERY = 8, /* points: the last one of so many has one */
    PGRT_BREAKDOWNS_MAX = PGRT_POINTS_MAX / PGRT_BREAKDOWN_EVERY,
};
struct pgrt_store {
    struct pgrt_sheet *sheet; /* takes the thread's new contexts */
    u64 bytes;                /* of the sheet */
    struct pgrt_sheet *mibs;  /* the one that takes its MIBs */
};
/* An entry of a sheet is also known by its place, which is not 0, until a dump is finished. */
extern char *pgrt_store_base; /* of the first sheet */
PGG_INLINE u32 pgrt_store_place(const void *entry)
{
    return (u32)((size_t)((const char *)entry - pgrt_store_base) / sizeof(u64));
}

PGG_INLINE void *pgrt_store_at(u32 place)
{
    return pgrt_store_base + place * sizeof(u64);
}

bool pgrt_store_open(void);   /* false: no profile can be kept; said why */
void pgrt_store_forked(void); /* forget the parent's */
void pgrt_store_leave(struct pgrt_thread *t); /* its sheet is full, or gone */
/* A context new to this thread, in a sheet of it, stack written; NULL when there is no space. */
struct pgrt_allocated *pgrt_store_allocated(struct pgrt_thread *t, u32 context);
/* Reserves its MIB, which counts once pgrt_store_publish is called. */
struct pgrt_mib *pgrt_store_entry(struct pgrt_thread *t);
void pgrt_store_publish(struct pgrt_thread *t);
/* Calls back with each entry of each sheet. */
void pgrt_store_each(void (*f)(void *arg, const struct pgrt_mib *m), void *arg);
/* Calls back with what each thread allocated in each context. */
void pgrt_store_each_allocated(void (*f)(void *arg, const struct pgrt_allocated *b), void *arg);
/* The notes of the first sheet, and its points: PGRT_POINTS_MAX at most. NULL: there is no
 * store. */
struct pgrt_notes *pgrt_store_notes(void);
struct pgrt_point *pgrt_store_points(const struct pgrt_notes *notes);
struct pgrt_breakdown *pgrt_store_breakdowns(const struct pgrt_notes *notes);
/* Adds the bytes alive of each context below `n` by its number, while threads go on; how many
 * entries that took. */
u64 pgrt_store_add_alive(u64 *bytes, u32 n);
/* A dump that is written in pieces, as all of its bytes would take as much memory as all tables. */
struct pgrt_out;
struct pgrt_dump {
    u64 size; /* of its own bytes */
    struct pgrt_texts texts; /* that the file has with it */
    /* Puts them out, with what the header is to say of where the dump ends. May be called again. */
    void (*write)(const struct pgrt_dump *d, u64 total_size, struct pgrt_out *to);
};
void pgrt_out(struct pgrt_out *to, const void *bytes, size_t n);
/* Puts a dump behind those that are finished and empties the sheets. `last` leaves none. */
int pgrt_store_finish(const struct pgrt_dump *dump, bool last);
void pgrt_store_mark(bool complete); /* whether anything comes after what the sheets have */
bool pgrt_store_is_file(void);
u64 pgrt_store_bytes(void); /* mapped, without finished dumps */
/* Reserves bytes for some thousands of contexts, because the file will not grow any more. */
void pgrt_store_grow_ahead(void);
struct pgrt_texts pgrt_store_texts(void); /* of the finished dumps */
const char *pgrt_store_path(void); /* Of the file; empty while there is none. */
/* Leaves the file to its finished dumps and goes on in a new one, which takes its name: the program
 * may have given the old one another. With the world stopped. */
int pgrt_store_reset(void);
void pgrt_store_discard(void); /* what no dump has: the file keeps the finished ones, if any */
void pgrt_store_tell_flags(void); /* pgrt_notes_flags() have changed */
bool pgrt_store_is_open(void);

#pragma GCC visibility pop
#endif
