/* The heap profiler runtime: what its files share. docs/design/runtime.md has the picture.
 *
 * The runtime lives below malloc in somebody else's process: no libc heap, no stdio, no locale,
 * no lock on the way of an allocation. Everything here is internal; what objects and programs
 * may call is marked PGRT_EXPORT where it is defined and listed in exports.txt. */
#ifndef PGRT_H
#define PGRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal names are reached without a look into the table of names. */
#pragma GCC visibility push(hidden)

#define PGRT_EXPORT __attribute__((visibility("default"), used))
#define PGRT_LIKELY(x) __builtin_expect(!!(x), 1)
#define PGRT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PGRT_INLINE static inline __attribute__((always_inline))
#define PGRT_COLD __attribute__((noinline, cold))
#define PGRT_TLS __thread __attribute__((tls_model("initial-exec")))
#define pgrt_compiler_barrier() __asm__ volatile("" ::: "memory")

typedef uint32_t u32;
typedef uint64_t u64;

enum {
    PGRT_GRANULE = 64,       /* bytes of memory with one counter; no two objects share one */
    PGRT_HEADER = 16,        /* bytes in front of an object */
    PGRT_PAGE = 4096,
    PGRT_DEPTH_MAX = 255,
    PGRT_DEPTH_DEFAULT = 30,
    PGRT_CPU_UNKNOWN = 0xfff,
    PGRT_CACHE = 2048,       /* entries of a thread's cache of repeated stacks */
    PGRT_CONTEXTS_MAX = 1 << 22,
};
#define PGRT_SIZE_MAX ((UINT64_C(1) << 40) - 1)

/* ---- runtime_sys.c: system calls that set no errno, and text on standard error ---- */
long pgrt_syscall(long number, ...);
void *pgrt_map(size_t bytes); /* zeroed private pages, or NULL */
extern u64 pgrt_mapped_bytes; /* all of them now, less the shadow */
void pgrt_unmap(void *start, size_t bytes);
int pgrt_write_all(int fd, const void *bytes, size_t n); /* 0 or a negative error number */
struct pgrt_text {
    char *at, *end; /* keeps room for a final zero byte */
};
void pgrt_text_init(struct pgrt_text *t, char *buffer, size_t size);
void pgrt_text_str(struct pgrt_text *t, const char *s);
void pgrt_text_u64(struct pgrt_text *t, u64 v);
/* "pgokit heap profiler: A: B" on standard error, where B may be NULL. */
void pgrt_say(const char *a, const char *b);
const char *pgrt_errno_name(long err); /* of a negative error number */
size_t pgrt_strlen(const char *s);
bool pgrt_streq(const char *a, const char *b);
void pgrt_zero(void *p, size_t n);
void pgrt_copy(void *to, const void *from, size_t n);
/* Of pgrt_bytes.h, for lengths that are not short. */
void *pgrt_copy_long(void *to, const void *from, size_t n);
void *pgrt_move_long(void *to, const void *from, size_t n);
void *pgrt_fill_long(void *to, int c, size_t n);
void *pgrt_counted_copy_long(void *to, const void *from, size_t n);
void *pgrt_counted_move_long(void *to, const void *from, size_t n);
const char *pgrt_getenv(const char *name);

/* ---- runtime_options.c ---- */
struct pgrt_options {
    u64 depth, raw_version, dump_at_exit, verbosity, realloc_zero_frees, help, enabled,
        frame_pointers, dump_signal, dump_every, dump_memory;
    char out[1024], log_path[1024];
};
extern struct pgrt_options pgrt_options;
void pgrt_options_read(void);
/* Path of this process's profile; false if it does not fit. `fd` gets 1 or 2 for standard
 * streams, else -1. */
bool pgrt_profile_path(char *buffer, size_t size, int *fd, bool *unique);

