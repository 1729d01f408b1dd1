/* Sheets, which threads fill after the finished dumps. A sheet is a dump of its own; entries are
 * counted when they are whole, and the last sheet's size covers the rest of the file, so that
 * starting a new one is a single store. docs/formats/interrupted-heap.md */
#include "runtime_sheets.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_process.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "runtime_depot.h"
#include "runtime_options.h"
#include "runtime_socket.h"
#include "runtime_start.h"
#include "runtime_store.h"
#include "runtime_store_priv.h"
#include "runtime_thread.h"

#include <errno.h>

enum {
    SHEET_BYTES = 64 << 10, /* of the first one of a thread; the next ones are larger */
    SHEET_MOST = 256 << 10, /* each lists the modules; of the last, half is unused on average */
    SPARE_SEGMENTS = 8, /* capacity for libraries that come later */
    CACHE_LINE = 64,
};

char *pgrt_sheets_base;

void pgrt_sheet_put_segments(struct pgrt_sheet *s, u32 from, u32 to, const struct pgg_segment *list)
{
    char *at = (char *)s + s->h.segment_off + sizeof(u64);
    for (u32 i = from; i < to; i++)
        pgg_copy(at + i * PGRT_SEGMENT_BYTES, &list[i], PGRT_SEGMENT_BYTES);
}

_Static_assert(sizeof(struct pgg_segment) == PGRT_SEGMENT_BYTES,
               "as versions with build ids have it");

/* A place is the number of words in front of an entry. */
_Static_assert(sizeof(struct pgrt_mib) % sizeof(u64) == 0, "a MIB is whole words");
_Static_assert(sizeof(struct pgrt_allocated) % sizeof(u64) == 0, "so is what was allocated");

enum { ENTRY_BYTES = sizeof(struct pgrt_mib) + sizeof(struct pgrt_allocated) }; /* of a context */

/* Bytes of the parts of a sheet. */
struct parts {
    u64 allocated, mibs, stacks;
};

/* The file cannot grow by much any more once the process has confined itself. */
static u64 larger_than(u64 bytes)
{
    return pgg_confined ? SHEET_BYTES / 2 : bytes < SHEET_MOST / 2 ? 2 * bytes : SHEET_MOST;
}

/* What a sheet is for. The first one of a thread is for all, each of the next ones for records of
 * one kind, so that none is left while it has space for others: a program may begin contexts for a
 * long time before their objects end, and stacks become deeper. */
enum purpose { FOR_ALL, FOR_ALLOCATED, FOR_STACKS, FOR_MIBS };

static u64 allocated_space(struct pgrt_sheet *s)
{
    return (u64)((char *)pgrt_sheet_notes(s) - (char *)pgrt_sheet_part(s, PGK_NOTES_ALLOCATED));
}

static u64 mib_space(const struct pgrt_sheet *s)
{
    return s->h.stack_off - s->h.mib_off - sizeof(u64);
}

static u64 stack_space(const struct pgrt_sheets *own)
{
    return own->stacks_bytes - own->stacks->h.stack_off - sizeof(u64);
}

/* Of the next sheet of a thread for the same. One that has filled a sheet gets a larger one. */
static struct parts parts_after(const struct pgrt_sheets *own, enum purpose purpose)
{
    switch (purpose) {
    case FOR_ALL: break;
    case FOR_ALLOCATED:
        return (struct parts){.allocated = larger_than(allocated_space(own->allocated))};
    case FOR_STACKS: return (struct parts){.stacks = larger_than(stack_space(own))};
    case FOR_MIBS: return (struct parts){.mibs = larger_than(mib_space(own->mibs))};
    }
    return (struct parts){SHEET_BYTES * 9 / 20 * sizeof(struct pgrt_allocated) / ENTRY_BYTES,
                          SHEET_BYTES * 9 / 20 * sizeof(struct pgrt_mib) / ENTRY_BYTES,
                          SHEET_BYTES * 11 / 20};
}

