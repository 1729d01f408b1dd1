/* Which package of Debian has the debug symbols of a file. */
#ifndef DEBUG_PACKAGE_H
#define DEBUG_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the package, if the file is one of a package that is installed here. */
bool debug_package_of(const char *path, char *name, size_t size);

/* Whether apt cannot have the package: NAME-dbgsym is in Debian's debug archive, which is no source
 * of apt by default. Of other systems that is not known. */
bool debug_package_needs_archive(const char *name);
#define DEBUG_SERVER "https://debuginfod.debian.net" /* which has all of that archive */

#endif
