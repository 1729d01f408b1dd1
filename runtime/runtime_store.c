/* The mapped file. From the first moment it is a sound raw profile, whatever instant the
 * process is killed at: finished dumps, then sheets. A sheet is a dump of its own that a thread
 * fills; entries are counted when they are whole, and the last sheet's size covers the rest of
 * the file, so that starting a new one is a single store. docs/formats/interrupted-heap.md */
#include "runtime_store.h"

#include "guest_bytes.h"
#include "guest_mapped.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "runtime_depot.h"
#include "runtime_notes.h"
#include "runtime_options.h"
#include "runtime_shadow.h"
#include "runtime_socket.h"
#include "runtime_start.h"
#include "runtime_thread.h"

#include <errno.h>
#include <sys/mman.h>

struct pgrt_sheet {
    struct pgrt_raw_header h;
};

enum {
    SHEET_BYTES = 64 << 10, /* of the first one of a thread; the next ones are larger */
    SHEET_MOST = 512 << 10,
    SPARE_SEGMENTS = 8, /* capacity for libraries that come later */
    FIRST_BYTES = 64 << 10, /* growth of the file */
    GROW_BYTES = 64 << 10,
    AHEAD_BYTES = 4 << 20,
    SPARE_BYTES = 4 << 20, /* of sheets that were, beyond what the dumps take */
    SEGMENT_BYTES = 64,
    CACHE_LINE = 64,
};

/* Addresses reserved for the file to grow: as many words as places can be, but no more than for the
 * shadow if a kernel has addresses of few bits. */
static u64 reserve_bytes(void)
{
    const u64 most = UINT64_C(1) << (pgrt_space_is_limited ? 25 : 35);
    return pgrt_shadow_bytes && pgrt_shadow_bytes < most ? pgrt_shadow_bytes : most;
}
static struct {
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
} store = {.mapped.file = PGG_NO_FILE};
char *pgrt_store_base;

/* What comes before `at` is finished. */
static void finish_until(u64 at)
{
    store.finished = store.used = at;
    pgrt_store_base = store.mapped.base + at;
}

static struct pgrt_notes *notes_of(struct pgrt_sheet *s)
{
    return (struct pgrt_notes *)((char *)s + s->h.mib_off) - 1;
}

/* The records of a part, and how many there are. */
static void *part_of(struct pgrt_sheet *s, enum pgk_notes_parts part)
{
    return (char *)s + notes_of(s)->part[part].off;
}

static u64 *records_of(struct pgrt_sheet *s, enum pgk_notes_parts part)
{
    return &notes_of(s)->part[part].records;
}

static u64 *count_at(struct pgrt_sheet *s, u64 off)
{
    return (u64 *)((char *)s + off);
}

static void write_segments(struct pgrt_sheet *s, u32 from, u32 to, const struct pgg_segment *list)
{
    char *at = (char *)s + s->h.segment_off + sizeof(u64);
    for (u32 i = from; i < to; i++)
        pgg_copy(at + i * SEGMENT_BYTES, &list[i], SEGMENT_BYTES);
}

_Static_assert(sizeof(struct pgg_segment) == SEGMENT_BYTES, "as versions with build ids have it");

/* A page that is a whole dump without contexts. The file grows by copies of it, so that it is
 * sound at whatever page a kill stops the growth. */
static const void *empty_dump(void)
{
    static struct {
        struct pgrt_raw_header h;
        u64 words[(PGG_PAGE - sizeof(struct pgrt_raw_header)) / sizeof(u64)];
    } page;
    enum { SEGMENTS = (PGG_PAGE - sizeof page.h - 3 * sizeof(u64)) / SEGMENT_BYTES };
    const struct pgg_segment *list;
    u32 n = pgg_modules(&list);
    n = n < SEGMENTS ? n : SEGMENTS;
    page.h = (struct pgrt_raw_header){
        .magic = PGRT_RAW_MAGIC,
        .version = PGK_RAW_NOW,
        .total_size = PGG_PAGE,
        .segment_off = sizeof page.h,
        .mib_off = sizeof page.h + sizeof(u64) + n * SEGMENT_BYTES,
        .stack_off = sizeof page.h + 2 * sizeof(u64) + n * SEGMENT_BYTES,
    };
    page.words[0] = n;
    write_segments((struct pgrt_sheet *)&page, 0, n, list);
    page.words[1 + n * SEGMENT_BYTES / sizeof(u64)] = 0;
    page.words[2 + n * SEGMENT_BYTES / sizeof(u64)] = 0;
    return &page;
}

