/* What is in the folders of PATH, and which of it compilers are, for the completion of --cc. */
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

static void add(void *ctx, const char *name)
{
    struct cli_list *list = ctx;
    if (!is_compiler(name))
        return;
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->v[i], name))
            return;
    char *copy = strdup(name);
    if (copy)
        cli_list_add(list, copy);
}

void cli_each_in_path(void (*fn)(void *ctx, const char *name), void *ctx)
{
    const char *path = getenv("PATH");
    char *folders = path ? strdup(path) : NULL, *rest = folders;
    for (const char *at; rest && (at = strsep(&rest, ":")) != NULL;) {
        DIR *folder = opendir(*at ? at : ".");
        for (struct dirent *e; folder && (e = readdir(folder)) != NULL;)
            fn(ctx, e->d_name);
        if (folder)
            closedir(folder);
    }
    free(folders);
}

const char *cli_compiler(size_t i)
{
    static struct cli_list list; /* as long-lived as the process */
    static bool listed;
    if (!listed)
        cli_each_in_path(add, &list);
    if (!listed && list.n)
        qsort(list.v, list.n, sizeof *list.v, by_name);
    listed = true;
    return i < list.n ? list.v[i] : NULL;
}
