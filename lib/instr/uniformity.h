/* Uniformity of the counters of code for GPUs, where a wave of many lanes runs one program: whether
 * all lanes of the wave came to a place together.
 *
 * A raw profile has a uniform counter for each counter, which counts the visits with all lanes. An
 * indexed one has a bit for each counter: 1 if the counter is 0 or nine tenths of it are uniform.
 * Sums and bits are kept separately, and a bit of the whole is 1 if it is in both: the result of a
 * merge does not depend on the order of inputs. Functions that one input lacks keep the values of
 * the others. docs/formats/instr-raw.md, docs/formats/instr-indexed.md */
#ifndef PGK_UNIFORMITY_H
#define PGK_UNIFORMITY_H

#include "arena.h"

#include <stdbool.h>
#include <stdint.h>

struct pgk_instr_func;

struct pgk_uniformity {
    uint64_t *counts, *uniform; /* by counter, of inputs that have both; NULL: none has */
    uint8_t *bits;              /* pgk_uniformity_bytes() of them; NULL: no input has */
    uint16_t wave_size;         /* lanes; 0: not known */
};

static inline size_t pgk_uniformity_bytes(uint64_t n_counts)
{
    return n_counts / 8 + (n_counts % 8 != 0);
}

/* Adds what an input says of the function's counters; false when out of memory. */
bool pgk_uniformity_add(struct pgk_arena *arena, struct pgk_instr_func *f,
                        const struct pgk_uniformity *more, uint64_t weight);
/* For a function that has uniformity: the bits of counters `byte` * 8 and up, lowest first; 1 after
 * the last counter. */
uint8_t pgk_uniformity_byte(const struct pgk_instr_func *f, size_t byte);
/* The uniform counter that says the same of counter `i`; of a function without uniformity the
 * counter itself. */
uint64_t pgk_uniform_count(const struct pgk_instr_func *f, uint32_t i);

#endif
