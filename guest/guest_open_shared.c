/* dlopen and dlmopen of a shared library, with the next ones of these names behind them. */
#include "guest_open.h"

#include <dlfcn.h>

#define REPLACES __attribute__((visibility("default"), used))

REPLACES void *dlopen(const char *file, int mode);
REPLACES void *dlmopen(Lmid_t space, const char *file, int mode);

/* Two threads may look up the same, with the same result. */
static void *next(const char *name, void **known)
{
    void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (PGG_LIKELY(function))
        return function;
    function = dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, function, __ATOMIC_RELEASE);
    return function;
}

void *dlopen(const char *file, int mode)
{
    static void *known;
    void *(*real)(const char *file, int mode);
    *(void **)&real = next("dlopen", &known);
    mode = pgg_open_mode(file, mode);
    return real ? real(file, mode) : NULL;
}

/* Other namespaces have a C library of their own, and all of their modules its malloc. */
void *dlmopen(Lmid_t space, const char *file, int mode)
{
    static void *known;
    void *(*real)(Lmid_t space, const char *file, int mode);
    *(void **)&real = next("dlmopen", &known);
    if (space == LM_ID_BASE)
        mode = pgg_open_mode(file, mode);
    return real ? real(space, file, mode) : NULL;
}
