/* The mapped file of counts, and an index of it that lies in memory alone. */
#include "recorder_table.h"

#include "guest_bytes.h"
#include "guest_mapped.h"
#include "guest_memory.h"
#include "guest_process.h"
#include "guest_sys.h"
#include "recorder_options.h"

#include <errno.h>

enum {
    MODULES_OFF = PGG_PAGE,
    ENTRIES_OFF = MODULES_OFF + PGK_BRANCH_MODULES_MAX * sizeof(struct pgk_branch_module) + 512,
    ENTRY_BYTES = sizeof(struct pgk_branch_entry),
    GROW_BYTES = 64 << 10,
    MOST_BYTES = ENTRIES_OFF + PGK_BRANCH_ENTRIES_MAX * ENTRY_BYTES + GROW_BYTES,
    FIRST_SLOTS = 4096,
    OTHERS_MAX = PGK_BRANCH_ENTRIES_MAX / 2,
};
_Static_assert(sizeof(struct pgk_branch_header) <= PGK_BRANCH_PROCESS_OFF &&
                   PGK_BRANCH_PROCESS_OFF + sizeof(struct pgk_branch_process) <= PGG_PAGE &&
                   (int)PGK_BRANCH_PROCESS_BYTES == (int)PGG_PROCESS_BYTES,
               "the header and the text of the process share a page");
_Static_assert(ENTRIES_OFF % PGG_PAGE == 0, "entries begin a page");

u64 pgbr_start_time;

static u64 counters_before_file[PGK_BRANCH_COUNTERS];
u64 *pgbr_counters = counters_before_file;

static struct pgg_mapped mapped = {.file = PGG_NO_FILE};
static struct pgk_branch_header *header; /* NULL: there is no file yet */
static bool refused;
static u32 *slots; /* number of an entry plus one */
static u64 slots_n;

static struct pgk_branch_entry *entries(void)
{
    return (struct pgk_branch_entry *)(void *)(mapped.base + ENTRIES_OFF);
}

static struct pgk_branch_module *files(void)
{
    return (struct pgk_branch_module *)(void *)(mapped.base + MODULES_OFF);
}

static int make_file(void)
{
    static const char zeros[PGG_PAGE];
    static char name[PGG_OPTION_TEXT + 200];
    bool unique;
    if (!pgbr_recording_path(name, sizeof name, &unique) ||
        !pgg_file_choose(&mapped.file, name, unique))
        return -ENAMETOOLONG;
    const long fd = pgg_file_create(&mapped.file, true);
    if (fd < 0)
        return (int)fd;
    int err = pgg_mapped_reserve(&mapped, pgg_whole_pages(MOST_BYTES));
    pgg_file_take(&mapped.file, (int)fd);
    if (!err)
        err = pgg_mapped_grow(&mapped, pgg_whole_pages(ENTRIES_OFF + GROW_BYTES), zeros);
    if (err) {
        pgg_sys_remove(mapped.file.part);
        pgg_file_leave(&mapped.file);
    }
    return err;
}

static void fill_header(struct pgk_branch_header *h)
{
    *h = (struct pgk_branch_header){
        .version = PGK_BRANCH_VERSION,
        .process = (u32)pgg_sys_process(),
        .modules_off = MODULES_OFF,
        .entries_off = ENTRIES_OFF,
        .frequency = pgbr_options.frequency,
        .window = pgbr_options.branches,
        .n_counters = PGK_BRANCH_COUNTERS,
    };
    for (u32 i = 0; i < PGK_BRANCH_COUNTERS; i++)
        h->counters[i] = __atomic_exchange_n(&counters_before_file[i], 0, __ATOMIC_RELAXED);
    h->magic = PGK_BRANCH_MAGIC;
}

static void put_process(struct pgk_branch_process *p)
{
    const char *text;
    p->bytes = pgg_process_text(&text, pgbr_options.cmdline);
    pgg_copy(p->text, text, p->bytes);
    p->start_time = pgbr_start_time;
}

bool pgbr_table_open(void)
{
    if (header || refused)
        return header;
    const int err = make_file();
    if (!err) {
        fill_header((struct pgk_branch_header *)(void *)mapped.base);
        put_process((struct pgk_branch_process *)(void *)(mapped.base + PGK_BRANCH_PROCESS_OFF));
        pgg_file_publish(&mapped.file);
        pgg_mapped_let_go(&mapped);
        header = (struct pgk_branch_header *)(void *)mapped.base;
        pgbr_counters = header->counters;
    } else {
        refused = true;
        pgbr_say(mapped.file.path, pgg_errno_name(err));
    }
    return header;
}

