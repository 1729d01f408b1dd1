/* Where functions of sample profiles are in their files, by the debug information of the program:
 * profiles have the distances of lines from the function's first one. */
#ifndef PGK_SAMPLE_DECLARED_H
#define PGK_SAMPLE_DECLARED_H

#include "fail.h"
#include "index.h"
#include "intern.h"
#include "pgokit/binaries.h"
#include "vec.h"

struct pgk_declared_func {
    uint64_t guid;
    uint32_t file; /* id in `files` */
    uint32_t line; /* the first one of the function; 0: unknown */
};

/* Starts zeroed. */
struct pgk_sample_declared {
    PGK_VEC(struct pgk_declared_func) funcs;
    struct pgk_index index;
    struct pgk_intern files;
};

/* Adds a function that is to be found. False when out of memory. */
PGK_MUST_USE bool pgk_sample_declared_want(struct pgk_sample_declared *d, uint64_t guid);
/* Finds those that are wanted, as far as there is debug information. */
PGK_MUST_USE int pgk_sample_declared_read(struct pgk_sample_declared *d, struct pgk_binaries *set,
                                          struct pgk_err *err);
/* NULL: it is not known. */
const struct pgk_declared_func *pgk_sample_declared_find(const struct pgk_sample_declared *d,
                                                         uint64_t guid);
void pgk_sample_declared_free(struct pgk_sample_declared *d);

enum { PGK_SAMPLE_LINE_BEFORE = 0x8000 };
/* How far a line of a profile is from the function's first one: those before it are kept in 16
 * bits. */
static inline int64_t pgk_sample_line_distance(uint32_t offset)
{
    return offset >= PGK_SAMPLE_LINE_BEFORE && offset <= 0xffff ? (int64_t)offset - 0x10000
                                                                : offset;
}

/* The line of the file; 0: the code belongs to none. */
static inline uint32_t pgk_sample_file_line(uint32_t first, uint32_t offset)
{
    const int64_t line = first + pgk_sample_line_distance(offset);
    return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

#endif
