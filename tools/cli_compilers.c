/* The compilers in the folders of PATH, for the completion of --cc. */
#include "cli.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* "gcc", "clang-22" */
static bool is_compiler(const char *name)
{
    static const char *const names[] = {"gcc", "clang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (strncmp(name, names[i], n))
            continue;
        const char *release = name + n;
        if (*release == '-' && isdigit((unsigned char)release[1]))
            release += 1 + strspn(release + 1, "0123456789");
        if (!*release)
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add(struct cli_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->v[i], name))
            return;
    char *copy = strdup(name);
    if (copy)
        cli_list_add(list, copy);
}

static void add_folder(struct cli_list *list, const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
        if (is_compiler(e->d_name))
            add(list, e->d_name);
    if (folder)
        closedir(folder);
}

const char *cli_compiler(size_t i)
{
    static struct cli_list list; /* as long-lived as the process */
    static bool listed;
    const char *path = getenv("PATH");
    char *folders = listed || !path ? NULL : strdup(path), *rest = folders;
    for (char *folder; rest && (folder = strsep(&rest, ":")) != NULL;)
        add_folder(&list, *folder ? folder : ".");
    free(folders);
    if (!listed && list.n)
        qsort(list.v, list.n, sizeof *list.v, by_name);
    listed = true;
    return i < list.n ? list.v[i] : NULL;
}
