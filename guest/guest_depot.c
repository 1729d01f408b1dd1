/* Call stacks: the depot that gives each distinct one a number. Numbers are never taken back, so
 * they mean the same over all dumps of a process.
 * The depot only grows, by compare-and-swap, and so needs no lock. */
#include "guest_depot.h"

#include "guest_frames.h"
#include "guest_memory.h"
#include "guest_modules.h"

/* Most stacks have most frames in common with others: a frame is kept once for all stacks that are
 * the same from there outwards, as far as an index of those met last can tell. */
struct frame {
    u64 pc : PGG_CODE_BITS;
    u32 caller; /* the next one outwards; 0: none */
} __attribute__((packed, aligned(2)));
_Static_assert(sizeof(struct frame) == 10, "a program may have millions");

enum {
    SPAN = 4096,
    BUCKETS = 1 << 16,
    FRAMES_MAX = 1 << 27,
    FRAME_SPAN = 1 << 12,
};

static void *volatile spans[PGG_CONTEXTS_MAX / SPAN]; /* of struct pgg_context */
static volatile u32 buckets[BUCKETS];
static volatile u32 used = 1; /* 0 is no context */
static void *volatile frame_spans[FRAMES_MAX / FRAME_SPAN]; /* of struct frame */
static volatile u32 frame_index[BUCKETS];
static volatile u32 frames_used = 1; /* 0 is no frame */

u32 pgg_contexts(void)
{
    u32 n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    return n < PGG_CONTEXTS_MAX ? n : PGG_CONTEXTS_MAX;
}

static struct pgg_context *context_at(u32 id)
{
    return (struct pgg_context *)__atomic_load_n(&spans[id / SPAN], __ATOMIC_ACQUIRE) + id % SPAN;
}

const struct pgg_context *pgg_context(u32 id)
{
    return context_at(id);
}