/* ---- runtime_shadow.c ---- */
/* One 64-bit counter for each 64 bytes of memory, or in histogram mode one byte for each 8.
 * The words of dead memory hold anything; those of an object are zeroed when it is made. */
extern __attribute__((visibility("default"))) uintptr_t __memprof_shadow_memory_dynamic_address;
extern bool pgrt_histogram; /* byte counters */
extern uintptr_t pgrt_words; /* the shadow, if it has words; 0 also before it is there */
/* Marks of the word of the granule where a live object's header is. Counting never reaches
 * them: instrumented code increments the low bits of the word, or bytes 2 and up. */
#define PGRT_MARK_NEAR UINT64_C(0x8000000000000000) /* header at the start of the granule */
#define PGRT_MARK_FAR UINT64_C(0xc000000000000000)  /* header at its end */
#define PGRT_MARK_BITS UINT64_C(0xc000000000000000)
#define PGRT_HIST_NEAR UINT64_C(0xff)
#define PGRT_HIST_FAR UINT64_C(0xfe)
#define PGRT_SHADOW_BYTES (UINT64_C(1) << 44)
bool pgrt_shadow_init(void);
extern bool pgrt_little_room; /* address space is limited: what is reserved is less */
/* runtime_demand.c: where counters are mapped as they are written; 0 if they cannot be. */
uintptr_t pgrt_demand_begin(void);
void pgrt_shadow_reset_large(u64 *first, u64 *end);
u64 pgrt_shadow_sum_bytes(uintptr_t start, size_t n);

PGRT_INLINE u64 *pgrt_shadow(uintptr_t address)
{
    return (u64 *)(__memprof_shadow_memory_dynamic_address +
                   ((address & ~(uintptr_t)(PGRT_GRANULE - 1)) >> 3));
}

/* ---- objects ---- */
enum {
    PGRT_KIND_FAR = 1,     /* block start is in the word before the header */
    PGRT_KIND_SPARE = 2,   /* from the spare memory; never given back */
    PGRT_KIND_SILENT = 4,  /* is in no profile */
    PGRT_KIND_UNBEGUN = 8, /* not noted when it was made, as there was no file */
};
/* In front of each object. */
struct pgrt_header {
    u64 size : 40, cpu : 12, kind : 4, generation : 8;
    u32 context : 24, shift : 8; /* shift: granules of its block in front of the header */
    u32 alloc_ms;
};
_Static_assert(sizeof(struct pgrt_header) == PGRT_HEADER, "the header is 16 bytes");

/* As the fields lie, in two stores: what was in the memory need not be read. */
PGRT_INLINE void pgrt_header_set(struct pgrt_header *h, const struct pgrt_header *v)
{
    const u64 words[] = {(u64)v->size | (u64)v->cpu << 40 | (u64)v->kind << 52 |
                             (u64)v->generation << 56,
                         (u64)v->context | (u64)v->shift << 24 | (u64)v->alloc_ms << 32};
    __builtin_memcpy(h, words, sizeof words);
}

PGRT_INLINE struct pgrt_header *pgrt_header_of(const void *object)
{
    return (struct pgrt_header *)((uintptr_t)object - PGRT_HEADER);
}

/* ---- runtime_table.c: what is known of a context, as the raw file has it ---- */
struct __attribute__((packed)) pgrt_mib {
    u64 stack_id;
#define PGK_MIB(name, type, first, sound, tag, step, across, unit, meaning) type name;
#include "heap_mib.def"
#undef PGK_MIB
};
struct pgrt_thread;
/* What a thread has begun in a context, so that a kill leaves what was alive: over all threads,
 * the objects and bytes begun, less those in the MIBs. start_ms is of those alive alone. */
