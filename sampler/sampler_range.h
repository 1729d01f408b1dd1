/* Memory of sampled objects: a range of addresses of their own, so that one comparison tells them,
 * with a note for each object apart from it. */
#ifndef PGSM_RANGE_H
#define PGSM_RANGE_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

enum {
    PGSM_ALIGN = 16,
    PGSM_ALIGN_MOST = 2 << 20,
    PGSM_SPAN = 4 * PGG_PAGE,   /* of slots of one size */
    PGSM_SMALL_MOST = PGG_PAGE, /* larger objects have pages of their own */
    PGSM_IS_SPAN = INT32_MIN,   /* of an entry of pgsm_pages: a span, else a note */
};

/* What is known of a piece of the range: a slot, or a run of pages. */
struct pgsm_note {
    u64 size;             /* bytes that the program asked for */
    double times;         /* objects that it stands for */
    double loads, stores; /* accesses of the object alone, as windows estimate them */
    u32 at;               /* from the start of the range, in units of PGSM_ALIGN */
    u32 context;          /* 0: it is of no profile */
    u32 born_ms;
    u32 serial; /* another one for each object, for windows that began before it */
    u32 next;   /* of a list: of free pieces, or of those that wait to be freed; 0: the end */
    u32 pages;  /* of a run; 0: it is a slot */
    u32 hits;
    uint16_t cpu;
    uint8_t class; /* of a slot */
    uint8_t state; /* enum pgsm_state */
};
enum pgsm_state {
    PGSM_FREE = 0,
    PGSM_LIVE,
    PGSM_WAITS, /* the program has freed it, and the range has not taken it back yet */
};
_Static_assert(sizeof(struct pgsm_note) == PGG_LINE, "notes are many");

struct pgsm_span {
    u32 first_note, slot_bytes, slots, live;
    u32 at; /* page */
};

/* No address is in it until it is open. */
struct pgsm_range {
    uintptr_t from;
    size_t bytes;
};
extern struct pgsm_range pgsm_range;
extern u32 *pgsm_pages; /* for each page the number of a note, or of a span */
extern struct pgsm_note *pgsm_notes;
extern struct pgsm_span pgsm_spans[];

PGG_INLINE bool pgsm_is_inside(const void *p)
{
    return (uintptr_t)p - pgsm_range.from < pgsm_range.bytes;
}

PGG_INLINE uintptr_t pgsm_start(const struct pgsm_note *note)
{
    return pgsm_range.from + (uintptr_t)note->at * PGSM_ALIGN;
}

/* The live object that an address inside of the range is in, or NULL. Takes no lock: of an address
 * that is being freed or allocated the answer may be either. */
PGG_INLINE struct pgsm_note *pgsm_note_at(uintptr_t address)
{
    const uintptr_t off = address - pgsm_range.from;
    const u32 entry = pgsm_pages[off / PGG_PAGE];
    struct pgsm_note *note = &pgsm_notes[entry];
    if (entry & (u32)PGSM_IS_SPAN) {
        const struct pgsm_span *span = &pgsm_spans[entry & ~(u32)PGSM_IS_SPAN];
        const u32 slot = (u32)(off - (uintptr_t)span->at * PGG_PAGE) / span->slot_bytes;
        note = &pgsm_notes[span->first_note + slot];
    }
    return note->state != PGSM_FREE && address - pgsm_start(note) < note->size ? note : NULL;
}

/* The note of what malloc returned; NULL: it returned no such address. */
struct pgsm_note *pgsm_note_of(const void *p);
size_t pgsm_usable(const struct pgsm_note *note);

/* Reserves addresses; false: there are none, but for what the start needs. */
bool pgsm_range_open(void);
u64 pgsm_range_bytes(void);    /* taken by small objects and notes */
bool pgsm_range_is_full(void); /* a small object has got no memory */

/* ---- with the lock ---- */

/* Memory for an object, with a note that is live and zero but for its place and size; NULL: there
 * is none. `align` is a power of two. */
struct pgsm_note *pgsm_range_take(size_t bytes, size_t align, bool zero);
void pgsm_range_give(struct pgsm_note *note);
/* Whether the object may have so many bytes where it is; then it has. */
bool pgsm_range_resize(struct pgsm_note *note, size_t bytes);
/* Moves the contents of a large object to another one, without touching them where the system can;
 * false: they are to be copied. */
bool pgsm_range_move(const struct pgsm_note *from, const struct pgsm_note *to);
/* Calls take for all that are live. */
void pgsm_range_each(void (*take)(void *arg, struct pgsm_note *note), void *arg);

#pragma GCC visibility pop
#endif
