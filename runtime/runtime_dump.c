/* Dumps: everything freed since the last one and every object alive now, as one standard raw
 * profile of the version asked for. */
#include "runtime_dump.h"

#include "guest_bytes.h"
#include "guest_file.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_process.h"
#include "guest_sys.h"
#include "runtime_alloc.h"
#include "runtime_breakdown.h"
#include "runtime_finished.h"
#include "runtime_heap.h"
#include "runtime_options.h"
#include "runtime_reach.h"
#include "runtime_series.h"
#include "runtime_shadow.h"
#include "runtime_socket.h"
#include "runtime_start.h"
#include "runtime_store.h"
#include "runtime_thread.h"

#include <errno.h>

/* What goes into a dump of a context. What a single thread knows is taken from its sheet, where it
 * stays until the dump is written; what there is more than one of is added up. */
struct sum {
    struct pgrt_mib mib;
    struct pgrt_life life;
};
/* Places in the store, 0: none. With IN_SUM `mib` is the number of the sum of both, and of all
 * others. */
struct of_context {
    u32 mib, allocated;
};
#define IN_SUM UINT32_MAX
/* With ALONE it is the number of its only object, which is alive: what that adds to the sheets is
 * found from it, where a sum would take 15 times as much. */
#define ALONE (UINT32_MAX - 1)
struct alone {
    const char *at;
    u32 form, allocated; /* a place */
};
/* What of a context is alive is in the next dump's sheets, too. */
struct carried {
    u64 bytes;
    u32 context, objects;
};
enum { SUMS_SPAN = 256, ALONE_SPAN = 4096, ALONE_BYTES = 4096 };
/* Of the dump that is made, by their number; the last ones stay NULL. */
static struct sum *sums[PGG_CONTEXTS_MAX / SUMS_SPAN + 1];
static struct alone *alone[PGG_CONTEXTS_MAX / ALONE_SPAN + 1];
/* What is known of a dump before it is written. */
struct plan {
    struct pgrt_raw_header h;
    const struct pgg_segment *segments;
    struct pgrt_notes notes;
    struct pgrt_texts texts; /* that the file has with this dump */
    u64 n_segments, contexts, objects, texts_bytes, mibs_end;
};
struct merged {
    struct pgrt_dump dump; /* for the store */
    struct of_context *of; /* by number */
    u32 n_sums, n_alone;
    u32 now_ms, cpu; /* the end of what is alive */
    struct carried *carried;
    size_t carried_bytes;
    u32 n, n_carried;
    u64 snapshot;
    struct plan plan;
    bool looked; /* for what no pointer leads to */
    bool failed; /* memory was short */
};

/* Adds what a thread knows of a context over time. The sums of all threads are meant: one of them
 * alone may have freed more than it made. Objects are counted modulo 2^32. */
static void add_allocated(const struct merged *all, struct pgrt_life *l,
                          const struct pgrt_allocated *b)
{
    const bool saved = b->epoch == all->snapshot;
    l->exit_bytes += b->alive_bytes;
    l->exit_objects = (u32)(l->exit_objects + b->alive_objects);
    l->peak_bytes += saved ? b->peak_bytes : b->alive_bytes;
    l->peak_objects = (u32)(l->peak_objects + (saved ? b->peak_objects : b->alive_objects));
    l->temporary += b->temporary;
    pgrt_touched_merge(&l->use, &b->use);
}

static struct sum *sum_at(const struct merged *all, u32 id)
{
    const struct of_context *c = &all->of[id];
    return c->allocated == IN_SUM ? &sums[c->mib / SUMS_SPAN][c->mib % SUMS_SPAN] : NULL;
}

static const struct alone *alone_at(const struct merged *all, u32 id)
{
    const struct of_context *c = &all->of[id];
    return c->allocated == ALONE ? &alone[c->mib / ALONE_SPAN][c->mib % ALONE_SPAN] : NULL;
}

static struct pgrt_object object_of(const struct alone *a)
{
    return pgrt_object_at(a->at, (enum pgrt_form)a->form);
}

