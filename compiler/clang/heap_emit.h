/* Writes the plan for one pointer after the other into a function. */
#ifndef PGC_HEAP_EMIT_H
#define PGC_HEAP_EMIT_H

#include "heap_count.h"
#include "heap_map.h"
#include "plan_pending.h"

/* The place of the accesses of a group: the first of them, and a pointer into the object that is
 * known there. */
struct pgc_site {
    LLVMValueRef at, pointer;
};

/* State that is the same for a block or an edge, whatever the pointer. */
struct pgc_emit_edge {
    LLVMBasicBlockRef first, last; /* code on the edge; NULL: none */
};

/* Values of one pointer at a block; NULL: not needed so far. */
struct pgc_emit_block {
    LLVMValueRef count_in, count_out, address_in;
};

struct pgc_emit {
    struct pgc_counting *c;
    struct pgc_plan plan;
    const LLVMBasicBlockRef *blocks; /* by number */
    struct pgc_map *numbers;         /* of blocks */
    struct pgc_emit_edge *edges;
    struct pgc_emit_block *of;
    LLVMValueRef object;  /* the pointer that all accesses come from */
    LLVMValueRef pointer; /* the same, if it leads into the object; NULL: ask the group */
    LLVMValueRef granule; /* of the object, where very many updates need it; else NULL */
    const struct pgc_site *sites;
    LLVMValueRef *addresses; /* by group */
};

void pgc_emit_open(struct pgc_emit *e, struct pgc_counting *c, struct pgc_flow *flow,
                   const LLVMBasicBlockRef *blocks, struct pgc_map *numbers);
/* Groups as pgc_plan_make takes them, with the site of each, for accesses from one pointer. */
void pgc_emit_pointer(struct pgc_emit *e, uint32_t home, LLVMValueRef object,
                      const struct pgc_group *groups, const struct pgc_site *sites, uint32_t n);
/* Puts what is on edges between the blocks. */
void pgc_emit_close(struct pgc_emit *e);

#endif
