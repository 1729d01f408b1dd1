/* Operands with a weight. */
#include "cli.h"

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

struct cli_weighted cli_weighted(const char *operand)
{
    struct cli_weighted w = {strdup(operand), 1};
    char *at = w.path ? strrchr(w.path, '@') : NULL;
    if (!w.path) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    if (!at || at == w.path || !at[1] || strspn(at + 1, "0123456789") != strlen(at + 1) ||
        !access(operand, F_OK))
        return w;
    w.weight = cli_number("a weight FILE@N", at + 1, 1, 1000000000);
    *at = 0;
    return w;
}
