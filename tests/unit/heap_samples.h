/* Heap profiles for tests: random models, and raw files written field by field. */
#ifndef HEAP_SAMPLES_H
#define HEAP_SAMPLES_H

#include "heap_model.h"
#include "pgk_test.h"
#include "sink.h"

#include <stdio.h>

static inline uint32_t sample_random(uint64_t *seed)
{
    return (uint32_t)(test_random(seed) >> 33);
}

/* A block of one object, as the runtime makes it. */
static inline struct pgk_mib sample_mib(uint64_t *seed)
{
    struct pgk_mib m = {.known = (UINT64_C(1) << PGK_MIB_AccessHistogram) - 1};
    uint64_t size = 1 + sample_random(seed) % 4096, accesses = sample_random(seed) % 1000,
             life = sample_random(seed) % 500000, density = accesses * 100 / size;
    m.v[PGK_MIB_AllocCount] = 1;
    m.v[PGK_MIB_TotalAccessCount] = m.v[PGK_MIB_MinAccessCount] = m.v[PGK_MIB_MaxAccessCount] =
        accesses;
    m.v[PGK_MIB_TotalSize] = m.v[PGK_MIB_MinSize] = m.v[PGK_MIB_MaxSize] = size;
    m.v[PGK_MIB_AllocTimestamp] = sample_random(seed) % 1000;
    m.v[PGK_MIB_DeallocTimestamp] = m.v[PGK_MIB_AllocTimestamp] + life;
    m.v[PGK_MIB_TotalLifetime] = m.v[PGK_MIB_MinLifetime] = m.v[PGK_MIB_MaxLifetime] = life;
    m.v[PGK_MIB_AllocCpuId] = sample_random(seed) % 3;
    m.v[PGK_MIB_DeallocCpuId] = sample_random(seed) % 3;
    m.v[PGK_MIB_NumMigratedCpu] = m.v[PGK_MIB_AllocCpuId] != m.v[PGK_MIB_DeallocCpuId];
    m.v[PGK_MIB_TotalAccessDensity] = m.v[PGK_MIB_MinAccessDensity] =
        m.v[PGK_MIB_MaxAccessDensity] = density;
    m.v[PGK_MIB_TotalLifetimeAccessDensity] = m.v[PGK_MIB_MinLifetimeAccessDensity] =
        m.v[PGK_MIB_MaxLifetimeAccessDensity] = density * 1000 / (life ? life : 1);
    return m;
}

static inline void sample_set(struct pgk_heap *h, size_t context, enum pgk_mib_id id, uint64_t v)
{
    struct pgk_mib m;
    pgk_heap_mib(h, context, &m);
    m.v[id] = v;
    assert_true(pgk_context_set(h, &h->contexts.v[context], &m));
}

/* Adds `contexts` random contexts over `funcs` functions, with their sites; callees if asked
 * for. Stacks share callers, as real ones do. */
static inline void sample_fill(struct pgk_heap *h, uint64_t seed, unsigned contexts,
                               unsigned funcs, bool callees)
{
    for (unsigned c = 0; c < contexts; c++) {
        uint32_t node = 0, depth = 1 + sample_random(&seed) % 12;
        struct pgk_mib mib = sample_mib(&seed);
        for (uint32_t d = 0; d < depth; d++) {
            uint64_t guid = (1 + sample_random(&seed) % funcs) * UINT64_C(0x9e3779b97f4a7c15);
            uint32_t func = pgk_heap_func(h, guid, 0, 0, 0);
            bool inlined = d && sample_random(&seed) % 3 == 0;
            uint32_t frame = pgk_heap_frame(
                h, inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func,
                pgk_frame_place(sample_random(&seed) % 4, sample_random(&seed) % 3));
            node = pgk_stack_push(&h->stacks, node, frame);
            if (!inlined && d + 1 < depth) {
                uint64_t called[] = {sample_random(&seed), sample_random(&seed)};
                uint32_t chain = pgk_stack_add(&h->stacks, &frame, 1);
                assert_int_equal(pgk_heap_add_site(h, PGK_SITE_CALL, func, chain, called,
                                                   callees ? sample_random(&seed) % 3 : 0, NULL),
                                 0);
            }
        }
        assert_int_equal(pgk_heap_add(h, node, &mib, NULL), 0);
        pgk_heap_own_by_chain(h, node);
    }
}

