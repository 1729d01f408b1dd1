/* The mapped file. From the first moment it is a sound raw profile, whatever instant the
 * process is killed at: finished dumps, then sheets. A sheet is a dump of its own that a thread
 * fills; entries are counted when they are whole, and the last sheet's size covers the rest of
 * the file, so that starting a new one is a single store. docs/formats/interrupted-heap.md */
#include "pgrt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct pgrt_sheet {
    struct pgrt_raw_header h;
};

enum {
    SHEET_BYTES = 64 << 10,
    SPARE_SEGMENTS = 8, /* room for libraries that come later */
    GROW_BYTES = 1 << 20,
    SEGMENT_BYTES = 64,
};
#define RESERVE_BYTES (UINT64_C(64) << 30)

static struct {
    char path[1100], part[1110];
    int fd, stream; /* stream: 1 or 2 when the profile goes there, then sheets are anonymous */
    char *base;     /* of the whole file */
    u64 size, used, finished;
    struct pgrt_sheet *last;
    struct pgrt_sheet *unowned; /* the first sheet, until a thread takes it */
    bool open, forget;
    volatile u32 lock;
} store = {.fd = -1, .stream = -1};

static void lock(void)
{
    while (__atomic_exchange_n(&store.lock, 1, __ATOMIC_ACQUIRE))
        pgrt_syscall(SYS_sched_yield, 0L, 0L, 0L, 0L, 0L, 0L);
}

static void unlock(void)
{
    __atomic_store_n(&store.lock, 0, __ATOMIC_RELEASE);
}

static struct pgrt_notes *notes_of(struct pgrt_sheet *s)
{
    return (struct pgrt_notes *)((char *)s + s->h.mib_off) - 1;
}

static u64 *count_at(struct pgrt_sheet *s, u64 off)
{
    return (u64 *)((char *)s + off);
}