/* Memory for one of the spans, if it has none; false: there is none. */
static bool have_span(void *volatile *span, size_t bytes)
{
    if (__atomic_load_n(span, __ATOMIC_ACQUIRE))
        return true;
    void *mine = pgg_map(bytes), *none = NULL;
    if (!mine)
        return false;
    if (!__atomic_compare_exchange_n(span, &none, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        pgg_unmap(mine, bytes);
    return true;
}

static struct frame *frame_at(u32 at)
{
    struct frame *span = __atomic_load_n(&frame_spans[at / FRAME_SPAN], __ATOMIC_ACQUIRE);
    return &span[at % FRAME_SPAN];
}

/* A frame, a new one if the index has none; 0 without memory. Two threads may make the same. */
static u32 have_frame(u64 pc, u32 caller)
{
    volatile u32 *place = &frame_index[pgg_trail_mix(pc ^ (u64)caller << 32) >> 48];
    u32 at = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (at && frame_at(at)->pc == pc && frame_at(at)->caller == caller)
        return at;
    if (__atomic_load_n(&frames_used, __ATOMIC_RELAXED) >= FRAMES_MAX)
        return 0;
    at = __atomic_fetch_add(&frames_used, 1, __ATOMIC_ACQ_REL);
    if (at >= FRAMES_MAX ||
        !have_span(&frame_spans[at / FRAME_SPAN], FRAME_SPAN * sizeof(struct frame)))
        return 0;
    *frame_at(at) = (struct frame){pc & ((UINT64_C(1) << PGG_CODE_BITS) - 1), caller};
    __atomic_store_n(place, at, __ATOMIC_RELEASE);
    return at;
}

/* All frames of a stack; the innermost one. */
static u32 have_frames(const u64 *pcs, u32 n)
{
    u32 at = have_frame(pcs[n - 1], 0);
    for (u32 i = n - 1; at && i--;)
        at = have_frame(pcs[i], at);
    return at;
}

void pgg_context_pcs(const struct pgg_context *c, u64 *pcs, u32 n)
{
    u32 at = c->frame;
    for (u32 i = 0; i < n; i++, at = frame_at(at)->caller)
        pcs[i] = frame_at(at)->pc;
}

static bool has_pcs(const struct pgg_context *c, const u64 *pcs, u32 n)
{
    u32 at = c->frame;
    for (u32 i = 0; i < n; i++, at = frame_at(at)->caller)
        if (frame_at(at)->pc != pcs[i])
            return false;
    return true;
}

/* Stacks of one bucket mostly differ in their first frame. */
static u32 find(u32 from, u32 until, const u64 *pcs, u32 n)
{
    for (u32 id = from; id != until; id = pgg_context(id)->next) {
        const struct pgg_context *c = pgg_context(id);
        if (c->n == n && has_pcs(c, pcs, n))
            return id;
    }
    return 0;
}

/* The number of a stack that has one, or 0. */
static u32 lookup(u64 hash, const u64 *pcs, u32 n)
{
    return find(__atomic_load_n(&buckets[hash >> 48], __ATOMIC_ACQUIRE), 0, pcs, n);
}

/* The number of a stack, a new one if it has none; 0 without memory. A context is filled before it
 * is put into its list, so that who walks the list without a lock finds it whole. */
static PGG_COLD u32 intern(u64 hash, const u64 *pcs, u32 n, bool cut)
{
    volatile u32 *bucket = &buckets[hash >> 48];
    u32 head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE), id = find(head, 0, pcs, n);
    if (id)
        return id;
    const u32 frame = n ? have_frames(pcs, n) : 0;
    if ((n && !frame) || __atomic_load_n(&used, __ATOMIC_RELAXED) >= PGG_CONTEXTS_MAX)
        return 0;
    id = __atomic_fetch_add(&used, 1, __ATOMIC_ACQ_REL);
    if (id >= PGG_CONTEXTS_MAX ||
        !have_span(&spans[id / SPAN], SPAN * sizeof(struct pgg_context)))
        return 0;
    struct pgg_context *c = context_at(id);
    *c = (struct pgg_context){
        .frame = frame & (FRAMES_MAX - 1), .cut = cut, .n = n & 255, .next = head & 0xffffff};
    while (!__atomic_compare_exchange_n(bucket, &head, id, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        /* Somebody else was here; perhaps with the same stack. The number is then wasted. */
        u32 theirs = find(head, c->next, pcs, n);
        if (theirs)
            return theirs;
        c->next = head & 0xffffff;
    }
    return id;
}

/* Bounds of the code of the runtime and of all that is linked into it (combine). */
extern const char pgg_own_code[] __attribute__((visibility("hidden")));
extern const char pgg_own_code_end[] __attribute__((visibility("hidden")));

/* The addresses of a stack without those of the runtime: its functions that take the place of those
 * of the C library call these, which may allocate. */
static void take_pcs(const struct pgg_walker *w, struct pgg_stack_found *found, u64 *pcs)
{
    const u64 from = (u64)(uintptr_t)pgg_own_code, bytes = (u64)(pgg_own_code_end - pgg_own_code);
    u32 n = 0;
    bool any = false;
    pgg_walk_pcs(w, found, pcs);
    for (u32 i = 0; i < found->n; i++)
        any |= pcs[i] - from < bytes;
    if (PGG_LIKELY(!any))
        return;
    for (u32 i = 0; i < found->n; i++) {
        pcs[n] = pcs[i];
        n += pcs[i] - from >= bytes;
    }
    found->n = n;
}

/* Adds a stack that is not there yet. */
static PGG_COLD u32 add(struct pgg_walker *w, const void *frame, struct pgg_stack_found *found,
                        u64 *pcs)
{
    if (pgg_modules_learn(pcs, found->n)) {
        pgg_frames_forget();
        *found = pgg_walk(w, frame, pcs);
        take_pcs(w, found, pcs);
        pgg_modules_learn(pcs, found->n);
    }
    return intern(found->hash, pcs, found->n, found->full && pgg_walk_goes_on(w, frame));
}

u32 pgg_context_of_walk(struct pgg_walker *w, const void *frame, struct pgg_stack_found *found,
                        u64 *pcs)
{
    const u64 hash = found->hash;
    take_pcs(w, found, pcs);
    const u32 id = lookup(hash, pcs, found->n);
    return id ? id : add(w, frame, found, pcs);
}