static struct pgrt_sheet_plan plan_sheet(bool first, struct parts parts)
{
    const struct pgg_segment *list;
    struct pgrt_sheet_plan p = {.segments = pgg_modules(&list)};
    const u64 gap_end = (sizeof(struct pgrt_raw_header) + sizeof(u64) +
                         (u64)(p.segments + SPARE_SEGMENTS) * PGRT_SEGMENT_BYTES + CACHE_LINE - 1) &
                        ~(u64)(CACHE_LINE - 1);
    p.allocated_off = gap_end;
    if (first) {
        p.texts_off = gap_end;
        p.series_off = gap_end + PGK_NOTES_TEXT_BYTES;
        p.breakdowns_off = p.series_off + PGRT_POINTS_MAX * sizeof(struct pgrt_point);
        p.allocated_off = p.breakdowns_off + PGRT_BREAKDOWNS_MAX * sizeof(struct pgrt_breakdown);
    }
    p.mib_off = p.allocated_off +
                parts.allocated / sizeof(struct pgrt_allocated) * sizeof(struct pgrt_allocated) +
                sizeof(struct pgrt_notes);
    p.stack_off = p.mib_off + sizeof(u64) +
                  parts.mibs / sizeof(struct pgrt_mib) * sizeof(struct pgrt_mib);
    p.bytes = (p.stack_off + sizeof(u64) + parts.stacks + PGG_PAGE - 1) & ~(u64)(PGG_PAGE - 1);
    return p;
}

struct pgrt_sheet_plan pgrt_sheet_plan_first(void)
{
    return plan_sheet(true, parts_after(NULL, FOR_ALL));
}

/* Adds the paths of modules that the file does not have. With the lock, or before there are
 * threads: the first sheet takes them for all. */
static void learn_paths(void)
{
    const struct pgg_segment *list;
    struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + pgrt_store.finished);
    u64 *bytes = pgrt_sheet_records(s, PGK_NOTES_PATHS);
    const u64 now = pgrt_notes_add_paths(pgrt_sheet_part(s, PGK_NOTES_PATHS), *bytes,
                                         PGRT_PATHS_BYTES - pgrt_store.texts.bytes,
                                         pgrt_store.texts.modules, &pgrt_store.paths_next,
                                         pgg_modules(&list));
    __atomic_store_n(bytes, now, __ATOMIC_RELEASE);
}

void pgrt_sheet_put_texts(struct pgrt_sheet *s)
{
    const char *process;
    const u32 n = pgrt_store.texts.process ? 0 : pgg_process_text(&process, pgrt_options.cmdline);
    if (n)
        pgg_copy(pgrt_sheet_part(s, PGK_NOTES_PROCESS), process, n);
    *pgrt_sheet_records(s, PGK_NOTES_PROCESS) = n;
    *pgrt_sheet_records(s, PGK_NOTES_PATHS) = 0;
    pgrt_store.paths_next = pgrt_store.texts.modules;
    learn_paths();
}

struct pgrt_sheet *pgrt_sheet_put(const struct pgrt_sheet_plan *p, u64 off)
{
    const struct pgg_segment *list;
    struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + off);
    pgg_modules(&list);
    s->h = (struct pgrt_raw_header){
        .magic = PGRT_RAW_MAGIC,
        .version = PGK_RAW_NOW,
        .total_size = pgrt_store.mapped.size - off,
        .segment_off = sizeof s->h,
        .mib_off = p->mib_off,
        .stack_off = p->stack_off,
    };
    pgrt_sheet_put_segments(s, 0, p->segments, list);
    *pgrt_sheet_count(s, s->h.segment_off) = p->segments;
    *pgrt_sheet_count(s, s->h.mib_off) = *pgrt_sheet_count(s, s->h.stack_off) = 0;
    struct pgrt_notes *notes = pgrt_sheet_notes(s);
    pgrt_notes_begin(notes, PGRT_NOTE_INTERRUPTED | pgrt_notes_flags(), pgrt_start_time,
                     p->mib_off);
    notes->part[PGK_NOTES_ALLOCATED].off = p->allocated_off;
    notes->part[PGK_NOTES_SERIES].off = p->series_off;
    notes->part[PGK_NOTES_BREAKDOWNS].off = p->breakdowns_off;
    if (p->texts_off) {
        notes->part[PGK_NOTES_PROCESS].off = p->texts_off;
        notes->part[PGK_NOTES_PATHS].off = p->texts_off + PGRT_PROCESS_BYTES;
    }
    return s;
}

