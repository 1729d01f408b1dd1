/* The flags that libraries are opened with. */
#include "guest_open.h"

#include <dlfcn.h>

static void (*say)(const char *a, const char *b);

void pgg_open_watch(void (*report)(const char *a, const char *b))
{
    say = report;
}

int pgg_open_mode(const char *file, int mode)
{
    static u32 said;
    if (PGG_LIKELY(!say || !(mode & RTLD_DEEPBIND)))
        return mode;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        say("libraries are opened without RTLD_DEEPBIND, by which they would get another malloc",
            file ? file : "the program");
    return mode & ~RTLD_DEEPBIND;
}
