/* The places of installed files, relative to this program: those of the runtime, and others. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISREG(s.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

/* The folder of this program, links resolved; "" if the system does not report it. */
static void own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
}

/* "x/tools/../runtime/lib.so" is right, but people see it. */
static bool found_at(char path[PATH_MAX], const char *folder, const char *below, const char *file)
{
    char joined[3 * PATH_MAX], *real = NULL;
    bool absolute = *below == '/';
    snprintf(joined, sizeof joined, "%s%s%s/%s", absolute ? "" : folder, absolute ? "" : "/", below,
             file);
    if (!is_file(joined))
        return false;
    /* The folder's links are resolved, the file's own is kept: its name counts. */
    *strrchr(joined, '/') = 0;
    real = realpath(joined, NULL);
    int n = snprintf(path, PATH_MAX, "%s/%s", real ? real : joined, file);
    free(real);
    return n < PATH_MAX;
}

static bool found_below(char path[PATH_MAX], const char *folder, const char *const *below,
                        const char *file)
{
    for (; *below; below++)
        if (found_at(path, folder, *below, file))
            return true;
    return false;
}

bool installed_find(char path[PATH_MAX], const char *below, const char *file)
{
    char folder[PATH_MAX];
    own_folder(folder);
    return found_at(path, folder, below, file);
}

bool heap_runtime_find(char path[PATH_MAX], const char *file)
{
    static const char *const of_build_or_prefix[] = {"../runtime",
                                                     "../recorder",
                                                     "../allocator",
                                                     "../sampler",
                                                     "../compiler/clang",
                                                     "../compiler/gcc",
                                                     "../compiler/use",
                                                     PGK_BIN_TO_LIB,
                                                     PGK_BIN_TO_LIB "/pgokit",
                                                     NULL};
    static const char *const of_given[] = {".", "pgokit", NULL};
    char folder[PATH_MAX];
    const char *given = getenv("PGOKIT_RUNTIME");
    if (!given || !*given) {
        own_folder(folder);
        return found_below(path, folder, of_build_or_prefix, file);
    }
    snprintf(folder, sizeof folder, "%s", given); /* the folder, or the library in it */
    char *slash = strrchr(folder, '/');
    if (!is_folder(folder) && slash)
        *slash = 0;
    return found_below(path, folder, of_given, file);
}
