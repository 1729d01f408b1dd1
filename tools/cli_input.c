/* Operands of verbs that add up: a name, perhaps with a weight. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_empty(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size;
}

bool cli_is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Paths that are parts of operands. */
static struct cli_list paths;

struct pgk_input cli_input(const struct cli_verb *verb, const char *operand)
{
    struct pgk_input whole = {operand, 1, NULL};
    const char *at = strrchr(operand, '@');
    if (!at || at == operand || !access(operand, F_OK))
        return whole;
    char *path = strndup(operand, (size_t)(at - operand)), *end;
    if (!path)
        cli_usage(verb, "out of memory");
    errno = 0;
    unsigned long weight = strtoul(at + 1, &end, 10);
    bool is_weight = at[1] >= '0' && at[1] <= '9' && !*end;
    cli_list_add(&paths, path);
    if (is_weight && !errno && weight >= 1 && weight <= CLI_WEIGHT_MAX)
        return (struct pgk_input){path, weight, NULL};
    bool is_meant = is_weight || !access(path, F_OK);
    char safe[256];
    if (is_meant)
        cli_usage(verb, "the weight after '@' in '%s' must be a number from 1 to %lu",
                  pgk_human_text(safe, sizeof safe, operand), CLI_WEIGHT_MAX);
    return whole;
}

/* Files that were opened; they are asked for in the order in which they were opened. */
static struct {
    struct opened {
        const char *path;
        struct pgk_file *file;
    } *v;
    size_t n, next;
} opened;

int cli_open(struct pgk_file **file, const char *path, struct pgk_err *err)
{
    for (size_t i = 0; i < opened.n; i++) {
        const struct opened *o = &opened.v[(opened.next + i) % opened.n];
        if (!strcmp(o->path, path)) {
            opened.next = (opened.next + i + 1) % opened.n;
            *file = o->file;
            return 0;
        }
    }
    int status = pgk_file_open(file, path, err);
    if (status)
        return status;
    struct opened *grown = realloc(opened.v, (opened.n + 1) * sizeof *grown);
    if (!grown) {
        pgk_file_close(file);
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    opened.v = grown;
    opened.v[opened.n++] = (struct opened){path, *file};
    return 0;
}