/* Adds random contexts of addresses in `modules` modules, the first a program that is always loaded
 * at one place, and outside of all. `by_file_off`: as raw versions 1 and 2 know modules. */
static inline void sample_fill_addresses(struct pgk_heap *h, uint64_t seed, unsigned contexts,
                                         unsigned modules, bool by_file_off, bool histograms)
{
    uint32_t ids[8];
    for (unsigned i = 0; i < modules; i++) {
        struct pgk_heap_module m = {.text_size = 0x4000 + 0x1000 * i, .fixed = !i};
        uint64_t at = 0x1000 + 0x10 * i;
        if (by_file_off) {
            m.by_file_off = true;
            m.text_off = at = 0x1000 * (i + 1);
            m.bias = i ? 0 : 0x400000;
        } else {
            uint8_t id[20] = {(uint8_t)(i + 1), (uint8_t)(7 * i)};
            m.build_id = pgk_intern(&h->strings, (const char *)id, sizeof id);
        }
        ids[i] = pgk_heap_module(h, &m);
        assert_true(pgk_heap_note_loaded(h, "a.profraw", ids[i]));
        assert_true(pgk_heap_note_text(h, ids[i], at, m.text_size));
    }
    for (unsigned c = 0; c < contexts; c++) {
        uint32_t node = 0, depth = 1 + sample_random(&seed) % 10;
        struct pgk_mib mib = sample_mib(&seed);
        uint64_t hist[5] = {sample_random(&seed) % 9, 4095, sample_random(&seed), 0, 1};
        if (histograms && c % 3) {
            mib.hist = hist;
            mib.hist_count = 1 + c % 5;
            mib.v[PGK_MIB_AccessHistogramSize] = mib.hist_count;
        }
        mib.known |= UINT64_C(1) << PGK_MIB_AccessHistogramSize;
        for (uint32_t d = 0; d < depth; d++) {
            unsigned in = sample_random(&seed) % (modules + 1);
            uint32_t frame =
                in == modules
                    ? pgk_heap_frame(h, PGK_FRAME_ADDRESS, PGK_INDEX_NONE,
                                     0x10000000000 + sample_random(&seed) % 64 * 0x1000)
                    : pgk_heap_frame(h, PGK_FRAME_ADDRESS, ids[in],
                                     (by_file_off ? 0x1000 * (in + 1) : 0x1000 + 0x10 * in) +
                                         sample_random(&seed) % 64);
            node = pgk_stack_push(&h->stacks, node, frame);
        }
        assert_int_equal(pgk_heap_add(h, node, &mib, NULL), 0);
    }
}

/* Raw files. */