/* A file larger than the process may write costs it a signal that kills. */
static bool within_limit(u64 bytes)
{
    struct rlimit limit;
    return pgrt_syscall(SYS_prlimit64, 0L, (long)RLIMIT_FSIZE, 0L, &limit, 0L, 0L) < 0 ||
           limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* Blocks for [from, to) of the file, so that a full disk is an error here and not a signal at
 * some later store. */
static int reserve_blocks(int fd, u64 from, u64 to)
{
    static const char zeros[PGRT_PAGE];
    long err = pgrt_syscall(SYS_fallocate, (long)fd, (long)FALLOC_FL_KEEP_SIZE, from, to - from,
                            0L, 0L);
    if (err == 0)
        return (int)pgrt_syscall(SYS_ftruncate, (long)fd, to, 0L, 0L, 0L, 0L);
    if (err != -EOPNOTSUPP && err != -ENOSYS)
        return (int)err;
    for (u64 off = from; off < to; off += sizeof zeros) {
        err = pgrt_syscall(SYS_pwrite64, (long)fd, zeros, sizeof zeros, off, 0L, 0L);
        if (err != (long)sizeof zeros)
            return err < 0 ? (int)err : -ENOSPC;
    }
    return 0;
}

static int grow(u64 bytes)
{
    u64 to = (store.size + bytes + GROW_BYTES - 1) & ~(u64)(GROW_BYTES - 1);
    bool file = store.stream < 0;
    if (to > RESERVE_BYTES || (file && !within_limit(to)))
        return -EFBIG;
    int err = file ? reserve_blocks(store.fd, store.size, to) : 0;
    if (err)
        return err;
    long p = pgrt_syscall(SYS_mmap, store.base + store.size, to - store.size,
                          (long)(PROT_READ | PROT_WRITE),
                          (long)(MAP_FIXED | (file ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS)),
                          file ? (long)store.fd : -1L, file ? store.size : 0UL);
    if (p < 0)
        return (int)p;
    /* A child must not write into its parent's profile. */
    pgrt_syscall(SYS_madvise, store.base + store.size, to - store.size, (long)MADV_DONTFORK, 0L,
                 0L, 0L);
    store.size = to;
    if (store.last)
        store.last->h.total_size = to - (u64)((char *)store.last - store.base);
    return 0;
}

static void write_segments(struct pgrt_sheet *s, u32 from, u32 to, const struct pgrt_segment *list)
{
    char *at = (char *)s + s->h.segment_off + sizeof(u64);
    for (u32 i = from; i < to; i++)
        pgrt_copy(at + i * SEGMENT_BYTES, &list[i], SEGMENT_BYTES);
}

_Static_assert(sizeof(struct pgrt_segment) == SEGMENT_BYTES, "as versions 3 to 5 have it");

/* A new sheet behind the others, or NULL with *err. */
static struct pgrt_sheet *new_sheet(int *err)
{
    const struct pgrt_segment *list;
    u32 n = pgrt_modules(&list);
    u64 mib_off = sizeof(struct pgrt_raw_header) + sizeof(u64) +
                  (u64)(n + SPARE_SEGMENTS) * SEGMENT_BYTES + sizeof(struct pgrt_notes);
    u64 bytes = (mib_off + SHEET_BYTES) & ~(u64)(PGRT_PAGE - 1);
    if (store.used + bytes > store.size && (*err = grow(bytes)))
        return NULL;
    struct pgrt_sheet *s = (struct pgrt_sheet *)(store.base + store.used);
    u64 entries = (bytes - mib_off) * 9 / 20 / sizeof(struct pgrt_mib);
    s->h = (struct pgrt_raw_header){
        .magic = PGRT_RAW_MAGIC,
        .version = 5,
        .total_size = store.size - store.used,
        .segment_off = sizeof s->h,
        .mib_off = mib_off,
        .stack_off = mib_off + sizeof(u64) + entries * sizeof(struct pgrt_mib),
    };
    write_segments(s, 0, n, list);
    *count_at(s, s->h.segment_off) = n;
    *notes_of(s) = (struct pgrt_notes){PGRT_NOTES_MAGIC,
                                       PGRT_NOTE_INTERRUPTED | pgrt_notes_flags(), 0, 0};
    pgrt_compiler_barrier();
    if (store.last)
        store.last->h.total_size = (u64)((char *)s - (char *)store.last);
    store.last = s;
    store.used += bytes;
    return s;
}

/* Where the sheet ends for its owner; the header of the last one says more. */
static char *sheet_end(const struct pgrt_sheet *s)
{
    return (char *)s + ((s->h.mib_off + SHEET_BYTES) & ~(u64)(PGRT_PAGE - 1));
}

struct pgrt_mib *pgrt_store_entry(struct pgrt_thread *t, u32 context)
{
    const struct pgrt_context *c = pgrt_context(context);
    u64 stack_bytes = (2 + c->n) * sizeof(u64);
    for (int tries = 0; tries < 2; tries++) {
        struct pgrt_sheet *s = t->sheet;
        if (s) {
            u64 *count = count_at(s, s->h.mib_off), *stacks = count_at(s, s->h.stack_off);
            struct pgrt_notes *notes = notes_of(s);
            char *entry = (char *)(count + 1) + *count * sizeof(struct pgrt_mib);
            char *stack = (char *)(stacks + 1) + notes->reserved;
            if (entry + sizeof(struct pgrt_mib) <= (char *)stacks &&
                stack + stack_bytes <= sheet_end(s)) {
                const struct pgrt_segment *list;
                u32 n = pgrt_modules(&list), have = (u32)*count_at(s, s->h.segment_off);
                u32 room = (u32)((s->h.mib_off - sizeof *notes - s->h.segment_off - sizeof(u64)) /
                                 SEGMENT_BYTES);
                if (n > have && n <= room) {
                    write_segments(s, have, n, list);
                    pgrt_compiler_barrier();
                    *count_at(s, s->h.segment_off) = n;
                }
                if (n <= room) {
                    u64 *to = (u64 *)stack;
                    to[0] = context;
                    to[1] = c->n;
                    for (u32 i = 0; i < c->n; i++)
                        to[2 + i] = c->pcs[i];
                    notes->reserved += stack_bytes;
                    pgrt_compiler_barrier();
                    ++*stacks;
                    return (struct pgrt_mib *)entry;
                }
            }
        }
        lock();
        int err = 0;
        if (!store.open && !pgrt_store_open()) {
            unlock();
            return NULL;
        }
        t->sheet = store.unowned ? store.unowned : new_sheet(&err);
        store.unowned = NULL;
        unlock();
        if (!t->sheet) {
            pgrt_off("the profile cannot grow, recording stops", pgrt_errno_name(err));
            return NULL;
        }
    }
    return NULL;
}

void pgrt_store_publish(struct pgrt_thread *t)
{
    ++*count_at(t->sheet, t->sheet->h.mib_off);
}

void pgrt_store_each(void (*f)(void *arg, const struct pgrt_mib *m), void *arg)
{
    for (u64 off = store.finished; store.open && off < store.used;) {
        struct pgrt_sheet *s = (struct pgrt_sheet *)(store.base + off);
        const u64 *count = count_at(s, s->h.mib_off);
        const struct pgrt_mib *m = (const struct pgrt_mib *)(count + 1);
        for (u64 i = 0; i < *count; i++)
            f(arg, &m[i]);
        off += s->h.total_size;
    }
}

bool pgrt_store_is_open(void)
{
    return store.open;
}

void pgrt_store_forget(void)
{
    store.forget = true;
}

void pgrt_store_forked(void)
{
    if (store.fd >= 0)
        pgrt_syscall(SYS_close, (long)store.fd, 0L, 0L, 0L, 0L, 0L);
    store.fd = -1;
    store.size = store.used = store.finished = 0;
    store.last = store.unowned = NULL;
    store.open = store.forget = false;
    store.lock = 0;
}

static long create(const char *path)
{
    /* Above the descriptors that shells hand around. */
    long fd = pgrt_syscall(SYS_openat, (long)AT_FDCWD, path,
                           (long)(O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW), 0644L, 0L,
                           0L);
    if (fd < 0)
        return fd;
    long high = pgrt_syscall(SYS_fcntl, fd, (long)F_DUPFD_CLOEXEC, 200L, 0L, 0L, 0L);
    if (high < 0)
        return fd;
    pgrt_syscall(SYS_close, fd, 0L, 0L, 0L, 0L, 0L);
    return high;
}

static long rename_part(void)
{
    return pgrt_syscall(SYS_rename, store.part, store.path, 0L, 0L, 0L, 0L);
}

static void drop_part(int fd)
{
    pgrt_syscall(SYS_close, (long)fd, 0L, 0L, 0L, 0L, 0L);
    pgrt_syscall(SYS_unlink, store.part, 0L, 0L, 0L, 0L, 0L);
}

static void make_directories(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        pgrt_syscall(SYS_mkdir, path, 0777L, 0L, 0L, 0L, 0L);
        *p = '/';
    }
}

