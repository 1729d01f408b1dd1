/* Places of calls: in the source, as compilers know them, and in the call stacks of profiles. */
#ifndef PGC_USE_PLACE_H
#define PGC_USE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the source of a function, as profiles name it. */
struct pgc_place {
    uint64_t function;      /* LLVM's id of its name, without what compilers append */
    uint32_t line_offset;   /* line - line of the function, of which 16 bits count */
    uint32_t column;        /* 0 unknown */
    uint32_t discriminator; /* 0 none */
    uint32_t probe;         /* of a call; 0 none */
    bool line_zero;         /* it has no line: any place of the function */
    uint32_t no_line;       /* line_offset of such a place */
};
enum { PGC_PLACES = 64 }; /* deeper inlining is not looked at */

/* A call of a call stack. */
struct pgc_frame {
    uint64_t function;
    uint32_t line, column; /* line offset, 16 bits; 0 unknown column */
    bool inlined;          /* into the next frame */
};

#endif