/* A new sheet after the others, with its size in *bytes, or NULL with *err. */
static struct pgrt_sheet *new_sheet(struct parts parts, u64 *bytes, int *err)
{
    const bool first = pgrt_store.used == pgrt_store.finished;
    const struct pgrt_sheet_plan plan = plan_sheet(first, parts);
    if ((*err = pgrt_store_grow_to(pgrt_store.used + plan.bytes)))
        return NULL;
    struct pgrt_sheet *s = pgrt_sheet_put(&plan, pgrt_store.used);
    if (first)
        pgrt_sheet_put_texts(s);
    else
        learn_paths();
    if (pgrt_store.last)
        __atomic_store_n(&pgrt_store.last->h.total_size, (u64)((char *)s - (char *)pgrt_store.last),
                         __ATOMIC_RELEASE);
    pgrt_store.last = s;
    pgrt_store.used += plan.bytes;
    *bytes = plan.bytes;
    return s;
}

struct pgrt_sheet *pgrt_sheet_first(u64 *bytes, int *err)
{
    return new_sheet(parts_after(NULL, FOR_ALL), bytes, err);
}

/* Writes the segments of libraries that were loaded since; false if there is no space for them. */
static bool learn_segments(struct pgrt_sheet *s)
{
    const struct pgg_segment *list;
    const u64 have = *pgrt_sheet_count(s, s->h.segment_off), n = pgg_modules(&list),
              texts = pgrt_sheet_notes(s)->part[PGK_NOTES_PROCESS].off,
              end = texts ? texts : pgrt_sheet_notes(s)->part[PGK_NOTES_ALLOCATED].off,
              limit = (end - s->h.segment_off - sizeof(u64)) / PGRT_SEGMENT_BYTES;
    if (n > limit)
        return false;
    if (n > have) {
        pgrt_sheet_put_segments(s, (u32)have, (u32)n, list);
        __atomic_store_n(pgrt_sheet_count(s, s->h.segment_off), n, __ATOMIC_RELEASE);
        pgg_lock(&pgrt_store.lock);
        learn_paths();
        pgg_unlock(&pgrt_store.lock);
    }
    return true;
}

/* Another sheet for the thread; false if there is none. */
static bool turn_sheet(struct pgrt_thread *t, enum purpose purpose)
{
    int err = 0;
    u64 bytes = 0;
    purpose = t->sheets.mibs ? purpose : FOR_ALL;
    pgg_lock(&pgrt_store.lock);
    const bool begins = !pgrt_store.open;
    if (begins && !pgrt_store_open()) {
        pgg_unlock(&pgrt_store.lock);
        return false;
    }
    struct pgrt_sheet *s = purpose == FOR_ALL ? pgrt_store.unowned : NULL;
    if (s) {
        pgrt_store.unowned = NULL;
        bytes = pgrt_store.unowned_bytes;
    } else {
        s = new_sheet(parts_after(&t->sheets, purpose), &bytes, &err);
    }
    pgg_unlock(&pgrt_store.lock);
    if (begins)
        pgrt_socket_begin();
    if (!s) {
        pgrt_off("the profile cannot grow, recording stops", pgg_errno_name(err));
        return false;
    }
    if (purpose == FOR_ALL || purpose == FOR_ALLOCATED)
        t->sheets.allocated = s;
    if (purpose == FOR_ALL || purpose == FOR_MIBS)
        t->sheets.mibs = s;
    if (purpose == FOR_ALL || purpose == FOR_STACKS) {
        t->sheets.stacks = s;
        t->sheets.stacks_bytes = bytes;
    }
    return true;
}

