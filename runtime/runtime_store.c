/* The mapped file. From the first moment it is a sound raw profile, whatever instant the
 * process is killed at: finished dumps, then sheets. docs/formats/interrupted-heap.md */
#include "runtime_store.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_sys.h"
#include "runtime_options.h"
#include "runtime_shadow.h"
#include "runtime_start.h"
#include "runtime_store_priv.h"

#include <errno.h>

enum {
    GROW_BYTES = 64 << 10, /* the file grows by a multiple of this */
    AHEAD_BYTES = 4 << 20,
};

struct pgrt_store pgrt_store = {.mapped.file = PGG_NO_FILE};

/* Addresses reserved for the file to grow: as many words as places can be, but no more than for the
 * shadow if a kernel has addresses of few bits. */
static u64 reserve_bytes(void)
{
    const u64 most = UINT64_C(1) << (pgrt_space_is_limited ? 25 : 35);
    return pgrt_shadow_bytes && pgrt_shadow_bytes < most ? pgrt_shadow_bytes : most;
}

/* A page that is a whole dump without contexts. The file grows by copies of it, so that it is
 * sound at whatever page a kill stops the growth. */
static const void *empty_dump(void)
{
    static struct {
        struct pgrt_raw_header h;
        u64 words[(PGG_PAGE - sizeof(struct pgrt_raw_header)) / sizeof(u64)];
    } page;
    enum { SEGMENTS = (PGG_PAGE - sizeof page.h - 3 * sizeof(u64)) / PGRT_SEGMENT_BYTES };
    const struct pgg_segment *list;
    u32 n = pgg_modules(&list);
    n = n < SEGMENTS ? n : SEGMENTS;
    page.h = (struct pgrt_raw_header){
        .magic = PGRT_RAW_MAGIC,
        .version = PGK_RAW_NOW,
        .total_size = PGG_PAGE,
        .segment_off = sizeof page.h,
        .mib_off = sizeof page.h + sizeof(u64) + n * PGRT_SEGMENT_BYTES,
        .stack_off = sizeof page.h + 2 * sizeof(u64) + n * PGRT_SEGMENT_BYTES,
    };
    page.words[0] = n;
    pgrt_sheet_put_segments((struct pgrt_sheet *)&page, 0, n, list);
    page.words[1 + n * PGRT_SEGMENT_BYTES / sizeof(u64)] = 0;
    page.words[2 + n * PGRT_SEGMENT_BYTES / sizeof(u64)] = 0;
    return &page;
}

void pgrt_store_punch(void)
{
    pgg_mapped_punch(&pgrt_store.mapped, pgrt_store.covered.from, pgrt_store.covered.to);
    pgrt_store.covered.from = pgrt_store.covered.to = 0;
}

static int grow(u64 bytes)
{
    if (pgrt_store.mapped.file.stream < 0 && pgg_confined)
        return -EPERM;
    const u64 to = (pgrt_store.mapped.size + bytes + GROW_BYTES - 1) & ~(u64)(GROW_BYTES - 1);
    int err = pgg_mapped_grow(&pgrt_store.mapped, to, empty_dump());
    if (err == -ENOSPC && pgrt_store.covered.to) {
        pgrt_store_punch();
        err = pgg_mapped_grow(&pgrt_store.mapped, to, empty_dump());
    }
    if (!err && pgrt_store.last)
        pgrt_store.last->h.total_size =
            to - (u64)((char *)pgrt_store.last - pgrt_store.mapped.base);
    return err;
}

int pgrt_store_grow_to(u64 end)
{
    return end > pgrt_store.mapped.size ? grow(end - pgrt_store.mapped.size) : 0;
}

void pgrt_store_grow_ahead(void)
{
    pgg_lock(&pgrt_store.lock);
    if (pgrt_store_is_file())
        grow(AHEAD_BYTES);
    pgg_unlock(&pgrt_store.lock);
}

bool pgrt_store_is_open(void)
{
    return pgrt_store.open;
}

void pgrt_store_forked(void)
{
    pgg_mapped_forked(&pgrt_store.mapped);
    pgrt_store_finish_until(0);
    pgrt_store.own = 0;
    pgrt_store.covered.from = pgrt_store.covered.to = 0;
    pgrt_store.last = pgrt_store.unowned = NULL;
    pgrt_store.texts = (struct pgrt_texts){0};
    pgrt_store.open = false;
    pgrt_store.lock = 0;
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
    if (!pgrt_profile_path(wanted, sizeof wanted, &pgrt_store.mapped.file.stream, &unique) ||
        !pgg_file_choose(&pgrt_store.mapped.file, wanted, unique)) {
        pgrt_off("no profile", "its name is too long");
        return false;
    }
    if (pgrt_store.mapped.file.stream < 0) {
        fd = pgg_file_create(&pgrt_store.mapped.file, pgg_file_root_is_first());
        if (fd < 0)
            return no_profile("cannot create ", pgrt_store.mapped.file.path, (int)fd);
        pgg_file_take(&pgrt_store.mapped.file, (int)fd);
    }
    if (!pgrt_store.mapped.base)
        err = pgg_mapped_reserve(&pgrt_store.mapped, reserve_bytes());
    pgrt_store_finish_until(0);
    if (pgrt_store.mapped.base)
        pgrt_store.unowned = pgrt_sheet_first(&pgrt_store.unowned_bytes, &err);
    if (pgrt_store.unowned && pgrt_store.mapped.file.stream < 0)
        err = pgg_file_publish(&pgrt_store.mapped.file);
    if (err) {
        if (pgrt_store.mapped.file.stream < 0)
            pgg_sys_remove(pgrt_store.mapped.file.part);
        pgg_file_leave(&pgrt_store.mapped.file);
        return no_profile("cannot write ", pgrt_store.mapped.file.path, err);
    }
    if (pgrt_store.mapped.file.stream < 0 && !pgg_file_root_is_first())
        pgrt_say("profile below the root directory that the process has now (chroot)",
                 pgrt_store.mapped.file.path);
    else if (pgrt_options.verbosity && pgrt_store.mapped.file.stream < 0)
        pgrt_say("profile", pgrt_store.mapped.file.path);
    pgrt_store.open = true;
    return true;
}

const char *pgrt_store_path(void)
{
    return pgrt_store.mapped.file.path;
}

u64 pgrt_store_bytes(void)
{
    return pgrt_store.mapped.size - pgrt_store.finished;
}

bool pgrt_store_is_file(void)
{
    return pgrt_store.open && pgrt_store.mapped.file.stream < 0;
}
