/* Instrumentation profiles for tests: random models, and raw files written field by field. */
#ifndef INSTR_SAMPLES_H
#define INSTR_SAMPLES_H

#include "hash.h"
#include "instr_model.h"
#include "instr_text.h"
#include "pgk_test.h"
#include "sink.h"

#include <stdio.h>

#define SAMPLE_BIT(name) (UINT64_C(1) << PGK_INDEXED_##name)

static inline uint64_t sample_below(uint64_t *seed, uint64_t n)
{
    return test_random(seed) % n;
}

static inline struct pgk_instr *sample_instr(void)
{
    struct pgk_instr *p;
    assert_int_equal(pgk_instr_new(&p, NULL), 0);
    return p;
}

static inline uint32_t sample_name(struct pgk_instr *p, struct pgk_instr_names *t, unsigned i)
{
    char name[32];
    int n = snprintf(name, sizeof name, "name%u", i);
    return pgk_names_add(t, &p->arena, pgk_md5_low64(name, (size_t)n), name, (size_t)n);
}

/* Value data with the number of sites that the seed says, and other values each time. */
static inline void sample_values(struct pgk_instr *p, struct pgk_value_data *d, uint64_t shape,
                                 uint64_t *seed)
{
    pgk_value_data_clear(d);
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (uint64_t s = 0; s < (shape >> (2 * k) & 3); s++) {
            uint32_t n = (uint32_t)sample_below(seed, 5);
            assert_true(pgk_vec_push(&d->kind[k].counts, n));
            for (uint32_t i = 0; i < n; i++) {
                /* Few values, so that they meet; 0 several times in a site. */
                unsigned v = (unsigned)sample_below(seed, 6);
                struct pgk_instr_names *t = k == PGK_VALUE_VTABLE ? &p->vtables : &p->names;
                uint64_t value = v;
                if (k != PGK_VALUE_SIZE && v) {
                    uint32_t name = sample_name(p, t, v);
                    value = t->list.v[name].ref;
                }
                assert_true(pgk_vec_push(&d->kind[k].values,
                                         (struct pgk_instr_value){value, sample_below(seed, 50)}));
            }
        }
}

/* Adds some of `funcs` functions, whose shapes are the same whatever the seed. */
static inline void sample_instr_fill(struct pgk_instr *p, uint64_t seed, unsigned funcs,
                                     uint64_t flags, uint64_t weight)
{
    struct pgk_instr_adder a;
    struct pgk_value_data d = {0};
    assert_true(pgk_instr_adder_init(&a, p, "sample", weight));
    assert_int_equal(pgk_instr_note_flags(&a, flags, "test", NULL), 0);
    for (unsigned i = 0; i < funcs; i++) {
        uint64_t shape = pgk_hash_u64(i + 1), counts[8], uniform[8];
        uint8_t bitmap[4], bits;
        struct pgk_uniformity uniformity = {0};
        struct pgk_instr_record r = {.name = sample_name(p, &p->names, i / 2), .hash = shape};
        if (sample_below(&seed, 4) == 0)
            continue;
        r.n_counts = 1 + (shape >> 8) % 8;
        r.n_bitmap = (shape >> 12) % 5;
        for (size_t c = 0; c < r.n_counts; c++)
            counts[c] = sample_below(&seed, 1000);
        for (size_t b = 0; b < r.n_bitmap; b++)
            bitmap[b] = (uint8_t)test_random(&seed);
        for (size_t c = 0; c < r.n_counts; c++)
            uniform[c] = counts[c] - sample_below(&seed, counts[c] / 5 + 1);
        bits = (uint8_t)test_random(&seed);
        if (shape >> 40 & 1) {
            uniformity.counts = counts;
            uniformity.uniform = uniform;
            uniformity.wave_size = 64;
        }
        if (shape >> 41 & 1)
            uniformity.bits = &bits;
        if (shape >> 40 & 3)
            r.uniformity = &uniformity;
        sample_values(p, &d, shape >> 20, &seed);
        r.counts = counts;
        r.bitmap = bitmap;
        r.values = &d;
        assert_int_equal(pgk_instr_add(&a, &r, NULL), 0);
    }
    uint8_t id = (uint8_t)seed;
    assert_true(pgk_instr_add_binary_id(p, &id, 1));
    if (flags & SAMPLE_BIT(TEMPORAL)) {
        uint64_t ref = pgk_md5_low64("name0", 5);
        assert_true(pgk_instr_add_trace(p, weight, &ref, 1));
        p->trace_stream++;
    }
    pgk_value_data_free(&d);
}

