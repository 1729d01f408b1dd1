/* Exec of a program that the guest is linked into, which may have no dynamic linker to ask for the
 * C library's functions. */
#include "guest_exec.h"
#include "guest_sys.h"

long pgg_exec_next(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    return pgg_sys_exec(dir, path, argv, envp, flags);
}
