/* Parts of the paths of files. */
#ifndef PGK_PATH_H
#define PGK_PATH_H

#include <string.h>

/* The part after the last slash: the whole path if it has none, nothing if it ends in one. It
 * points into the path. */
static inline const char *pgk_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
