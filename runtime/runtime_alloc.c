/* Allocation: blocks come from jemalloc, are laid out so that no two objects share a granule,
 * and are counted when they end.
 *
 *   near   | header 16 | object ...        |   block 64-aligned, object at block + 16
 *   far    | ... | block | header 16 | object ...   alignment of 32 and more: the header closes
 *                                                   a granule of its own in front of the object
 *
 * Memory that a signal handler asks for while its thread is inside the runtime comes from a
 * spare region that is never given back. */
#include "runtime_alloc.h"

#include "guest_memory.h"
#include "guest_sys.h"
#include "runtime_access.h"
#include "runtime_depot.h"
#include "runtime_hooks.h"
#include "runtime_options.h"
#include "runtime_shadow.h"
#include "runtime_start.h"
#include "runtime_thread.h"
#include "runtime_trigger.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

void *pgrt_je_malloc(size_t n);
void *pgrt_je_mallocx(size_t n, int flags);
void pgrt_je_free(void *p);
int pgrt_je_mallctl(const char *name, void *old, size_t *old_size, void *to, size_t to_size);
enum { JE_ZERO = 0x40 };

/* Pages that a program has freed go back to the system within half a second: with the ten seconds
 * that jemalloc waits, programs which read one large thing after the other peak a third higher. */
extern const char *pgrt_je_malloc_conf;
const char *pgrt_je_malloc_conf = "dirty_decay_ms:500";

void pgrt_alloc_keep_pages(void)
{
    ptrdiff_t never = -1;
    /* Of all arenas, as jemalloc numbers them, and of those to come. */
    pgrt_je_mallctl("arena.4096.dirty_decay_ms", NULL, NULL, &never, sizeof never);
    pgrt_je_mallctl("arenas.dirty_decay_ms", NULL, NULL, &never, sizeof never);
}

u32 pgrt_region_list[PGRT_REGIONS_MAX], pgrt_region_count;
static uint8_t region_seen[1 << (47 - PGRT_REGION_SHIFT)];

static PGG_COLD void add_region(uint8_t *region)
{
    u32 at;
    if (!__atomic_exchange_n(region, 1, __ATOMIC_ACQ_REL) &&
        (at = __atomic_fetch_add(&pgrt_region_count, 1, __ATOMIC_ACQ_REL)) < PGRT_REGIONS_MAX) {
        pgrt_region_list[at] = (u32)(region - region_seen);
        pgrt_memory_grew(at + 1);
    }
}

enum { LARGE_WORDS = (64 << 10) / 8 };

#define SPARE_BYTES ((size_t)1 << (pgrt_little_room ? 24 : 32))
static char *spare, *spare_at;

/* Bytes of a near block. */
PGG_INLINE size_t near_bytes(size_t n)
{
    return (n + PGRT_HEADER + PGRT_GRANULE - 1) & ~(size_t)(PGRT_GRANULE - 1);
}