static struct pgrt_allocated *next_allocated(struct pgrt_sheet *s)
{
    struct pgrt_allocated *b = pgrt_sheet_part(s, PGK_NOTES_ALLOCATED);
    b += *pgrt_sheet_records(s, PGK_NOTES_ALLOCATED);
    return (char *)(b + 1) <= (char *)pgrt_sheet_notes(s) ? b : NULL;
}

static u64 stack_bytes_of(const struct pgg_context *c)
{
    return (2 + c->n) * sizeof(u64);
}

/* Where the stack of a context goes; NULL: the sheet has no space for it. */
static u64 *next_stack(const struct pgrt_sheets *own, const struct pgg_context *c)
{
    struct pgrt_sheet *s = own->stacks;
    const u64 used = pgrt_sheet_notes(s)->facts.stack_bytes;
    if (used + stack_bytes_of(c) > stack_space(own) || !learn_segments(s))
        return NULL;
    return pgrt_sheet_count(s, s->h.stack_off) + 1 + used / sizeof(u64);
}

/* Writes the stack of a context, and then the mark that it is there. */
static void begin_context(const struct pgrt_sheets *own, u32 context, struct pgrt_allocated *b,
                          u64 *to)
{
    const struct pgg_context *c = pgg_context(context);
    u64 *stacks = pgrt_sheet_count(own->stacks, own->stacks->h.stack_off),
        *allocated = pgrt_sheet_records(own->allocated, PGK_NOTES_ALLOCATED);
    to[0] = context;
    to[1] = c->n;
    pgg_context_pcs(c, to + 2, c->n);
    *b = (struct pgrt_allocated){.context = context | (c->cut ? PGK_NOTES_CUT_STACK : 0)};
    /* A kill finds both whole or not at all, or the stack alone. */
    pgrt_sheet_notes(own->stacks)->facts.stack_bytes += stack_bytes_of(c);
    __atomic_store_n(stacks, *stacks + 1, __ATOMIC_RELEASE);
    /* pgrt_sheets_add_alive looks from other threads. */
    __atomic_store_n(allocated, *allocated + 1, __ATOMIC_RELEASE);
}

struct pgrt_allocated *pgrt_sheets_allocated(struct pgrt_thread *t, u32 context)
{
    struct pgrt_sheets *own = &t->sheets;
    if (!own->allocated && !turn_sheet(t, FOR_ALL))
        return NULL;
    const struct pgg_context *c = pgg_context(context);
    struct pgrt_allocated *b = next_allocated(own->allocated);
    u64 *to = next_stack(own, c);
    if (!b && turn_sheet(t, FOR_ALLOCATED))
        b = next_allocated(own->allocated);
    if (b && !to && turn_sheet(t, FOR_STACKS))
        to = next_stack(own, c);
    if (!b || !to)
        return NULL;
    begin_context(own, context, b, to);
    return b;
}

static struct pgrt_mib *next_mib(struct pgrt_sheet *s)
{
    const u64 *count = pgrt_sheet_count(s, s->h.mib_off);
    struct pgrt_mib *m = (struct pgrt_mib *)(count + 1) + *count;
    return (char *)(m + 1) <= (char *)s + s->h.stack_off ? m : NULL;
}

struct pgrt_mib *pgrt_sheets_entry(struct pgrt_thread *t)
{
    struct pgrt_mib *m = next_mib(t->sheets.mibs);
    return m || !turn_sheet(t, FOR_MIBS) ? m : next_mib(t->sheets.mibs);
}

void pgrt_sheets_publish(struct pgrt_thread *t)
{
    u64 *count = pgrt_sheet_count(t->sheets.mibs, t->sheets.mibs->h.mib_off);
    __atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

void pgrt_sheets_each(void (*f)(void *arg, const struct pgrt_mib *m), void *arg)
{
    for (u64 off = pgrt_store.finished; pgrt_store.open && off < pgrt_store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + off);
        const u64 *count = pgrt_sheet_count(s, s->h.mib_off);
        const struct pgrt_mib *m = (const struct pgrt_mib *)(count + 1);
        for (u64 i = 0; i < *count; i++)
            f(arg, &m[i]);
        off += s->h.total_size;
    }
}

