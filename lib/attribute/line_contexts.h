/* Counters by calling context of functions and lines: those by calls become those by what debug
 * information says of the calls, and of what is inlined around the code.
 *
 *     calls 0x401166, 0x40205a             code 0x401100 .. 0x401131
 *     [main:3 @ twice:1.2 @ leaf]          0x401100 .. 0x40111e and what is inlined behind it
 *
 * docs/formats/profile-generation.md section 7 */
#ifndef PGK_LINE_CONTEXTS_H
#define PGK_LINE_CONTEXTS_H

#include "gen_binary.h"
#include "source_frames.h"

struct pgk_context_count {
    uint32_t node; /* of the profile; 0: no known context */
    uint32_t from; /* number of an instruction of the frames; UINT32_MAX: elsewhere */
    uint64_t to;   /* of a range: number of its last instruction; of a branch: address */
    uint64_t count;
};

struct pgk_line_contexts {
    struct pgk_sample *p;
    struct pgk_gen_binary *b;
    struct pgk_frames frames;
    struct pgk_frame_names names;
    PGK_VEC(struct pgk_context_count) ranges, branches; /* a key may be there several times */
    PGK_VEC(struct pgk_context_count) vtables;          /* to: number of the vtable's name */
    size_t recovered; /* so many of these, the last ones, are of comparisons */

    /* While it is made: */
    struct pgk_context_path path;
    struct pgk_open_call {
        uint32_t run;  /* of the call; 0: it has no frames */
        uint32_t leaf; /* the innermost frame with its place, in `frames.known` */
    } *open_calls;     /* by node of the tree of calls */
    uint32_t *seen_in; /* by frame: call stack that it was seen in */
    struct pgk_known_context {
        uint32_t stack, node;
    } *known; /* by run */

    /* Of the call stack in hand: */
    uint32_t stack; /* its number, from 1 on */
    PGK_VEC(uint32_t) callers;
    bool has_callers; /* false: one of the calls has no frames */
    bool recurs;      /* a frame is there twice */
    PGK_VEC(uint32_t) nodes;
    pgk_context_vec scratch;
};

/* Fills it from the counters of a binary, which are settled; contexts become nodes of `p`, not
 * yet tops of it. To be closed in any case. */
int pgk_line_contexts_open(struct pgk_line_contexts *c, struct pgk_sample *p,
                           struct pgk_gen_binary *binary, const struct pgk_gen_opts *opts,
                           struct pgk_err *err);
/* Counters with addresses instead of numbers. False when out of memory. */
bool pgk_line_contexts_named(const struct pgk_line_contexts *c, struct pgk_named_counts *named);
void pgk_line_contexts_close(struct pgk_line_contexts *c);

#endif