static void put(struct pgrt_text *t, const char *path, unsigned number)
{
    pgrt_text_str(t, path);
    if (number > 1) {
        pgrt_text_str(t, ".");
        pgrt_text_u64(t, number);
    }
}

/* A name that has the process number and exists belongs to an earlier program of the same
 * process, or to a process long gone: both stay. */
static bool choose_path(void)
{
    char wanted[1024];
    bool unique;
    if (!pgrt_profile_path(wanted, sizeof wanted, &store.stream, &unique))
        return false;
    for (unsigned number = 1; number < 1000; number++) {
        struct pgrt_text t;
        pgrt_text_init(&t, store.path, sizeof store.path);
        put(&t, wanted, number);
        if (store.stream >= 0 || !unique ||
            pgrt_syscall(SYS_faccessat, (long)AT_FDCWD, store.path, 0L, 0L, 0L, 0L) < 0)
            break;
    }
    struct pgrt_text t;
    pgrt_text_init(&t, store.part, sizeof store.part);
    pgrt_text_str(&t, store.path);
    pgrt_text_str(&t, ".part");
    return true;
}

/* Called with the lock, or before there are threads. */
bool pgrt_store_open(void)
{
    long fd = -1;
    int err = 0;
    if (!choose_path()) {
        pgrt_off("no profile", "its name is too long");
        return false;
    }
    if (store.stream < 0) {
        fd = create(store.part);
        if (fd == -ENOENT) {
            make_directories(store.part);
            fd = create(store.part);
        }
        if (fd < 0) {
            pgrt_say("cannot create", store.part);
            pgrt_off("no profile", pgrt_errno_name(fd));
            return false;
        }
        store.fd = (int)fd;
    }
    if (!store.base) {
        long p = pgrt_syscall(SYS_mmap, 0L, RESERVE_BYTES, (long)PROT_NONE,
                              (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE), -1L, 0L);
        store.base = p < 0 ? NULL : (char *)p;
        err = p < 0 ? (int)p : 0;
    }
    if (store.base)
        store.unowned = new_sheet(&err);
    if (store.unowned && store.stream < 0)
        err = (int)rename_part();
    if (err) {
        if (store.stream < 0)
            drop_part(store.fd);
        store.fd = -1;
        pgrt_say("cannot write", store.path);
        pgrt_off("no profile", pgrt_errno_name(err));
        return false;
    }
    if (pgrt_options.verbosity && store.stream < 0)
        pgrt_say("profile", store.path);
    store.open = true;
    return true;
}

