/* The calls of a build: the functions of binaries and the calls in them, by the places that debug
 * information gives them, whether they were compiled as calls or inlined. From ELF and DWARF
 * alone. */
#ifndef PGK_BUILD_INDEX_H
#define PGK_BUILD_INDEX_H

#include "binary_set.h"
#include "index.h"
#include "intern.h"
#include "plain_name.h"
#include "vec.h"

/* How a call was compiled; one place may have been compiled in several ways. */
enum {
    PGK_HOW_CALL = 1,
    PGK_HOW_INLINED = 2,
    PGK_HOW_TAIL = 4, /* a jump: no frame of the caller stays */
};

struct pgk_build_call {
    uint32_t func;
    uint32_t callee; /* function; PGK_INDEX_NONE: called by its address */
    uint32_t line;   /* 0: code of several places, as after merging calls */
    uint32_t offset; /* line - line of the function's declaration */
    uint32_t column; /* 0 unknown */
    uint32_t how;    /* PGK_HOW_... */
};

struct pgk_build_func {
    uint64_t guid;      /* of the name without suffixes of compilers */
    uint64_t full_guid; /* LLVM's, of the name as it is */
    uint64_t bare_guid; /* pgk_build_bare_guid(): often `guid` */
    uint64_t identifier_guid; /* pgk_build_identifier_guid() */
    uint32_t linkage, name, file; /* string ids; name: without suffixes, one for all bodies of a
                                     constructor; file: with its folder; 0 unknown */
    uint32_t path;      /* string id: of the file, as debug information has it */
    uint32_t decl_line; /* 0 unknown */
    uint32_t first_call, n_calls;
    uint32_t first_place, n_places;
    bool has_body;      /* else it is elsewhere, or only some unit declares it */
    bool allocates;     /* one of the functions that memory is asked of */
};

/* A line of a function that there is code of, and which of its places. */
struct pgk_build_place {
    uint32_t func;
    uint32_t offset;        /* of the line from that of the declaration, 16 bits */
    uint32_t discriminator; /* as profiles have it */
};

struct pgk_build {
    struct pgk_intern strings;
    PGK_VEC(struct pgk_build_func) funcs;
    PGK_VEC(struct pgk_build_call) calls; /* by function, line, column, callee */
    struct pgk_index by_guid;            /* under all of them, each once */
    PGK_VEC(struct pgk_build_place) places; /* by function, offset, discriminator */
};

/* Reads the calls of all binaries of the set, and if `lines` what lines there is code of.
 * PGK_E_NODEBUG if there are no calls. Free in any case. */
PGK_MUST_USE int pgk_build_read(struct pgk_build *build, struct pgk_binaries *set, bool lines,
                               struct pgk_err *err);
void pgk_build_free(struct pgk_build *build);

/* For readers: finds the function by its GUIDs; false when out of memory. Once all is added, calls
 * and places are put into order. */
PGK_MUST_USE bool pgk_build_index_func(struct pgk_build *build, uint32_t func);
void pgk_build_finish(struct pgk_build *build);

/* Next function of that GUID with a body: starts with *at = 0, PGK_INDEX_NONE at the end. */
uint32_t pgk_build_next(const struct pgk_build *build, uint64_t guid, uint32_t *at);
/* The same for functions of internal linkage whose identifier has that GUID: those of other files
 * may have it, too. */
uint32_t pgk_build_next_internal(const struct pgk_build *build, uint64_t guid, uint32_t *at);

/* Do the names of functions of two builds, or their identifiers, stand for the same? */
bool pgk_build_same_name(const struct pgk_build_func *a, const struct pgk_build_func *b);

/* Is it the same function, as far as is known? One that is elsewhere may be any of its name. */
static inline bool pgk_build_same(const struct pgk_build *build, uint32_t a, uint32_t b)
{
    return a == b || (build->funcs.v[a].guid == build->funcs.v[b].guid &&
                      (!build->funcs.v[a].file || !build->funcs.v[b].file));
}

/* Compilers compare 16 bits of line offsets, and profiles may have no more. */
static inline bool pgk_same_offset(uint32_t a, uint32_t b)
{
    return ((a ^ b) & UINT32_C(0xffff)) == 0;
}

static inline const char *pgk_build_text(const struct pgk_build *build, uint32_t id)
{
    return pgk_intern_str(&build->strings, id);
}

#endif
