/* Recordings of the branch recorder (libpgokit_branches): how its windows went, and of which files
 * they are. What was counted is read by pgk_gen_add, as recordings of perf are.
 *
 * Positions are 0, 1, ... until the function says false. What accessors return belongs to the
 * recording, which any number of threads may read. */
#ifndef PGOKIT_BRANCHES_H
#define PGOKIT_BRANCHES_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_branches;

/* Reads the file, of which nothing is kept open; the caller closes the result. PGK_E_MAGIC for a
 * file of another kind. The program may still run. */
int pgk_branches_open(struct pgk_branches **branches, const char *path, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_branches_close(struct pgk_branches **branches);

/* What a number of the recorder's own work is about. */
enum pgk_branches_kind {
    PGK_BRANCHES_WORK,  /* what was done */
    PGK_BRANCHES_START, /* how often no window began, for this reason */
    PGK_BRANCHES_END,   /* how often a window ended before it had all its branches */
};
/* A number of the recorder's own work. */
struct pgk_branches_work {
    size_t struct_size; /* sizeof(struct pgk_branches_work), set by the caller */
    enum pgk_branches_kind kind; /* what it is about */
    const char *name, *text; /* "WINDOWS", and what it means, for people */
    uint64_t n;              /* the number */
};
/* Fills in number i. */
bool pgk_branches_work_at(const struct pgk_branches *branches, size_t i,
                          struct pgk_branches_work *work);

/* A file with code that was recorded. */
struct pgk_branches_file {
    size_t struct_size;  /* sizeof(struct pgk_branches_file), set by the caller */
    const char *path;    /* where it was */
    uint64_t branches;   /* that were taken in its code, in windows */
};
/* Fills in file i. */
bool pgk_branches_file_at(const struct pgk_branches *branches, size_t i,
                          struct pgk_branches_file *file);

/* The process that was recorded. */
struct pgk_branches_process {
    size_t struct_size;       /* sizeof(struct pgk_branches_process), set by the caller */
    const char *program;      /* path of its file; "" unknown */
    const char *host;         /* name of the machine; "" unknown */
    const char *command_line; /* as a shell reads it, cut at about 600 bytes; "" unknown */
    uint64_t start_ms;        /* when it started, in ms since 1970; 0 unknown */
};
/* Fills it in. */
void pgk_branches_process_of(const struct pgk_branches *branches,
                             struct pgk_branches_process *process);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
