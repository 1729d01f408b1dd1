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
    struct pgk_input whole = {operand, 1};
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
        return (struct pgk_input){path, weight};
    bool is_meant = is_weight || !access(path, F_OK);
    char safe[256];
    if (is_meant)
        cli_usage(verb, "the weight behind '@' in '%s' must be a number from 1 to %lu",
                  pgk_human_text(safe, sizeof safe, operand), CLI_WEIGHT_MAX);
    return whole;
}