struct sample_segment {
    uint64_t start, end, bias;
    uint8_t id[20];
    uint64_t id_size;
};
struct sample_block {
    uint64_t id;
    struct pgk_mib mib;
    uint32_t hist_count;
    uint16_t hist[8]; /* encoded elements for version 5, values for version 4 */
};
struct sample_stack {
    uint64_t id;
    uint64_t pcs[8];
    uint64_t n;
};
/* As docs/formats/interrupted-heap.md has it. */
struct sample_allocated {
    uint64_t bytes, start_ms;
    uint32_t objects, last_ms, id, epoch;
    uint64_t alive_bytes, peak_bytes;
    uint32_t alive_objects, peak_objects;
    uint64_t temporary;
};
struct sample_times {
    const uint64_t (*points)[5]; /* ms; bytes, objects: alive; allocated */
    size_t n_points;
    const struct sample_allocated *allocated; /* a sheet's */
    size_t n_allocated;
    const uint64_t (*lives)[6]; /* stack id; bytes, objects: at the peak; at exit; temporary */
    size_t n_lives;
    uint64_t peak[3]; /* ms, bytes, objects */
    uint64_t epoch;
    const uint64_t (*breakdowns)[50]; /* ms; shares; stack id and bytes of each */
    size_t n_breakdowns;
    const uint64_t (*touched)[4]; /* of each context: bytes touched and not, per cent of the least
                                     and the most touched object; NULL: not known */
    bool merged;
    const uint64_t (*lost)[2]; /* of each context over time: bytes and objects that are unreachable;
                                  NULL: nobody looked */
    const char *process, *paths; /* bytes of these parts */
    size_t n_process, n_paths;
    uint64_t start_time;
    const uint64_t (*samples)[6]; /* stack id, samples, hits, variances of objects, bytes and
                                     accesses; NULL: all objects are recorded */
    size_t n_samples;
    uint64_t made[3]; /* bytes and objects made; bytes from one sample to the next */
    size_t more; /* bytes of each record that only a newer pgokit knows */
};
enum { SAMPLE_PARTS = 7, SAMPLE_FACTS = 80, SAMPLE_PART = 32, SAMPLE_NOTES_END = 24 };
struct sample_dump {
    uint32_t version;
    const struct sample_segment *segments;
    size_t n_segments;
    const struct sample_block *blocks;
    size_t n_blocks;
    const struct sample_stack *stacks;
    size_t n_stacks;
    const struct sample_times *times; /* with notes, if there are any */
};

/* Records of contexts, each with what was touched, and what was unreachable. */
static inline void sample_write_contexts(struct pgk_sink *out, const struct sample_times *t,
                                         const void *records, size_t n, size_t size, bool lives)
{
    static const uint64_t none[4];
    for (size_t i = 0; i < n; i++) {
        pgk_sink_bytes(out, (const char *)records + i * size, size);
        pgk_sink_bytes(out, t->touched ? t->touched[i] : none, sizeof none);
        if (lives)
            pgk_sink_bytes(out, t->lost ? t->lost[i] : none, sizeof *t->lost);
        pgk_sink_zeros(out, t->more);
    }
}

static inline void sample_write_part(struct pgk_sink *out, uint16_t tag, uint16_t needed,
                                     uint64_t off, uint64_t size, uint64_t records)
{
    const uint16_t kind[2] = {tag, needed};
    pgk_sink_bytes(out, kind, sizeof kind);
    pgk_sink_bytes(out, &(uint32_t){1}, 4);
    pgk_sink_u64(out, records || tag == 1 || tag == 2 ? off : 0);
    pgk_sink_u64(out, size);
    pgk_sink_u64(out, records);
}

static inline void sample_write_samples(struct pgk_sink *out, const struct sample_times *t)
{
    for (size_t i = 0; i < t->n_samples; i++) {
        pgk_sink_bytes(out, t->samples[i], sizeof t->samples[i]);
        pgk_sink_zeros(out, t->more);
    }
}

