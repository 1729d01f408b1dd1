/* Named weighted stacks: the input of every viewer of call stacks, made from a heap profile or a
 * sample profile and written by each format in its own way (exporters.h).
 *
 *   strings ◄── functions ◄── frames ◄── locations ◄── paths (tree, see stack_tree.h) ◄── stacks
 *
 * A location is a place in the code as a program counter knows it: a frame and the frames that it
 * is inlined into. A stack is the path of its locations from the outermost one on, with a value per
 * type, such as bytes and objects. */
#ifndef PGK_WEIGHTED_STACKS_H
#define PGK_WEIGHTED_STACKS_H

#include "fail.h"
#include "intern.h"
#include "pgokit/report.h"
#include "stack_tree.h"

/* What a value counts. */
struct pgk_value_type {
    const char *name; /* on our command line: "bytes" */
    const char *type; /* to viewers: "alloc_space" */
    const char *unit; /* "bytes", "count", "byte_seconds" */
};

/* Texts are string ids; 0: unknown. All are valid UTF-8 without control characters. */
struct pgk_stack_func {
    uint32_t name;       /* as a programmer wrote it */
    uint32_t linkage;    /* 0: as the name */
    uint32_t file;
    uint32_t first_line; /* 0: unknown */
    uint32_t module;     /* build id of the module of an address that has no function, else 0 */
};

struct pgk_stack_frame {
    uint64_t address;      /* if its function has a module; else 0 */
    uint32_t func;
    uint32_t line, column; /* 0: unknown; of a sample profile from the function's first line */
};

/* frames_of[first .. first + n - 1], innermost first. */
struct pgk_stack_location {
    size_t first;
    uint32_t n;
    uint32_t module;  /* build id of the module that it is in; 0: unknown */
    uint64_t address; /* the linker's, if `module` is known */
};

struct pgk_weighted_stack {
    uint32_t path;         /* node of `paths`; 0: no stack is known */
    const char *label;     /* "hot", ...; "": none */
    bool has_object_bytes;
    uint64_t object_bytes; /* average size of an object */
};

struct pgk_stacks {
    const char *title; /* what is shown: a file name; may be NULL */
    struct pgk_intern strings;
    PGK_VEC(struct pgk_stack_func) funcs;
    PGK_VEC(struct pgk_stack_frame) frames;
    PGK_VEC(struct pgk_stack_location) locations; /* [0] is none */
    PGK_VEC(uint32_t) frames_of;                  /* of locations */
    struct pgk_stack_tree paths;                  /* a node's frame is a location */
    PGK_VEC(struct pgk_weighted_stack) stacks;
    PGK_VEC(uint64_t) values; /* n_types per stack */
    const struct pgk_value_type *types;
    size_t n_types;
    uint64_t sample_bytes; /* values are estimates, from one sample in so many bytes; 0: exact */
    size_t shown_type; /* for formats that have one value per stack */
};

/* Which stacks are kept separate. Contexts of heap profiles always are. */
enum pgk_stack_detail {
    PGK_STACKS_BY_FUNCTION, /* a stack per function, inlinee and calling context; no lines */
    PGK_STACKS_BY_LINE,     /* a stack per line that has samples */
};

/* End in any case with pgk_stacks_free. */
PGK_MUST_USE int pgk_stacks_of_heap(struct pgk_stacks *s, const struct pgk_heap *heap,
                                    const struct pgk_heap_export_opts *opts, struct pgk_err *err);
PGK_MUST_USE int pgk_stacks_of_sample(struct pgk_stacks *s, const struct pgk_sample *profile,
                                      enum pgk_stack_detail detail,
                                      const struct pgk_sample_export_opts *opts,
                                      struct pgk_err *err);
/* Accepts a zeroed struct. */
void pgk_stacks_free(struct pgk_stacks *s);

/* For who makes them: a location of `n` frames, innermost first; 0 when out of memory. */
uint32_t pgk_stacks_add_location(struct pgk_stacks *s, const uint32_t *frames, uint32_t n);
/* A stack through `n` locations, innermost first, with n_types values. False when out of memory. */
PGK_MUST_USE bool pgk_stacks_add(struct pgk_stacks *s, const uint32_t *locations, size_t n,
                                 struct pgk_weighted_stack stack, const uint64_t *values);

static inline const char *pgk_stacks_text(const struct pgk_stacks *s, uint32_t id)
{
    return pgk_intern_str(&s->strings, id);
}

static inline uint64_t pgk_stacks_value(const struct pgk_stacks *s, size_t stack, size_t type)
{
    return s->values.v[stack * s->n_types + type];
}

/* Frames of a stack from the outermost in. */
struct pgk_stack_path {
    PGK_VEC(uint32_t) frames;
};
PGK_MUST_USE int pgk_stacks_path(const struct pgk_stacks *s, size_t stack,
                                 struct pgk_stack_path *path, struct pgk_err *err);

#endif
