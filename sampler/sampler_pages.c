/* Runs of pages. Free runs are in lists by the power of two of their length; the first and the last
 * page of a run lead to its note, so that a run that becomes free finds its free neighbours. */
#include "sampler_pages.h"

#include "guest_sys.h"

#include <sys/mman.h>

enum {
    BINS = 32,
    TRIES = 32,        /* runs of a list that may be long enough */
    KEPT_PAGES = 128,  /* of free runs that stay in memory */
    COMMIT_PAGES = 64, /* that may be accessed from now on, at once */
};

u32 *pgsm_pages;
struct pgsm_note *pgsm_notes;

static u32 notes_used = 1; /* 0 is none */
static u32 free_notes;
static u32 bins[BINS];
static u32 notes_most;
static u64 end_page, next_page; /* pages from there on were never used */
static u64 committed;           /* pages below may be accessed */
static u64 kept;

u64 pgsm_notes_bytes(void)
{
    return (u64)notes_used * sizeof *pgsm_notes;
}

void pgsm_pages_open(u32 pages, u32 *entries, struct pgsm_note *notes, size_t notes_bytes)
{
    pgsm_pages = entries;
    pgsm_notes = notes;
    notes_most = (u32)(notes_bytes / sizeof *notes);
    end_page = pages;
}

u32 pgsm_notes_new(u32 n)
{
    if (n > notes_most - notes_used)
        return 0;
    notes_used += n;
    return notes_used - n;
}

u32 pgsm_note_new(void)
{
    const u32 note = free_notes;
    if (!note)
        return pgsm_notes_new(1);
    free_notes = pgsm_notes[note].next;
    const u32 serial = pgsm_notes[note].serial;
    pgsm_notes[note] = (struct pgsm_note){.serial = serial};
    return note;
}

void pgsm_note_drop(u32 note)
{
    pgsm_notes[note].state = PGSM_FREE;
    pgsm_notes[note].pages = 0;
    pgsm_notes[note].next = free_notes;
    free_notes = note;
}

/* ---- runs ---- */

static u64 page_of(u32 note)
{
    return pgsm_notes[note].at / (PGG_PAGE / PGSM_ALIGN);
}

static void *address_of(u64 page)
{
    return (void *)(pgsm_range.from + page * PGG_PAGE);
}

static u32 bin_of(u32 pages)
{
    return 31 - (u32)__builtin_clz(pages);
}

/* A free run has its own fields in the note. */
#define PREVIOUS(note) pgsm_notes[note].context
#define IS_CLEAN(note) pgsm_notes[note].hits

static void link_run(u32 note)
{
    u32 *bin = &bins[bin_of(pgsm_notes[note].pages)];
    const u64 page = page_of(note);
    pgsm_notes[note].next = *bin;
    PREVIOUS(note) = 0;
    if (*bin)
        PREVIOUS(*bin) = note;
    *bin = note;
    pgsm_pages[page] = pgsm_pages[page + pgsm_notes[note].pages - 1] = note;
}

static void unlink_run(u32 note)
{
    const u32 next = pgsm_notes[note].next, previous = PREVIOUS(note);
    if (next)
        PREVIOUS(next) = previous;
    if (previous)
        pgsm_notes[previous].next = next;
    else
        bins[bin_of(pgsm_notes[note].pages)] = next;
    if (!IS_CLEAN(note))
        kept -= pgsm_notes[note].pages;
}

static u32 run_new(u64 page, u32 pages)
{
    const u32 note = pgsm_note_new();
    if (note) {
        pgsm_notes[note].at = (u32)(page * (PGG_PAGE / PGSM_ALIGN));
        pgsm_notes[note].pages = pages;
    }
    return note;
}

/* A free run of what is left of one; without a note for it the pages are lost. */
static void leave(u64 page, u32 pages, bool clean)
{
    const u32 note = pages ? run_new(page, pages) : 0;
    if (!note)
        return;
    IS_CLEAN(note) = clean;
    if (!clean)
        kept += pages;
    link_run(note);
}

static bool is_free_run(u32 note)
{
    return note && !(note & (u32)PGSM_IS_SPAN) && pgsm_notes[note].state == PGSM_FREE &&
           pgsm_notes[note].pages;
}

static bool fits(u32 note, u32 pages, u32 align_pages)
{
    const u64 page = page_of(note), from = (page + align_pages - 1) / align_pages * align_pages;
    return from + pages <= page + pgsm_notes[note].pages;
}

