/* The environment, before and after the C library has it. */
#include "guest_env.h"

#include "guest_bytes.h"
#include "guest_sys.h"

#include <fcntl.h>
#include <sys/auxv.h>

extern char **__environ __attribute__((weak));

/* Value of an environment variable. Before the C library has its environment, that of the
 * kernel, which is kept in a buffer. */
const char *pgg_getenv(const char *name)
{
    static char early[32768];
    size_t n = pgg_strlen(name);
    if (&__environ && __environ) {
        for (char **e = __environ; *e; e++) {
            size_t i = 0;
            while (i < n && (*e)[i] == name[i])
                i++;
            if (i == n && (*e)[n] == '=')
                return *e + n + 1;
        }
        return NULL;
    }
    if (!early[0]) {
        const int fd = (int)pgg_sys_open("/proc/self/environ", O_RDONLY, 0);
        if (fd < 0)
            return NULL;
        size_t used = 0;
        long got;
        while (used < sizeof early - 2 &&
               (got = pgg_sys_read(fd, early + used, sizeof early - 2 - used)) > 0)
            used += (size_t)got;
        pgg_sys_close(fd);
    }
    for (const char *e = early; *e; e += pgg_strlen(e) + 1) {
        size_t i = 0;
        while (i < n && e[i] == name[i])
            i++;
        if (i == n && e[n] == '=')
            return e + n + 1;
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