/* Gives the blocks of sheets back that the dump before the newest covers. Where the system cannot,
 * they stay. */
static void punch_covered(void)
{
    pgg_mapped_punch(&store.mapped, store.covered.from, store.covered.to);
    store.covered.from = store.covered.to = 0;
}

static int grow(u64 bytes)
{
    if (store.mapped.file.stream < 0 && pgg_confined)
        return -EPERM;
    const u64 step = store.mapped.size ? GROW_BYTES : FIRST_BYTES;
    u64 to = (store.mapped.size + bytes + step - 1) & ~(step - 1);
    int err = pgg_mapped_grow(&store.mapped, to, empty_dump());
    if (err == -ENOSPC && store.covered.to) {
        punch_covered();
        err = pgg_mapped_grow(&store.mapped, to, empty_dump());
    }
    if (!err && store.last)
        store.last->h.total_size = to - (u64)((char *)store.last - store.mapped.base);
    return err;
}

/* A place is the number of words in front of an entry. */
_Static_assert(sizeof(struct pgrt_mib) % sizeof(u64) == 0, "a MIB is whole words");
_Static_assert(sizeof(struct pgrt_allocated) % sizeof(u64) == 0, "so is what was allocated");

enum { ENTRY_BYTES = sizeof(struct pgrt_mib) + sizeof(struct pgrt_allocated) }; /* of a context */

/* The places of the parts of a new sheet. The first one has the texts and the series. */
struct sheet_plan {
    u32 segments;
    u64 texts_off, series_off, breakdowns_off, allocated_off, mib_off, stack_off, bytes;
};

/* Bytes of the parts of a sheet. */
struct parts {
    u64 allocated, mibs, stacks;
};

static u64 at_least(u64 bytes, u64 least)
{
    return bytes > least ? bytes : least;
}

/* The file cannot grow by much any more once the process has confined itself. */
static u64 larger_than(u64 bytes)
{
    return pgg_confined ? SHEET_BYTES / 2 : bytes < SHEET_MOST / 2 ? 2 * bytes : SHEET_MOST;
}

/* What a sheet is for. The first one of a thread is for all. Of the next ones, some take new
 * contexts with their stacks, and some MIBs, so that none is left while it has space for the
 * others: a program may begin contexts for a long time before their objects end. */
enum purpose { FOR_ALL, FOR_CONTEXTS, FOR_MIBS };

static u64 mib_space(const struct pgrt_sheet *s)
{
    return s->h.stack_off - s->h.mib_off - sizeof(u64);
}

/* Of the next sheet of a thread for the same. One that has filled a sheet gets a larger one, with
 * parts as they were used in the last. */
static struct parts parts_after(const struct pgrt_store *own, enum purpose purpose)
{
    if (purpose == FOR_ALL)
        return (struct parts){SHEET_BYTES * 9 / 20 * sizeof(struct pgrt_allocated) / ENTRY_BYTES,
                              SHEET_BYTES * 9 / 20 * sizeof(struct pgrt_mib) / ENTRY_BYTES,
                              SHEET_BYTES * 11 / 20};
    if (purpose == FOR_MIBS)
        return (struct parts){.mibs = larger_than(mib_space(own->mibs))};
    struct pgrt_sheet *s = own->sheet;
    const u64 record = sizeof(struct pgrt_allocated),
              allocated = at_least(*records_of(s, PGK_NOTES_ALLOCATED), 1) * record,
              stacks = at_least(notes_of(s)->facts.stack_bytes, record), all = allocated + stacks,
              before = (u64)((char *)notes_of(s) - (char *)part_of(s, PGK_NOTES_ALLOCATED)) +
                       own->bytes - s->h.stack_off,
              bytes = all < before / 2 && !pgg_confined ? before : larger_than(before);
    return (struct parts){.allocated = at_least(bytes * allocated / all, bytes / 16),
                          .stacks = at_least(bytes * stacks / all, bytes / 16)};
}

