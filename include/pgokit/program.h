/* What a program file is, as far as recording a profile of it depends on it. */
#ifndef PGOKIT_PROGRAM_H
#define PGOKIT_PROGRAM_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a program is started. */
enum pgk_program_kind {
    PGK_PROGRAM_DYNAMIC, /* the dynamic linker starts it, and preloads libraries */
    PGK_PROGRAM_STATIC, /* linked statically */
    PGK_PROGRAM_SCRIPT, /* its interpreter runs it */
};

/* Which runtime records heap profiles of a program. */
enum pgk_heap_runtime {
    PGK_HEAP_RUNTIME_NONE, /* none */
    PGK_HEAP_RUNTIME_PGOKIT,      /* libpgokit_heap, in the program or as its library */
    PGK_HEAP_RUNTIME_LLVM,        /* that of clang -fmemory-profile, in the program */
    PGK_HEAP_RUNTIME_LLVM_SHARED, /* the same as a library, of clang -shared-libsan */
};

/* What was found out. */
struct pgk_program {
    size_t struct_size; /* sizeof(struct pgk_program), set by the caller */
    enum pgk_program_kind kind; /* how it is started */
    char interpreter[256]; /* of a script: the program after #! */
    enum pgk_heap_runtime heap_runtime; /* which runtime is in it */
    bool histogram_known; /* the next field was found; not of stripped programs */
    bool histogram;       /* built to count accesses by place in the object */
    /* The dynamic linker that starts it, if it is not glibc's, for whose programs the libraries are
     * that are preloaded; else "". */
    char other_linker[256];
    bool go; /* built by Go, whose programs have a memory and profiles of their own */
    uint64_t code_bytes; /* of machine code: its sections that can be executed; 0 of a script */
};

/* Looks into the program at `path`: an x86-64 executable or a script. `program` is untouched on
 * failure: PGK_E_IO, PGK_E_FORMAT (neither of them, or for another machine), PGK_E_CORRUPT.
 * Thread-safe. */
int pgk_program_inspect(struct pgk_program *program, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
