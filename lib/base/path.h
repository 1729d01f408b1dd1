/* Parts of the paths of files. */
#ifndef PGK_PATH_H
#define PGK_PATH_H

#include <string.h>

/* What stands behind the last slash: all of a path that has none, nothing of one that ends in one.
 * It points into the path. */
static inline const char *pgk_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
