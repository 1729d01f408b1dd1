/* What the files of the store share: its state, and how a sheet is laid out. */
#ifndef PGRT_STORE_PRIV_H
#define PGRT_STORE_PRIV_H

#include "guest_mapped.h"
#include "guest_modules.h"
#include "runtime_notes.h"
#include "runtime_sheets.h"

#pragma GCC visibility push(hidden)

enum { PGRT_SEGMENT_BYTES = 64 };

struct pgrt_sheet {
    struct pgrt_raw_header h;
};

extern struct pgrt_store {
    struct pgg_mapped mapped; /* with a stream, sheets are in memory of no file */
    u64 used, finished;
    u64 newest; /* where the last finished dump begins, if there is one */
    u64 own;    /* bytes of the finished dumps without those that they cover */
    struct {
        u64 from, to; /* sheets of before the last dump: none reads them, unless it began before */
    } covered;
    struct pgrt_sheet *last;
    struct pgrt_sheet *unowned; /* the first sheet, until a thread takes it */
    u64 unowned_bytes;
    struct pgrt_texts texts; /* of the finished dumps */
    u32 paths_next;          /* first module whose path is not in the first sheet either */
    bool open;
    volatile u32 lock;
} pgrt_store;

/* What comes before `at` is finished. */
PGG_INLINE void pgrt_store_finish_until(u64 at)
{
    pgrt_store.finished = pgrt_store.used = at;
    pgrt_sheets_base = pgrt_store.mapped.base + at;
}

PGG_INLINE struct pgrt_notes *pgrt_sheet_notes(struct pgrt_sheet *s)
{
    return (struct pgrt_notes *)((char *)s + s->h.mib_off) - 1;
}

/* The records of a part, and how many there are. */
PGG_INLINE void *pgrt_sheet_part(struct pgrt_sheet *s, enum pgk_notes_parts part)
{
    return (char *)s + pgrt_sheet_notes(s)->part[part].off;
}

PGG_INLINE u64 *pgrt_sheet_records(struct pgrt_sheet *s, enum pgk_notes_parts part)
{
    return &pgrt_sheet_notes(s)->part[part].records;
}

PGG_INLINE u64 *pgrt_sheet_count(struct pgrt_sheet *s, u64 off)
{
    return (u64 *)((char *)s + off);
}

void pgrt_sheet_put_segments(struct pgrt_sheet *s, u32 from, u32 to,
                             const struct pgg_segment *list);

/* The places of the parts of a new sheet. The first one has the texts and the series. */
struct pgrt_sheet_plan {
    u32 segments;
    u64 texts_off, series_off, breakdowns_off, allocated_off, mib_off, stack_off, bytes;
};

/* Of the first sheet. */
struct pgrt_sheet_plan pgrt_sheet_plan_first(void);
/* Makes the sheet at `off`, where space is reserved; no other sheet leads to it yet. It covers the
 * rest of the file. */
struct pgrt_sheet *pgrt_sheet_put(const struct pgrt_sheet_plan *p, u64 off);
/* What the finished dumps do not say of the process and its modules. */
void pgrt_sheet_put_texts(struct pgrt_sheet *s);
/* A new sheet after the others, which no thread has, with its size in *bytes, or NULL with *err. */
struct pgrt_sheet *pgrt_sheet_first(u64 *bytes, int *err);
/* Makes the file reach to `end`. */
int pgrt_store_grow_to(u64 end);
/* Gives the blocks of sheets back that the dump before the newest covers. Where the system cannot,
 * they stay. */
void pgrt_store_punch(void);

#pragma GCC visibility pop
#endif
