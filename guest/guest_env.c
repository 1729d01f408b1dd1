/* The environment, before and after the C library has it. */
#include "guest_env.h"

#include "guest_bytes.h"

#include <sys/auxv.h>

extern char **__environ __attribute__((weak));
extern void *__libc_stack_end __attribute__((weak));

/* Before the C library has its environment, it is where the kernel put it: on the stack of the
 * first thread, after the arguments and their number. */
static char **environment(void)
{
    if (&__environ && __environ)
        return __environ;
    if (!&__libc_stack_end || !__libc_stack_end)
        return NULL;
    const long *n = __libc_stack_end;
    char **arguments = (char **)(n + 1);
    return *n < 0 || arguments[*n] ? NULL : arguments + *n + 1;
}

const char *pgg_getenv(const char *name)
{
    const size_t n = pgg_strlen(name);
    for (char **e = environment(); e && *e; e++) {
        size_t i = 0;
        while (i < n && (*e)[i] == name[i])
            i++;
        if (i == n && (*e)[n] == '=')
            return *e + n + 1;
    }
    return NULL;
}

bool pgg_has_more_rights(void)
{
    return getauxval(AT_SECURE);
}

const char *pgg_secure_getenv(const char *name)
{
    return pgg_has_more_rights() ? NULL : pgg_getenv(name);
}