static struct pgrt_life life_of(const struct merged *all, u32 id)
{
    const struct of_context *c = &all->of[id];
    struct pgrt_life l = {.context = id};
    const struct sum *sum = sum_at(all, id);
    const struct alone *a = alone_at(all, id);
    if (sum)
        return sum->life;
    if (c->allocated)
        add_allocated(all, &l, pgrt_sheets_at(a ? a->allocated : c->allocated));
    if (a) {
        const struct pgrt_object o = object_of(a);
        const struct pgrt_touched touched = pgrt_touched_one(&o.h, pgrt_use(&o));
        pgrt_touched_merge(&l.use, &touched);
    }
    return l;
}

static struct pgrt_mib mib_of_object(const struct merged *all, const struct pgrt_object *o)
{
    struct pgrt_mib one;
    pgrt_mib_one(&one, &o->h, pgrt_use(o).accesses, all->now_ms, all->cpu);
    return one;
}

/* Without one if AllocCount is 0. */
static struct pgrt_mib mib_of(const struct merged *all, u32 id)
{
    const struct of_context *c = &all->of[id];
    const struct sum *sum = sum_at(all, id);
    const struct alone *a = alone_at(all, id);
    if (a) {
        const struct pgrt_object o = object_of(a);
        return mib_of_object(all, &o);
    }
    return sum      ? sum->mib
           : c->mib ? *(const struct pgrt_mib *)pgrt_sheets_at(c->mib)
                    : (struct pgrt_mib){0};
}

/* The sum of a context, a new one if it has none; NULL without memory. */
static struct sum *sum_of(struct merged *all, u32 id)
{
    struct sum **span = &sums[all->n_sums / SUMS_SPAN], *sum = sum_at(all, id);
    if (sum)
        return sum;
    if (!*span && !(*span = pgg_map(pgg_whole_pages(SUMS_SPAN * sizeof **span)))) {
        all->failed = true;
        return NULL;
    }
    sum = &(*span)[all->n_sums % SUMS_SPAN];
    *sum = (struct sum){mib_of(all, id), life_of(all, id)};
    all->of[id] = (struct of_context){all->n_sums++, IN_SUM};
    return sum;
}

static void forget_sums(void)
{
    for (struct sum **span = sums; *span; span++) {
        pgg_unmap(*span, pgg_whole_pages(SUMS_SPAN * sizeof **span));
        *span = NULL;
    }
    for (struct alone **span = alone; *span; span++) {
        pgg_unmap(*span, pgg_whole_pages(ALONE_SPAN * sizeof **span));
        *span = NULL;
    }
}

static void add_mib(struct merged *all, const struct pgrt_mib *m)
{
    struct sum *sum = sum_of(all, (u32)m->stack_id);
    if (sum && sum->mib.AllocCount)
        pgrt_mib_merge(&sum->mib, m);
    else if (sum)
        sum->mib = *m;
}

static void take(void *arg, const struct pgrt_mib *m)
{
    struct merged *all = arg;
    if (!m->AllocCount || m->stack_id >= all->n)
        return;
    struct of_context *c = &all->of[m->stack_id];
    if (c->mib || c->allocated == IN_SUM)
        add_mib(all, m);
    else
        c->mib = pgrt_sheets_place(m);
}

static void take_life(void *arg, const struct pgrt_allocated *b)
{
    struct merged *all = arg;
    const u32 id = pgrt_context_of(b);
    if (id >= all->n)
        return;
    struct of_context *c = &all->of[id];
    struct sum *sum = c->allocated ? sum_of(all, id) : NULL;
    if (sum)
        add_allocated(all, &sum->life, b);
    else
        c->allocated = pgrt_sheets_place(b);
}

static void take_lives(struct merged *all)
{
    const struct pgrt_notes *notes = pgrt_sheets_notes();
    all->snapshot = notes ? notes->facts.epoch : 0;
    pgrt_sheets_each_allocated(take_life, all);
}

