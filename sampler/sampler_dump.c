/* The profile: all that is known up to now, as one standard raw dump of version 5, with notes of
 * what a figure stands on. docs/formats/interrupted-heap.md. Each dump has all that the process has
 * sampled since its start, and takes the place of the one before. */
#include "sampler_dump.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_process.h"
#include "guest_sys.h"
#include "runtime_notes.h"
#include "sampler_budget.h"
#include "sampler_file.h"
#include "sampler_lock.h"
#include "sampler_object.h"
#include "sampler_options.h"
#include "sampler_start.h"
#include "sampler_sums.h"
#include "sampler_thread.h"
#include "sampler_time.h"
#include "sampler_window.h"

/* A context of the dump. */
struct row {
    struct pgsm_sum sum; /* with what is alive */
    double exit_objects, exit_bytes, peak_objects, peak_bytes;
    u32 context;
};
struct dump {
    struct row *rows;
    size_t rows_bytes;
    u32 n, now_ms, cpu;
    u32 *row_of; /* by context; 0: none, else its row and one */
    size_t row_of_bytes;
    struct pgrt_raw_header h;
    struct pgrt_notes notes;
    const struct pgg_segment *segments;
    u64 n_segments, texts_bytes;
    char texts[PGK_NOTES_TEXT_BYTES + sizeof(u64)];
};

static volatile u32 due_ms = UINT32_MAX;

/* ---- figures ---- */

static u64 whole(double v)
{
    return v <= 0 ? 0 : v < 0x1p64 ? (u64)(v + 0.5) : UINT64_MAX;
}

static u32 whole32(double v)
{
    return v <= 0 ? 0 : v < (double)UINT32_MAX ? (u32)(v + 0.5) : UINT32_MAX;
}

/* A context that has samples has one object at least. */
static struct pgrt_mib mib_of(const struct row *r)
{
    const struct pgsm_sum *s = &r->sum;
    struct pgrt_mib m = s->mib;
    m.stack_id = r->context;
    m.AllocCount = whole32(s->objects);
    m.TotalAccessCount = whole(s->accesses);
    m.TotalSize = whole(s->bytes);
    m.TotalLifetime = whole(s->lifetime);
    m.NumMigratedCpu = whole32(s->migrated);
    m.NumLifetimeOverlaps = whole32(s->overlaps);
    m.NumSameAllocCpu = whole32(s->same_alloc);
    m.NumSameDeallocCpu = whole32(s->same_dealloc);
    m.TotalAccessDensity = whole(s->density);
    m.TotalLifetimeAccessDensity = whole(s->lifetime_density);
    return m;
}

static struct pgrt_life life_of(const struct row *r)
{
    return (struct pgrt_life){
        .context = r->context,
        .peak_bytes = whole(r->peak_bytes),
        .peak_objects = whole(r->peak_objects),
        .exit_bytes = whole(r->exit_bytes),
        .exit_objects = whole(r->exit_objects),
    };
}

static struct pgrt_sample sample_of(const struct row *r)
{
    const struct pgsm_sum *s = &r->sum;
    return (struct pgrt_sample){
        .stack_id = r->context,
        .samples = s->samples,
        .hits = s->hits,
        .count_variance = whole(s->count_variance),
        .size_variance = whole(s->size_variance),
        .access_variance = whole(s->access_variance),
    };
}

/* ---- with the lock: what there is ---- */

static void take_live(void *arg, struct pgsm_note *note)
{
    struct dump *d = arg;
    const u32 row =
        note->context < d->row_of_bytes / sizeof *d->row_of ? d->row_of[note->context] : 0;
    if (row)
        pgsm_sum_add(&d->rows[row - 1].sum, note, d->now_ms, d->cpu);
}

