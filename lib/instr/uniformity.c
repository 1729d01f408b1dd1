/* Adding up uniform counters and bits, and the bits of the whole. */
#include "uniformity.h"

#include "instr_model.h"

static uint64_t *zero_counts(struct pgk_arena *arena, uint32_t n)
{
    uint64_t *counts = pgk_arena_alloc(arena, n, sizeof *counts);
    if (counts)
        memset(counts, 0, n * sizeof *counts);
    return counts;
}

static bool add_sums(struct pgk_arena *arena, struct pgk_uniformity *u, uint32_t n,
                     const struct pgk_uniformity *more, uint64_t weight)
{
    if (!u->uniform) {
        u->counts = zero_counts(arena, n);
        u->uniform = zero_counts(arena, n);
        if (!u->counts || !u->uniform)
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        u->counts[i] = pgk_count_add(u->counts[i], more->counts[i], weight, PGK_COUNT_MAX);
        u->uniform[i] = pgk_count_add(u->uniform[i], more->uniform[i], weight, PGK_COUNT_MAX);
    }
    return true;
}

static bool add_bits(struct pgk_arena *arena, struct pgk_uniformity *u, uint32_t n,
                     const struct pgk_uniformity *more)
{
    size_t bytes = pgk_uniformity_bytes(n);
    if (!u->bits) {
        u->bits = (uint8_t *)pgk_arena_copy(arena, (const char *)more->bits, bytes);
        return u->bits != NULL;
    }
    for (size_t i = 0; i < bytes; i++)
        u->bits[i] &= more->bits[i];
    return true;
}

bool pgk_uniformity_add(struct pgk_arena *arena, struct pgk_instr_func *f,
                        const struct pgk_uniformity *more, uint64_t weight)
{
    if (!f->uniformity) {
        f->uniformity = pgk_arena_alloc(arena, 1, sizeof *f->uniformity);
        if (!f->uniformity)
            return false;
        *f->uniformity = (struct pgk_uniformity){0};
    }
    struct pgk_uniformity *u = f->uniformity;
    if (more->wave_size > u->wave_size)
        u->wave_size = more->wave_size;
    return (!more->uniform || add_sums(arena, u, f->n_counts, more, weight)) &&
           (!more->bits || add_bits(arena, u, f->n_counts, more));
}

/* Nine tenths, without losing the last digits of large counts. */
static bool is_uniform(const struct pgk_uniformity *u, uint32_t i)
{
    if (u->bits && !(u->bits[i / 8] >> i % 8 & 1))
        return false;
    return !u->uniform || u->uniform[i] >= u->counts[i] - u->counts[i] / 10;
}

uint8_t pgk_uniformity_byte(const struct pgk_instr_func *f, size_t byte)
{
    unsigned bits = 0xff;
    for (size_t i = byte * 8; i < byte * 8 + 8 && i < f->n_counts; i++)
        if (!is_uniform(f->uniformity, (uint32_t)i))
            bits &= ~(1u << i % 8);
    return (uint8_t)bits;
}

size_t pgk_instr_uniformity(const struct pgk_instr *p, size_t i, uint8_t *bits, size_t max)
{
    const struct pgk_instr_func *f = &p->funcs.v[i];
    size_t n = f->uniformity ? pgk_uniformity_bytes(f->n_counts) : 0;
    for (size_t b = 0; b < n && b < max; b++)
        bits[b] = pgk_uniformity_byte(f, b);
    return n;
}

uint64_t pgk_uniform_count(const struct pgk_instr_func *f, uint32_t i)
{
    const struct pgk_uniformity *u = f->uniformity;
    if (!u)
        return f->counts[i];
    if (u->uniform && !u->bits && u->counts[i] == f->counts[i])
        return u->uniform[i];
    return is_uniform(u, i) ? f->counts[i] : 0;
}
