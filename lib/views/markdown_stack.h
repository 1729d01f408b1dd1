/* Call stacks of heap profiles in cells of Markdown. */
#ifndef PGK_MARKDOWN_STACK_H
#define PGK_MARKDOWN_STACK_H

#include "heap_frames.h"
#include "text_out.h"

/* From the frame on in which the program itself asks for memory: so many frames at most, 0: all,
 * each on a line of the cell. */
void pgk_md_stack(struct pgk_text_out *o, const struct pgk_heap_frames *t, uint32_t stack,
                  size_t depth);

#endif
