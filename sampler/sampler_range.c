/* Memory of sampled objects. Those of up to a page are slots of spans, each of one size; larger
 * ones are runs of pages. A span stays one of its size, and gives its pages back while all of it is
 * free. */
#include "sampler_range.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_sys.h"
#include "sampler_options.h"
#include "sampler_pages.h"

#include <sys/mman.h>

enum {
    CLASSES = 32,
    SPANS_MOST = 1 << 14,
    FREE_SPANS = 16,       /* that stay in memory */
    MOVED_BYTES = 1 << 20, /* of what is moved by the system, and not copied */
    BYTES_OF_NOTE = 1 << 10, /* of the range, for each byte of notes */
    LONGEST_BITS = 36,
    SHORTEST_BITS = 24,
};

struct pgsm_range pgsm_range;
struct pgsm_span pgsm_spans[SPANS_MOST];

static u32 spans_used;
static u32 free_spans;          /* without a live slot, and in memory */
static u32 free_slots[CLASSES]; /* first note of a list */
static bool full;

/* 16, 32 ... 128, then four to each power of two. */
static u32 class_of(size_t bytes)
{
    if (bytes <= 128)
        return bytes ? (u32)(bytes - 1) / 16 : 0;
    const u32 power = 63 - (u32)__builtin_clzl(bytes - 1);
    return 8 + (power - 7) * 4 + (u32)((bytes - 1) >> (power - 2) & 3);
}

static u32 class_bytes(u32 class)
{
    if (class < 8)
        return 16 * (class + 1);
    const u32 power = 7 + (class - 8) / 4;
    return (1u << power) + ((class - 8) % 4 + 1) * (1u << (power - 2));
}

/* Aligned, so that pages have the alignment of their numbers. */
static bool open_at(u64 bytes)
{
    const long at = pgg_sys_reserve(NULL, bytes + PGSM_ALIGN_MOST);
    if (at < 0)
        return false;
    u32 *pages = pgg_map(pgg_whole_pages(bytes / PGG_PAGE * sizeof *pages));
    struct pgsm_note *notes = pgg_map(bytes / BYTES_OF_NOTE);
    if (!pages || !notes) {
        if (pages)
            pgg_unmap(pages, pgg_whole_pages(bytes / PGG_PAGE * sizeof *pages));
        pgg_sys_unmap((void *)at, bytes + PGSM_ALIGN_MOST);
        return false;
    }
    pgsm_pages_open((u32)(bytes / PGG_PAGE), pages, notes, bytes / BYTES_OF_NOTE);
    pgsm_range.from = ((uintptr_t)at + PGSM_ALIGN_MOST - 1) & -(uintptr_t)PGSM_ALIGN_MOST;
    pgsm_range.bytes = bytes;
    return true;
}

/* What is allocated before the program's own allocator is known needs memory in any case. */
static void open_few(void)
{
    enum { PAGES = 32 };
    static char memory[PAGES * PGG_PAGE] __attribute__((aligned(PGG_PAGE)));
    static u32 pages[PAGES];
    static struct pgsm_note notes[2048];
    pgsm_pages_open(PAGES, pages, notes, sizeof notes);
    pgsm_range.from = (uintptr_t)memory;
    pgsm_range.bytes = sizeof memory;
}

/* No more than a quarter of the addresses that the process may have, and a tenth of its memory for
 * what is known of them. */
bool pgsm_range_open(void)
{
    struct rlimit addresses = {.rlim_cur = RLIM_INFINITY}, memory = addresses;
    pgg_sys_limit(RLIMIT_AS, &addresses);
    pgg_sys_limit(RLIMIT_DATA, &memory);
    for (u32 bits = LONGEST_BITS; bits >= SHORTEST_BITS; bits -= 2) {
        const u64 bytes = UINT64_C(1) << bits;
        if (addresses.rlim_cur / 4 >= bytes && memory.rlim_cur / 20 >= bytes / BYTES_OF_NOTE &&
            open_at(bytes))
            return true;
    }
    open_few();
    return false;
}

u64 pgsm_range_bytes(void)
{
    return (u64)spans_used * PGSM_SPAN + pgsm_notes_bytes();
}

bool pgsm_range_is_full(void)
{
    return full;
}

size_t pgsm_usable(const struct pgsm_note *note)
{
    return note->pages ? (size_t)note->pages * PGG_PAGE : class_bytes(note->class);
}

struct pgsm_note *pgsm_note_of(const void *p)
{
    const uintptr_t address = (uintptr_t)p, off = address - pgsm_range.from;
    const u32 entry = pgsm_pages[off / PGG_PAGE];
    struct pgsm_note *note = &pgsm_notes[entry];
    if (entry & (u32)PGSM_IS_SPAN) {
        const struct pgsm_span *span = &pgsm_spans[entry & ~(u32)PGSM_IS_SPAN];
        const u32 slot = (u32)(off - (uintptr_t)span->at * PGG_PAGE) / span->slot_bytes;
        note = slot < span->slots ? &pgsm_notes[span->first_note + slot] : NULL;
    }
    return entry && note && pgsm_start(note) == address ? note : NULL;
}

/* ---- slots ---- */

static struct pgsm_span *span_of(const struct pgsm_note *note)
{
    const u32 entry = pgsm_pages[note->at / (PGG_PAGE / PGSM_ALIGN)];
    return &pgsm_spans[entry & ~(u32)PGSM_IS_SPAN];
}