/* Takes it from the sheets before they go; false: there is no memory for it. */
static bool keep_carried(struct merged *all)
{
    u64 alive = 0;
    for (u32 id = 1; id < all->n; id++)
        alive += life_of(all, id).exit_objects != 0;
    all->carried_bytes = alive * sizeof *all->carried;
    if (!alive || !(all->carried = pgg_map(all->carried_bytes)))
        return !alive;
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_life l = life_of(all, id);
        if (l.exit_objects)
            all->carried[all->n_carried++] =
                (struct carried){l.exit_bytes, id, (u32)l.exit_objects};
    }
    return true;
}

/* With the world stopped any thread's sheets will do, and a helper has none. */
static void carry(const struct merged *all)
{
    struct pgrt_thread *t = pgrt_threads_first();
    for (const struct carried *c = all->carried; c < all->carried + all->n_carried; c++) {
        struct pgrt_allocated *b = pgrt_table_carry(t, c->context);
        if (!b)
            continue;
        b->alive_bytes = c->bytes;
        b->alive_objects = c->objects;
    }
}

/* One of a context whose objects are all in earlier dumps, too: they may still be alive. */
static bool has_life(const struct pgrt_life *l)
{
    return l->peak_objects || l->exit_objects || l->temporary || l->use.touched || l->use.untouched;
}

/* An object of this process that no dump has counted. */
static bool is_new(const struct merged *all, const struct pgrt_header *h)
{
    return h->context && h->context < all->n && !(h->kind & PGRT_KIND_SILENT) &&
           h->generation == (pgrt_generation & 0xff);
}

/* False: it is not the only object of its context so far, or so large that its counters should not
 * be read more than once. */
static bool take_alone(struct merged *all, const struct pgrt_object *o)
{
    struct of_context *c = &all->of[o->h.context];
    struct alone **span = &alone[all->n_alone / ALONE_SPAN];
    if (c->mib || !c->allocated || c->allocated >= ALONE || o->h.size > ALONE_BYTES ||
        o->h.kind & PGRT_KIND_UNNOTED ||
        (!*span && !(*span = pgg_map(pgg_whole_pages(ALONE_SPAN * sizeof **span)))))
        return false;
    (*span)[all->n_alone % ALONE_SPAN] = (struct alone){o->at, o->form, c->allocated};
    *c = (struct of_context){all->n_alone++, ALONE};
    return true;
}

static void take_live(void *arg, struct pgrt_object *o)
{
    struct merged *all = arg;
    const struct pgrt_header *h = &o->h;
    if (!is_new(all, h))
        return;
    if (pgrt_histogram)
        pgrt_histogram_add(h->context, (uintptr_t)o->at, h->size);
    if (take_alone(all, o))
        return;
    const struct pgrt_touched touched = pgrt_touched_one(h, pgrt_use(o));
    const struct pgrt_mib one = mib_of_object(all, o);
    add_mib(all, &one);
    struct sum *sum = sum_at(all, h->context);
    if (!sum)
        return;
    pgrt_touched_merge(&sum->life.use, &touched);
    if (h->kind & PGRT_KIND_UNNOTED) { /* of a child that had no file yet */
        sum->life.exit_bytes += h->size;
        sum->life.exit_objects++;
    }
}

