/* Disassembly of programs for x86-64 and AArch64, with the pseudo probes, source lines and
 * counts that belong to each instruction. */
#ifndef PGOKIT_DISASM_H
#define PGOKIT_DISASM_H

#include "pgokit/err.h"
#include "pgokit/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Forms of a disassembly. */
enum pgk_disasm_format {
    PGK_DISASM_TEXT, /* for people */
    PGK_DISASM_LLVM, /* what llvm-profgen 22 prints with --show-disassembly-only */
    PGK_DISASM_JSON, /* docs/formats/disasm-json.md; schema "pgokit-disasm-1" */
};

/* What is disassembled, and what is shown with it. */
struct pgk_disasm_opts {
    size_t struct_size; /* sizeof(struct pgk_disasm_opts) */
    enum pgk_disasm_format format; /* of the output */
    const char *const *functions; /* linkage names, in TEXT and JSON also demangled ones */
    size_t n_functions;           /* 0: all */
    bool probes;                  /* the binary's pseudo probes */
    bool source;                  /* lines and inlined functions, from debug information */
    const char *const *debug_dirs; /* where separate debug files are */
    size_t n_debug_dirs; /* number of them */
    unsigned threads;             /* for debug information; 0: one per processor */
    bool colour;                  /* TEXT: ANSI colours */
    /* A finished profile, whose counts TEXT and JSON show. One by probes needs those of the
     * binary and shows them, too; one by lines needs debug information. NULL: none. */
    const struct pgk_sample *profile;
    size_t top; /* with a profile: the functions with the most samples only; 0: all */
    /* Where TEXT looks for source files, besides where they were compiled. */
    const char *const *source_dirs;
    size_t n_source_dirs; /* number of them */
    /* The debug file of the binary; NULL: looked for by build id and .gnu_debuglink. */
    const char *debug_file;
    const char *const *packages; /* .dwp files, tried before the one next to the binary */
    size_t n_packages; /* number of them */
    bool use_caches, download; /* look for the debug file as in struct pgk_binaries_opts */
    unsigned width; /* TEXT: columns that names are shortened for; 0: only template arguments */
};

/* What was shown. */
struct pgk_disasm_done {
    size_t struct_size; /* sizeof(struct pgk_disasm_done), set by the caller */
    uint64_t functions, instructions, probes; /* shown */
    uint64_t invalid_runs;                    /* runs of bytes that are no instructions */
    uint64_t lost_probes;                     /* probes of code that is not in the program */
    uint64_t stale_functions;                 /* whose code the profile has otherwise */
    bool stripped; /* all functions were asked for, and those that are not exported have no name */
};

/* Writes the disassembly of an ELF file to `out`, section by section, symbol by symbol. NULL
 * opts: all functions as TEXT. `done` may be NULL. PGK_E_EMPTY if a function was asked for that
 * has no code of its own (not with LLVM, which shows nothing then), or probes where there are none;
 * PGK_E_NODEBUG if lines were asked for. Memory does not grow with the output. */
int pgk_disasm(const char *path, const struct pgk_disasm_opts *opts, FILE *out,
               struct pgk_disasm_done *done, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
