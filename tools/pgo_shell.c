/* Commands of the user, and what is said while `pgokit pgo` works. */
#include "pgo.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void pgo_stop(const char *fmt, ...)
{
    va_list args;
    fputs("pgokit: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    if (pgo_log_path())
        fprintf(stderr, "pgokit: all that the commands printed is in %s\n", pgo_log_path());
    exit(EXIT_FAILED);
}

void pgo_say(bool quiet, const char *fmt, ...)
{
    va_list args;
    if (quiet)
        return;
    va_start(args, fmt);
    fputs("pgokit: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

void pgo_shell(const char *what, const char *command, struct record_ended *ended)
{
    const char *const words[] = {"sh", "-c", command, NULL};
    if (!pgo_log_run("/bin/sh", words, true, ended))
        pgo_stop("cannot run /bin/sh: %s", strerror(errno));
    if (ended->signal || ended->exit_code)
        pgo_log_show_end();
    if (ended->signal)
        pgo_stop("%s was ended by signal %d (%s)", what, ended->signal, strsignal(ended->signal));
    if (ended->exit_code)
        pgo_stop("%s failed with exit status %d: %s", what, ended->exit_code, command);
}

char *pgo_saved(const char *name)
{
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

void pgo_put_back(const char *name, char *value)
{
    if (value ? setenv(name, value, 1) : unsetenv(name))
        pgo_stop("out of memory");
    free(value);
}