struct pgrt_begun {
#define PGK_BEGUN(name, type, meaning) type name;
#include "heap_notes.def"
#undef PGK_BEGUN
};
_Static_assert(sizeof(struct pgrt_begun) == 32, "as docs/formats/interrupted-heap.md has it");
/* In the file both; NULL until there is something to say. */
struct pgrt_slot {
    struct pgrt_mib *mib;
    struct pgrt_begun *begun;
};
/* NULL: no room, or no file so far. A child opens one when an object ends, or has been made here
 * for the CHILD_OBJECTSth time: one that only runs another program leaves none. */
struct pgrt_begun *pgrt_table_new(struct pgrt_thread *t, u32 context, bool ended);
extern u32 pgrt_child_objects; /* made since the fork, while there is no file */
/* An object that ended: its life and accesses go to its context. */
void pgrt_table_add(struct pgrt_thread *t, const struct pgrt_header *h, u64 accesses, u32 end_ms,
                    u32 end_cpu, uintptr_t object);
void pgrt_mib_one(struct pgrt_mib *m, const struct pgrt_header *h, u64 accesses, u32 end_ms,
                  u32 end_cpu);
void pgrt_mib_merge(struct pgrt_mib *a, const struct pgrt_mib *b);
void pgrt_table_clear(struct pgrt_thread *t);
/* Histogram elements of a context, for the next dump; NULL when out of memory. */
struct pgrt_histogram {
    u64 n;
    u64 v[];
};
void pgrt_histogram_add(u32 context, uintptr_t object, size_t size);
struct pgrt_histogram *pgrt_histogram_of(u32 context);
void pgrt_histograms_clear(void);

/* ---- runtime_thread.c ---- */
struct pgrt_cached {
    u64 hash;
    u32 context;
};
/* A walk: the words it read, by their place above the frame it began with; first those that lie
 * beside one another in twos, as return address and frame pointer do. */
enum { PGRT_READS = 48, PGRT_WALKED_SHIFT = 57 };
struct pgrt_walked {
    uintptr_t frame;
    u32 context, epoch, twos, n;
    u32 off[PGRT_READS + 1];
    u64 word[PGRT_READS + 1];
};
enum { PGRT_TABLE_SPAN = 512, PGRT_STACKS = 4, PGRT_INSIDE = 1, PGRT_ASKED = 2 };
struct pgrt_sheet;
struct pgrt_thread {
    u32 busy;          /* PGRT_INSIDE the runtime: nobody may come in, and a dump waits */
    bool taken;        /* by a running thread */
    uintptr_t stack_lo, stack_hi;       /* of the thread */
    struct pgrt_stack {
        uintptr_t lo, hi, good; /* frames of [lo, good) are good to walk up to hi */
    } seen[PGRT_STACKS];                /* other stacks, seen to be mapped */
    u32 seen_next, walks;
    u32 strangers; /* how often a stack was not known again, less how often it was */
    void *volatile deferred;            /* freed by a signal handler while busy; then what is
                                           asked of the next visit */
    u64 visit_began, timed_visits, timed_ticks;
    struct pgrt_sheet *sheet;           /* takes new contexts */
    struct pgrt_thread *next;           /* in the list of all, which only grows */
    char *bump, *bump_end;              /* memory for the depot */
    struct pgrt_slot *table[PGRT_CONTEXTS_MAX / PGRT_TABLE_SPAN];
    struct pgrt_cached cache[PGRT_CACHE];
    struct pgrt_walked walked[1 << (64 - PGRT_WALKED_SHIFT)][2];
};
extern PGRT_TLS struct pgrt_thread *pgrt_self;

/* ---- runtime_cost.c: what recording costs ---- */
/* After one in so many objects of a context, at its begin and at its end, the next visit is timed:
 * in pgrt_thread.deferred the first one means that the next one shall be, the second one that this
 * one is. */
