/* Source frames of instructions, as a profile names them. */
#ifndef PGK_SOURCE_FRAMES_H
#define PGK_SOURCE_FRAMES_H

#include "call_trie.h"
#include "sample_model.h"
#include "symboliser.h"

struct pgk_frame_name {
    const char *text;
    uint32_t name;
};

/* Names that were looked up, by the place of their text. */
struct pgk_frame_names {
    struct pgk_sample *p;
    PGK_VEC(struct pgk_frame_name) known;
    struct pgk_index index;
};
/* The canonical name in the profile; 0 when out of memory. */
uint32_t pgk_frame_name(struct pgk_frame_names *names, const char *text);
void pgk_frame_names_free(struct pgk_frame_names *names);

/* A chain may end in frames that nothing is known of. */
bool pgk_frame_has_name(const struct pgk_sym_frame *frame);
/* Lines before that of the declaration wrap around, as in LLVM. */
static inline uint32_t pgk_frame_offset(const struct pgk_sym_frame *frame)
{
    return (frame->line - frame->decl_line) & 0xffff;
}
/* Offset and base discriminator. */
uint64_t pgk_frame_loc(const struct pgk_sym_frame *frame, bool flow_sensitive);
/* Frames that are known, from the outermost on: chain->frames[count - 1 - i] for i below that. */
uint32_t pgk_frame_count(const struct pgk_sym_chain *chain);

/* Frames of a set of instructions. */
struct pgk_frames {
    pgk_addr_vec addrs; /* a set */
    struct pgk_sym_chain *chains;
    struct pgk_arena arena;
};
/* Takes all frames of `addrs` up at once. */
int pgk_frames_read(struct pgk_frames *frames, struct pgk_symboliser *sym, unsigned threads,
                    struct pgk_err *err);
/* The chain of an address of the set; an empty one for any other. */
struct pgk_sym_chain pgk_frames_of(const struct pgk_frames *frames, uint64_t addr);
void pgk_frames_free(struct pgk_frames *frames);

#endif