static struct sheet_plan plan_sheet(bool first, struct parts parts)
{
    const struct pgg_segment *list;
    struct sheet_plan p = {.segments = pgg_modules(&list)};
    const u64 gap_end = (sizeof(struct pgrt_raw_header) + sizeof(u64) +
                         (u64)(p.segments + SPARE_SEGMENTS) * SEGMENT_BYTES + CACHE_LINE - 1) &
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

/* Adds the paths of modules that the file does not have. With the lock, or before there are
 * threads: the first sheet takes them for all. */
static void learn_paths(void)
{
    const struct pgg_segment *list;
    struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + store.finished);
    u64 *bytes = records_of(s, PGK_NOTES_PATHS);
    const u64 now = pgrt_notes_add_paths(part_of(s, PGK_NOTES_PATHS), *bytes,
                                         PGRT_PATHS_BYTES - store.texts.bytes,
                                         store.texts.modules, &store.paths_next,
                                         pgg_modules(&list));
    __atomic_store_n(bytes, now, __ATOMIC_RELEASE);
}

/* What the finished dumps do not say of the process and its modules. */
static void put_texts(struct pgrt_sheet *s)
{
    const char *process;
    const u32 n = store.texts.process ? 0 : pgrt_notes_process(&process);
    if (n)
        pgg_copy(part_of(s, PGK_NOTES_PROCESS), process, n);
    *records_of(s, PGK_NOTES_PROCESS) = n;
    *records_of(s, PGK_NOTES_PATHS) = 0;
    store.paths_next = store.texts.modules;
    learn_paths();
}

/* Makes the sheet at `off`, where space is reserved; no other sheet leads to it yet. It covers the
 * rest of the file. */
static struct pgrt_sheet *put_sheet(const struct sheet_plan *p, u64 off)
{
    const struct pgg_segment *list;
    struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + off);
    pgg_modules(&list);
    s->h = (struct pgrt_raw_header){
        .magic = PGRT_RAW_MAGIC,
        .version = PGK_RAW_NOW,
        .total_size = store.mapped.size - off,
        .segment_off = sizeof s->h,
        .mib_off = p->mib_off,
        .stack_off = p->stack_off,
    };
    write_segments(s, 0, p->segments, list);
    *count_at(s, s->h.segment_off) = p->segments;
    *count_at(s, s->h.mib_off) = *count_at(s, s->h.stack_off) = 0;
    struct pgrt_notes *notes = notes_of(s);
    pgrt_notes_begin(notes, PGRT_NOTE_INTERRUPTED, p->mib_off);
    notes->part[PGK_NOTES_ALLOCATED].off = p->allocated_off;
    notes->part[PGK_NOTES_SERIES].off = p->series_off;
    notes->part[PGK_NOTES_BREAKDOWNS].off = p->breakdowns_off;
    if (p->texts_off) {
        notes->part[PGK_NOTES_PROCESS].off = p->texts_off;
        notes->part[PGK_NOTES_PATHS].off = p->texts_off + PGRT_PROCESS_BYTES;
    }
    return s;
}

/* Makes the file reach to `end`. */
static int grow_to(u64 end)
{
    return end > store.mapped.size ? grow(end - store.mapped.size) : 0;
}

/* A new sheet behind the others, with its size in *bytes, or NULL with *err. */
static struct pgrt_sheet *new_sheet(struct parts parts, u64 *bytes, int *err)
{
    const bool first = store.used == store.finished;
    const struct sheet_plan plan = plan_sheet(first, parts);
    if ((*err = grow_to(store.used + plan.bytes)))
        return NULL;
    struct pgrt_sheet *s = put_sheet(&plan, store.used);
    if (first)
        put_texts(s);
    else
        learn_paths();
    if (store.last)
        __atomic_store_n(&store.last->h.total_size, (u64)((char *)s - (char *)store.last),
                         __ATOMIC_RELEASE);
    store.last = s;
    store.used += plan.bytes;
    *bytes = plan.bytes;
    return s;
}