enum { PGRT_COST_EVERY = 256 };
extern char pgrt_cost_asked, pgrt_cost_timed;
void pgrt_cost_init(void);
void pgrt_cost_forked(void);
void pgrt_cost_ask(struct pgrt_thread *t);
void pgrt_cost_visit_begins(struct pgrt_thread *t);
void pgrt_cost_visit_ends(struct pgrt_thread *t, u64 now); /* in ticks of the processor */
void pgrt_cost_once_begins(void); /* something that happens once, or seldom */
void pgrt_cost_once_ends(void);
void pgrt_cost_dumped(u64 objects);
/* So far, with so many objects that are not in a dump yet; inside of something that happens once,
 * with the world stopped. */
u64 pgrt_cost_ns(u64 objects);
u64 pgrt_cost_bytes(void);

/* False if it was not noted. */
PGRT_INLINE bool pgrt_table_begin(struct pgrt_thread *t, u32 context, size_t size, u32 now_ms)
{
    const struct pgrt_slot *span = t->table[context / PGRT_TABLE_SPAN];
    struct pgrt_begun *b = span ? span[context % PGRT_TABLE_SPAN].begun : NULL;
    if (PGRT_UNLIKELY(!b) && !(b = pgrt_table_new(t, context, false)))
        return false;
    if (PGRT_UNLIKELY(++b->objects % PGRT_COST_EVERY == 1))
        pgrt_cost_ask(t);
    b->bytes += size;
    b->start_ms += now_ms;
    b->last_ms = now_ms;
    return true;
}

extern struct pgrt_thread *pgrt_threads;

/* What may be done now. The word is on a page that a fork wipes, so that a child of any kind
 * finds 0 and starts anew. */
enum { PGRT_GATE_NEW = 0, PGRT_GATE_OPEN = 1, PGRT_GATE_STOP = 2, PGRT_GATE_OFF = 3 };
extern u32 *pgrt_gate;

PGRT_INLINE u32 pgrt_gate_now(void)
{
    return __atomic_load_n(pgrt_gate, __ATOMIC_ACQUIRE);
}

PGRT_INLINE void pgrt_gate_set(u32 state)
{
    __atomic_store_n(pgrt_gate, state, __ATOMIC_RELEASE);
}

extern u32 pgrt_generation; /* objects of another one belong to a parent or to an old dump */

/* This thread's record with busy set, or NULL: the caller works without (pgrt_busy() tells
 * whether because a signal handler interrupted the runtime). */
struct pgrt_thread *pgrt_enter_slow(void);
bool pgrt_busy(void);
void pgrt_leave_slow(struct pgrt_thread *t);
void pgrt_stop_world(void);
void pgrt_start_world(void);
void pgrt_threads_init(void);
void pgrt_threads_after_fork(void);

/* What a thread did inside is seen by who sees it outside. */
PGRT_INLINE void pgrt_busy_set(struct pgrt_thread *t, u32 inside)
{
    __atomic_store_n(&t->busy, inside, __ATOMIC_RELEASE);
}

PGRT_INLINE u32 pgrt_busy_now(const struct pgrt_thread *t)
{
    return __atomic_load_n(&t->busy, __ATOMIC_ACQUIRE);
}

PGRT_INLINE struct pgrt_thread *pgrt_enter(void)
{
    struct pgrt_thread *t = pgrt_self;
    if (PGRT_UNLIKELY(!t || pgrt_busy_now(t)))
        return pgrt_enter_slow();
    pgrt_busy_set(t, 1);
    pgrt_compiler_barrier();
    if (PGRT_UNLIKELY(pgrt_gate_now() != PGRT_GATE_OPEN)) {
        pgrt_busy_set(t, 0);
        return pgrt_enter_slow();
    }
    return t;
}

PGRT_INLINE void pgrt_leave(struct pgrt_thread *t)
{
    pgrt_compiler_barrier();
    pgrt_busy_set(t, 0);
    pgrt_compiler_barrier();
    if (PGRT_UNLIKELY(t->deferred))
        pgrt_leave_slow(t);
}

