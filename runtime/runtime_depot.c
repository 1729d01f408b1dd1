/* Calling contexts: the walk over frame pointers and the depot that gives each distinct stack
 * a number. Numbers are never taken back, so they mean the same over all dumps of a process.
 * The depot only grows, by compare-and-swap, and so needs no lock. */
#include "pgrt.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum { SPAN = 4096, BUCKETS = 1 << 16, BUMP_BYTES = 256 << 10 };

static struct pgrt_context *volatile spans[PGRT_CONTEXTS_MAX / SPAN];
static volatile u32 buckets[BUCKETS];
static volatile u32 used = 1; /* 0 is no context */

u32 pgrt_contexts(void)
{
    u32 n = __atomic_load_n(&used, __ATOMIC_ACQUIRE);
    return n < PGRT_CONTEXTS_MAX ? n : PGRT_CONTEXTS_MAX;
}

const struct pgrt_context *pgrt_context(u32 id)
{
    return &spans[id / SPAN][id % SPAN];
}

static void *bump(struct pgrt_thread *t, size_t bytes)
{
    if ((size_t)(t->bump_end - t->bump) < bytes) {
        t->bump = pgrt_map(BUMP_BYTES);
        t->bump_end = t->bump ? t->bump + BUMP_BYTES : NULL;
        if (!t->bump)
            return NULL;
    }
    void *p = t->bump;
    t->bump += bytes;
    return p;
}

static bool have_span(u32 id)
{
    if (__atomic_load_n(&spans[id / SPAN], __ATOMIC_ACQUIRE))
        return true;
    struct pgrt_context *mine = pgrt_map(SPAN * sizeof *mine), *none = NULL;
    if (!mine)
        return false;
    if (!__atomic_compare_exchange_n(&spans[id / SPAN], &none, mine, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        pgrt_unmap(mine, SPAN * sizeof *mine);
    return true;
}

static u32 find(u32 from, u32 until, u64 hash, const u64 *pcs, u32 n)
{
    for (u32 id = from; id != until; id = pgrt_context(id)->next) {
        const struct pgrt_context *c = pgrt_context(id);
        if (c->hash != hash || c->n != n)
            continue;
        u32 i = 0;
        while (i < n && c->pcs[i] == pcs[i])
            i++;
        if (i == n)
            return id;
    }
    return 0;
}

static PGRT_COLD u32 intern(struct pgrt_thread *t, u64 hash, const u64 *pcs, u32 n)
{
    volatile u32 *bucket = &buckets[hash >> 48];
    u32 head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE), id = find(head, 0, hash, pcs, n);
    if (id)
        return id;
    for (u32 i = 0; i < n; i++)
        if (!pgrt_modules_know(pcs[i])) {
            pgrt_modules_refresh();
            break;
        }
    u64 *copy = bump(t, n * sizeof *copy);
    if (!copy || __atomic_load_n(&used, __ATOMIC_RELAXED) >= PGRT_CONTEXTS_MAX)
        return 0;
    id = __atomic_fetch_add(&used, 1, __ATOMIC_ACQ_REL);
    if (id >= PGRT_CONTEXTS_MAX || !have_span(id))
        return 0;
    for (u32 i = 0; i < n; i++)
        copy[i] = pcs[i];
    struct pgrt_context *c = &spans[id / SPAN][id % SPAN];
    *c = (struct pgrt_context){.hash = hash, .pcs = copy, .n = n, .next = head};
    while (!__atomic_compare_exchange_n(bucket, &head, id, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        /* Somebody else was here; perhaps with the same stack. The number is then wasted. */
        u32 theirs = find(head, c->next, hash, pcs, n);
        if (theirs)
            return theirs;
        c->next = head;
    }
    return id;
}

/* A stack that the program made itself: as far up as its pages are mapped, at most 64 KiB. */
static PGRT_COLD void see_stack(struct pgrt_thread *t, uintptr_t frame)
{
    uintptr_t lo = frame & ~(uintptr_t)(PGRT_PAGE - 1), hi = lo;
    unsigned char in_core[1];
    while (hi < lo + 16 * PGRT_PAGE &&
           pgrt_syscall(SYS_mincore, hi, (long)PGRT_PAGE, in_core, 0L, 0L, 0L) == 0)
        hi += PGRT_PAGE;
    t->seen_lo = lo;
    t->seen_hi = hi;
}

u32 pgrt_context_here(struct pgrt_thread *t, const void *frame)
{
    u64 pcs[PGRT_DEPTH_MAX], hash = 0x9e3779b97f4a7c15;
    u32 n = 0, depth = (u32)pgrt_options.depth;
    uintptr_t fp = (uintptr_t)frame, lo = t->stack_lo, hi = t->stack_hi;
    if (PGRT_UNLIKELY(fp - lo >= hi - lo)) {
        if (fp - t->seen_lo >= t->seen_hi - t->seen_lo)
            see_stack(t, fp);
        lo = t->seen_lo;
        hi = t->seen_hi;
    }
    hi -= 2 * sizeof(uintptr_t) - 1;
    while (n < depth && fp >= lo && fp < hi && !(fp & 7)) {
        uintptr_t next = ((const uintptr_t *)fp)[0], pc = ((const uintptr_t *)fp)[1];
        if (pc < PGRT_PAGE)
            break;
        pcs[n++] = pc - 1;
        /* The multiplications do not wait for one another. */
        hash = (hash << 7 | hash >> 57) ^ (pc * UINT64_C(0xff51afd7ed558ccd));
        if (next <= fp)
            break;
        fp = next;
    }
    hash = (hash ^ n ^ hash >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 29;
    struct pgrt_cached *c = &t->cache[(hash >> 40) % PGRT_CACHE];
    if (PGRT_LIKELY(c->hash == hash && c->context))
        return c->context;
    u32 id = intern(t, hash, pcs, n);
    *c = (struct pgrt_cached){hash, id};
    return id;
}