/* Writes the segments of libraries that were loaded since; false if there is no space for them. */
static bool learn_segments(struct pgrt_sheet *s)
{
    const struct pgg_segment *list;
    const u64 have = *count_at(s, s->h.segment_off), n = pgg_modules(&list),
              texts = notes_of(s)->part[PGK_NOTES_PROCESS].off,
              end = texts ? texts : notes_of(s)->part[PGK_NOTES_ALLOCATED].off,
              limit = (end - s->h.segment_off - sizeof(u64)) / SEGMENT_BYTES;
    if (n > limit)
        return false;
    if (n > have) {
        write_segments(s, (u32)have, (u32)n, list);
        __atomic_store_n(count_at(s, s->h.segment_off), n, __ATOMIC_RELEASE);
        pgg_lock(&store.lock);
        learn_paths();
        pgg_unlock(&store.lock);
    }
    return true;
}

void pgrt_store_grow_ahead(void)
{
    pgg_lock(&store.lock);
    if (pgrt_store_is_file())
        grow(AHEAD_BYTES);
    pgg_unlock(&store.lock);
}

/* Another sheet for the thread; false if there is none. */
static bool turn_sheet(struct pgrt_thread *t, enum purpose purpose)
{
    int err = 0;
    u64 bytes = 0;
    purpose = t->store.sheet ? purpose : FOR_ALL;
    pgg_lock(&store.lock);
    const bool begins = !store.open;
    if (begins && !pgrt_store_open()) {
        pgg_unlock(&store.lock);
        return false;
    }
    struct pgrt_sheet *s = purpose == FOR_ALL ? store.unowned : NULL;
    if (s) {
        store.unowned = NULL;
        bytes = store.unowned_bytes;
    } else {
        s = new_sheet(parts_after(&t->store, purpose), &bytes, &err);
    }
    pgg_unlock(&store.lock);
    if (begins)
        pgrt_socket_begin();
    if (!s) {
        pgrt_off("the profile cannot grow, recording stops", pgg_errno_name(err));
        return false;
    }
    if (purpose != FOR_MIBS) {
        t->store.sheet = s;
        t->store.bytes = bytes;
    }
    if (purpose != FOR_CONTEXTS)
        t->store.mibs = s;
    return true;
}

/* Begins a context in the sheet, with its stack; NULL if the sheet has no space for them. */
static struct pgrt_allocated *add_allocated(const struct pgrt_store *own, u32 context)
{
    struct pgrt_sheet *s = own->sheet;
    const struct pgrt_context *c = pgrt_context(context);
    const u64 stack_bytes = (2 + c->n) * sizeof(u64);
    struct pgrt_facts *facts = &notes_of(s)->facts;
    u64 *allocated = records_of(s, PGK_NOTES_ALLOCATED);
    struct pgrt_allocated *b = part_of(s, PGK_NOTES_ALLOCATED);
    b += *allocated;
    u64 *stacks = count_at(s, s->h.stack_off), *to = stacks + 1 + facts->stack_bytes / sizeof(u64);
    if ((char *)(b + 1) > (char *)notes_of(s) ||
        (char *)to + stack_bytes > (char *)s + own->bytes || !learn_segments(s))
        return NULL;
    to[0] = context;
    to[1] = c->n;
    pgrt_context_pcs(c, to + 2, c->n);
    *b = (struct pgrt_allocated){.context = context};
    /* A kill, or a copy of the file, finds both whole or not at all. */
    facts->stack_bytes += stack_bytes;
    __atomic_store_n(stacks, *stacks + 1, __ATOMIC_RELEASE);
    /* pgrt_store_add_alive looks from other threads. */
    __atomic_store_n(allocated, *allocated + 1, __ATOMIC_RELEASE);
    return b;
}