/* Without samples a profile has sums alone; false: it is not to be written then, or cannot. */
static bool take_all(struct dump *d, bool empty)
{
    const u32 contexts = pgg_contexts();
    u32 n = 0;
    for (u32 id = 1; id < contexts; id++)
        n += pgsm_sum_of(id) != NULL;
    d->now_ms = pgsm_now_ms();
    d->cpu = pgsm_cpu();
    if (!n)
        return empty;
    d->rows_bytes = pgg_whole_pages(n * sizeof *d->rows);
    d->row_of_bytes = pgg_whole_pages(contexts * sizeof *d->row_of);
    d->rows = pgg_map(d->rows_bytes);
    d->row_of = pgg_map(d->row_of_bytes);
    if (!d->rows || !d->row_of) {
        pgsm_say("no profile", "out of memory");
        return false;
    }
    pgsm_sums_look(d->now_ms);
    for (u32 id = 1; id < contexts && d->n < n; id++) {
        const struct pgsm_sum *s = pgsm_sum_of(id);
        if (!s)
            continue;
        struct row *r = &d->rows[d->n++];
        *r = (struct row){.sum = *s, .context = id};
        pgsm_sum_live(s, &r->exit_bytes, &r->exit_objects, false);
        pgsm_sum_live(s, &r->peak_bytes, &r->peak_objects, true);
        d->row_of[id] = d->n;
    }
    pgsm_range_each(take_live, d);
    return true;
}

/* ---- where it lies in the file ---- */

static u64 plan_texts(struct dump *d, u64 off)
{
    const char *process;
    struct pgk_notes_part *part = d->notes.part;
    u32 modules = 0;
    const u32 n = pgg_process_text(&process, pgsm_options.cmdline);
    if (n)
        pgg_copy(d->texts, process, n);
    const u64 paths =
        pgrt_notes_add_paths(d->texts + n, 0, PGRT_PATHS_BYTES, 0, &modules, (u32)d->n_segments);
    part[PGK_NOTES_PROCESS].off = n ? off : 0;
    part[PGK_NOTES_PROCESS].records = n;
    part[PGK_NOTES_PATHS].off = paths ? off + n : 0;
    part[PGK_NOTES_PATHS].records = paths;
    return (n + paths + sizeof(u64) - 1) & ~(u64)(sizeof(u64) - 1);
}

static void plan_facts(struct dump *d, bool last)
{
    struct pgrt_facts *facts = &d->notes.facts;
    const struct pgsm_made made = pgsm_made();
    facts->flags |= PGRT_NOTE_CUT | PGRT_NOTE_SAMPLED | (last ? 0 : PGRT_NOTE_INTERRUPTED) |
                    (made.several ? PGRT_NOTE_THREADS : 0);
    facts->dropped = pgsm_dropped;
    facts->own_ns = pgsm_cost_ns();
    facts->own_bytes = pgsm_range_bytes();
    facts->peak_ms = pgsm_peak.ms;
    facts->peak_bytes = whole(pgsm_peak.bytes);
    facts->peak_objects = whole(pgsm_peak.objects);
    facts->made_bytes = made.bytes;
    facts->made_objects = made.objects;
    facts->sample_bytes = whole(pgsm_most_mean());
}

/* Parts in front of the MIBs, from `off` on; where these begin. */
static u64 plan_notes(struct dump *d, u64 off)
{
    static const enum pgk_notes_parts order[] = {PGK_NOTES_LIVES, PGK_NOTES_CUT, PGK_NOTES_SAMPLES};
    struct pgk_notes_part *part = d->notes.part;
    part[PGK_NOTES_LIVES].records = part[PGK_NOTES_SAMPLES].records = d->n;
    for (u32 i = 0; i < d->n; i++)
        part[PGK_NOTES_CUT].records += pgg_context(d->rows[i].context)->cut;
    for (u32 i = 0; i < sizeof order / sizeof *order; i++) {
        struct pgk_notes_part *p = &part[order[i]];
        p->off = p->records ? off : 0;
        off += p->records * p->size;
    }
    d->texts_bytes = plan_texts(d, off);
    off += d->texts_bytes;
    part[PGK_NOTES_FACTS].off = off;
    return off + sizeof d->notes;
}

static void plan(struct dump *d, bool last)
{
    u64 stack_bytes = 0;
    d->n_segments = pgg_modules(&d->segments);
    pgrt_notes_begin(&d->notes, 0, pgsm_start_time, 0);
    plan_facts(d, last);
    for (u32 i = 0; i < d->n; i++)
        stack_bytes += (2 + pgg_context(d->rows[i].context)->n) * sizeof(u64);
    d->h = (struct pgrt_raw_header){.magic = PGRT_RAW_MAGIC, .version = PGK_RAW_NOW};
    d->h.segment_off = sizeof d->h;
    d->h.mib_off =
        plan_notes(d, d->h.segment_off + sizeof(u64) + d->n_segments * sizeof *d->segments);
    d->h.stack_off = d->h.mib_off + sizeof(u64) + d->n * sizeof(struct pgrt_mib);
    d->h.total_size = d->h.stack_off + sizeof(u64) + stack_bytes;
    d->notes.facts.stack_bytes = stack_bytes;
}
_Static_assert(sizeof(struct pgrt_mib) % sizeof(u64) == 0, "no padding after them");