/* Its slots go into the list of their size. */
static bool new_span(u32 class)
{
    const u32 bytes = class_bytes(class), slots = PGSM_SPAN / bytes;
    bool clean;
    if (spans_used == SPANS_MOST || pgsm_range_bytes() + PGSM_SPAN + slots * sizeof *pgsm_notes >
                                        (pgsm_options.limit ? pgsm_options.limit : 1) << 20)
        return false;
    const u32 first = pgsm_notes_new(slots),
              run = first ? pgsm_run_take(PGSM_SPAN / PGG_PAGE, 1, &clean) : 0;
    if (!run)
        return false;
    const u32 at = pgsm_notes[run].at, page = at / (PGG_PAGE / PGSM_ALIGN);
    pgsm_spans[spans_used] = (struct pgsm_span){first, bytes, slots, 0, page};
    pgsm_note_drop(run);
    for (u32 i = slots; i--;) {
        struct pgsm_note *note = &pgsm_notes[first + i];
        *note = (struct pgsm_note){
            .at = at + i * bytes / PGSM_ALIGN, .class = (uint8_t) class, .next = free_slots[class]};
        free_slots[class] = first + i;
    }
    for (u32 i = 0; i < PGSM_SPAN / PGG_PAGE; i++)
        pgsm_pages[page + i] = spans_used | (u32)PGSM_IS_SPAN;
    spans_used++;
    free_spans++;
    return true;
}

static struct pgsm_note *take_slot(size_t bytes, size_t align, bool zero)
{
    u32 class = class_of(bytes);
    while (class_bytes(class) & (align - 1))
        class ++;
    if (!free_slots[class] && !new_span(class)) {
        full = true;
        return NULL;
    }
    struct pgsm_note *note = &pgsm_notes[free_slots[class]];
    struct pgsm_span *span = span_of(note);
    free_slots[class] = note->next;
    free_spans -= !span->live++ && free_spans;
    *note = (struct pgsm_note){.at = note->at, .class = note->class, .serial = note->serial + 1};
    if (zero)
        pgg_zero((void *)pgsm_start(note), span->slot_bytes); /* all that may be used */
    return note;
}

static void give_slot(struct pgsm_note *note)
{
    struct pgsm_span *span = span_of(note);
    note->state = PGSM_FREE;
    note->next = free_slots[note->class];
    free_slots[note->class] = (u32)(note - pgsm_notes);
    if (--span->live)
        return;
    if (free_spans < FREE_SPANS)
        free_spans++;
    else
        pgg_sys_advise((void *)(pgsm_range.from + (uintptr_t)span->at * PGG_PAGE), PGSM_SPAN,
                       MADV_DONTNEED);
}

/* ---- objects ---- */

static u32 pages_of(size_t bytes)
{
    return (u32)(pgg_whole_pages(bytes) / PGG_PAGE);
}

static struct pgsm_note *take_run(size_t bytes, size_t align, bool zero)
{
    bool clean;
    if (bytes > pgsm_range.bytes / 2 || align > PGSM_ALIGN_MOST)
        return NULL;
    const u32 run = pgsm_run_take(pages_of(bytes ? bytes : 1),
                                  align > PGG_PAGE ? (u32)(align / PGG_PAGE) : 1, &clean);
    if (!run)
        return NULL;
    struct pgsm_note *note = &pgsm_notes[run];
    if (zero && !clean)
        pgg_zero((void *)pgsm_start(note), pgsm_usable(note));
    return note;
}

struct pgsm_note *pgsm_range_take(size_t bytes, size_t align, bool zero)
{
    struct pgsm_note *note = bytes <= PGSM_SMALL_MOST && align <= PGSM_SMALL_MOST
                                 ? take_slot(bytes, align, zero)
                                 : take_run(bytes, align, zero);
    if (!note)
        return NULL;
    note->size = bytes;
    note->state = PGSM_LIVE;
    return note;
}

void pgsm_range_give(struct pgsm_note *note)
{
    if (note->pages)
        pgsm_run_give((u32)(note - pgsm_notes));
    else
        give_slot(note);
}

bool pgsm_range_resize(struct pgsm_note *note, size_t bytes)
{
    const bool fits =
        note->pages ? bytes > PGSM_SMALL_MOST && bytes <= pgsm_range.bytes / 2 &&
                          pgsm_run_resize((u32)(note - pgsm_notes), pages_of(bytes))
                    : bytes <= class_bytes(note->class) && bytes > class_bytes(note->class) / 2;
    if (fits)
        note->size = bytes;
    return fits;
}

bool pgsm_range_move(const struct pgsm_note *from, const struct pgsm_note *to)
{
    const size_t bytes = (size_t)from->pages * PGG_PAGE;
    return bytes >= MOVED_BYTES && from->pages <= to->pages &&
           pgg_sys_move_pages((void *)pgsm_start(from), bytes, (void *)pgsm_start(to)) >= 0;
}

static void take_if_live(void (*take)(void *arg, struct pgsm_note *note), void *arg,
                         struct pgsm_note *note)
{
    if (note->state == PGSM_LIVE && note->context)
        take(arg, note);
}

void pgsm_range_each(void (*take)(void *arg, struct pgsm_note *note), void *arg)
{
    const u32 notes = (u32)(pgsm_notes_bytes() / sizeof *pgsm_notes);
    for (u32 i = 1; i < notes; i++)
        take_if_live(take, arg, &pgsm_notes[i]);
}
