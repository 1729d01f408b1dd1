/* Allocation: blocks come from jemalloc, are laid out so that no two objects share a granule
 * (runtime_object.h), and are counted when they end.
 *
 * Memory that a signal handler asks for while its thread is inside the runtime comes from a
 * spare region that is never given back. */
#include "runtime_alloc.h"

#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "runtime_access.h"
#include "runtime_depot.h"
#include "runtime_dump.h"
#include "runtime_heap.h"
#include "runtime_hooks.h"
#include "runtime_mapped.h"
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
void pgrt_je_sdallocx(void *p, size_t n, int flags);
size_t pgrt_je_xallocx(void *p, size_t n, size_t more, int flags);
int pgrt_je_mallctl(const char *name, void *old, size_t *old_size, void *to, size_t to_size);
enum { JE_ZERO = 0x40 };

/* Pages that a program has freed go back to the system within half a second: with the ten seconds
 * that jemalloc waits, programs which read one large thing after the other peak a third higher.
 *
 * Small objects of one size are adjacent in slabs of 128 KiB, not of 4 or 12 KiB: programs mostly
 * walk through them as they were made, and the processor reads ahead as long as steps are even. */
extern const char *pgrt_je_malloc_conf;
const char *pgrt_je_malloc_conf = "dirty_decay_ms:500,slab_sizes:64-1024:32";

void pgrt_alloc_keep_pages(void)
{
    ptrdiff_t never = -1;
    /* For all arenas, by jemalloc's numbers, and for future ones. */
    pgrt_je_mallctl("arena.4096.dirty_decay_ms", NULL, NULL, &never, sizeof never);
    pgrt_je_mallctl("arenas.dirty_decay_ms", NULL, NULL, &never, sizeof never);
}

u32 pgrt_region_list[PGRT_REGIONS_MAX], pgrt_region_count;
static uint8_t region_seen[1 << (PGG_ADDRESS_BITS - PGRT_REGION_SHIFT)];

static PGG_COLD void add_region(uint8_t *region)
{
    u32 at;
    if (!__atomic_exchange_n(region, 1, __ATOMIC_ACQ_REL) &&
        (at = __atomic_fetch_add(&pgrt_region_count, 1, __ATOMIC_ACQ_REL)) < PGRT_REGIONS_MAX) {
        pgrt_region_list[at] = (u32)(region - region_seen);
        pgrt_memory_grew(at + 1);
    }
}

enum { LARGE_WORDS = (64 << 10) / 8, SPARSE_WORDS = (256 << 10) / 8 };

#define SPARE_BYTES ((size_t)1 << (pgrt_space_is_limited ? 24 : 32))
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

/* The granule with the mark of an object. */
PGG_INLINE u64 *mark_of(const void *object, enum pgrt_form form)
{
    return pgrt_shadow((uintptr_t)object - (form == PGRT_FORM_SMALL ? 0 : PGRT_HEADER));
}

/* Words of the object's granules, zeroed; the mark goes onto its place. */
PGG_INLINE void start_counting(void *object, size_t n, enum pgrt_form form, u64 mark)
{
    u64 *word = mark_of(object, form);
    u64 *end = pgrt_shadow((uintptr_t)object + n - 1) + 1;
    uint8_t *region = &region_seen[((uintptr_t)object - PGRT_HEADER) >> PGRT_REGION_SHIFT &
                                   (sizeof region_seen - 1)];
    if (PGG_UNLIKELY(!__atomic_load_n(region, __ATOMIC_RELAXED)))
        add_region(region);
    if (PGG_UNLIKELY(end - word >= LARGE_WORDS))
        pgrt_shadow_reset_large(word, end);
    else
        pgg_words_clear(word + 1, end);
    *word = mark;
}

PGG_INLINE u64 mark_of_form(enum pgrt_form form)
{
    if (PGG_UNLIKELY(pgrt_histogram))
        return form == PGRT_FORM_FAR ? PGRT_HIST_FAR : PGRT_HIST_NEAR;
    return form == PGRT_FORM_FAR ? PGRT_MARK_FAR : PGRT_MARK_NEAR;
}