/* Series, allocations, contexts over time, breakdowns, samples, facts and the list of these. */
static inline void sample_write_notes(struct pgk_sink *out, const struct sample_times *t,
                                      uint64_t start)
{
    const bool sheet = t->allocated;
    const uint64_t series = pgk_sink_off(out) - start;
    pgk_sink_bytes(out, t->points, t->n_points * sizeof *t->points);
    const uint64_t allocated = pgk_sink_off(out) - start;
    sample_write_contexts(out, t, t->allocated, t->n_allocated, sizeof *t->allocated, false);
    const uint64_t lives = pgk_sink_off(out) - start;
    sample_write_contexts(out, t, t->lives, t->n_lives, sizeof *t->lives, true);
    const uint64_t breakdowns = pgk_sink_off(out) - start;
    pgk_sink_bytes(out, t->breakdowns, t->n_breakdowns * sizeof *t->breakdowns);
    const uint64_t process = pgk_sink_off(out) - start;
    pgk_sink_bytes(out, t->process, t->n_process);
    const uint64_t paths = pgk_sink_off(out) - start;
    pgk_sink_bytes(out, t->paths, t->n_paths);
    const uint64_t samples = pgk_sink_off(out) - start;
    sample_write_samples(out, t);
    const uint64_t off = pgk_sink_off(out) - start;
    const uint64_t facts[SAMPLE_FACTS / 8] = {
        (sheet ? 1u : 0) | (t->merged ? 8u : 0) | (t->lost ? 16u : 0) | (t->samples ? 64u : 0),
        0, 0, 0, 0, t->start_time, t->peak[0], t->peak[1], t->peak[2], t->epoch};
    pgk_sink_bytes(out, facts, sizeof facts);
    if (t->samples)
        pgk_sink_bytes(out, t->made, sizeof t->made);
    if (t->samples)
        sample_write_part(out, 9, 0, samples, 48 + t->more, t->n_samples);
    sample_write_part(out, 1, 1, off, sizeof facts + (t->samples ? sizeof t->made : 0), 1);
    sample_write_part(out, 2, 1, sheet ? allocated : 0, 96 + t->more, t->n_allocated);
    sample_write_part(out, 3, 0, lives, 96 + t->more, t->n_lives);
    sample_write_part(out, 4, 0, series, 40, t->n_points);
    sample_write_part(out, 5, 0, breakdowns, 400, t->n_breakdowns);
    sample_write_part(out, 6, 0, process, 1, t->n_process);
    sample_write_part(out, 7, 0, paths, 1, t->n_paths);
    const uint64_t end[3] = {SAMPLE_PARTS + (t->samples != NULL), 1, UINT64_C(0x45544f4e544b4750)};
    pgk_sink_bytes(out, end, sizeof end);
}

static inline void sample_write_dump(struct pgk_sink *out, const struct sample_dump *d)
{
    uint64_t start = pgk_sink_off(out);
    pgk_sink_u64(out, UINT64_C(0xff6d70726f667281));
    pgk_sink_u64(out, d->version);
    pgk_sink_zeros(out, 4 * 8);
    pgk_sink_patch_u64(out, start + 24, pgk_sink_off(out) - start);
    pgk_sink_u64(out, d->n_segments);
    for (size_t i = 0; i < d->n_segments; i++) {
        const struct sample_segment *s = &d->segments[i];
        pgk_sink_u64(out, s->start);
        pgk_sink_u64(out, s->end);
        pgk_sink_u64(out, s->bias);
        pgk_sink_u64(out, s->id_size);
        pgk_sink_bytes(out, s->id, sizeof s->id);
        pgk_sink_zeros(out, 32 - sizeof s->id);
    }
    if (d->times)
        sample_write_notes(out, d->times, start);
    pgk_sink_patch_u64(out, start + 32, pgk_sink_off(out) - start);
    pgk_sink_u64(out, d->n_blocks);
    for (size_t i = 0; i < d->n_blocks; i++) {
        const struct sample_block *b = &d->blocks[i];
        pgk_sink_u64(out, b->id);
        for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
            const struct pgk_mib_field *f = &pgk_mib_fields[id];
            uint64_t v = id == PGK_MIB_AccessHistogramSize ? b->hist_count : b->mib.v[id];
            if (d->version >= f->first)
                pgk_sink_bytes(out, &v, f->bytes);
        }
        for (uint32_t e = 0; e < b->hist_count; e++)
            pgk_sink_bytes(out, &(uint64_t){b->hist[e]}, d->version == 4 ? 8 : 2);
    }
    pgk_sink_align(out, 8);
    pgk_sink_patch_u64(out, start + 40, pgk_sink_off(out) - start);
    pgk_sink_u64(out, d->n_stacks);
    for (size_t i = 0; i < d->n_stacks; i++) {
        pgk_sink_u64(out, d->stacks[i].id);
        pgk_sink_u64(out, d->stacks[i].n);
        for (uint64_t p = 0; p < d->stacks[i].n; p++)
            pgk_sink_u64(out, d->stacks[i].pcs[p]);
    }
    pgk_sink_patch_u64(out, start + 16, pgk_sink_off(out) - start);
}

#endif
