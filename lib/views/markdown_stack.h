/* Call stacks of heap profiles in cells of Markdown. A cell has few frames, and contexts of one
 * table often share those next to the allocation, so it shows the ones that differ. */
#ifndef PGK_MARKDOWN_STACK_H
#define PGK_MARKDOWN_STACK_H

#include "heap_frames.h"
#include "text_out.h"

/* The stacks of a table, from the frame on in which the program itself asks for memory. */
struct pgk_md_stacks {
    const struct pgk_heap_frames *frames;
    size_t depth; /* frames of a cell; 0: all */
    struct pgk_intern shown;      /* what a frame looks like */
    struct pgk_stack_tree callers; /* the stacks as paths from the allocation to the entry */
    PGK_VEC(uint32_t) branches;   /* by node of `callers`: frames that come next, the end is one */
    PGK_VEC(uint32_t) path;       /* nodes of the stack at hand, that of the allocation first */
    PGK_VEC(bool) chosen;         /* by position in `path` */
    bool failed;                  /* out of memory: what was put is not complete */
};

PGK_MUST_USE int pgk_md_stacks_init(struct pgk_md_stacks *s, const struct pgk_heap_frames *frames,
                                    size_t depth, struct pgk_err *err);
/* Accepts a zeroed struct. */
void pgk_md_stacks_free(struct pgk_md_stacks *s);
/* Every stack of the table is added before the first one is put. */
void pgk_md_stacks_add(struct pgk_md_stacks *s, uint32_t stack);
/* Each frame on a line of the cell: the allocation, those where this stack and others of the table
 * part, and then the callers of the last of these. "..." stands for what is left out. */
void pgk_md_stacks_put(struct pgk_md_stacks *s, uint32_t stack, struct pgk_text_out *o);

#endif
