/* The call stacks of a heap profile in the order and encoding of MemProf V3 and V4.
 * docs/formats/indexed-heap.md section 6.
 *
 * Also for V2, as a canonical order: it depends on what the stacks are, not on how
 * they came into the model. */
#ifndef PGK_RADIX_STACKS_H
#define PGK_RADIX_STACKS_H

#include "heap_model.h"

struct pgk_radix_stacks {
    uint64_t *frame_ids;   /* by model frame: LLVM's id, 0 if not in use */
    uint32_t *linear;      /* by model frame: position in the frame array */
    uint32_t *order;       /* model frames in the order of the frame array */
    uint32_t n_frames;     /* in use */
    uint32_t *stack_rank;  /* by stack node: place among the stacks in use; without meaning
                              for others */
    uint32_t *stacks;      /* nodes of the stacks in use, by rank */
    uint32_t *starts;      /* of the stacks in use, by rank: position in the radix array */
    uint32_t n_stacks;
    PGK_VEC(uint32_t) radix;
};

/* Over the stacks of all contexts and sites of `h`. `generation` of frame ids: 1 up to LLVM 19,
 * 2 LLVM 22. */
PGK_MUST_USE int pgk_radix_build(struct pgk_radix_stacks *r, const struct pgk_heap *h,
                                 uint32_t generation, struct pgk_err *err);
void pgk_radix_free(struct pgk_radix_stacks *r);

/* 17 packed bytes of a frame, as files hold them. */
enum { PGK_FRAME_BYTES = 17 };
void pgk_frame_pack(uint8_t out[PGK_FRAME_BYTES], const struct pgk_heap *h, uint32_t frame);

#endif
