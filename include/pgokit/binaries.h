/* The binaries a profile was recorded from: programs and shared libraries with
 * their debug information, given or found by build id. */
#ifndef PGOKIT_BINARIES_H
#define PGOKIT_BINARIES_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_binaries;

/* How binaries are found and looked into. */
struct pgk_binaries_opts {
    size_t struct_size;            /* sizeof(struct pgk_binaries_opts) */
    const char *const *debug_dirs; /* folders with .build-id/xx/yyyy.debug: debug files of the
                                      binaries, and binaries that a profile names but were not
                                      given */
    size_t n_debug_dirs; /* number of them */
    unsigned threads;              /* for symbolisation; 0: one per processor */
    const char *const *sysroots;   /* folders like a root folder, with such binaries anywhere */
    size_t n_sysroots; /* number of them */
    const char *cache_folder;      /* of what symbolisation found; NULL: keep nothing */
    bool symbols_suffice;          /* for people: a program without debug information has the
                                      names of its symbols, and no lines, with a note; else it
                                      is refused */
    const char *const *packages;   /* .dwp files with split debug information of the binaries,
                                      tried before BINARY.dwp */
    size_t n_packages; /* number of them */
    bool use_caches;               /* look for debug files by build id also in the caches of other
                                      tools of this user, of perf (PERF_BUILDID_DIR, else
                                      buildid.dir of its configuration, else ~/.debug) and of
                                      debuginfod (DEBUGINFOD_CACHE_PATH, else
                                      $XDG_CACHE_HOME/debuginfod_client); false: nowhere but in
                                      folders given, /usr/lib/debug, and next to the binary */
    bool download;                 /* with use_caches: what is not there also from the servers that
                                      DEBUGINFOD_URLS names, by libdebuginfod of elfutils, which is
                                      loaded for it and keeps the file in its cache. Nothing else
                                      in the library reaches a network */
    bool find_binaries;            /* look for binaries that a profile names but were not given also
                                      where the profile says that they were, in /usr/lib/debug
                                      and, with use_caches, there */
    bool use_paths;                /* look for them where the profile says that they were in any
                                      case, and take the names of their symbols where there is no
                                      debug information: for people */
};

/* Where the cache of this user is: $XDG_CACHE_HOME/pgokit, or $HOME/.cache/pgokit, in `buf`; NULL
 * if neither is set or it does not fit. The folder need not exist. */
const char *pgk_binaries_cache_folder(char *buf, size_t size);

/* An empty set; NULL opts means defaults. Owned by the caller. Not thread-safe
 * while binaries are added. */
int pgk_binaries_new(struct pgk_binaries **set, const struct pgk_binaries_opts *opts,
                     struct pgk_err *err);
/* Opens the ELF file at `path` and adds it. The same file twice is one entry. */
int pgk_binaries_add(struct pgk_binaries *set, const char *path, struct pgk_err *err);
/* Takes debug information of a binary that was added from this file, and symbols and pseudo probes
 * that were stripped from the binary: of the binary with the file's build id, or of the only one
 * if one of the two has none. PGK_E_MISMATCH if there is no such binary. To be called before
 * anything is looked up. */
int pgk_binaries_add_debug(struct pgk_binaries *set, const char *path, struct pgk_err *err);
/* Number of binaries in the set. */
size_t pgk_binaries_count(const struct pgk_binaries *set);
/* The path of one of them, below pgk_binaries_count. Lives as long as the set. */
const char *pgk_binaries_path(const struct pgk_binaries *set, size_t number);
/* Nulls the pointer; accepts NULL. */
void pgk_binaries_close(struct pgk_binaries **set);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