/* An object by the mark of its granule; PGRT_FORM_NONE for all that did not come from here. */
PGG_INLINE enum pgrt_form form_of(const void *p)
{
    const u32 inside = (uintptr_t)p & (PGRT_GRANULE - 1);
    const enum pgrt_form form = inside ? PGRT_FORM_NEAR : PGRT_FORM_FAR;
    if (PGG_UNLIKELY(!__memprof_shadow_memory_dynamic_address))
        return form;
    if (PGG_LIKELY(!inside) && PGG_LIKELY(!pgrt_histogram) &&
        PGG_LIKELY((*pgrt_shadow((uintptr_t)p) & PGRT_MARK_BITS) == PGRT_MARK_SMALL))
        return PGRT_FORM_SMALL;
    const u64 bits = PGG_UNLIKELY(pgrt_histogram) ? 0xff : PGRT_MARK_BITS;
    return (*mark_of(p, form) & bits) == mark_of_form(form) && (!inside || inside == PGRT_HEADER)
               ? form
               : PGRT_FORM_NONE;
}

static PGG_COLD struct pgrt_use use_of_bytes(const struct pgrt_object *o)
{
    const uintptr_t at = (uintptr_t)o->at;
    const uint8_t *counters = (const uint8_t *)__memprof_shadow_memory_dynamic_address;
    u64 used = 0;
    struct pgrt_use use = {.accesses = pgrt_shadow_sum_bytes(at, o->h.size, &used)};
    use.touched = used * PGRT_WORD;
    if (counters[(at + o->h.size - 1) / PGRT_WORD])
        use.touched -= -(u64)o->h.size % PGRT_WORD;
    return use;
}

/* The accesses of an object so far. Its first and last granule may partly belong to others. */
PGG_INLINE struct pgrt_use use_of(const struct pgrt_object *o)
{
    const uintptr_t at = (uintptr_t)o->at, last = at + o->h.size - 1;
    if (PGG_UNLIKELY(pgrt_histogram))
        return use_of_bytes(o);
    const u64 *word = pgrt_shadow(at), *end = pgrt_shadow(last) + 1;
    const u64 first = o->form == PGRT_FORM_SMALL ? *word & ((UINT64_C(1) << PGRT_COUNT_BITS) - 1)
                                                 : *word & ~PGRT_MARK_BITS;
    if (PGG_LIKELY(end - word == 1))
        return (struct pgrt_use){first, first ? o->h.size : 0};
    u64 used = first != 0;
    struct pgrt_use use = {
        .accesses = first + (PGG_UNLIKELY(end - word >= SPARSE_WORDS)
                                 ? pgrt_shadow_sum_large(word, end, &used)
                                 : pgg_words_sum(word + 1, end, &used)),
    };
    use.touched = used * PGRT_GRANULE - (first ? at % PGRT_GRANULE : 0) -
                  (end[-1] ? PGRT_GRANULE - 1 - last % PGRT_GRANULE : 0);
    return use;
}

struct pgrt_use pgrt_use(const struct pgrt_object *o)
{
    return use_of(o);
}

/* Blocks of some KiB begin at few distances from a page, so that the headers of the program's
 * structures in them would contend for few sets of the processor's caches. What is spare in such a
 * block goes in front of the object, in turn more and less of it. */
enum { SPREAD_BYTES = 1024, LARGE_BYTES = 16 << 10 };

PGG_INLINE size_t spread(size_t bytes)
{
    static PGG_TLS u32 turn;
    const u32 class_shift = 64 - 3 - (u32)__builtin_clzl(bytes - 1);
    const size_t space = -bytes & (((size_t)1 << class_shift) - 1);
    turn += 0x9e3779b9;
    return (size_t)((u64)turn * (space / PGRT_GRANULE + 1) >> 32);
}

/* The form of an object to be made. */
PGG_INLINE enum pgrt_form form_for(size_t n, size_t align, u32 context)
{
    if (PGG_LIKELY(n <= PGRT_SMALL_MAX) && PGG_LIKELY(align <= PGRT_GRANULE) &&
        PGG_LIKELY(pgrt_words) && PGG_LIKELY(context < PGRT_SMALL_CONTEXTS) &&
        PGG_LIKELY(pgrt_generation < PGRT_SMALL_GENERATIONS))
        return PGRT_FORM_SMALL;
    return align > PGRT_HEADER ? PGRT_FORM_FAR : PGRT_FORM_NEAR;
}