/* ---- writing ---- */

static void put_u64(struct pgsm_out *to, u64 v)
{
    pgsm_put(to, &v, sizeof v);
}

static void put_notes(const struct dump *d, struct pgsm_out *to)
{
    for (u32 i = 0; i < d->n; i++) {
        const struct pgrt_life life = life_of(&d->rows[i]);
        pgsm_put(to, &life, sizeof life);
    }
    for (u32 i = 0; i < d->n; i++)
        if (pgg_context(d->rows[i].context)->cut)
            put_u64(to, d->rows[i].context);
    for (u32 i = 0; i < d->n; i++) {
        const struct pgrt_sample sample = sample_of(&d->rows[i]);
        pgsm_put(to, &sample, sizeof sample);
    }
    pgsm_put(to, d->texts, d->texts_bytes);
    pgsm_put(to, &d->notes, sizeof d->notes);
}

static void write_dump(void *arg, struct pgsm_out *to)
{
    const struct dump *d = arg;
    pgsm_put(to, &d->h, sizeof d->h);
    put_u64(to, d->n_segments);
    pgsm_put(to, d->segments, d->n_segments * sizeof *d->segments);
    put_notes(d, to);
    put_u64(to, d->n);
    for (u32 i = 0; i < d->n; i++) {
        const struct pgrt_mib m = mib_of(&d->rows[i]);
        pgsm_put(to, &m, sizeof m);
    }
    put_u64(to, d->n);
    for (u32 i = 0; i < d->n; i++) {
        const u32 id = d->rows[i].context;
        const struct pgg_context *c = pgg_context(id);
        u64 stack[2 + PGG_DEPTH_MAX] = {id, c->n};
        pgg_context_pcs(c, stack + 2, c->n);
        pgsm_put(to, stack, (2 + c->n) * sizeof *stack);
    }
}

static PGG_COLD void say_failed(int err)
{
    static int said;
    char line[1300];
    struct pgg_text t;
    if (said == err)
        return;
    said = err;
    pgg_text_init(&t, line, sizeof line);
    pgg_text_str(&t, "no profile: cannot write ");
    pgg_text_str(&t, pgsm_file_path());
    pgsm_say(line, pgg_errno_name(err));
}

int pgsm_dump(bool last, bool empty)
{
    static struct dump d;
    static volatile u32 lock;
    int err = 0;
    if (pgg_confined || __atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        return -1;
    pgsm_lock();
    d = (struct dump){0};
    if (last)
        pgsm_windows_finish();
    const bool any = take_all(&d, empty);
    if (any)
        plan(&d, last);
    pgsm_unlock();
    pgsm_hot.busy++;
    if (any)
        err = pgsm_file_write(write_dump, &d);
    if (err)
        say_failed(err);
    if (d.rows)
        pgg_unmap(d.rows, d.rows_bytes);
    if (d.row_of)
        pgg_unmap(d.row_of, d.row_of_bytes);
    pgsm_hot.busy--;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return err;
}

/* ---- when ---- */

static u32 next_due(u32 now_ms)
{
    const u64 due = now_ms + pgsm_options.dump_every * 1000;
    return pgsm_options.dump_every && due < UINT32_MAX ? (u32)due : UINT32_MAX;
}

void pgsm_dump_begin(void)
{
    due_ms = next_due(pgsm_now_ms());
}

void pgsm_dump_soon(void)
{
    __atomic_store_n(&due_ms, 0, __ATOMIC_RELAXED);
}

void pgsm_dump_if_due(void)
{
    u32 due = __atomic_load_n(&due_ms, __ATOMIC_RELAXED);
    const u32 now_ms = pgsm_now_ms();
    if (PGG_LIKELY(now_ms < due) ||
        !__atomic_compare_exchange_n(&due_ms, &due, next_due(now_ms), false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    pgsm_dump(false, false);
}