/* The new file with finished dumps and this one; or -error. */
static long write_finished(const void *dump, size_t size, u64 pad)
{
    static const char zeros[PGRT_PAGE];
    if (!within_limit(store.finished + size + pad))
        return -EFBIG;
    long fd = create(store.part);
    if (fd < 0)
        return fd;
    int err = store.forget ? 0 : pgrt_write_all((int)fd, store.base, store.finished);
    if (!err)
        err = pgrt_write_all((int)fd, dump, size);
    if (!err)
        err = pgrt_write_all((int)fd, zeros, pad);
    if (!err)
        return fd;
    drop_part((int)fd);
    return err;
}

/* From now on the sheets are in the file behind fd. */
static int move_to(int fd, u64 finished)
{
    int old = store.fd, err = 0;
    pgrt_syscall(SYS_mmap, store.base, store.size, (long)PROT_NONE,
                 (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED), -1L, 0L);
    store.fd = fd;
    store.size = 0;
    store.finished = store.used = finished;
    store.last = NULL;
    for (struct pgrt_thread *t = pgrt_threads; t; t = t->next)
        pgrt_table_clear(t);
    store.unowned = new_sheet(&err);
    if (old >= 0)
        pgrt_syscall(SYS_close, (long)old, 0L, 0L, 0L, 0L, 0L);
    return err;
}

bool pgrt_store_finish(const void *dump, size_t size, bool last)
{
    u64 kept = store.forget ? 0 : store.finished, pad = 0;
    int err = 0;
    if (store.stream >= 0) {
        err = pgrt_write_all(store.stream, dump, size);
        if (!last && !err)
            err = move_to(-1, 0);
    } else {
        if (!last) {
            /* Sheets begin on a page; the dump's size takes the padding in. */
            pad = -(kept + size) & (PGRT_PAGE - 1);
            ((struct pgrt_raw_header *)dump)->total_size += pad;
        }
        long fd = write_finished(dump, size, pad);
        err = fd < 0 ? (int)fd : 0;
        if (!err && !last)
            err = move_to((int)fd, kept + size + pad);
        if (!err)
            err = (int)rename_part();
        if (!err && last) {
            pgrt_syscall(SYS_close, fd, 0L, 0L, 0L, 0L, 0L);
            pgrt_syscall(SYS_close, (long)store.fd, 0L, 0L, 0L, 0L, 0L);
            store.fd = -1;
        }
    }
    store.forget = false;
    if (err)
        pgrt_say("the dump was not written, the profile keeps what was freed",
                 pgrt_errno_name(err));
    return !err;
}