static void *block_alloc(size_t n, size_t align, bool zero, enum pgrt_form form, u32 *shift)
{
    if (PGG_LIKELY(form == PGRT_FORM_SMALL)) {
        const size_t bytes = pgrt_small_bytes(n);
        return zero ? pgrt_je_mallocx(bytes, JE_ZERO) : pgrt_je_malloc(bytes);
    }
    if (PGG_LIKELY(form == PGRT_FORM_NEAR)) {
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

static void block_free(const struct pgrt_object *o)
{
    if (PGG_LIKELY(o->form == PGRT_FORM_SMALL)) /* its mark says how long it is */
        pgrt_je_sdallocx(o->at, pgrt_small_bytes(o->h.size), 0);
    else if (PGG_UNLIKELY(o->form == PGRT_FORM_FAR))
        pgrt_je_free(((void **)pgrt_header_of(o->at))[-1]);
    else if (PGG_UNLIKELY(o->h.kind & PGRT_KIND_MAPPED))
        pgrt_mapped_free(o);
    else
        pgrt_je_free((char *)pgrt_header_of(o->at) - o->h.shift * (size_t)PGRT_GRANULE);
}

bool pgrt_malloc_is_theirs;

void *pgrt_alloc_for(size_t n, const void *frame)
{
    return PGG_UNLIKELY(pgrt_malloc_is_theirs) ? malloc(n) : pgrt_alloc(n, 0, false, frame);
}

/* Records the end of an object. */
PGG_INLINE void end(struct pgrt_thread *t, const struct pgrt_object *o)
{
    if (PGG_UNLIKELY(o->h.generation != (pgrt_generation & 0xff)))
        return;
    if (PGG_LIKELY(!(o->h.kind & PGRT_KIND_SILENT)))
        pgrt_table_add(t, &o->h, use_of(o), pgrt_now_ms(), pgrt_cpu(), (uintptr_t)o->at);
    else if (!(o->h.kind & PGRT_KIND_UNNOTED))
        pgrt_table_gone(t, &o->h);
}

/* The end of an object; t may be NULL when nothing is recorded. */
PGG_INLINE void free_inside(struct pgrt_thread *t, void *object, enum pgrt_form form)
{
    const struct pgrt_object o = pgrt_object_at(object, form);
    if (PGG_LIKELY(t))
        end(t, &o);
    if (PGG_LIKELY(__memprof_shadow_memory_dynamic_address)) {
        u64 *word = mark_of(object, form),
            *last = pgrt_shadow((uintptr_t)object + o.h.size - 1);
        *word = 0;
        if (PGG_UNLIKELY(last - word >= LARGE_WORDS))
            pgrt_shadow_reset_large(word, last + 1);
    }
    block_free(&o);
}

/* While recording is paused, the end of an object that is recorded is, too. */
static PGG_COLD void end_paused(void *object)
{
    struct pgrt_thread *t = pgrt_enter_paused();
    if (!t)
        return;
    struct pgrt_object o = pgrt_object_at(object, form_of(object));
    end(t, &o);
    pgrt_object_silence(&o);
    pgrt_leave(t);
}

/* An object that realloc replaces: it only grows, so that nothing was temporary. */
PGG_INLINE void end_replaced(struct pgrt_thread *t, void *old)
{
    if (PGG_LIKELY(t))
        t->series.last = NULL;
    else
        end_paused(old);
}

/* The old object ends before the new one begins: otherwise both would count as live, which no other
 * allocator needs. */
PGG_INLINE void move(struct pgrt_thread *t, void *object, size_t n, void *old, bool mapped)
{
    const enum pgrt_form form = form_of(old);
    const struct pgrt_object o = pgrt_object_at(old, form);
    if (PGG_UNLIKELY(mapped))
        pgrt_mapped_move(object, &o);
    else
        pgg_copy_fast(object, old, o.h.size < n ? o.h.size : n);
    end_replaced(t, old);
    free_inside(t, old, form);
}

/* Another size for the block where it is; a smaller one can be had always. */
static bool resize_block(const struct pgrt_object *o, size_t n)
{
    if (o->h.kind & PGRT_KIND_MAPPED)
        return pgrt_mapped_resize(o, n);
    const size_t bytes = near_bytes(n);
    return pgrt_je_xallocx(pgrt_header_of(o->at), bytes, 0, 0) >= bytes;
}

/* A large object that realloc leaves where it is ends there, before its memory may be another's. */
static PGG_COLD bool stay(struct pgrt_thread *t, const struct pgrt_object *o, size_t n)
{
    const bool grows = n > o->h.size;
    if (grows && !resize_block(o, n))
        return false;
    end_replaced(t, o->at);
    if (PGG_LIKELY(t))
        end(t, o);
    if (!grows)
        resize_block(o, n);
    return true;
}

/* The place of an object after realloc, if this takes more than a block and a copy: *mapped
 * describes it if it moved. NULL: a block and a copy. */
static void *place_large(struct pgrt_thread *t, size_t n, void *old, bool *mapped)
{
    const struct pgrt_object o = pgrt_object_at(old, form_of(old));
    if (o.form != PGRT_FORM_NEAR || o.h.size < LARGE_BYTES || n < LARGE_BYTES)
        return NULL;
    *mapped = o.h.kind & PGRT_KIND_MAPPED;
    if (stay(t, &o, n))
        return old;
    void *object = n < PGRT_MAPPED_LEAST ? NULL : pgrt_mapped_new(n, old);
    *mapped = object;
    return object;
}

/* Stores the header of a new object, and lets its accesses count. */
PGG_INLINE void begin(void *object, enum pgrt_form form, const struct pgrt_header *h)
{
    u64 mark = mark_of_form(form);
    if (PGG_LIKELY(form == PGRT_FORM_SMALL))
        *pgrt_small_header(object, pgrt_small_bytes(h->size)) = pgrt_small_pack(h, &mark);
    else
        pgrt_header_set(pgrt_header_of(object), h);
    if (PGG_LIKELY(__memprof_shadow_memory_dynamic_address))
        start_counting(object, h->size, form, mark);
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
    const u32 now = pgrt_now_ms(), context = t ? pgrt_context_here(t, frame) : 0;
    const enum pgrt_form form = form_for(n, align, context);
    u32 shift = 0;
    bool mapped = false;
    void *object = old && PGG_UNLIKELY(n >= LARGE_BYTES) ? place_large(t, n, old, &mapped) : NULL;
    if (PGG_LIKELY(!object))
        object = block_alloc(n, align, zero, form, &shift);
    if (PGG_LIKELY(object)) {
        if (old && PGG_LIKELY(object != old))
            move(t, object, n, old, mapped);
        const bool noted = PGG_LIKELY(t) &&
                           PGG_LIKELY(pgrt_table_begin(t, &t->table, &t->series, context, n, now));
        if (PGG_LIKELY(noted))
            t->series.last = object;
        begin(object, form,
              &(struct pgrt_header){
                  .size = n,
                  .cpu = pgrt_cpu(),
                  .kind = (t ? 0 : PGRT_KIND_SILENT) | (noted ? 0 : PGRT_KIND_UNNOTED) |
                          (mapped ? PGRT_KIND_MAPPED : 0),
                  .generation = pgrt_generation & 0xff,
                  .context = context,
                  .shift = shift,
                  .alloc_ms = now,
              });
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
    free_inside(gate == PGRT_GATE_OPEN || gate == PGRT_GATE_PAUSED ? t : NULL, object,
                form_of(object));
}

/* A signal handler frees while its thread is inside: later, when the thread is out. */
static PGG_COLD void free_later(void *object)
{
    if (pgrt_self)
        pgrt_defer_free(pgrt_self, object);
}

extern void *__libc_malloc(size_t n) __attribute__((weak));
extern void __libc_free(void *p) __attribute__((weak));
extern void *__libc_realloc(void *p, size_t n) __attribute__((weak));
void (*pgrt_free_behind)(void *p);
void *(*pgrt_realloc_behind)(void *p, size_t n);

/* Whether memory without a mark is on a page of the allocator's. It is asked only about regions
 * where objects have been, as it takes for granted that it has a record of the address. */
static bool is_on_our_page(const void *p)
{
    size_t found[6] = {0}, any = 0, n = sizeof found; /* numbers of the page's objects */
    const uint8_t *region = &region_seen[((uintptr_t)p - PGRT_HEADER) >> PGRT_REGION_SHIFT &
                                         (sizeof region_seen - 1)];
    if (!__atomic_load_n(region, __ATOMIC_RELAXED) ||
        pgrt_je_mallctl("experimental.utilization.query", found, &n, &p, sizeof p))
        return false;
    for (u32 i = 0; i < sizeof found / sizeof *found; i++)
        any |= found[i];
    return any;
}

/* The program ends as the C library would end it; its profile has all up to here. */
static PGG_COLD void end_program(const char *why)
{
    pgrt_say(why, NULL);
    if (pgrt_can_stop())
        pgrt_dump(false);
    abort();
}

static bool said_not_ours;

/* The C library's malloc finds what is wrong once it has been used, and may crash before. */
static void say_not_ours(void)
{
    if (__atomic_exchange_n(&said_not_ours, true, __ATOMIC_RELAXED))
        return;
    pgrt_say("memory that is not the profiler's was freed: it is left to the C library", NULL);
    if (__libc_malloc && __libc_free)
        __libc_free(__libc_malloc(1));
}

/* A page within a large object is not known to be the allocator's. To look through all objects
 * takes long, so that it is done only until a program has freed memory that is not ours. */
static bool is_within_object(const void *p, bool on_our_page)
{
    return (on_our_page || !said_not_ours) && pgrt_heap_begin(p);
}

/* Memory without a mark. What is neither an object nor the allocator's may be of the C library's
 * own malloc, or of that of another library; whoever has it finds errors, too. */
static PGG_COLD void free_unknown(void *p)
{
    void (*other)(void *) = pgrt_free_behind ? pgrt_free_behind : __libc_free;
    const bool ours = is_on_our_page(p);
    if (is_within_object(p, ours) || (!ours && !other))
        end_program("free(): invalid pointer");
    if (ours)
        end_program("free(): double free detected");
    say_not_ours();
    other(p);
}

/* The contents of a freed object are unknown; the C library continues in this case, too. */
static PGG_COLD void *realloc_unknown(void *p, size_t n, const void *frame)
{
    void *(*other)(void *, size_t) = pgrt_realloc_behind ? pgrt_realloc_behind : __libc_realloc;
    const bool ours = is_on_our_page(p);
    if (is_within_object(p, ours))
        end_program("realloc(): invalid pointer");
    if (ours || !other) {
        pgrt_say("realloc(): memory that is not an object any more", NULL);
        return pgrt_alloc(n, 0, false, frame);
    }
    say_not_ours();
    return other(p, n);
}

void pgrt_free(void *p)
{
    if (!p || PGG_UNLIKELY(is_spare(p)))
        return;
    const enum pgrt_form form = form_of(p);
    if (PGG_UNLIKELY(form == PGRT_FORM_NONE)) {
        free_unknown(p);
        return;
    }
    if (PGG_UNLIKELY(pgrt_hooked))
        pgrt_hook_free(p);
    struct pgrt_thread *t = pgrt_enter_paused();
    if (PGG_UNLIKELY(!t && pgrt_busy())) {
        free_later(p);
        return;
    }
    free_inside(t, p, form);
    if (PGG_LIKELY(t))
        pgrt_leave(t);
}

/* Bytes the program asked for. */
size_t pgrt_size(const void *p)
{
    if (!p)
        return 0;
    const enum pgrt_form form = is_spare(p) ? PGRT_FORM_NEAR : form_of(p);
    return form == PGRT_FORM_NONE ? 0 : pgrt_object_at(p, form).h.size;
}

void *pgrt_realloc(void *p, size_t n, const void *frame)
{
    if (p && !n && pgrt_options.realloc_zero_frees) {
        pgrt_free(p);
        return NULL;
    }
    if (p && !is_spare(p) && form_of(p) == PGRT_FORM_NONE)
        return realloc_unknown(p, n, frame);
    if (p && !pgrt_hooked && !pgrt_busy() && !is_spare(p))
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
