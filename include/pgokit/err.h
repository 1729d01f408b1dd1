/* Status codes and error details.
 *
 * Every function of the library that can fail returns an `int`: 0, or a
 * negative PGK_E_... code. Results go through out-parameters, which are
 * untouched on failure. A caller that wants to know more passes a
 * `struct pgk_err *`; it is filled once, at the place that knows most. */
#ifndef PGOKIT_ERR_H
#define PGOKIT_ERR_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* name, number, sentence. Numbers are grouped with gaps and never reused. */
#define PGK_STATUS_LIST(X)                                                  \
    X(OK, 0, "done")                                                        \
    X(E_NOMEM, -1, "out of memory")                                         \
    X(E_ARG, -2, "a wrong argument")                                        \
    X(E_CANCELLED, -3, "stopped on request")                                \
    X(E_IO, -10, "the system refused")                                      \
    X(E_TRUNCATED, -20, "the file ends too early")                          \
    X(E_FORMAT, -21, "not a file of a known format")                        \
    X(E_VERSION, -22, "a version that is not supported")                    \
    X(E_CORRUPT, -23, "the file contradicts itself")                        \
    X(E_LIMIT, -24, "a value beyond what is supported")                     \
    X(E_MISMATCH, -30, "files that do not belong together")                 \
    X(E_NODEBUG, -31, "no debug information")                               \
    X(E_EMPTY, -32, "nothing left to write")

/* What a function of the library returns. */
enum pgk_status {
#define X(name, number, text) PGK_##name = (number),
    PGK_STATUS_LIST(X)
#undef X
};

/* No byte of a file is to blame. */
#define PGK_NO_OFFSET UINT64_MAX

/* What went wrong. Fixed size, no allocation; texts are cut to fit. An empty
 * text, version 0 or PGK_NO_OFFSET means "does not apply". */
struct pgk_err {
    int status;         /* PGK_E_... */
    int sys_errno;      /* errno of PGK_E_IO, else 0 */
    uint32_t version;   /* of the file's format */
    uint64_t offset;    /* byte offset in `file` */
    char file[512];     /* the file the bytes came from or go to */
    char format[40];    /* "raw heap profile" */
    char record[64];    /* "MIB 17" */
    char field[48];     /* "stack id" */
    char found[200];    /* what is there; with PGK_E_IO what was refused: "cannot open" */
    char expected[200]; /* what should be there */
    char hint[240];     /* what the user can do next */
};

/* The one-word-to-one-sentence meaning of a status; never NULL. */
const char *pgk_status_text(int status);

/* Writes one sentence with all details to `out`, as "FILE: ..." without
 * trailing newline. Returns what fprintf returns. Thread-safe. */
int pgk_err_print(const struct pgk_err *err, FILE *out);

/* Writes the error to `out` as a line of JSON for programs: "file" (`file`, which the details may
 * have cut; NULL: what they have), "offset" (null if no byte is to blame), "status" (its sentence)
 * and "reason" (what pgk_err_print writes). Thread-safe. */
void pgk_err_print_json(const struct pgk_err *err, const char *file, FILE *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