/* The text of a profile, to be freed. */
static inline char *sample_text(const struct pgk_instr *p)
{
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_instr_text_write(p, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    text[size] = 0;
    pgk_sink_drop(&out);
    return text;
}

static inline int sample_read_text(struct pgk_instr *p, const char *text, uint64_t weight,
                                   struct pgk_err *err)
{
    struct pgk_instr_adder a;
    struct pgk_source src = {.file = "t.proftext", .format = "text counters"};
    assert_true(pgk_instr_adder_init(&a, p, "t.proftext", weight));
    return pgk_instr_text_read(&a, (const uint8_t *)text, strlen(text), &src, err);
}

/* ---- raw files ---- */

struct sample_raw {
    uint32_t version;
    unsigned pointer; /* 4 or 8 */
    bool big_endian;
    uint64_t flags;
};

static inline void raw_number(struct pgk_sink *out, const struct sample_raw *s, uint64_t v,
                              unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[s->big_endian ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
    pgk_sink_bytes(out, bytes, size);
}

/* Three functions: one with an indirect call and sizes (and a virtual table from version 10 on),
 * one with a bitmap from version 9 on, one that never ran; with uniform counters in version 11.
 * Written by the page of the format, not by its field list. */
static inline void sample_write_raw(struct pgk_sink *out, const struct sample_raw *s)
{
    static const char *const names[] = {"first", "second", "third"};
    static const char plain[] = "first\001second\001third";
    static const uint64_t counters[] = {5, 7, 3, 0}, uniform[] = {5, 6, 3, 0};
    static const unsigned n_counters[] = {2, 1, 1};
    const unsigned v = s->version, p = s->pointer;
    const uint64_t table = p == 8 ? UINT64_C(0x7f0012340000) : 0x12340000;
    uint64_t record = v == 8   ? (p == 8 ? 48 : 40)
                      : v <= 10 ? (p == 8 ? 64 : 48)
                                : (p == 8 ? 72 : 56);
    bool bytes = s->flags & SAMPLE_BIT(BYTE_COVERAGE);
    uint64_t delta = 0 - 3 * record;
    raw_number(out, s, p == 8 ? UINT64_C(0xff6c70726f667281) : UINT64_C(0xff6c70726f665281), 8);
    raw_number(out, s, v | s->flags, 8);
    raw_number(out, s, 16, 8); /* binary ids */
    raw_number(out, s, 3, 8);
    raw_number(out, s, 0, 8);
    raw_number(out, s, 4, 8);
    raw_number(out, s, bytes ? 4 : 0, 8);
    if (v >= 9) {
        raw_number(out, s, 2, 8); /* bitmap */
        raw_number(out, s, 6, 8);
    }
    if (v >= 11) {
        raw_number(out, s, 4, 8); /* uniform counters */
        raw_number(out, s, 0, 8);
        raw_number(out, s, delta, 8);
    }
    raw_number(out, s, sizeof plain - 1 + 2, 8);
    raw_number(out, s, delta, 8);
    if (v >= 9)
        raw_number(out, s, delta, 8);
    raw_number(out, s, 0, 8);
    if (v >= 10) {
        raw_number(out, s, 1, 8);
        raw_number(out, s, 5 + 2, 8);
    }
    raw_number(out, s, 0, 8);
    raw_number(out, s, 3, 8);
    pgk_sink_bytes(out, "\xab\xcd\xef\0\0\0\0\0", 8);
    uint64_t start = 0, uniform_start = 0;
    for (unsigned i = 0; i < 3; i++) {
        raw_number(out, s, pgk_md5_low64(names[i], strlen(names[i])), 8);
        raw_number(out, s, 0x100 + i, 8);
        raw_number(out, s, delta + start - i * record, p);
        if (v >= 11)
            raw_number(out, s, delta + uniform_start - i * record, p);
        if (v >= 9)
            raw_number(out, s, delta - i * record, p);
        raw_number(out, s, table + 64 * i, p);
        raw_number(out, s, 0, p);
        raw_number(out, s, n_counters[i], 4);
        raw_number(out, s, i == 0, 2);
        raw_number(out, s, i == 0, 2);
        if (v >= 10) {
            raw_number(out, s, i == 0, 2);
            raw_number(out, s, v >= 11 ? 64 : 0, 2); /* lanes, or padding */
        }
        if (v >= 9)
            raw_number(out, s, i == 1 ? 2 : 0, 4);
        if ((v == 8 && p == 4) || v == 9 || (v == 11 && p == 4)) /* padded to a multiple of 8 */
            pgk_sink_zeros(out, 4);
        start += n_counters[i] * (bytes ? 1 : 8);
        uniform_start += n_counters[i] * 8;
    }
    for (unsigned i = 0; i < 4; i++)
        raw_number(out, s, bytes ? counters[i] == 0 : counters[i], bytes ? 1 : 8);
    if (bytes)
        pgk_sink_zeros(out, 4);
    if (v >= 9) {
        pgk_sink_bytes(out, "\x2a\x01", 2);
        pgk_sink_zeros(out, 6);
    }
    for (unsigned i = 0; v >= 11 && i < 4; i++)
        raw_number(out, s, uniform[i], 8);
    pgk_sink_uleb(out, sizeof plain - 1);
    pgk_sink_uleb(out, 0);
    pgk_sink_bytes(out, plain, sizeof plain - 1);
    pgk_sink_zeros(out, -(sizeof plain - 1 + 2) & 7);
    if (v >= 10) {
        raw_number(out, s, pgk_md5_low64("_ZTV1", 5), 8);
        raw_number(out, s, table + 4096, p);
        raw_number(out, s, 40, 4);
        if (p == 8)
            pgk_sink_zeros(out, 4);
        pgk_sink_bytes(out, "\005\000_ZTV1\0", 8);
    }
    /* Values of the first function. */
    uint32_t size = 8 + 16 + 3 * 16 + 16 + 16 + (v >= 10 ? 16 + 16 : 0);
    raw_number(out, s, size, 4);
    raw_number(out, s, v >= 10 ? 3 : 2, 4);
    raw_number(out, s, 0, 4);
    raw_number(out, s, 1, 4);
    pgk_sink_bytes(out, "\3\0\0\0\0\0\0\0", 8);
    const uint64_t calls[][2] = {{table + 64, 9}, {99, 4}, {98, 2}};
    for (unsigned i = 0; i < 3; i++) {
        raw_number(out, s, calls[i][0], 8);
        raw_number(out, s, calls[i][1], 8);
    }
    raw_number(out, s, 1, 4);
    raw_number(out, s, 1, 4);
    pgk_sink_bytes(out, "\1\0\0\0\0\0\0\0", 8);
    raw_number(out, s, 17, 8);
    raw_number(out, s, 6, 8);
    if (v >= 10) {
        raw_number(out, s, 2, 4);
        raw_number(out, s, 1, 4);
        pgk_sink_bytes(out, "\1\0\0\0\0\0\0\0", 8);
        raw_number(out, s, table + 4096 + 16, 8);
        raw_number(out, s, 8, 8);
    }
}

#endif