void pgrt_sheets_each_allocated(void (*f)(void *arg, const struct pgrt_allocated *b), void *arg)
{
    for (u64 off = pgrt_store.finished; pgrt_store.open && off < pgrt_store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + off);
        const struct pgrt_allocated *b = pgrt_sheet_part(s, PGK_NOTES_ALLOCATED);
        for (u64 i = 0; i < *pgrt_sheet_records(s, PGK_NOTES_ALLOCATED); i++)
            f(arg, b + i);
        off += s->h.total_size;
    }
}

u64 pgrt_sheets_add_alive(u64 *bytes, u32 n)
{
    u64 entries = 0;
    pgg_lock(&pgrt_store.lock);
    for (u64 off = pgrt_store.finished; pgrt_store.open && off < pgrt_store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + off);
        const u64 *records = pgrt_sheet_records(s, PGK_NOTES_ALLOCATED);
        const struct pgrt_allocated *b = pgrt_sheet_part(s, PGK_NOTES_ALLOCATED),
                                    *end = b + __atomic_load_n(records, __ATOMIC_ACQUIRE);
        for (entries += (u64)(end - b); b < end; b++)
            if (pgrt_context_of(b) < n)
                bytes[pgrt_context_of(b)] += __atomic_load_n(&b->alive_bytes, __ATOMIC_RELAXED);
        off += s->h.total_size;
    }
    pgg_unlock(&pgrt_store.lock);
    return entries;
}

struct pgrt_notes *pgrt_sheets_notes(void)
{
    return pgrt_store.open
               ? pgrt_sheet_notes((struct pgrt_sheet *)(pgrt_store.mapped.base +
                                                        pgrt_store.finished))
               : NULL;
}

struct pgrt_point *pgrt_sheets_points(const struct pgrt_notes *notes)
{
    return (struct pgrt_point *)(pgrt_store.mapped.base + pgrt_store.finished +
                                 notes->part[PGK_NOTES_SERIES].off);
}

struct pgrt_breakdown *pgrt_sheets_breakdowns(const struct pgrt_notes *notes)
{
    return (struct pgrt_breakdown *)(pgrt_store.mapped.base + pgrt_store.finished +
                                     notes->part[PGK_NOTES_BREAKDOWNS].off);
}

void pgrt_sheets_leave(struct pgrt_thread *t)
{
    t->sheets = (struct pgrt_sheets){0};
}

static void count_objects(void *sum, const struct pgrt_mib *m)
{
    *(u64 *)sum += m->AllocCount;
}

void pgrt_sheets_note_flags(void)
{
    pgg_lock(&pgrt_store.lock);
    for (u64 off = pgrt_store.finished; pgrt_store.open && off < pgrt_store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + off);
        struct pgrt_facts *facts = &pgrt_sheet_notes(s)->facts;
        facts->flags = (facts->flags & PGRT_NOTE_INTERRUPTED) | pgrt_notes_flags();
        off += s->h.total_size;
    }
    pgg_unlock(&pgrt_store.lock);
}

void pgrt_sheets_mark(bool complete)
{
    u64 objects = 0;
    pgrt_sheets_each(count_objects, &objects);
    for (u64 off = pgrt_store.finished; pgrt_store.open && off < pgrt_store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(pgrt_store.mapped.base + off);
        struct pgrt_facts *facts = &pgrt_sheet_notes(s)->facts;
        facts->flags = pgrt_notes_flags() | (complete ? 0 : PGRT_NOTE_INTERRUPTED);
        facts->dropped = off == pgrt_store.finished ? pgrt_dropped : 0;
        if (complete && off == pgrt_store.finished) {
            facts->own_ns = pgrt_cost_ns(objects);
            facts->own_bytes = pgrt_cost_bytes();
        }
        off += s->h.total_size;
    }
}