void pgbr_table_end(void)
{
    if (header)
        pgg_mapped_end(&mapped);
}

void pgbr_table_drop(void)
{
    if (header)
        pgg_sys_remove(mapped.file.path);
    header = NULL;
    refused = true;
}

void pgbr_table_forked(void)
{
    pgbr_counters = counters_before_file;
    pgbr_start_time = pgg_process_clock_ms();
    for (u32 i = 0; i < PGK_BRANCH_COUNTERS; i++)
        counters_before_file[i] = 0;
    pgg_mapped_forked(&mapped);
    header = NULL;
    refused = false;
    for (u64 i = 0; i < slots_n; i++)
        slots[i] = 0;
}

static bool is_same_file(const struct pgk_branch_module *a, const struct pgk_branch_module *b)
{
    return a->start == b->start && a->end == b->end && a->id_size == b->id_size &&
           !pgg_compare(a->id, b->id, a->id_size) && pgg_streq(a->path, b->path);
}

u32 pgbr_table_file(const struct pgk_branch_module *file)
{
    if (!pgbr_table_open())
        return PGK_BRANCH_MODULES_MAX;
    u32 n = (u32)header->modules, i = 0;
    while (i < n && !is_same_file(&files()[i], file))
        i++;
    if (i == n && n < PGK_BRANCH_MODULES_MAX) {
        files()[n] = *file;
        __atomic_store_n(&header->modules, n + 1, __ATOMIC_RELEASE);
    }
    return i;
}

const char *pgbr_table_path(void)
{
    return mapped.file.path;
}

const struct pgk_branch_module *pgbr_table_module(u32 file)
{
    return &files()[file];
}

static u64 slot_of(u32 kind, u64 from, u64 to, u32 under)
{
    const u64 key = from ^ (to << 21 | to >> 43) ^ (u64)kind << 60 ^
                    (u64)under * UINT64_C(0xd6e8feb86659fd93),
              mixed = key * UINT64_C(0x9e3779b97f4a7c15);
    u64 at = (mixed >> 20) & (slots_n - 1);
    while (slots[at]) {
        const struct pgk_branch_entry *e = &entries()[slots[at] - 1];
        if (e->from == from && e->to == to && e->kind == kind && e->under == under)
            break;
        at = (at + 1) & (slots_n - 1);
    }
    return at;
}

/* At most half of the slots are taken. */
static bool have_slot(void)
{
    if (header->entries * 2 < slots_n)
        return true;
    u32 *old = slots;
    const u64 old_n = slots_n, new_n = old_n ? 2 * old_n : FIRST_SLOTS;
    u32 *more = pgg_map(new_n * sizeof *more);
    if (!more)
        return false;
    slots = more;
    slots_n = new_n;
    for (u64 i = 0; i < header->entries; i++) {
        const struct pgk_branch_entry *e = &entries()[i];
        slots[slot_of(e->kind, e->from, e->to, e->under)] = (u32)i + 1;
    }
    if (old)
        pgg_unmap(old, old_n * sizeof *old);
    return true;
}

/* A program may load from so many places, have so many contexts, and tick at so many places, that
 * they would leave no space for branches. */
static bool have_entry(enum pgk_branch_kind kind)
{
    static const char zeros[PGG_PAGE];
    const u64 most = kind >= PGK_BRANCH_LOADED ? OTHERS_MAX : PGK_BRANCH_ENTRIES_MAX;
    if (header->entries >= most)
        return false;
    const u64 end = ENTRIES_OFF + (header->entries + 1) * ENTRY_BYTES;
    return end <= mapped.size || !pgg_mapped_grow(&mapped, mapped.size + GROW_BYTES, zeros);
}

u32 pgbr_table_add(enum pgk_branch_kind kind, u64 from, u64 to, u32 under)
{
    u64 slot;
    if (!header || !have_slot()) {
        pgbr_count(PGK_BRANCH_TABLE_FULL);
        return 0;
    }
    slot = slot_of(kind, from, to, under);
    if (slots[slot]) {
        entries()[slots[slot] - 1].count++;
        return slots[slot];
    }
    if (!have_entry(kind)) {
        pgbr_count(PGK_BRANCH_TABLE_FULL);
        return 0;
    }
    entries()[header->entries] = (struct pgk_branch_entry){from, to, 1, kind, under};
    __atomic_store_n(&header->entries, header->entries + 1, __ATOMIC_RELEASE);
    return slots[slot] = (u32)header->entries;
}
