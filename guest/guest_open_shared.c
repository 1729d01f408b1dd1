/* dlopen and dlmopen of a shared library, which call the next functions of these names. */
#include "guest_open.h"
#include "guest_symbols.h"

#include <dlfcn.h>

#define REPLACES __attribute__((visibility("default"), used))

REPLACES void *dlopen(const char *file, int mode);
REPLACES void *dlmopen(Lmid_t space, const char *file, int mode);

void *dlopen(const char *file, int mode)
{
    static void *known;
    void *(*real)(const char *file, int mode);
    *(void **)&real = pgg_symbol_next("dlopen", &known);
    mode = pgg_open_mode(file, mode);
    return real ? real(file, mode) : NULL;
}

/* Other namespaces have a C library of their own, and all of their modules its malloc. */
void *dlmopen(Lmid_t space, const char *file, int mode)
{
    static void *known;
    void *(*real)(Lmid_t space, const char *file, int mode);
    *(void **)&real = pgg_symbol_next("dlmopen", &known);
    if (space == LM_ID_BASE)
        mode = pgg_open_mode(file, mode);
    return real ? real(space, file, mode) : NULL;
}
