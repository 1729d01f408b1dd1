/* Finished dumps, which come before the sheets: each is written after those before it, in the file
 * or in a new one, and then the sheets are empty. docs/formats/interrupted-heap.md */
#include "runtime_finished.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "runtime_store.h"
#include "runtime_store_priv.h"
#include "runtime_thread.h"

#include <errno.h>
#include <sys/mman.h>

enum { SPARE_BYTES = 4 << 20 }; /* of sheets that were, beyond what the dumps take */

/* The size of a finished dump itself, without the bytes after it that it may cover. */
static u64 own_bytes(const struct pgrt_raw_header *h)
{
    const struct pgrt_notes *notes = (const struct pgrt_notes *)((const char *)h + h->mib_off) - 1;
    return h->stack_off + sizeof(u64) + notes->facts.stack_bytes;
}

/* The finished dumps, without what they cover. */
static int write_own(int fd)
{
    for (u64 off = 0; off < pgrt_store.finished;) {
        const struct pgrt_raw_header *dump =
            (const struct pgrt_raw_header *)(pgrt_store.mapped.base + off);
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
        to->err = to->fd < 0 ? pgg_mapped_write(&pgrt_store.mapped, to->at, to->buffer, to->used)
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
    const bool whole = fd >= 0 && fd == pgrt_store.mapped.file.stream;
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
    if (!pgg_file_within_limit(pgrt_store.own + dump->size + pad))
        return -EFBIG;
    long fd = pgg_file_create(&pgrt_store.mapped.file, false);
    if (fd < 0)
        return fd;
    int err = write_own((int)fd);
    if (!err)
        err = write_dump(dump, dump->size + pad, (int)fd, 0);
    if (!err)
        err = pgg_sys_write_all((int)fd, zeros, pad);
    if (!err)
        return fd;
    pgg_file_drop(&pgrt_store.mapped.file, (int)fd);
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
    int err = pgg_mapped_move(&pgrt_store.mapped, fd, finished);
    pgrt_store_finish_until(finished);
    pgrt_store.covered.from = pgrt_store.covered.to = 0;
    pgrt_store.last = NULL;
    clear_tables();
    if (!err)
        pgrt_store.unowned = pgrt_sheet_first(&pgrt_store.unowned_bytes, &err);
    return err;
}

/* In a new file, with the dumps before it. */
static int finish_anew(const struct pgrt_dump *dump, bool last)
{
    /* Sheets begin on a page; the dump's size takes the padding in. */
    const u64 newest = pgrt_store.own, size = dump->size,
              pad = last ? 0 : -(newest + size) & (pgg_page() - 1);
    const long fd = write_finished(dump, pad);
    int err = fd < 0 ? (int)fd : 0;
    if (!err && !last) {
        pgrt_store.texts = dump->texts;
        err = move_to((int)fd, newest + size + pad);
        pgrt_store.newest = newest;
        pgrt_store.own = newest + size;
    }
    if (!err)
        err = pgg_file_publish(&pgrt_store.mapped.file);
    if (!err && last) {
        pgg_sys_close((int)fd);
        pgg_file_leave(&pgrt_store.mapped.file);
    }
    return err;
}

static u64 whole_pages(u64 bytes)
{
    return (bytes + pgg_page() - 1) & ~(u64)(pgg_page() - 1);
}

/* After the sheets, which the dump before covers then: some part of the file is of no use, but it
 * is no more than what is, so that all that is written grows with the dumps and not with their
 * square. Where files may not be long there is a better use of their length. The program may have
 * given the file another name, or have removed it. */
static bool fits_after(u64 size, bool last)
{
    const u64 spare = last ? 0 : SPARE_BYTES, end = pgrt_store.used + size;
    const u64 whole = last && end < pgrt_store.mapped.size ? pgrt_store.mapped.size : end;
    return pgrt_store.finished && whole <= 2 * (pgrt_store.own + size) + spare &&
           2 * end <= pgrt_store.mapped.capacity && pgg_file_within_limit(2 * end) &&
           pgg_file_is_published(&pgrt_store.mapped.file);
}

/* Until the dump before covers the sheets, the last of them covers all that is written here. That
 * is one store, so a kill leaves the sheets or the dump. */
static int finish_after(const struct pgrt_dump *dump, bool last)
{
    const u64 at = pgrt_store.used, end = whole_pages(at + dump->size);
    const struct pgrt_sheet_plan plan = pgrt_sheet_plan_first();
    struct pgrt_raw_header *before =
        (struct pgrt_raw_header *)(pgrt_store.mapped.base + pgrt_store.newest);
    struct pgrt_sheet *sheet = NULL;
    int err = pgrt_store_grow_to(end + (last ? 0 : plan.bytes));
    if (!err)
        err = write_dump(dump, (last ? pgrt_store.mapped.size : end) - at, -1, at);
    if (err)
        return err;
    if (!last)
        sheet = pgrt_sheet_put(&plan, end);
    __atomic_store_n(&before->total_size, at - pgrt_store.newest, __ATOMIC_RELEASE);
    clear_tables();
    /* A reader that opened the file before the dump still finds the sheets, until the next dump. */
    pgrt_store_punch();
    pgrt_store.covered.from = pgrt_store.finished;
    pgrt_store.covered.to = at;
    pgg_sys_advise(pgrt_store.mapped.base + pgrt_store.finished, at - pgrt_store.finished,
                   MADV_DONTNEED);
    pgrt_store.newest = at;
    pgrt_store.own += dump->size;
    pgrt_store_finish_until(end);
    pgrt_store.texts = dump->texts;
    pgrt_store.last = pgrt_store.unowned = sheet;
    pgrt_store.unowned_bytes = plan.bytes;
    if (!last) {
        pgrt_store.used += plan.bytes;
        pgrt_sheet_put_texts(sheet);
        return 0;
    }
    pgrt_store_punch();
    pgg_mapped_punch(&pgrt_store.mapped, end, pgrt_store.mapped.size);
    pgg_file_leave(&pgrt_store.mapped.file);
    return 0;
}

int pgrt_store_finish(const struct pgrt_dump *dump, bool last)
{
    int err;
    if (pgrt_store.mapped.file.stream >= 0) {
        err = write_dump(dump, dump->size, pgrt_store.mapped.file.stream, 0);
        pgrt_store.texts = dump->texts;
        return last || err ? err : move_to(-1, 0);
    }
    if (fits_after(dump->size, last) && !finish_after(dump, last))
        return 0;
    return finish_anew(dump, last);
}

int pgrt_store_reset(void)
{
    const u64 finished = pgrt_store.finished;
    if (!pgrt_store_is_file() || !finished)
        return 0;
    long fd = pgg_file_create(&pgrt_store.mapped.file, false);
    if (fd < 0)
        return (int)fd;
    int err = pgg_sys_write_all((int)fd, pgrt_store.mapped.base + finished,
                                pgrt_store.mapped.size - finished);
    pgrt_store_punch();
    if (!err)
        err = pgg_mapped_split(&pgrt_store.mapped, (int)fd, finished);
    if (err) {
        pgg_file_drop(&pgrt_store.mapped.file, (int)fd);
        return err;
    }
    pgrt_store.used -= finished;
    pgrt_store.finished = pgrt_store.own = 0;
    pgrt_store.covered.from = pgrt_store.covered.to = 0;
    pgrt_store.texts = (struct pgrt_texts){0};
    pgrt_sheet_put_texts((struct pgrt_sheet *)pgrt_store.mapped.base);
    return pgg_file_publish(&pgrt_store.mapped.file);
}

void pgrt_store_discard(void)
{
    if (!pgrt_store_is_file())
        return;
    pgrt_store_punch();
    pgg_file_shorten(&pgrt_store.mapped.file, pgrt_store.finished);
}

struct pgrt_texts pgrt_store_texts(void)
{
    return pgrt_store.texts;
}
