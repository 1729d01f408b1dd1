/* Dumps: everything freed since the last one and every object alive now, as one standard raw
 * profile of the version asked for. */
#include "runtime_dump.h"

#include "guest_bytes.h"
#include "guest_file.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_sys.h"
#include "runtime_alloc.h"
#include "runtime_heap.h"
#include "runtime_options.h"
#include "runtime_reach.h"
#include "runtime_series.h"
#include "runtime_shadow.h"
#include "runtime_socket.h"
#include "runtime_start.h"
#include "runtime_thread.h"

#include <errno.h>

/* What goes into a dump: one entry per context, indexed by its number; count 0: none. */
struct merged {
    struct pgrt_mib *mibs;
    struct pgrt_life *lives;
    u64 snapshot;
    u32 n;
    bool looked; /* for what no pointer leads to */
};

static void take(void *arg, const struct pgrt_mib *m)
{
    struct merged *all = arg;
    if (!m->AllocCount || m->stack_id >= all->n)
        return;
    struct pgrt_mib *to = &all->mibs[m->stack_id];
    if (to->AllocCount)
        pgrt_mib_merge(to, m);
    else
        *to = *m;
}

/* What a thread knows of a context over time. The sums of all threads are meant: one of them alone
 * may have freed more than it made. */
static void take_life(void *arg, const struct pgrt_begun *b)
{
    struct merged *all = arg;
    const bool saved = b->epoch == all->snapshot;
    if (b->context >= all->n)
        return;
    struct pgrt_life *l = &all->lives[b->context];
    l->exit_bytes += b->alive_bytes;
    l->exit_objects += b->alive_objects;
    l->peak_bytes += saved ? b->peak_bytes : b->alive_bytes;
    l->peak_objects += saved ? b->peak_objects : b->alive_objects;
    l->temporary += b->temporary;
    pgrt_touched_merge(&l->use, &b->use);
}

static void take_lives(struct merged *all)
{
    const struct pgrt_times *times = pgrt_store_times();
    all->snapshot = times ? times->epoch : 0;
    pgrt_store_each_begun(take_life, all);
    for (u32 id = 1; id < all->n; id++) { /* objects are counted modulo 2^32 */
        all->lives[id].context = id;
        all->lives[id].exit_objects = (u32)all->lives[id].exit_objects;
        all->lives[id].peak_objects = (u32)all->lives[id].peak_objects;
    }
}

/* Objects that live on are in the next dump's sheets, too, as far as they are alive. With the world
 * stopped any thread's will do, and a helper has none. */
static void carry_lives(const struct merged *all)
{
    struct pgrt_thread *t = pgrt_threads_first();
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_life *l = &all->lives[id];
        struct pgrt_begun *b = l->exit_objects ? pgrt_table_carry(t, id) : NULL;
        if (!b)
            continue;
        b->alive_bytes = l->exit_bytes;
        b->alive_objects = (u32)l->exit_objects;
    }
}

/* One of a context whose objects are all in earlier dumps, too: they may still be alive. */
static bool has_life(const struct merged *all, u32 id)
{
    const struct pgrt_life *l = &all->lives[id];
    return l->peak_objects || l->exit_objects || l->temporary || l->use.touched || l->use.untouched;
}

/* An object of this process that no dump has counted. */
static bool is_new(const struct merged *all, const struct pgrt_header *h)
{
    return h->context && h->context < all->n && !(h->kind & PGRT_KIND_SILENT) &&
           h->generation == (pgrt_generation & 0xff);
}

static void take_live(void *arg, struct pgrt_object *o)
{
    struct merged *all = arg;
    const struct pgrt_header *h = &o->h;
    struct pgrt_mib one;
    if (!is_new(all, h))
        return;
    const struct pgrt_use use = pgrt_use(o);
    const struct pgrt_touched touched = pgrt_touched_one(h, use);
    pgrt_mib_one(&one, h, use.accesses, pgrt_now_ms(), pgrt_cpu());
    take(all, &one);
    pgrt_touched_merge(&all->lives[h->context].use, &touched);
    if (h->kind & PGRT_KIND_UNBEGUN) { /* of a child that had no file yet */
        all->lives[h->context].exit_bytes += h->size;
        all->lives[h->context].exit_objects++;
    }
    if (pgrt_histogram)
        pgrt_histogram_add(h->context, (uintptr_t)o->at, h->size);
}

