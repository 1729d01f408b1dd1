/* Lines of source files, for excerpts next to stacks.
 *
 * File names come from debug information. Only regular files are opened whose names end as
 * those of sources do, so that a name cannot lead any other file into a report. */
#ifndef PGK_SOURCE_LINES_H
#define PGK_SOURCE_LINES_H

#include "fail.h"
#include "index.h"
#include "vec.h"

#include <stdint.h>

struct pgk_source_file;
struct pgk_source_lines {
    const char *const *folders; /* besides where the files were when they were compiled */
    size_t n_folders;
    PGK_VEC(struct pgk_source_file *) files; /* also those that are not there */
    struct pgk_index index;                  /* by name */
};

/* The file of this name, looked for as it is, then below each folder with fewer and fewer of
 * its leading folders. *file is NULL if there is none. */
PGK_MUST_USE int pgk_source_find(struct pgk_source_lines *s, const char *name,
                                 const struct pgk_source_file **file, struct pgk_err *err);
/* The line, counted from 1, without its end; NULL if the file has no such. */
const char *pgk_source_line(const struct pgk_source_file *file, uint32_t line, size_t *len);
void pgk_source_lines_free(struct pgk_source_lines *s);

#endif
