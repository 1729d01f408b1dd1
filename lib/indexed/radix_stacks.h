/* The call stacks of a heap profile in the order and encoding of MemProf V3 and V4.
 * docs/formats/indexed-heap.md section 6.
 *
 * Also for V2, as a canonical order: it depends on what the stacks are, not on how
 * they came into the model. */
#ifndef PGK_RADIX_STACKS_H
#define PGK_RADIX_STACKS_H

#include "bit_set.h"
#include "heap_model.h"
#include "sink.h"

struct pgk_radix_stacks {
    uint64_t *frame_ids;   /* by model frame: LLVM's id, 0 if not in use */
    uint32_t *linear;      /* by model frame: position in the frame array */
    uint32_t *order;       /* model frames in the order of the frame array */
    uint32_t n_frames;     /* in use */
    uint32_t n_stacks;     /* in use */
    uint64_t n_entries;    /* of the radix array */
    /* From pgk_radix_write on: */
    uint32_t *stacks;      /* nodes of the stacks in use, by rank */
    uint32_t *starts;      /* of the stacks in use, by rank: position in the radix array */
    /* See pgk_radix_rank. */
    struct pgk_bit_set ends; /* nodes at which stacks in use end */
    uint32_t *ranks;         /* of these */
    uint32_t *moved;         /* by stack of the model: node; NULL where these are the same */
    /* Until pgk_radix_write: */
    struct pgk_stack_tree ordered;      /* where those of the model are in no order, these are */
    const struct pgk_stack_node *nodes;
    struct pgk_bit_set used; /* nodes through which stacks in use run, or where they end */
    uint32_t *end;           /* by node: after the nodes on top of it */
    uint32_t *element;       /* by frame: place in the order of elements */
};

/* Over the stacks of all contexts and sites of `h`. `generation` of frame ids: 1 up to LLVM 19,
 * 2 LLVM 22. */
PGK_MUST_USE int pgk_radix_build(struct pgk_radix_stacks *r, const struct pgk_heap *h,
                                 uint32_t generation, unsigned threads, struct pgk_err *err);
/* Ranks the stacks, and writes the radix array to `out` if that is not NULL. */
PGK_MUST_USE int pgk_radix_write(struct pgk_radix_stacks *r, const struct pgk_heap *h,
                                 struct pgk_sink *out, unsigned threads, struct pgk_err *err);
void pgk_radix_free(struct pgk_radix_stacks *r);

/* Place of a stack in use among all of them. */
static inline uint32_t pgk_radix_rank(const struct pgk_radix_stacks *r, uint32_t stack)
{
    uint32_t node = r->moved ? r->moved[stack] : stack;
    return r->ranks[pgk_bit_set_below(&r->ends, node)];
}

/* 17 packed bytes of a frame, as files hold them. */
enum { PGK_FRAME_BYTES = 17 };
void pgk_frame_pack(uint8_t out[PGK_FRAME_BYTES], const struct pgk_heap *h, uint32_t frame);

#endif
