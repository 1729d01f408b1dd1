/* A line table: its header, decoded at once, and its program, run where asked. */
#ifndef PGK_DWARF_LINE_PRIV_H
#define PGK_DWARF_LINE_PRIV_H

#include "dwarf_priv.h"

struct pgk_dw_line_file {
    const char *name;
    uint32_t dir; /* position in `dirs`; PGK_INDEX_NONE: none */
    _Atomic(const char *) path; /* folder/name; made on first use, under the lock */
};

/* The addresses of one run of code, and where its opcodes are. */
struct pgk_dw_sequence {
    uint64_t low, high;
    uint64_t from, to; /* in the program */
};

struct pgk_dw_lines {
    struct pgk_dw_file *file;
    uint16_t version;
    uint8_t off_size, min_inst, max_ops, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256]; /* LEB128 operands of standard opcodes */
    struct pgk_dw_bytes program;
    PGK_VEC(const char *) dirs;
    PGK_VEC(struct pgk_dw_line_file) files;
    uint32_t first_file; /* number of files.v[0]: 1, in DWARF 5 0 */

    pthread_mutex_t lock;
    struct pgk_arena arena; /* of paths; under the lock */
    _Atomic(bool) indexed;  /* `sequences` is complete; made under the lock */
    PGK_VEC(struct pgk_dw_sequence) sequences;
};

#endif
