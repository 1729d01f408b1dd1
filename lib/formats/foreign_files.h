/* Files that are no profiles, but that people have and give to a verb that reads profiles. */
#ifndef PGK_FOREIGN_FILES_H
#define PGK_FOREIGN_FILES_H

#include <stddef.h>
#include <stdint.h>

struct pgk_foreign_file {
    const char *what; /* "a recording of perf" */
    const char *hint; /* what to do with it, which is FILE in that */
};

/* NULL if the bytes are of no known kind. */
const struct pgk_foreign_file *pgk_foreign_file(const uint8_t *bytes, size_t size);

#endif
