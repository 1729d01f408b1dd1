/* Source frames of instructions, as a profile names them. */
#ifndef PGK_SOURCE_FRAMES_H
#define PGK_SOURCE_FRAMES_H

#include "call_trie.h"
#include "context_path.h"
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

/* Frames of instructions that follow one another in one copy of a function: its name, and what it
 * is inlined into. */
struct pgk_frame_run {
    uint32_t first, n; /* in `run_frames`, outermost first; the last one has place 0 */
    bool joins;        /* is inlined where the run right before it is */
};

/* Where an instruction stands in its function. */
struct pgk_code_site {
    uint64_t loc;
    uint32_t run;    /* 0: no source is known */
    uint32_t copies; /* of the place, that the compiler made */
};

/* Frames of a set of instructions, as a profile names them. */
struct pgk_frames {
    pgk_addr_vec addrs; /* a set, once read */
    struct pgk_code_site *sites;
    PGK_VEC(struct pgk_frame_run) runs; /* [0] is empty */
    PGK_VEC(uint32_t) run_frames;       /* in `known` */
    pgk_context_vec known;              /* no two are equal */
    struct pgk_index index;             /* of these */
};
/* Takes all frames of `addrs` up. Other discriminators of an outer frame make another run. */
int pgk_frames_read(struct pgk_frames *frames, struct pgk_symboliser *sym,
                    struct pgk_frame_names *names, bool flow_sensitive, unsigned threads,
                    struct pgk_err *err);
/* Number of a frame in `known`, which gets it if it is new; UINT32_MAX when out of memory. */
uint32_t pgk_frames_frame(struct pgk_frames *frames, uint64_t loc, uint32_t name);
/* Number of an instruction of the set. */
uint32_t pgk_frames_find(const struct pgk_frames *frames, uint64_t addr);
/* The instruction that a run ends in is in an inlined copy. */
static inline bool pgk_frames_inlined(const struct pgk_frames *frames, uint32_t number)
{
    return frames->runs.v[frames->sites[number].run].n > 1;
}
void pgk_frames_free(struct pgk_frames *frames);

#endif