static void take_lost(void *arg, const struct pgrt_header *h)
{
    struct merged *all = arg;
    if (h->context >= all->n)
        return;
    all->lives[h->context].lost.bytes += h->size;
    all->lives[h->context].lost.objects++;
}

static void check_leaks(struct merged *all)
{
    const int err = pgrt_reach_each_lost(take_lost, all);
    all->looked = !err;
    if (err)
        pgrt_say("leak check failed: cannot determine which objects are reachable",
                 pgg_errno_name(err));
}

static void mark_counted(void *all, struct pgrt_object *o)
{
    if (is_new(all, &o->h))
        pgrt_object_silence(o);
}

static u32 mib_size(u64 version)
{
    u32 n = sizeof(u64);
#define PGK_MIB(name, type, first, sound, tag, step, across, unit, meaning) \
    n += version >= (first) ? sizeof(type) : 0;
#include "heap_mib.def"
#undef PGK_MIB
    return n;
}

/* How the version stores the elements of a histogram. */
enum element { ELEMENT_NONE, ELEMENT_U64, ELEMENT_FLOAT16 };

static enum element element_of(u64 version)
{
    switch (version) {
#define PGK_RAW_VERSION(number, element, module, since, until) \
    case number:                                               \
        return ELEMENT_##element;
#include "heap_raw_versions.def"
#undef PGK_RAW_VERSION
    }
    return ELEMENT_NONE;
}

static size_t element_bytes(u64 version)
{
    const enum element e = element_of(version);
    return e == ELEMENT_U64 ? sizeof(u64) : e == ELEMENT_FLOAT16 ? sizeof(uint16_t) : 0;
}

/* Four bits of exponent and twelve of mantissa; each halving rounds up. */
static uint16_t short_float(u64 v)
{
    u32 exponent = 0;
    if (v > UINT64_C(4095) << 15)
        v = UINT64_C(4095) << 15;
    for (; v > 4095; exponent++)
        v = (v + 1) >> 1;
    return (uint16_t)(exponent << 12 | v);
}

static char *put(char *p, const void *bytes, size_t n)
{
    pgg_copy(p, bytes, n);
    return p + n;
}

static char *put_u64(char *p, u64 v)
{
    return put(p, &v, sizeof v);
}

static char *put_mib(char *p, u64 version, struct pgrt_mib *m, const struct pgrt_histogram *hist)
{
    m->AccessHistogramSize = hist ? (u32)hist->n : 0;
    p = put_u64(p, m->stack_id);
#define PGK_MIB(name, type, first, sound, tag, step, across, unit, meaning) \
    if (version >= (first))                          \
        p = put(p, (const char *)m + offsetof(struct pgrt_mib, name), sizeof(type));
#include "heap_mib.def"
#undef PGK_MIB
    for (u64 i = 0; hist && i < hist->n; i++) {
        u64 v = element_of(version) == ELEMENT_FLOAT16 ? short_float(hist->v[i]) : hist->v[i];
        p = put(p, &v, element_bytes(version));
    }
    return p;
}

static const struct pgrt_histogram *histogram(u64 version, u32 context)
{
    return pgrt_histogram && element_bytes(version) ? pgrt_histogram_of(context) : NULL;
}

static size_t life_size(const struct merged *all)
{
    return all->looked ? sizeof *all->lives : offsetof(struct pgrt_life, lost);
}

/* Bytes of the series, of its breakdowns, of what is known of contexts over time, and of what says
 * where they are. */
static size_t times_size(const struct merged *all, struct pgrt_times *times)
{
    const struct pgrt_times *now = pgrt_store_times();
    *times = now ? *now : (struct pgrt_times){0};
    times->epoch = times->lives = 0;
    for (u32 id = 1; id < all->n; id++)
        times->lives += has_life(all, id);
    return times->points * sizeof(struct pgrt_point) +
           times->breakdowns * sizeof(struct pgrt_breakdown) +
           times->lives * life_size(all) + sizeof *times;
}

static char *put_times(char *p, const char *bytes, const struct merged *all,
                       struct pgrt_times *times)
{
    const struct pgrt_times *now = pgrt_store_times();
    times->series_off = times->points ? (u64)(p - bytes) : 0;
    if (times->points)
        p = put(p, pgrt_store_points(now), times->points * sizeof(struct pgrt_point));
    times->breakdowns_off = times->breakdowns ? (u64)(p - bytes) : 0;
    if (times->breakdowns)
        p = put(p, pgrt_store_breakdowns(now), times->breakdowns * sizeof(struct pgrt_breakdown));
    times->lives_off = times->lives ? (u64)(p - bytes) : 0;
    for (u32 id = 1; id < all->n; id++)
        if (has_life(all, id))
            p = put(p, &all->lives[id], life_size(all));
    return put(p, times, sizeof *times);
}