struct pgrt_allocated *pgrt_store_allocated(struct pgrt_thread *t, u32 context)
{
    struct pgrt_allocated *b = t->store.sheet ? add_allocated(&t->store, context) : NULL;
    return b || !turn_sheet(t, FOR_CONTEXTS) ? b : add_allocated(&t->store, context);
}

static struct pgrt_mib *next_mib(struct pgrt_sheet *s)
{
    const u64 *count = count_at(s, s->h.mib_off);
    struct pgrt_mib *m = (struct pgrt_mib *)(count + 1) + *count;
    return (char *)(m + 1) <= (char *)s + s->h.stack_off ? m : NULL;
}

struct pgrt_mib *pgrt_store_entry(struct pgrt_thread *t)
{
    struct pgrt_mib *m = next_mib(t->store.mibs);
    return m || !turn_sheet(t, FOR_MIBS) ? m : next_mib(t->store.mibs);
}

void pgrt_store_publish(struct pgrt_thread *t)
{
    u64 *count = count_at(t->store.mibs, t->store.mibs->h.mib_off);
    __atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

void pgrt_store_each(void (*f)(void *arg, const struct pgrt_mib *m), void *arg)
{
    for (u64 off = store.finished; store.open && off < store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + off);
        const u64 *count = count_at(s, s->h.mib_off);
        const struct pgrt_mib *m = (const struct pgrt_mib *)(count + 1);
        for (u64 i = 0; i < *count; i++)
            f(arg, &m[i]);
        off += s->h.total_size;
    }
}

void pgrt_store_each_allocated(void (*f)(void *arg, const struct pgrt_allocated *b), void *arg)
{
    for (u64 off = store.finished; store.open && off < store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + off);
        const struct pgrt_allocated *b = part_of(s, PGK_NOTES_ALLOCATED);
        for (u64 i = 0; i < *records_of(s, PGK_NOTES_ALLOCATED); i++)
            f(arg, b + i);
        off += s->h.total_size;
    }
}

u64 pgrt_store_add_alive(u64 *bytes, u32 n)
{
    u64 entries = 0;
    pgg_lock(&store.lock);
    for (u64 off = store.finished; store.open && off < store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + off);
        const struct pgrt_allocated *b = part_of(s, PGK_NOTES_ALLOCATED),
                                    *end = b + __atomic_load_n(records_of(s, PGK_NOTES_ALLOCATED),
                                                               __ATOMIC_ACQUIRE);
        for (entries += (u64)(end - b); b < end; b++)
            if (b->context < n)
                bytes[b->context] += __atomic_load_n(&b->alive_bytes, __ATOMIC_RELAXED);
        off += s->h.total_size;
    }
    pgg_unlock(&store.lock);
    return entries;
}

struct pgrt_notes *pgrt_store_notes(void)
{
    return store.open ? notes_of((struct pgrt_sheet *)(store.mapped.base + store.finished)) : NULL;
}

struct pgrt_point *pgrt_store_points(const struct pgrt_notes *notes)
{
    return (struct pgrt_point *)(store.mapped.base + store.finished +
                                 notes->part[PGK_NOTES_SERIES].off);
}

struct pgrt_breakdown *pgrt_store_breakdowns(const struct pgrt_notes *notes)
{
    return (struct pgrt_breakdown *)(store.mapped.base + store.finished +
                                     notes->part[PGK_NOTES_BREAKDOWNS].off);
}

bool pgrt_store_is_open(void)
{
    return store.open;
}

void pgrt_store_leave(struct pgrt_thread *t)
{
    t->store.sheet = t->store.mibs = NULL;
}

void pgrt_store_forked(void)
{
    pgg_mapped_forked(&store.mapped);
    finish_until(0);
    store.own = 0;
    store.covered.from = store.covered.to = 0;
    store.last = store.unowned = NULL;
    store.texts = (struct pgrt_texts){0};
    store.open = false;
    store.lock = 0;
}

