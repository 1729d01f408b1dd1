/* Profiles over time, in one file of a folder. Needs SQLite; a library that was built without it
 * refuses to open any.
 *
 * What is added is there whole or not at all, whoever is killed meanwhile; several processes may
 * add to a history at a time, and wait for one another up to half a minute. One thread at a time
 * may use a struct pgk_history. */
#ifndef PGOKIT_HISTORY_H
#define PGOKIT_HISTORY_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_history;

/* A count that is not known. */
#define PGK_HISTORY_UNKNOWN UINT64_MAX

/* What is known of a profile. Texts are "" if they are not known; those that the library gives live
 * until the function that gets them returns. */
struct pgk_history_entry {
    size_t struct_size;     /* sizeof(struct pgk_history_entry), set by the caller */
    int64_t id;             /* 1 and up, in the order of adding; given by the library */
    int64_t time_s;         /* when it was recorded, in seconds since 1970 */
    const char *name;       /* of its file */
    const char *kind;       /* "heap", "sample" or "instr", as pgk_kind_name() */
    const char *version;    /* of the program */
    const char *host_class; /* what machines and loads it may be compared with */
    const char *build_id;   /* of the program, as hexadecimal digits */
    const char *page;       /* address of the page that shows it */
    uint64_t weight;        /* bytes allocated, samples, or counts of functions */
    uint64_t objects;       /* allocated; PGK_HISTORY_UNKNOWN, also of the next three */
    uint64_t peak_bytes;    /* alive at the peak */
    uint64_t exit_bytes;    /* alive at exit */
    uint64_t functions;     /* or contexts of a heap profile */
    double gain_percent;    /* of a build with the profile, in speed; NaN: not known */
    double match_percent;   /* of the profile that applies to a build; NaN: not known */
    uint64_t size_bytes;    /* of the profile; given by the library */
};

/* A function and its part of the weight. */
struct pgk_history_function {
    const char *name; /* linkage name */
    uint64_t weight;  /* in the unit of the profile's */
};

/* Opens that in `folder`, to be closed by the caller; PGK_E_IO if there is none, but if `create`,
 * in a folder that is there or not. PGK_E_FORMAT (a file of another program, or no SQLite in this
 * library), PGK_E_VERSION (newer than this library), PGK_E_CORRUPT, PGK_E_NOMEM. */
int pgk_history_open(struct pgk_history **history, const char *folder, bool create,
                     struct pgk_err *err);
/* Nulls the pointer; accepts NULL in it. */
void pgk_history_close(struct pgk_history **history);

/* Adds the profile in the file `path` with its functions, of which names come once; those with the
 * most weight are kept, up to 64. Sets *id. The same bytes of the same version and host class are
 * not added again: then *id is of what is there, and *is_new false. PGK_E_IO, PGK_E_LIMIT (a file
 * of 2 GiB or more), PGK_E_NOMEM; nothing is added then. */
int pgk_history_add(struct pgk_history *history, const struct pgk_history_entry *entry,
                    const char *path, const struct pgk_history_function *functions, size_t n,
                    int64_t *id, bool *is_new, struct pgk_err *err);
/* Deletes all but the newest `n` of each host class and kind; *deleted is how many these were. */
int pgk_history_keep(struct pgk_history *history, size_t n, size_t *deleted, struct pgk_err *err);

/* Which profiles are meant. Zero and NULL are all. */
struct pgk_history_query {
    size_t struct_size;     /* sizeof(struct pgk_history_query) */
    int64_t since_s;        /* recorded then or later, in seconds since 1970 */
    int64_t until_s;        /* recorded before; 0: whenever */
    const char *version;    /* of the program */
    const char *host_class; /* as above */
    const char *kind;       /* as above */
    size_t newest;          /* so many of them; 0: all */
};
/* Gets a profile. What is not 0 ends the walk, which returns it. */
typedef int pgk_history_fn(void *ctx, const struct pgk_history_entry *entry);
/* Calls `fn` for each that is meant, by time and id. `query` may be NULL. */
int pgk_history_walk(struct pgk_history *history, const struct pgk_history_query *query,
                     pgk_history_fn *fn, void *ctx, struct pgk_err *err);
/* The profile that a person means by an id, "7", a version, of which it is the newest, or "last".
 * PGK_E_ARG if there is none. */
int pgk_history_find(struct pgk_history *history, const char *what, int64_t *id,
                     struct pgk_err *err);
/* Writes the file that was added, decompressed, to `path`; it appears whole or not at all.
 * PGK_E_ARG if there is none of this id. */
int pgk_history_extract(struct pgk_history *history, int64_t id, const char *path,
                        struct pgk_err *err);

/* For people: a line for each profile that is meant, and the movers from the first to the last of
 * them, `top` of these. */
int pgk_history_print_table(struct pgk_history *history, const struct pgk_history_query *query,
                            size_t top, FILE *out, struct pgk_err *err);
/* The same as JSON; docs/man/pgokit-history.md describes it. */
int pgk_history_print_json(struct pgk_history *history, const struct pgk_history_query *query,
                           size_t top, FILE *out, struct pgk_err *err);
/* As an HTML page at `path`, of the newest 500 that are meant; with a link to `pages`/ID.html for
 * those of `linked`, which have no page of their own. `pages` may be NULL. */
int pgk_history_write_page(struct pgk_history *history, const struct pgk_history_query *query,
                           const char *title, const char *pages, const int64_t *linked,
                           size_t n_linked, const char *path, struct pgk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
