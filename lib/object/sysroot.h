/* Finding the file of a build id in folders. */
#ifndef PGK_SYSROOT_H
#define PGK_SYSROOT_H

#include "elf_file.h"
#include "vec.h"

#include <stddef.h>

/* All ELF files with a build id below some folders; zeroed: not looked for yet. */
struct pgk_sysroot_file {
    char *path;
    uint8_t *id;
    size_t id_size;
    bool has_debug;
};
struct pgk_sysroot {
    PGK_VEC(struct pgk_sysroot_file) files; /* in the order of their paths */
    bool walked;
};
void pgk_sysroot_free(struct pgk_sysroot *s);

/* Opens FOLDER/.build-id/xx/yyyy.debug or FOLDER/.build-id/xx/yyyy of the first folder that has
 * such a program or debug file; *elf stays NULL if there is none. PGK_E_NOMEM only. */
PGK_MUST_USE int pgk_find_in_debug_dirs(struct pgk_elf **elf, const char *const *folders, size_t n,
                                        const uint8_t *id, size_t id_size, struct pgk_err *err);
/* A file by its build id, and where the target had it. */
struct pgk_sysroot_wanted {
    const char *path; /* NULL or "": not known */
    const uint8_t *id;
    size_t id_size;
};
/* Opens the program or debug file with this build id: the one at its path in a folder, or else,
 * after a look at all files there, wherever below the folders it is; one with debug information
 * before one without. Symbolic links are not followed in that look. */
PGK_MUST_USE int pgk_find_in_sysroots(struct pgk_elf **elf, struct pgk_sysroot *s,
                                      const char *const *folders, size_t n,
                                      const struct pgk_sysroot_wanted *wanted,
                                      struct pgk_err *err);

#endif