static PGG_COLD bool no_profile(const char *what, const char *path, int err)
{
    char line[1300];
    struct pgg_text t;
    pgg_text_init(&t, line, sizeof line);
    pgg_text_str(&t, "no profile: ");
    pgg_text_str(&t, what);
    pgg_text_str(&t, path);
    pgrt_off(line, pgg_errno_name(err));
    return false;
}

/* Called with the lock, or before there are threads. */
bool pgrt_store_open(void)
{
    long fd = -1;
    int err = 0;
    char wanted[1024];
    bool unique;
    if (!pgrt_profile_path(wanted, sizeof wanted, &store.mapped.file.stream, &unique) ||
        !pgg_file_choose(&store.mapped.file, wanted, unique)) {
        pgrt_off("no profile", "its name is too long");
        return false;
    }
    if (store.mapped.file.stream < 0) {
        fd = pgg_file_create(&store.mapped.file, pgg_file_root_is_first());
        if (fd < 0)
            return no_profile("cannot create ", store.mapped.file.path, (int)fd);
        pgg_file_take(&store.mapped.file, (int)fd);
    }
    if (!store.mapped.base)
        err = pgg_mapped_reserve(&store.mapped, reserve_bytes());
    finish_until(0);
    if (store.mapped.base)
        store.unowned = new_sheet(parts_after(NULL, FOR_ALL), &store.unowned_bytes, &err);
    if (store.unowned && store.mapped.file.stream < 0)
        err = pgg_file_publish(&store.mapped.file);
    if (err) {
        if (store.mapped.file.stream < 0)
            pgg_sys_remove(store.mapped.file.part);
        pgg_file_leave(&store.mapped.file);
        return no_profile("cannot write ", store.mapped.file.path, err);
    }
    if (store.mapped.file.stream < 0 && !pgg_file_root_is_first())
        pgrt_say("profile below the root directory that the process has now (chroot)",
                 store.mapped.file.path);
    else if (pgrt_options.verbosity && store.mapped.file.stream < 0)
        pgrt_say("profile", store.mapped.file.path);
    store.open = true;
    return true;
}

/* The size of a finished dump itself, without the bytes after it that it may cover. */
static u64 own_bytes(const struct pgrt_raw_header *h)
{
    const struct pgrt_notes *notes = (const struct pgrt_notes *)((const char *)h + h->mib_off) - 1;
    return h->stack_off + sizeof(u64) + notes->facts.stack_bytes;
}

/* The finished dumps, without what they cover. */
static int write_own(int fd)
{
    for (u64 off = 0; off < store.finished;) {
        const struct pgrt_raw_header *dump =
            (const struct pgrt_raw_header *)(store.mapped.base + off);
        struct pgrt_raw_header h = *dump;
        h.total_size = own_bytes(dump);
        int err = pgg_sys_write_all(fd, &h, sizeof h);
        if (!err)
            err = pgg_sys_write_all(fd, dump + 1, h.total_size - sizeof h);
        if (err)
            return err;
        off += dump->total_size;
    }
    return 0;
}

/* Where a dump is written to. What has failed stays so. */
struct pgrt_out {
    int fd; /* below 0: the file of the store */
    u64 at; /* in it */
    int err;
    u64 used, capacity;
    char *buffer;
};

static void flush(struct pgrt_out *to)
{
    if (!to->err)
        to->err = to->fd < 0 ? pgg_mapped_write(&store.mapped, to->at, to->buffer, to->used)
                             : pgg_sys_write_all(to->fd, to->buffer, to->used);
    to->at += to->used;
    to->used = 0;
}

void pgrt_out(struct pgrt_out *to, const void *bytes, size_t n)
{
    for (const char *from = bytes; n;) {
        const size_t space = to->capacity - to->used, part = n < space ? n : space;
        pgg_copy(to->buffer + to->used, from, part);
        to->used += part;
        from += part;
        n -= part;
        if (to->used == to->capacity)
            flush(to);
    }
}

/* With the world stopped, so that there is one at a time. A stream, to which other processes may
 * write, gets all at once. */