/* The dump as bytes, or NULL; *room is the size of its mapping. */
static char *encode(const struct merged *all, size_t *size, size_t *room, u64 *objects_in)
{
    const struct pgg_segment *segments;
    const u64 version = pgrt_options.raw_version;
    u64 n_segments = pgg_modules(&segments), n = 0, stack_bytes = 0, elements = 0, objects = 0;
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_histogram *hist = histogram(version, id);
        if (!all->mibs[id].AllocCount)
            continue;
        n++;
        objects += all->mibs[id].AllocCount;
        stack_bytes += (2 + pgrt_context(id)->n) * sizeof(u64);
        elements += hist ? hist->n : 0;
    }
    *objects_in = objects;
    struct pgrt_times times;
    struct pgrt_raw_header h = {.magic = PGRT_RAW_MAGIC, .version = version};
    h.segment_off = sizeof h;
    h.mib_off = h.segment_off + sizeof(u64) + n_segments * sizeof *segments +
                times_size(all, &times) + sizeof(struct pgrt_notes);
    h.stack_off = (h.mib_off + sizeof(u64) + n * mib_size(version) +
                   elements * element_bytes(version) + 7) &
                  ~UINT64_C(7);
    h.total_size = h.stack_off + sizeof(u64) + stack_bytes;
    *size = h.total_size;
    *room = (h.total_size + PGG_PAGE - 1) & ~(size_t)(PGG_PAGE - 1);
    char *bytes = pgg_map(*room), *p = bytes;
    if (!bytes)
        return NULL;
    p = put(p, &h, sizeof h);
    p = put_u64(p, n_segments);
    p = put(p, segments, n_segments * sizeof *segments);
    p = put_times(p, bytes, all, &times);
    p = put(p,
            &(struct pgrt_notes){.magic = PGK_NOTES_MAGIC, .flags = pgrt_notes_flags() |
                                          (all->looked ? PGRT_NOTE_UNREACHABLE : 0),
                                 .dropped = pgrt_dropped, .stack_bytes = stack_bytes,
                                 .own_ns = pgrt_cost_ns(objects),
                                 .own_bytes = pgrt_cost_bytes()},
            sizeof(struct pgrt_notes));
    p = put_u64(p, n);
    for (u32 id = 1; id < all->n; id++)
        if (all->mibs[id].AllocCount)
            p = put_mib(p, version, &all->mibs[id], histogram(version, id));
    p = put_u64(bytes + h.stack_off, n);
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_context *c = pgrt_context(id);
        if (!all->mibs[id].AllocCount)
            continue;
        p = put_u64(p, id);
        p = put_u64(p, c->n);
        pgrt_context_pcs(c, (u64 *)p, c->n);
        p += c->n * sizeof(u64);
    }
    return bytes;
}

/* A child that recorded nothing leaves no file. */
static bool empty(const struct merged *all)
{
    for (u32 id = 1; id < all->n; id++)
        if (all->mibs[id].AllocCount)
            return false;
    return true;
}

/* Ends an object in the sheets, as if it were freed now. */
static void end_now(void *all, struct pgrt_object *o)
{
    if (!is_new(all, &o->h))
        return;
    pgrt_table_close(pgrt_self, &o->h, pgrt_use(o), pgrt_now_ms(), pgrt_cpu(), (uintptr_t)o->at);
    mark_counted(all, o);
}

static void say_not_written(int err)
{
    pgrt_say("the dump was not written, the profile keeps the objects freed so far",
             pgg_errno_name(err));
}

/* Where no file can be made any more, the one that is mapped takes what is alive. */
static void complete_in_place(struct merged *all, int err)
{
    const bool less = pgrt_histogram || pgrt_options.raw_version != PGK_RAW_NOW;
    pgrt_series_close(pgrt_now_ms());
    pgrt_heap_each(end_now, all);
    pgrt_store_mark(true);
    if (err == -ENOENT && pgg_file_root_is_first())
        pgrt_say("the folder of the profile was removed or renamed: the profile is lost unless its "
                 "file is somewhere else now",
                 pgrt_store_path());
    else if (less || pgrt_options.verbosity)
        pgrt_say(
            less ? "no new file could be made: the profile has the newest version and no histograms"
                 : "no new file could be made, the profile was completed in place",
            pgg_errno_name(err));
}

