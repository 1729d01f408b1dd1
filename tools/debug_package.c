/* Which package of Debian has the debug symbols of a file: dpkg lists the files of each package
 * that is installed in DPKG/NAME.list or DPKG/NAME:PROCESSOR.list. */
#include "debug_package.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DPKG "/var/lib/dpkg/info"
#define APT  "/etc/apt"

/* Packages whose debug symbols are in one of another name than NAME-dbgsym. */
static const char *const others[][2] = {{"libc6", "libc6-dbg"}, {"libc-bin", "libc6-dbg"}};

/* A line of the file is the path, or the path as it was before /lib became /usr/lib. */
static bool lists(FILE *list, const char *path)
{
    const char *before = strncmp(path, "/usr/", 5) ? path : path + 4;
    char line[PATH_MAX + 2];
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, path) || !strcmp(line, before))
            return true;
    }
    return false;
}

static bool has_file(const char *list_name, const char *path)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, DPKG "/%s", list_name) >= (int)sizeof name)
        return false;
    FILE *list = fopen(name, "re");
    const bool has = list && lists(list, path);
    if (list)
        fclose(list);
    return has;
}

static void name_debug_package(char *name, size_t size, const char *list_name)
{
    const size_t n = strcspn(list_name, ":");
    char package[NAME_MAX + 1];
    snprintf(package, sizeof package, "%.*s", (int)n, list_name);
    if (!list_name[n])
        package[strlen(package) - strlen(".list")] = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(package, others[i][0])) {
            snprintf(name, size, "%s", others[i][1]);
            return;
        }
    snprintf(name, size, "%s-dbgsym", package);
}

bool debug_package_of(const char *path, char *name, size_t size)
{
    char real[PATH_MAX];
    bool found = false;
    DIR *folder = *path == '/' && realpath(path, real) ? opendir(DPKG) : NULL;
    for (const struct dirent *e; folder && !found && (e = readdir(folder));) {
        const char *end = strrchr(e->d_name, '.');
        found = end && !strcmp(end, ".list") && has_file(e->d_name, real);
        if (found)
            name_debug_package(name, size, e->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* Whether a line that is no comment has the text. */
static bool file_has(const char *path, const char *text, bool whole)
{
    char line[4096];
    bool has = false;
    FILE *file = fopen(path, "re");
    while (file && !has && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\n")] = 0;
        has = whole ? !strcmp(line, text) : strstr(line, text) != NULL;
    }
    if (file)
        fclose(file);
    return has;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* Suites of debug archives are trixie-debug, trixie-proposed-updates-debug and so on. */
static bool apt_has_archive(void)
{
    bool has = file_has(APT "/sources.list", "-debug", false);
    DIR *folder = opendir(APT "/sources.list.d");
    for (const struct dirent *e; folder && !has && (e = readdir(folder));) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, APT "/sources.list.d/%s", e->d_name);
        has = (ends_with(path, ".list") || ends_with(path, ".sources")) &&
              file_has(path, "-debug", false);
    }
    if (folder)
        closedir(folder);
    return has;
}

bool debug_package_needs_archive(const char *name)
{
    return ends_with(name, "-dbgsym") && file_has("/etc/os-release", "ID=debian", true) &&
           !apt_has_archive();
}