static int write_dump(const struct pgrt_dump *dump, u64 total_size, int fd, u64 at)
{
    static char few[32 << 10];
    const bool whole = fd >= 0 && fd == store.mapped.file.stream;
    char *all = whole ? pgg_map(pgg_whole_pages(dump->size)) : NULL;
    struct pgrt_out out = {.fd = fd, .at = at, .capacity = sizeof few, .buffer = few};
    if (all) {
        out.buffer = all;
        out.capacity = dump->size;
    }
    dump->write(dump, total_size, &out);
    flush(&out);
    if (all)
        pgg_unmap(all, pgg_whole_pages(dump->size));
    return out.err;
}

/* The new file with finished dumps and this one; or -error. */
static long write_finished(const struct pgrt_dump *dump, u64 pad)
{
    static const char zeros[PGG_PAGE_MOST];
    if (!pgg_file_within_limit(store.own + dump->size + pad))
        return -EFBIG;
    long fd = pgg_file_create(&store.mapped.file, false);
    if (fd < 0)
        return fd;
    int err = write_own((int)fd);
    if (!err)
        err = write_dump(dump, dump->size + pad, (int)fd, 0);
    if (!err)
        err = pgg_sys_write_all((int)fd, zeros, pad);
    if (!err)
        return fd;
    pgg_file_drop(&store.mapped.file, (int)fd);
    return err;
}

static void clear_tables(void)
{
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t))
        pgrt_table_clear(t);
}

/* From now on the sheets are in the file of fd. */
static int move_to(int fd, u64 finished)
{
    int err = pgg_mapped_move(&store.mapped, fd, finished);
    finish_until(finished);
    store.covered.from = store.covered.to = 0;
    store.last = NULL;
    clear_tables();
    if (!err)
        store.unowned = new_sheet(parts_after(NULL, FOR_ALL), &store.unowned_bytes, &err);
    return err;
}

/* In a new file, with the dumps before it. */
static int finish_anew(const struct pgrt_dump *dump, bool last)
{
    /* Sheets begin on a page; the dump's size takes the padding in. */
    const u64 newest = store.own, size = dump->size,
              pad = last ? 0 : -(newest + size) & (pgg_page() - 1);
    const long fd = write_finished(dump, pad);
    int err = fd < 0 ? (int)fd : 0;
    if (!err && !last) {
        store.texts = dump->texts;
        err = move_to((int)fd, newest + size + pad);
        store.newest = newest;
        store.own = newest + size;
    }
    if (!err)
        err = pgg_file_publish(&store.mapped.file);
    if (!err && last) {
        pgg_sys_close((int)fd);
        pgg_file_leave(&store.mapped.file);
    }
    return err;
}

static u64 whole_pages(u64 bytes)
{
    return (bytes + pgg_page() - 1) & ~(u64)(pgg_page() - 1);
}

/* Behind the sheets, which the dump before covers then: some part of the file is of no use, but it
 * is no more than what is, so that all that is written grows with the dumps and not with their
 * square. Where files may not be long there is a better use of their length. The program may have
 * given the file another name, or have removed it. */
static bool fits_behind(u64 size, bool last)
{
    const u64 spare = last ? 0 : SPARE_BYTES, end = store.used + size;
    const u64 whole = last && end < store.mapped.size ? store.mapped.size : end;
    return store.finished && whole <= 2 * (store.own + size) + spare &&
           2 * end <= store.mapped.capacity && pgg_file_within_limit(2 * end) &&
           pgg_file_is_published(&store.mapped.file);
}

/* Until the dump before covers the sheets, the last of them covers all that is written here. That
 * is one store, so a kill leaves the sheets or the dump. */
