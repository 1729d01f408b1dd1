/* The call stacks of one or several heap profiles as one tree with names: what every view
 * that shows stacks walks. A context of one profile and a context of another are the same
 * if their stacks are the same node.
 *
 *   strings ◄── functions ◄── frames ◄── stacks (tree, see stack_tree.h) */
#ifndef PGK_HEAP_FRAMES_H
#define PGK_HEAP_FRAMES_H

#include "fail.h"
#include "index.h"
#include "intern.h"
#include "pgokit/heap.h"
#include "stack_tree.h"

/* Texts are string ids; 0: unknown. All are valid UTF-8 without control characters, as
 * pgk_human_text leaves them. */
struct pgk_view_func {
    uint64_t guid;      /* of an address: the address */
    uint32_t name;      /* as a programmer wrote it; of an address what stands for one; never 0 */
    uint32_t linkage;
    uint32_t file;
    uint32_t decl_line; /* 0 unknown */
    uint32_t module;    /* of an address, else 0: its build id in hexadecimal */
    uint32_t near;      /* of an address: the name of the symbol nearest to it */
    uint32_t path;      /* of the module's file */
    bool has_file;      /* of an address: its name has that of the module's file */
    bool library;       /* of the language's library or an allocator: not the user's code */
};

struct pgk_view_frame {
    uint64_t address;     /* if the function is none */
    uint32_t func;
    uint32_t line_offset, line, column; /* line and column: 0 unknown */
    bool inlined, is_address;
};

struct pgk_heap_frames {
    struct pgk_intern strings;
    PGK_VEC(struct pgk_view_func) funcs;
    PGK_VEC(struct pgk_view_frame) frames;
    struct pgk_stack_tree stacks;
    struct pgk_index func_index, frame_index;
};

PGK_MUST_USE int pgk_heap_frames_init(struct pgk_heap_frames *t, struct pgk_err *err);
/* Adds the stacks of a profile: nodes[context] is its stack. */
PGK_MUST_USE int pgk_heap_frames_add(struct pgk_heap_frames *t, const struct pgk_heap *heap,
                                     uint32_t *nodes, struct pgk_err *err);
/* The stacks of one profile: (*nodes)[context], to be freed with pgk_mem_free. On failure nothing
 * is left to free. */
PGK_MUST_USE int pgk_heap_frames_make(struct pgk_heap_frames *t, const struct pgk_heap *heap,
                                      uint32_t **nodes, struct pgk_err *err);
/* Accepts a zeroed struct. */
void pgk_heap_frames_free(struct pgk_heap_frames *t);

static inline const char *pgk_frames_text(const struct pgk_heap_frames *t, uint32_t id)
{
    return pgk_intern_str(&t->strings, id);
}

/* The frame of a node and its function. */
static inline const struct pgk_view_frame *pgk_frames_at(const struct pgk_heap_frames *t,
                                                         uint32_t node)
{
    return &t->frames.v[t->stacks.nodes.v[node].frame];
}

static inline const struct pgk_view_func *pgk_frames_func(const struct pgk_heap_frames *t,
                                                          uint32_t node)
{
    return &t->funcs.v[pgk_frames_at(t, node)->func];
}

/* The node of a stack in which the program itself, rather than a library on its behalf,
 * asks for memory; the leaf if all is library. */
uint32_t pgk_frames_site(const struct pgk_heap_frames *t, uint32_t stack);

#endif