static u32 find(u32 pages, u32 align_pages)
{
    for (u32 bin = bin_of(pages); bin < BINS; bin++) {
        u32 note = bins[bin];
        for (u32 tries = 0; note && tries < TRIES; tries++, note = pgsm_notes[note].next)
            if (fits(note, pages, align_pages))
                return note;
    }
    return 0;
}

static bool commit(u64 until)
{
    if (until <= committed)
        return true;
    u64 to = (until + COMMIT_PAGES - 1) / COMMIT_PAGES * COMMIT_PAGES;
    to = to < end_page ? to : end_page;
    if (pgg_sys_protect(address_of(committed), (to - committed) * PGG_PAGE, PROT_READ | PROT_WRITE))
        return false;
    committed = to;
    return true;
}

/* Of pages that were never used. */
static u32 extend(u32 pages, u32 align_pages)
{
    const u64 from = (next_page + align_pages - 1) / align_pages * align_pages;
    if (from + pages > end_page || !commit(from + pages))
        return 0;
    const u32 note = run_new(from, pages);
    if (!note)
        return 0;
    leave(next_page, (u32)(from - next_page), true);
    next_page = from + pages;
    return note;
}

static u32 cut(u32 note, u32 pages, u32 align_pages)
{
    const u64 page = page_of(note), from = (page + align_pages - 1) / align_pages * align_pages;
    const u32 had = pgsm_notes[note].pages, lead = (u32)(from - page);
    const bool clean = IS_CLEAN(note);
    unlink_run(note);
    leave(page, lead, clean);
    leave(from + pages, had - lead - pages, clean);
    pgsm_notes[note].at = (u32)(from * (PGG_PAGE / PGSM_ALIGN));
    pgsm_notes[note].pages = pages;
    return note;
}

u32 pgsm_run_take(u32 pages, u32 align_pages, bool *clean)
{
    u32 note = find(pages, align_pages);
    *clean = !note || IS_CLEAN(note);
    note = note ? cut(note, pages, align_pages) : extend(pages, align_pages);
    if (!note)
        return 0;
    const u64 page = page_of(note);
    for (u32 i = 0; i < pages; i++)
        pgsm_pages[page + i] = note;
    struct pgsm_note *n = &pgsm_notes[note];
    *n = (struct pgsm_note){.at = n->at, .pages = pages, .serial = n->serial + 1};
    return note;
}

/* Takes a free neighbour into a run that becomes free. */
static void join(u32 note, u32 other)
{
    struct pgsm_note *n = &pgsm_notes[note], *o = &pgsm_notes[other];
    unlink_run(other);
    n->at = o->at < n->at ? o->at : n->at;
    n->pages += o->pages;
    if (!IS_CLEAN(other))
        IS_CLEAN(note) = false;
    pgsm_note_drop(other);
}

void pgsm_run_give(u32 note)
{
    struct pgsm_note *n = &pgsm_notes[note];
    const u64 page = page_of(note);
    const u32 pages = n->pages, before = page ? pgsm_pages[page - 1] : 0,
              after = page + pages < next_page ? pgsm_pages[page + pages] : 0;
    n->state = PGSM_FREE;
    IS_CLEAN(note) = kept + pages > KEPT_PAGES &&
                     !pgg_sys_advise(address_of(page), (size_t)pages * PGG_PAGE, MADV_DONTNEED);
    const bool clean = IS_CLEAN(note);
    /* Pages that were lost for want of a note may lead to another run. */
    if (is_free_run(before) && IS_CLEAN(before) == clean &&
        page_of(before) + pgsm_notes[before].pages == page)
        join(note, before);
    if (is_free_run(after) && IS_CLEAN(after) == clean && page_of(after) == page + pages)
        join(note, after);
    if (!clean)
        kept += n->pages;
    link_run(note);
}

bool pgsm_run_resize(u32 note, u32 pages)
{
    struct pgsm_note *n = &pgsm_notes[note];
    const u64 end = page_of(note) + n->pages;
    const u32 more = pages > n->pages ? pages - n->pages : 0;
    if (!more) {
        const u32 less = n->pages - pages, rest = less ? run_new(end - less, less) : 0;
        if (rest) {
            n->pages = pages;
            pgsm_pages[end - 1] = rest;
            pgsm_run_give(rest);
        }
        return true;
    }
    const u32 after = end < next_page ? pgsm_pages[end] : 0;
    if (!is_free_run(after) || page_of(after) != end || pgsm_notes[after].pages < more)
        return false;
    pgsm_note_drop(cut(after, more, 1));
    n->pages = pages;
    for (u32 i = 0; i < more; i++)
        pgsm_pages[end + i] = note;
    return true;
}
