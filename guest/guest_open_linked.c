/* dlopen of a program that the guest is linked into, by dlmopen, which static programs have, too:
 * without a dynamic linker to ask, nothing else leads to the C library's function. The program
 * itself is in the first namespace, so both do the same. */
#include "guest_open.h"

#include <dlfcn.h>

__attribute__((visibility("default"))) void *dlopen(const char *file, int mode);

void *dlopen(const char *file, int mode)
{
    return dlmopen(LM_ID_BASE, file, pgg_open_mode(file, mode));
}
