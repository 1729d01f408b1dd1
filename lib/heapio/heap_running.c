/* Whether the process that a raw heap profile is of still writes it: the file says the same of a
 * process that was killed. The kernel knows which files processes have mapped. */
#include "heap_running.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_of_program(const char *process, const char *program)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%.20s/exe", process);
    const ssize_t n = readlink(link, path, sizeof path);
    return n > 0 && (size_t)n < sizeof path && (size_t)n == strlen(program) &&
           !memcmp(path, program, (size_t)n);
}

/* A line of the mappings ends with the path. */
static bool has_mapped(const char *process, const char *file)
{
    char name[64], line[PATH_MAX + 200];
    const size_t n = strlen(file);
    bool has = false;
    snprintf(name, sizeof name, "/proc/%.20s/maps", process);
    FILE *maps = fopen(name, "re");
    while (maps && !has && fgets(line, sizeof line, maps)) {
        const size_t length = strcspn(line, "\n");
        has = length > n && line[length - n - 1] == ' ' && !memcmp(line + length - n, file, n);
    }
    if (maps)
        fclose(maps);
    return has;
}

bool pgk_heap_is_running(const char *program, const char *file)
{
    char real[PATH_MAX];
    bool is = false;
    DIR *processes = *program && realpath(file, real) ? opendir("/proc") : NULL;
    for (const struct dirent *e; processes && !is && (e = readdir(processes));)
        is = isdigit((unsigned char)e->d_name[0]) && is_of_program(e->d_name, program) &&
             has_mapped(e->d_name, real);
    if (processes)
        closedir(processes);
    return is;
}