/* ---- runtime_depot.c ---- */
struct pgrt_context {
    u64 hash;
    const u64 *pcs; /* return addresses minus one, innermost first */
    u32 n, next;
};
/* Context of the stack whose innermost frame is the caller of the function with this frame
 * address. 0 when there are too many. */
u32 pgrt_context_here(struct pgrt_thread *t, const void *frame);
const struct pgrt_context *pgrt_context(u32 id);
u32 pgrt_contexts(void); /* ids below this one may be in use */

/* ---- runtime_walk.c ---- */
/* Code addresses of the stack, innermost first, as many as the options say: return addresses
 * minus one. The first one is the caller of the function with this frame address. */
/* *reads is NULL for a walk that is not to be remembered. */
u32 pgrt_walk(struct pgrt_thread *t, const void *frame, u64 *pcs, struct pgrt_walked **reads);
void pgrt_walk_remember(struct pgrt_walked *reads, u32 context);
u32 pgrt_walk_known(struct pgrt_thread *t, const void *frame); /* context, or 0 */
extern u32 pgrt_walk_epoch; /* walks of another one have to be done again */

/* ---- runtime_frames.c: how to leave a frame, from the unwind tables ---- */
enum pgrt_cfa {
    PGRT_CFA_FRAME_POINTER = 1, /* no table knows: the frame pointer plus 16 */
    PGRT_CFA_SP,                /* stack pointer plus cfa_off */
    PGRT_CFA_BP,                /* rbp plus cfa_off */
    PGRT_CFA_AT_SP,             /* what is at the stack pointer plus cfa_off, plus `plus` */
    PGRT_CFA_AT_BP,             /* the same with rbp */
    PGRT_CFA_SIGNAL,            /* the kernel's frame: registers are in the context there */
    PGRT_CFA_END,               /* nobody called this function */
};
enum pgrt_bp { PGRT_BP_SAME = 0, PGRT_BP_AT_CFA, PGRT_BP_AT_BP, PGRT_BP_LOST };
/* The CFA is the address above the return address; the caller's rbp is kept at bp_off of it. */
struct pgrt_rule {
    u32 cfa : 4, bp : 4, plus : 8;
    int bp_off : 16;
    int32_t cfa_off;
};
_Static_assert(sizeof(struct pgrt_rule) == sizeof(u64), "a rule is stored as one word");
/* Whether addresses can be looked up: not before the C library has set itself up. */
extern bool pgrt_tables_ready;
struct pgrt_rule pgrt_rule_find(u64 pc); /* without the cache */
struct pgrt_rule pgrt_rule_miss(u64 pc);
void pgrt_rules_forget(void);
/* A reader that meets a slot half written sees an address that is not its own. */
struct pgrt_rule_slot {
    u64 pc_xor_rule, rule;
};
enum { PGRT_RULES_SHIFT = 52 };
extern struct pgrt_rule_slot pgrt_rules[1 << (64 - PGRT_RULES_SHIFT)];

PGRT_INLINE struct pgrt_rule_slot *pgrt_rule_slot(u64 pc)
{
    return &pgrt_rules[pc * UINT64_C(0x9e3779b97f4a7c15) >> PGRT_RULES_SHIFT];
}

/* How to leave the frame that executes the code at pc. */
PGRT_INLINE struct pgrt_rule pgrt_rule(u64 pc)
{
    struct pgrt_rule_slot *slot = pgrt_rule_slot(pc);
    union {
        u64 word;
        struct pgrt_rule rule;
    } u = {__atomic_load_n(&slot->rule, __ATOMIC_RELAXED)};
    if (PGRT_LIKELY((__atomic_load_n(&slot->pc_xor_rule, __ATOMIC_RELAXED) ^ u.word) == pc))
        return u.rule;
    return pgrt_rule_miss(pc);
}

/* ---- runtime_modules.c ---- */
struct pgrt_segment {
    u64 start, end, bias, id_size;
    uint8_t id[32];
};
void pgrt_modules_refresh(void); /* all modules; takes the dynamic linker's lock */
/* The modules of these code addresses, without a lock. True if one of them lies where another
 * one was, so that what is known of its code is wrong. */