/* For a process that may not open files any more. */
static int dump_confined(struct merged *all, bool last)
{
    if (last && pgrt_store_is_file())
        complete_in_place(all, -EPERM);
    else if (!last)
        say_not_written(-EPERM);
    return -EPERM;
}

/* With the world stopped. */
static int dump(struct merged *all, bool last)
{
    size_t size, room;
    u64 objects;
    pgrt_series_close(pgrt_now_ms());
    pgrt_store_each(take, all);
    take_lives(all);
    pgrt_heap_each(take_live, all);
    if (last && pgrt_options.leak_check)
        check_leaks(all);
    if (last && !pgrt_store_is_open() && empty(all))
        return 0;
    if (!pgrt_store_is_open() && !pgrt_store_open())
        return -ENOENT;
    char *bytes = encode(all, &size, &room, &objects);
    int err = bytes ? pgrt_store_finish(bytes, size, last) : -ENOMEM;
    if (!err) {
        pgrt_heap_each(mark_counted, all);
        if (!last) {
            carry_lives(all);
            pgrt_series_open();
        }
        pgrt_histograms_clear();
        pgrt_cost_dumped(objects);
    } else if (last) {
        complete_in_place(all, err);
    } else {
        say_not_written(err);
    }
    if (bytes)
        pgg_unmap(bytes, room);
    return err;
}

static int dump_apart(struct merged *all, bool last)
{
    const size_t bytes = (size_t)(all->n + 1) * (sizeof *all->lives + sizeof *all->mibs);
    all->lives = pgg_map(bytes);
    if (!all->lives) {
        pgrt_say("no dump", pgg_errno_name(-ENOMEM));
        return -ENOMEM;
    }
    all->mibs = (struct pgrt_mib *)(all->lives + all->n + 1);
    const int err = dump(all, last);
    pgg_unmap(all->lives, bytes);
    return err;
}

int pgrt_dump(bool last)
{
    int err = 0;
    pgrt_stop_world();
    pgrt_cost_once_begins();
    struct merged all = {.n = pgrt_contexts()};
    if (pgrt_gate_now() == PGRT_GATE_STOP)
        err = (pgg_confined ? dump_confined : dump_apart)(&all, last);
    pgrt_cost_once_ends();
    if (last)
        pgrt_gate_set(PGRT_GATE_OFF);
    pgrt_start_world();
    return err;
}

void pgrt_reset(void)
{
    pgrt_stop_world();
    if (pgrt_gate_now() == PGRT_GATE_STOP) {
        const int err = pgrt_store_reset();
        if (err)
            pgrt_say("no new file could be begun, the profile goes on in the old one",
                     pgg_errno_name(err));
    }
    pgrt_start_world();
}

void pgrt_discard(void)
{
    pgrt_stop_world();
    if (pgrt_gate_now() == PGRT_GATE_STOP) {
        pgrt_store_discard();
        pgrt_gate_set(PGRT_GATE_OFF);
    }
    pgrt_start_world();
}

/* What happens up to the call that replaces the program is in the sheets anyway. A child that
 * shares its parent's memory, or that recorded nothing, has nothing to complete. */
void pgrt_exec_begins(void)
{
    if (pgrt_gate_now() != pgrt_gate_started || pgrt_busy() || !pgrt_self ||
        !pgrt_store_is_file() || pgg_sys_process() != pgrt_pid)
        return;
    pgrt_socket_end();
    pgrt_stop_world();
    if (pgrt_gate_now() == PGRT_GATE_STOP) {
        pgrt_cost_once_begins();
        struct merged all = {.n = pgrt_contexts()};
        pgrt_series_close(pgrt_now_ms());
        pgrt_heap_each(end_now, &all);
        pgrt_store_mark(true);
    }
    pgrt_start_world();
}

void pgrt_exec_failed(void)
{
    if (pgrt_gate_now() != pgrt_gate_started || !pgrt_store_is_file() ||
        pgg_sys_process() != pgrt_pid)
        return;
    pgrt_store_mark(false);
    pgrt_socket_begin();
}