static void take_lost(void *arg, const struct pgrt_header *h)
{
    struct merged *all = arg;
    struct sum *sum = h->context < all->n ? sum_of(all, h->context) : NULL;
    if (!sum)
        return;
    sum->life.lost.bytes += h->size;
    sum->life.lost.objects++;
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

static void put_u64(struct pgrt_out *to, u64 v)
{
    pgrt_out(to, &v, sizeof v);
}

static void put_mib(struct pgrt_out *to, u64 version, struct pgrt_mib m,
                    const struct pgrt_histogram *hist)
{
    char bytes[sizeof m], *p = bytes;
    m.AccessHistogramSize = hist ? (u32)hist->n : 0;
    pgg_copy_fast(p, &m.stack_id, sizeof m.stack_id);
    p += sizeof m.stack_id;
#define PGK_MIB(name, type, first, sound, tag, step, across, unit, meaning) \
    if (version >= (first))                                                 \
        p = (char *)pgg_copy_fast(p, &m.name, sizeof(type)) + sizeof(type);
#include "heap_mib.def"
#undef PGK_MIB
    pgrt_out(to, bytes, (size_t)(p - bytes));
    for (u64 i = 0; hist && i < hist->n; i++) {
        u64 v = element_of(version) == ELEMENT_FLOAT16 ? short_float(hist->v[i]) : hist->v[i];
        pgrt_out(to, &v, element_bytes(version));
    }
}

static const struct pgrt_histogram *histogram(u64 version, u32 context)
{
    return pgrt_histogram && element_bytes(version) ? pgrt_histogram_of(context) : NULL;
}

static u64 part_bytes(const struct pgk_notes_part *part)
{
    return part->records * part->size;
}

/* The texts of the dump that is being written: those that no dump before has. */
static char texts[PGK_NOTES_TEXT_BYTES + sizeof(u64)];

/* From `off` on; bytes, of whole words. */
static u64 plan_texts(struct plan *p, u64 off)
{
    const char *process;
    struct pgk_notes_part *part = p->notes.part;
    p->texts = pgrt_store_texts();
    const u32 first = p->texts.modules,
              n = p->texts.process ? 0 : pgg_process_text(&process, pgrt_options.cmdline);
    if (n)
        pgg_copy(texts, process, n);
    const u64 paths = pgrt_notes_add_paths(texts + n, 0, PGRT_PATHS_BYTES - p->texts.bytes, first,
                                           &p->texts.modules, (u32)p->n_segments);
    p->texts.process |= n != 0;
    p->texts.bytes += paths;
    part[PGK_NOTES_PROCESS].off = n ? off : 0;
    part[PGK_NOTES_PROCESS].records = n;
    part[PGK_NOTES_PATHS].off = paths ? off + n : 0;
    part[PGK_NOTES_PATHS].records = paths;
    return (n + paths + sizeof(u64) - 1) & ~(u64)(sizeof(u64) - 1);
}

static bool is_cut(const struct merged *all, u32 id)
{
    return mib_of(all, id).AllocCount && pgg_context(id)->cut;
}

/* Says where the series is, its breakdowns, and what is known of contexts over time, from `off` on;
 * bytes of all, and of the notes. */
static u64 plan_notes(const struct merged *all, struct plan *p, u64 off)
{
    static const enum pgk_notes_parts order[] = {PGK_NOTES_SERIES, PGK_NOTES_BREAKDOWNS,
                                                 PGK_NOTES_LIVES, PGK_NOTES_CUT};
    const u64 first = off;
    const struct pgrt_notes *now = pgrt_sheets_notes();
    struct pgrt_notes *notes = &p->notes;
    struct pgrt_facts *facts = &notes->facts;
    pgrt_notes_begin(notes, pgrt_notes_flags() | (all->looked ? PGRT_NOTE_UNREACHABLE : 0),
                     pgrt_start_time, 0);
    if (now) {
        facts->peak_ms = now->facts.peak_ms;
        facts->peak_bytes = now->facts.peak_bytes;
        facts->peak_objects = now->facts.peak_objects;
        notes->part[PGK_NOTES_SERIES].records = now->part[PGK_NOTES_SERIES].records;
        notes->part[PGK_NOTES_BREAKDOWNS].records = now->part[PGK_NOTES_BREAKDOWNS].records;
    }
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_life l = life_of(all, id);
        notes->part[PGK_NOTES_LIVES].records += has_life(&l);
        notes->part[PGK_NOTES_CUT].records += is_cut(all, id);
    }
    for (u32 i = 0; i < sizeof order / sizeof *order; i++) {
        struct pgk_notes_part *part = &notes->part[order[i]];
        part->off = part->records ? off : 0;
        off += part_bytes(part);
    }
    p->texts_bytes = plan_texts(p, off);
    off += p->texts_bytes;
    notes->part[PGK_NOTES_FACTS].off = off;
    return off + sizeof *notes - first;
}