bool pgrt_modules_learn(const u64 *pcs, u32 n);
void pgrt_modules_after_fork(void);
u32 pgrt_modules(const struct pgrt_segment **segments);

/* ---- runtime_file.c: the file on disk. Errors are negative error numbers. ---- */
struct pgrt_file {
    char path[1100], part[1110]; /* it is made under the second name */
    int fd, stream;              /* stream: 1 or 2 when there is no file */
    u64 device, inode;
};
bool pgrt_file_may_open(void); /* the program has not locked itself in since the start */
void pgrt_file_init(void); /* names are relative to the directory of the start */
bool pgrt_file_choose(struct pgrt_file *f); /* false: the name is too long */
long pgrt_file_create(struct pgrt_file *f, bool directories); /* under its second name */
void pgrt_file_take(struct pgrt_file *f, int fd); /* it is this one from now on */
void pgrt_file_leave(struct pgrt_file *f);
int pgrt_file_publish(const struct pgrt_file *f); /* under its first name */
void pgrt_file_drop(const struct pgrt_file *f, int fd);
int pgrt_file_grow(struct pgrt_file *f, u64 from, u64 to, const void *page); /* whole pages */
bool pgrt_file_within_limit(u64 bytes); /* larger files cost the process a signal that kills */

/* ---- runtime_store.c: the mapped file ---- */
bool pgrt_store_open(void);   /* false: no profile can be kept; said why */
void pgrt_store_forked(void); /* forget the parent's */
/* A context new to this thread, in a sheet of it, stack written; NULL when there is no room. */
struct pgrt_begun *pgrt_store_begun(struct pgrt_thread *t, u32 context);
/* Room for its MIB, which counts once pgrt_store_publish is called. */
struct pgrt_mib *pgrt_store_entry(struct pgrt_thread *t);
void pgrt_store_publish(struct pgrt_thread *t);
/* Calls back with each entry of each sheet. */
void pgrt_store_each(void (*f)(void *arg, const struct pgrt_mib *m), void *arg);
/* Puts a dump behind those that are finished and empties the sheets. `last` leaves none. */
int pgrt_store_finish(const void *dump, size_t size, bool last);
void pgrt_store_mark(bool complete); /* whether anything comes after what the sheets have */
bool pgrt_store_is_file(void);
u64 pgrt_store_bytes(void); /* mapped */
void pgrt_store_forget(void); /* finished dumps are not carried into the next file */
bool pgrt_store_is_open(void);
#include "heap_raw_versions.def"
struct pgrt_raw_header {
#define PGK_RAW_HEADER(name, type, meaning) type name;
#include "heap_raw.def"
#undef PGK_RAW_HEADER
};
#define PGRT_RAW_MAGIC UINT64_C(0xff6d70726f667281)
/* In front of the MIB section. docs/formats/interrupted-heap.md */
struct pgrt_notes {
#define PGK_NOTE(name, meaning) u64 name;
#include "heap_notes.def"
#undef PGK_NOTE
};
enum {
#define PGK_NOTES_FLAG(name, value, meaning) PGRT_NOTE_##name = value,
#include "heap_notes.def"
#undef PGK_NOTES_FLAG
};
u64 pgrt_notes_flags(void);
extern u64 pgrt_dropped; /* objects that no context took */

/* ---- runtime_dump.c ---- */
void pgrt_dump(bool last);
/* Around exec: the profile is complete as it is, or goes on. */
void pgrt_exec_begins(void);
void pgrt_exec_failed(void);

/* ---- runtime_trigger.c: dumps that nobody calls for ---- */
extern volatile u32 pgrt_dump_due; /* ms since the start; the first allocation from then on dumps */
void pgrt_triggers_init(void);
void pgrt_dump_if_due(void);
void pgrt_memory_grew(u32 regions); /* that have held objects so far */

