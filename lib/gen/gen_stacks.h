/* The call stacks that were sampled, for viewers and for compilers that take such: of all code,
 * whether its file is one of the binaries or not. */
#ifndef PGK_GEN_STACKS_H
#define PGK_GEN_STACKS_H

#include "fail.h"
#include "index.h"
#include "intern.h"
#include "stack_tree.h"

struct pgk_gen;
struct pgk_binaries;

/* A place in code; addresses of callers are in their calls. */
struct pgk_stack_place {
    uint64_t addr;   /* the linker's; 0 elsewhere */
    uint32_t binary; /* UINT32_MAX: in a file that is not of the set: */
    uint32_t file;   /* text: its name; 0 unknown */
};

struct pgk_gen_stacks {
    struct pgk_intern texts;
    PGK_VEC(struct pgk_stack_place) places;
    struct pgk_index index;
    struct pgk_stack_tree tree; /* a node's frame is a place */
    PGK_VEC(uint64_t) counts;   /* samples by node */
    PGK_VEC(uint32_t) path;     /* scratch: leaf first */
};

/* What a generator with opts.stacks has counted. */
const struct pgk_gen_stacks *pgk_gen_stacks(const struct pgk_gen *gen);
struct pgk_binaries *pgk_gen_binaries(const struct pgk_gen *gen);
/* PGK_E_EMPTY that says why there is nothing. */
int pgk_gen_no_stacks(const struct pgk_gen *gen, struct pgk_err *err);

#endif