static PGG_COLD void *spare_alloc(size_t n, size_t align)
{
    if (!spare) {
        const long p = pgg_sys_pages(SPARE_BYTES); /* hardly any of it is ever used */
        char *none = NULL;
        if (p < 0)
            return NULL;
        if (__atomic_compare_exchange_n(&spare, &none, (char *)p, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            __atomic_store_n(&spare_at, (char *)p, __ATOMIC_RELEASE);
        else
            pgg_sys_unmap((void *)p, SPARE_BYTES);
    }
    char *at, *object;
    do {
        at = __atomic_load_n(&spare_at, __ATOMIC_ACQUIRE);
        object = (char *)(((uintptr_t)at + PGRT_HEADER + align - 1) & ~(align - 1));
        if (!at || n > SPARE_BYTES / 2 || object + n > spare + SPARE_BYTES)
            return NULL;
    } while (!__atomic_compare_exchange_n(&spare_at, &at, object + n, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    *pgrt_header_of(object) =
        (struct pgrt_header){.size = n, .kind = PGRT_KIND_SPARE | PGRT_KIND_SILENT};
    return object;
}

static bool is_spare(const void *p)
{
    return spare && (uintptr_t)p - (uintptr_t)spare < SPARE_BYTES;
}

/* Words of the object's granules, zeroed; the mark goes onto the header's. */
PGG_INLINE void start_counting(void *object, size_t n, bool far)
{
    u64 *word = pgrt_shadow((uintptr_t)object - PGRT_HEADER);
    u64 *end = pgrt_shadow((uintptr_t)object + n - 1) + 1;
    uint8_t *region = &region_seen[((uintptr_t)object - PGRT_HEADER) >> PGRT_REGION_SHIFT &
                                   (sizeof region_seen - 1)];
    if (PGG_UNLIKELY(!__atomic_load_n(region, __ATOMIC_RELAXED)))
        add_region(region);
    if (PGG_UNLIKELY(end - word >= LARGE_WORDS))
        pgrt_shadow_reset_large(word, end);
    else
        pgg_words_clear(word + 1, end);
    if (PGG_UNLIKELY(pgrt_histogram))
        *word = far ? PGRT_HIST_FAR : PGRT_HIST_NEAR;
    else
        *word = far ? PGRT_MARK_FAR : PGRT_MARK_NEAR;
}

/* An object by the mark of its granule; false for anything that did not come from here. */
PGG_INLINE bool is_object(const void *p, bool *far)
{
    if (PGG_UNLIKELY(!__memprof_shadow_memory_dynamic_address)) {
        *far = !((uintptr_t)p & (PGRT_GRANULE - 1));
        return true;
    }
    u64 word = *pgrt_shadow((uintptr_t)p - PGRT_HEADER);
    u32 inside = (uintptr_t)p & (PGRT_GRANULE - 1);
    if (PGG_UNLIKELY(pgrt_histogram))
        word = (word & 0xff) == PGRT_HIST_NEAR  ? PGRT_MARK_NEAR
               : (word & 0xff) == PGRT_HIST_FAR ? PGRT_MARK_FAR
                                                : 0;
    *far = inside == 0;
    return (word & PGRT_MARK_BITS) == (*far ? PGRT_MARK_FAR : PGRT_MARK_NEAR) &&
           (*far || inside == PGRT_HEADER);
}

/* Accesses of an object so far. */
PGG_INLINE u64 accesses(const struct pgrt_header *h)
{
    const uintptr_t object = (uintptr_t)(h + 1);
    if (PGG_UNLIKELY(pgrt_histogram))
        return pgrt_shadow_sum_bytes(object, h->size);
    const u64 *word = pgrt_shadow(object), *end = pgrt_shadow(object + h->size - 1) + 1;
    return (*word & ~PGRT_MARK_BITS) + pgg_words_sum(word + 1, end);
}

u64 pgrt_accesses(const struct pgrt_header *h)
{
    return accesses(h);
}

/* Blocks of some KiB begin at few distances from a page, so that the headers of the program's
 * structures in them would contend for few sets of the processor's caches. What is spare in such a
 * block goes in front of the object, in turn more and less of it. */
enum { SPREAD_BYTES = 1024, LARGE_BYTES = 16 << 10 };

PGG_INLINE size_t spread(size_t bytes)
{
    static PGG_TLS u32 turn;
    const u32 class_shift = 64 - 3 - (u32)__builtin_clzl(bytes - 1);
    const size_t room = -bytes & (((size_t)1 << class_shift) - 1);
    turn += 0x9e3779b9;
    return (size_t)((u64)turn * (room / PGRT_GRANULE + 1) >> 32);
}

static void *block_alloc(size_t n, size_t align, bool zero, u32 *shift)
{
    if (PGG_LIKELY(align <= PGRT_HEADER)) {
        const size_t bytes = near_bytes(n);
        if (PGG_UNLIKELY(bytes > SPREAD_BYTES && bytes < LARGE_BYTES))
            *shift = (u32)spread(bytes);
        char *block = zero ? pgrt_je_mallocx(bytes, JE_ZERO) : pgrt_je_malloc(bytes);
        return block ? block + *shift * (size_t)PGRT_GRANULE + PGRT_HEADER : NULL;
    }
    if (align < PGRT_GRANULE)
        align = PGRT_GRANULE;
    size_t bytes = align + ((n + PGRT_GRANULE - 1) & ~(size_t)(PGRT_GRANULE - 1));
    if (bytes < n)
        return NULL;
    char *block = pgrt_je_mallocx(bytes, __builtin_ctzl(align) | (zero ? JE_ZERO : 0));
    if (!block)
        return NULL;
    *(void **)(block + align - PGRT_HEADER - sizeof(void *)) = block;
    return block + align;
}

static void block_free(struct pgrt_header *h)
{
    if (PGG_UNLIKELY(h->kind & PGRT_KIND_FAR))
        pgrt_je_free(((void **)h)[-1]);
    else
        pgrt_je_free((char *)h - h->shift * (size_t)PGRT_GRANULE);
}

bool pgrt_malloc_is_theirs;

void *pgrt_alloc_for(size_t n, const void *frame)
{
    return PGG_UNLIKELY(pgrt_malloc_is_theirs) ? malloc(n) : pgrt_alloc(n, 0, false, frame);
}

/* What is recorded of the end of an object. */
PGG_INLINE void end(struct pgrt_thread *t, const struct pgrt_header *h, const void *object)
{
    if (PGG_UNLIKELY(h->generation != (pgrt_generation & 0xff)))
        return;
    if (PGG_LIKELY(!(h->kind & PGRT_KIND_SILENT)))
        pgrt_table_add(t, h, accesses(h), pgrt_now_ms(), pgrt_cpu(), (uintptr_t)object);
    else if (!(h->kind & PGRT_KIND_UNBEGUN))
        pgrt_table_gone(t, h);
}

/* The end of an object; t may be NULL when nothing is recorded. */
PGG_INLINE void free_inside(struct pgrt_thread *t, void *object)
{
    struct pgrt_header *h = pgrt_header_of(object);
    bool shadow = __memprof_shadow_memory_dynamic_address;
    if (PGG_LIKELY(t))
        end(t, h, object);
    if (PGG_LIKELY(shadow)) {
        u64 *word = pgrt_shadow((uintptr_t)h), *end = pgrt_shadow((uintptr_t)object + h->size - 1);
        *word = 0;
        if (PGG_UNLIKELY(end - word >= LARGE_WORDS))
            pgrt_shadow_reset_large(word, end + 1);
    }
    block_free(h);
}

/* While recording is paused, the end of an object that is recorded is, too. */
static PGG_COLD void end_paused(void *object)
{
    struct pgrt_thread *t = pgrt_enter_paused();
    if (!t)
        return;
    end(t, pgrt_header_of(object), object);
    pgrt_header_of(object)->kind |= PGRT_KIND_SILENT | PGRT_KIND_UNBEGUN;
    pgrt_leave(t);
}

/* What is alive would be too much if the old object still were, which no other allocator needs to
 * keep: it ends before the new one begins. */
PGG_INLINE void move(struct pgrt_thread *t, void *object, size_t n, void *old)
{
    const size_t size = pgrt_header_of(old)->size;
    pgg_copy_fast(object, old, size < n ? size : n);
    if (PGG_LIKELY(t))
        t->series.last = NULL; /* it only grows: nothing was temporary */
    else
        end_paused(old);
    free_inside(t, old);
}

PGG_INLINE void *alloc(size_t n, size_t align, bool zero, const void *frame, void *old)
{
    if (PGG_UNLIKELY(!n))
        n = 1;
    if (PGG_UNLIKELY(n > PGRT_SIZE_MAX))
        return NULL;
    struct pgrt_thread *t = pgrt_enter();
    if (PGG_UNLIKELY(!t && pgrt_busy()))
        return spare_alloc(n, align < PGRT_HEADER ? PGRT_HEADER : align);
    const u32 now = pgrt_now_ms();
    u32 shift = 0;
    void *object = block_alloc(n, align, zero, &shift);
    if (PGG_LIKELY(object)) {
        struct pgrt_header *h = pgrt_header_of(object);
        const bool far = align > PGRT_HEADER;
        const u32 context = t ? pgrt_context_here(t, frame) : 0;
        if (old)
            move(t, object, n, old);
        const bool begun = PGG_LIKELY(t) &&
                           PGG_LIKELY(pgrt_table_begin(t, &t->table, &t->series, context, n, now));
        if (PGG_LIKELY(begun))
            t->series.last = object;
        pgrt_header_set(h, &(struct pgrt_header){
                               .size = n,
                               .cpu = pgrt_cpu(),
                               .kind = (far ? PGRT_KIND_FAR : 0) | (t ? 0 : PGRT_KIND_SILENT) |
                                       (begun ? 0 : PGRT_KIND_UNBEGUN),
                               .generation = pgrt_generation & 0xff,
                               .context = context,
                               .shift = shift,
                               .alloc_ms = now,
                           });
        if (PGG_LIKELY(__memprof_shadow_memory_dynamic_address))
            start_counting(object, n, far);
    }
    if (PGG_LIKELY(t)) {
        pgrt_leave(t);
        if (PGG_UNLIKELY(now >= pgrt_dump_due))
            pgrt_dump_if_due();
    }
    if (PGG_UNLIKELY(pgrt_hooked) && object)
        pgrt_hook_alloc(object, n);
    return object;
}

void *pgrt_alloc(size_t n, size_t align, bool zero, const void *frame)
{
    return alloc(n, align, zero, frame, NULL);
}

void pgrt_free_now(struct pgrt_thread *t, void *object)
{
    const u32 gate = pgrt_gate_now();
    free_inside(gate == PGRT_GATE_OPEN || gate == PGRT_GATE_PAUSED ? t : NULL, object);
}

/* A signal handler frees while its thread is inside: later, when the thread is out. */
static PGG_COLD void free_later(void *object)
{
    if (pgrt_self)
        pgrt_defer_free(pgrt_self, object);
}

void pgrt_free(void *p)
{
    bool far;
    if (!p || PGG_UNLIKELY(is_spare(p)))
        return;
    if (PGG_UNLIKELY(!is_object(p, &far))) {
        static volatile u32 said;
        if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
            pgrt_say("free of memory that is not an object was left alone", NULL);
        return;
    }
    if (PGG_UNLIKELY(pgrt_hooked))
        pgrt_hook_free(p);
    struct pgrt_thread *t = pgrt_enter_paused();
    if (PGG_UNLIKELY(!t && pgrt_busy())) {
        free_later(p);
        return;
    }
    free_inside(t, p);
    if (PGG_LIKELY(t))
        pgrt_leave(t);
}

/* Bytes the program asked for. */
size_t pgrt_size(const void *p)
{
    bool far;
    if (!p || !(is_spare(p) || is_object(p, &far)))
        return 0;
    return pgrt_header_of(p)->size;
}

void *pgrt_realloc(void *p, size_t n, const void *frame)
{
    if (p && !n && pgrt_options.realloc_zero_frees) {
        pgrt_free(p);
        return NULL;
    }
    bool far;
    if (p && !pgrt_hooked && !pgrt_busy() && !is_spare(p) && is_object(p, &far))
        return alloc(n, 0, false, frame, p);
    void *object = pgrt_alloc(n, 0, false, frame);
    if (object && p) {
        size_t old = pgrt_size(p);
        pgg_copy_fast(object, p, old < n ? old : n);
        pgrt_free(p);
    }
    return object;
}

void *pgrt_realloc_for(void *p, size_t n, const void *frame)
{
    return PGG_UNLIKELY(pgrt_malloc_is_theirs) ? realloc(p, n) : pgrt_realloc(p, n, frame);
}