/* ---- runtime_start.c ---- */
void pgrt_init(void);   /* idempotent */
void pgrt_ready(void);  /* the C library is: called before anything of the program runs */
void pgrt_child_init(void);
/* Turns profiling off for good and says why. */
void pgrt_off(const char *why, const char *detail);
u32 pgrt_now_ms(void); /* since the start */
extern ptrdiff_t pgrt_cpu_at; /* from the thread's own pointer; 0: the kernel has to be asked */
u32 pgrt_cpu_asked(void);

PGRT_INLINE u32 pgrt_cpu(void)
{
    u32 cpu;
    if (PGRT_LIKELY(pgrt_cpu_at))
        __asm__ volatile("movl %%fs:(%1), %0" : "=r"(cpu) : "r"(pgrt_cpu_at));
    else
        cpu = pgrt_cpu_asked();
    return cpu < PGRT_CPU_UNKNOWN ? cpu : PGRT_CPU_UNKNOWN;
}
extern int pgrt_pid;

/* ---- runtime_alloc.c ---- */
/* A new object, NULL when there is no memory; leaves errno alone. `frame` is the frame address
 * of the function that the program called. */
void *pgrt_alloc(size_t n, size_t align, bool zero, const void *frame);
void *pgrt_realloc(void *p, size_t n, const void *frame);
void pgrt_free(void *p);
size_t pgrt_size(const void *p); /* bytes the program asked for; 0 for anything else */
u64 pgrt_accesses(const struct pgrt_header *h);
void pgrt_free_now(struct pgrt_thread *t, void *object);
/* Where objects have been: 4 MiB of address space each, in the order of the first one. */
enum { PGRT_REGION_SHIFT = 22, PGRT_REGIONS_MAX = 1 << 18 };
extern u32 pgrt_region_list[PGRT_REGIONS_MAX], pgrt_region_count;

/* ---- runtime_access.c ---- */
void pgrt_count_range_slow(uintptr_t start, size_t n);
extern bool pgrt_instrumented; /* some object of the process counts its accesses */

PGRT_INLINE void pgrt_count(uintptr_t address)
{
    if (PGRT_UNLIKELY(pgrt_histogram)) {
        uint8_t *c = (uint8_t *)(__memprof_shadow_memory_dynamic_address + (address >> 3));
        if (*c < 255)
            ++*c;
    } else {
        ++*pgrt_shadow(address);
    }
}

PGRT_INLINE u64 *pgrt_word(uintptr_t address)
{
    return (u64 *)(pgrt_words + address / PGRT_GRANULE * sizeof(u64));
}

/* Most ranges are short: 1 to PGRT_SHORT bytes, with counts in at most two granules. Ranges of no
 * bytes have none, and may be anywhere. */
enum { PGRT_SHORT = PGRT_GRANULE };
PGRT_INLINE bool pgrt_is_short(size_t n)
{
    return pgrt_words && n - 1 < PGRT_SHORT;
}

PGRT_INLINE void pgrt_count_short(const void *start, size_t n)
{
    u64 *word = pgrt_word((uintptr_t)start);
    const size_t here = (PGRT_GRANULE + 7 - (uintptr_t)start % PGRT_GRANULE) / 8;
    const size_t counts = (n + 7) / 8;
    if (PGRT_LIKELY(counts <= here)) {
        *word += counts;
    } else {
        word[0] += here;
        word[1] += counts - here;
    }
}

/* Reads or writes of n bytes by a library function: one count per 8 bytes. */
PGRT_INLINE void pgrt_count_range(const void *start, size_t n)
{
    if (PGRT_LIKELY(pgrt_is_short(n)))
        pgrt_count_short(start, n);
    else if (n)
        pgrt_count_range_slow((uintptr_t)start, n);
}

#pragma GCC visibility pop
#endif