static int finish_behind(const struct pgrt_dump *dump, bool last)
{
    const u64 at = store.used, end = whole_pages(at + dump->size);
    const struct sheet_plan plan = plan_sheet(true, parts_after(NULL, FOR_ALL));
    struct pgrt_raw_header *before = (struct pgrt_raw_header *)(store.mapped.base + store.newest);
    struct pgrt_sheet *sheet = NULL;
    int err = grow_to(end + (last ? 0 : plan.bytes));
    if (!err)
        err = write_dump(dump, (last ? store.mapped.size : end) - at, -1, at);
    if (err)
        return err;
    if (!last)
        sheet = put_sheet(&plan, end);
    __atomic_store_n(&before->total_size, at - store.newest, __ATOMIC_RELEASE);
    clear_tables();
    /* A reader that opened the file before the dump still finds the sheets, until the next dump. */
    punch_covered();
    store.covered.from = store.finished;
    store.covered.to = at;
    pgg_sys_advise(store.mapped.base + store.finished, at - store.finished, MADV_DONTNEED);
    store.newest = at;
    store.own += dump->size;
    finish_until(end);
    store.texts = dump->texts;
    store.last = store.unowned = sheet;
    store.unowned_bytes = plan.bytes;
    if (!last) {
        store.used += plan.bytes;
        put_texts(sheet);
        return 0;
    }
    punch_covered();
    pgg_mapped_punch(&store.mapped, end, store.mapped.size);
    pgg_file_leave(&store.mapped.file);
    return 0;
}

int pgrt_store_finish(const struct pgrt_dump *dump, bool last)
{
    int err;
    if (store.mapped.file.stream >= 0) {
        err = write_dump(dump, dump->size, store.mapped.file.stream, 0);
        store.texts = dump->texts;
        return last || err ? err : move_to(-1, 0);
    }
    if (fits_behind(dump->size, last) && !finish_behind(dump, last))
        return 0;
    return finish_anew(dump, last);
}

int pgrt_store_reset(void)
{
    const u64 finished = store.finished;
    if (!pgrt_store_is_file() || !finished)
        return 0;
    long fd = pgg_file_create(&store.mapped.file, false);
    if (fd < 0)
        return (int)fd;
    int err = pgg_sys_write_all((int)fd, store.mapped.base + finished,
                                store.mapped.size - finished);
    punch_covered();
    if (!err)
        err = pgg_mapped_split(&store.mapped, (int)fd, finished);
    if (err) {
        pgg_file_drop(&store.mapped.file, (int)fd);
        return err;
    }
    store.used -= finished;
    store.finished = store.own = 0;
    store.covered.from = store.covered.to = 0;
    store.texts = (struct pgrt_texts){0};
    put_texts((struct pgrt_sheet *)store.mapped.base);
    return pgg_file_publish(&store.mapped.file);
}

void pgrt_store_discard(void)
{
    if (!pgrt_store_is_file())
        return;
    punch_covered();
    pgg_file_shorten(&store.mapped.file, store.finished);
}

struct pgrt_texts pgrt_store_texts(void)
{
    return store.texts;
}

const char *pgrt_store_path(void)
{
    return store.mapped.file.path;
}

u64 pgrt_store_bytes(void)
{
    return store.mapped.size - store.finished;
}

bool pgrt_store_is_file(void)
{
    return store.open && store.mapped.file.stream < 0;
}

static void count_objects(void *sum, const struct pgrt_mib *m)
{
    *(u64 *)sum += m->AllocCount;
}

void pgrt_store_tell_flags(void)
{
    pgg_lock(&store.lock);
    for (u64 off = store.finished; store.open && off < store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + off);
        struct pgrt_facts *facts = &notes_of(s)->facts;
        facts->flags = (facts->flags & PGRT_NOTE_INTERRUPTED) | pgrt_notes_flags();
        off += s->h.total_size;
    }
    pgg_unlock(&store.lock);
}

void pgrt_store_mark(bool complete)
{
    u64 objects = 0;
    pgrt_store_each(count_objects, &objects);
    for (u64 off = store.finished; store.open && off < store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(store.mapped.base + off);
        struct pgrt_facts *facts = &notes_of(s)->facts;
        facts->flags = pgrt_notes_flags() | (complete ? 0 : PGRT_NOTE_INTERRUPTED);
        facts->dropped = off == store.finished ? pgrt_dropped : 0;
        if (complete && off == store.finished) {
            facts->own_ns = pgrt_cost_ns(objects);
            facts->own_bytes = pgrt_cost_bytes();
        }
        off += s->h.total_size;
    }
}
