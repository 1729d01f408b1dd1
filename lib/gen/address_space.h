/* From an address of a running process to one of a binary.
 *
 * A mapped file is one of the binaries if the user says so, if their build ids are equal, or, where
 * one has none, if their names are; " (deleted)", which the kernel appends, is no part of a
 * name. */
#ifndef PGK_ADDRESS_SPACE_H
#define PGK_ADDRESS_SPACE_H

#include "binary_set.h"
#include "process_map.h"

#define PGK_NO_BINARY UINT32_MAX

/* The user's mapping of a recorded file. */
struct pgk_known_file {
    const char *recorded; /* path, or its last part */
    uint32_t binary;
};
typedef PGK_VEC(struct pgk_known_file) pgk_known_vec;

struct pgk_address_space {
    const struct pgk_binaries *binaries;
    const pgk_known_vec *known; /* NULL: nothing */
    struct pgk_process_map *map;
    PGK_VEC(uint32_t) binary_of_file; /* by number of the mapped file */
    size_t foreign;         /* mapped files with the name of a binary, but another build id */
    char foreign_text[256]; /* about the first of them */
    bool any_matched;
    bool kernel; /* the first binary is the kernel */
};

int pgk_address_space_open(struct pgk_address_space *space, const struct pgk_binaries *binaries,
                           struct pgk_err *err);
void pgk_address_space_close(struct pgk_address_space *space);
int pgk_address_space_add(struct pgk_address_space *space, const struct pgk_perf_mapping *mapping,
                          struct pgk_err *err);

/* A stretch of a process in which addresses differ from those of a binary by a constant. */
struct pgk_address_window {
    uint64_t start, end;
    uint64_t from, until; /* when it holds */
    int32_t pid;          /* for which process */
    uint64_t bias;        /* subtract to get the address in the binary */
    uint32_t binary;      /* PGK_NO_BINARY: none of ours */
};

/* The number of addresses from `start` on for which it holds at that time; 0 for another
 * process. */
static inline uint64_t pgk_address_window_size(const struct pgk_address_window *w, int32_t pid,
                                               uint64_t time)
{
    return pid == w->pid && time >= w->from && time < w->until ? w->end - w->start : 0;
}

/* The window around `addr`; an empty one if nothing was mapped there. The map must be ready. */
struct pgk_address_window pgk_address_window(const struct pgk_address_space *space, int32_t pid,
                                             uint64_t time, uint64_t addr);

#endif