static void put_notes(struct pgrt_out *to, const struct merged *all)
{
    const struct pgrt_notes *notes = &all->plan.notes, *now = pgrt_sheets_notes();
    if (now) {
        pgrt_out(to, pgrt_sheets_points(now), part_bytes(&notes->part[PGK_NOTES_SERIES]));
        pgrt_out(to, pgrt_sheets_breakdowns(now), part_bytes(&notes->part[PGK_NOTES_BREAKDOWNS]));
    }
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_life l = life_of(all, id);
        if (has_life(&l))
            pgrt_out(to, &l, sizeof l);
    }
    for (u32 id = 1; id < all->n; id++)
        if (is_cut(all, id))
            put_u64(to, id);
    pgrt_out(to, texts, all->plan.texts_bytes);
    pgrt_out(to, notes, sizeof *notes);
}

static void put_mibs(struct pgrt_out *to, const struct merged *all)
{
    const u64 version = all->plan.h.version;
    put_u64(to, all->plan.contexts);
    for (u32 id = 1; id < all->n; id++) {
        const struct pgrt_mib m = mib_of(all, id);
        if (m.AllocCount)
            put_mib(to, version, m, histogram(version, id));
    }
}

static void put_stacks(struct pgrt_out *to, const struct merged *all)
{
    put_u64(to, all->plan.contexts);
    for (u32 id = 1; id < all->n; id++) {
        const struct pgg_context *c = pgg_context(id);
        u64 stack[2 + PGG_DEPTH_MAX] = {id, c->n};
        if (!mib_of(all, id).AllocCount)
            continue;
        pgg_context_pcs(c, stack + 2, c->n);
        pgrt_out(to, stack, (2 + c->n) * sizeof *stack);
    }
}

static struct plan plan_dump(const struct merged *all)
{
    const u64 version = pgrt_options.raw_version;
    struct plan p = {.h = {.magic = PGRT_RAW_MAGIC, .version = version}};
    u64 elements = 0, stack_bytes = 0;
    p.n_segments = pgg_modules(&p.segments);
    for (u32 id = 1; id < all->n; id++) {
        const u64 objects = mib_of(all, id).AllocCount;
        const struct pgrt_histogram *hist = histogram(version, id);
        if (!objects)
            continue;
        p.contexts++;
        p.objects += objects;
        stack_bytes += (2 + pgg_context(id)->n) * sizeof(u64);
        elements += hist ? hist->n : 0;
    }
    p.h.segment_off = sizeof p.h;
    const u64 notes_off = p.h.segment_off + sizeof(u64) + p.n_segments * sizeof *p.segments;
    p.h.mib_off = notes_off + plan_notes(all, &p, notes_off);
    p.mibs_end = p.h.mib_off + sizeof(u64) + p.contexts * mib_size(version) +
                 elements * element_bytes(version);
    p.h.stack_off = (p.mibs_end + 7) & ~UINT64_C(7);
    p.h.total_size = p.h.stack_off + sizeof(u64) + stack_bytes;
    p.notes.facts.dropped = pgrt_dropped;
    p.notes.facts.stack_bytes = stack_bytes;
    p.notes.facts.own_ns = pgrt_cost_ns(p.objects);
    p.notes.facts.own_bytes = pgrt_cost_bytes();
    return p;
}

static void write_dump(const struct pgrt_dump *dump, u64 total_size, struct pgrt_out *to)
{
    const struct merged *all = (const struct merged *)dump;
    const struct plan *p = &all->plan;
    struct pgrt_raw_header h = p->h;
    h.total_size = total_size;
    pgrt_out(to, &h, sizeof h);
    put_u64(to, p->n_segments);
    pgrt_out(to, p->segments, p->n_segments * sizeof *p->segments);
    put_notes(to, all);
    put_mibs(to, all);
    pgrt_out(to, &(u64){0}, p->h.stack_off - p->mibs_end);
    put_stacks(to, all);
}

