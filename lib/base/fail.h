/* Filling a struct pgk_err; the only place that does is fail.c. */
#ifndef PGK_FAIL_H
#define PGK_FAIL_H

#include "compiler.h"
#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The facts that a failing function knows; NULL texts stay empty. */
struct pgk_err_info {
    int status;
    int sys_errno;
    uint32_t version;
    const uint64_t *offset; /* NULL: does not apply */
    const char *file, *format, *record, *field, *found, *expected, *hint;
};

/* Copies `info` into `err` (which may be NULL) and returns info->status. */
int pgk_err_fill(struct pgk_err *err, const struct pgk_err_info *info);

/* return pgk_fail(err, PGK_E_CORRUPT, .file = path, .offset = &off, .field = "count",
 *                 .found = PGK_F("%u", n), .expected = "at most 32"); */
#define pgk_fail(err, code, ...) \
    pgk_err_fill((err), &(struct pgk_err_info){.status = (code), __VA_ARGS__})

/* A formatted text that lives until the end of the enclosing block. */
#define PGK_F(...) pgk_format((char[200]){0}, 200, __VA_ARGS__)
const char *pgk_format(char *buf, size_t size, const char *fmt, ...) PGK_PRINTF(3, 4);

/* The ending of a noun after the number n: "1 byte", "2 bytes". */
static inline const char *pgk_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Says something else to do about the error. */
void pgk_err_advise(struct pgk_err *err, const char *hint);

/* Whether the fault is in the bytes of the file, so that others of it may be sound. */
static inline bool pgk_is_damage(int status)
{
    return status == PGK_E_TRUNCATED || status == PGK_E_CORRUPT;
}

/* PGK_E_NOMEM with a filled err. */
int pgk_fail_nomem(struct pgk_err *err);

/* PGK_E_IO for `file` from errno; `what` is the refused action ("open"). */
int pgk_fail_errno(struct pgk_err *err, const char *file, const char *what);

#define PGK_TRY(call)                    \
    do {                                 \
        int pgk_try_status = (call);     \
        if (pgk_try_status < 0)          \
            return pgk_try_status;       \
    } while (0)

#endif
