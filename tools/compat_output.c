/* -o of tools that print: what pgokit prints goes into a file, whole or not at all. */
#include "compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

void compat_keep_output(const struct compat_call *call)
{
    int kept = memfd_create("pgokit-output", MFD_CLOEXEC);
    if (kept < 0 || dup2(kept, STDOUT_FILENO) < 0)
        compat_refuse(call, call->stdout_path,
                      compat_text("cannot be written: %s", strerror(errno)));
    close(kept);
}

/* Copies the printed text to the end of `out`, which is closed. */
static bool copy_printed(int out)
{
    struct stat printed;
    if (out < 0 || fstat(STDOUT_FILENO, &printed))
        return false;
    off_t at = 0;
    while (at < printed.st_size && sendfile(out, STDOUT_FILENO, &at, INT_MAX) > 0)
        ;
    return !close(out) && at == printed.st_size;
}

/* Under another name first, next to the file that a link leads to. */
static bool replace(const char *path, const struct stat *old)
{
    char *target = realpath(path, NULL);
    char *beside = compat_text("%s.XXXXXX", target ? target : path);
    int out = mkstemp(beside);
    mode_t mask = umask(0);
    umask(mask);
    bool whole = out >= 0 && !fchmod(out, old ? old->st_mode & 07777 : 0666 & ~mask) &&
                 copy_printed(out) && !rename(beside, target ? target : path);
    int why = errno;
    if (out >= 0 && !whole)
        unlink(beside);
    free(target);
    errno = why;
    return whole;
}

void compat_place_output(const struct compat_call *call)
{
    struct stat old;
    const char *path = call->stdout_path;
    bool is_there = !stat(path, &old);
    bool whole = is_there && !S_ISREG(old.st_mode)
                     ? copy_printed(open(path, O_WRONLY | O_CLOEXEC))
                     : replace(path, is_there ? &old : NULL);
    if (!whole)
        compat_refuse(call, path, compat_text("cannot be written: %s", strerror(errno)));
}