/* A child that recorded nothing leaves no file. */
static bool empty(const struct merged *all)
{
    for (u32 id = 1; id < all->n; id++)
        if (mib_of(all, id).AllocCount)
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

/* If no file can be made any more, the live objects go into the mapped one. */
static void complete_in_place(struct merged *all, int err)
{
    const bool less = pgrt_histogram || pgrt_options.raw_version != PGK_RAW_NOW;
    pgrt_series_close(pgrt_now_ms());
    pgrt_heap_each(end_now, all);
    pgrt_sheets_mark(true);
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

/* What is alive is to be in the sheets that come after a dump, too. */
static int finish(struct merged *all, bool last)
{
    if (all->failed || (!last && !keep_carried(all)))
        return -ENOMEM;
    all->plan = plan_dump(all);
    all->dump = (struct pgrt_dump){all->plan.h.total_size, all->plan.texts, write_dump};
    return pgrt_store_finish(&all->dump, last);
}

/* Nothing is recorded afterwards, and what follows takes memory, too. */
static void forget_what_no_dump_needs(void)
{
    pgrt_breakdown_forget();
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t))
        pgrt_depot_forget(&t->depot);
}

/* With the world stopped. */
static int dump(struct merged *all, bool last)
{
    pgrt_series_close(pgrt_now_ms());
    if (last)
        forget_what_no_dump_needs();
    pgrt_sheets_each(take, all);
    take_lives(all);
    pgrt_heap_each(take_live, all);
    if (last && pgrt_options.leak_check)
        check_leaks(all);
    if (last && !pgrt_store_is_open() && empty(all))
        return 0;
    if (!pgrt_store_is_open() && !pgrt_store_open())
        return -ENOENT;
    const int err = finish(all, last);
    if (!err) {
        pgrt_heap_each(mark_counted, all);
        if (!last) {
            carry(all);
            pgrt_series_open();
        }
        pgrt_histograms_clear();
        pgrt_cost_dumped(all->plan.objects);
    } else if (last) {
        complete_in_place(all, err);
    } else {
        say_not_written(err);
    }
    return err;
}

static int dump_apart(struct merged *all, bool last)
{
    const size_t bytes = (size_t)all->n * sizeof *all->of;
    all->of = pgg_map(bytes);
    if (!all->of) {
        pgrt_say("no dump", pgg_errno_name(-ENOMEM));
        return -ENOMEM;
    }
    const int err = dump(all, last);
    pgg_unmap(all->of, bytes);
    if (all->carried)
        pgg_unmap(all->carried, all->carried_bytes);
    forget_sums();
    return err;
}

int pgrt_dump(bool last)
{
    int err = 0;
    pgrt_stop_world();
    pgrt_cost_once_begins();
    struct merged all = {
        .n = pgg_contexts(), .now_ms = pgrt_now_ms(), .cpu = pgrt_cpu()};
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
            pgrt_say("no new file could be made, the profile goes on in the old one",
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

/* Everything up to the call that replaces the program is in the sheets anyway. A child that shares
 * its parent's memory, or that recorded nothing, has nothing to complete. */
void pgrt_exec_begins(void)
{
    if (pgrt_gate_now() != pgrt_gate_started || pgrt_busy() || !pgrt_self ||
        !pgrt_store_is_file() || pgg_sys_process() != pgrt_pid)
        return;
    pgrt_socket_end();
    pgrt_stop_world();
    if (pgrt_gate_now() == PGRT_GATE_STOP) {
        pgrt_cost_once_begins();
        struct merged all = {.n = pgg_contexts()};
        pgrt_series_close(pgrt_now_ms());
        pgrt_heap_each(end_now, &all);
        pgrt_sheets_mark(true);
    }
    pgrt_start_world();
}

void pgrt_exec_failed(void)
{
    if (pgrt_gate_now() != pgrt_gate_started || !pgrt_store_is_file() ||
        pgg_sys_process() != pgrt_pid)
        return;
    pgrt_sheets_mark(false);
    pgrt_socket_begin();
}
