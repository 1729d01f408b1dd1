/* Exec of a shared library: the functions of the next one, which may be another that is preloaded;
 * and posix_spawn, by which the C library starts programs without calling any exec of ours. */
#include "guest_exec.h"
#include "guest_symbols.h"
#include "guest_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#define REPLACES __attribute__((visibility("default"), used))

#define SPAWN_PARAMETERS                                                              \
    pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,      \
        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]
REPLACES int posix_spawn(SPAWN_PARAMETERS);
REPLACES int posix_spawnp(SPAWN_PARAMETERS);

static long by_path(const char *path, char *const argv[], char *const envp[])
{
    static void *known;
    int (*next)(const char *path, char *const argv[], char *const envp[]);
    *(void **)&next = pgg_symbol_next("execve", &known);
    next(path, argv, envp);
    return -errno;
}

static long by_descriptor(int fd, char *const argv[], char *const envp[])
{
    static void *known;
    int (*next)(int fd, char *const argv[], char *const envp[]);
    *(void **)&next = pgg_symbol_next("fexecve", &known);
    next(fd, argv, envp);
    return -errno;
}

/* C libraries before 2.34 have no execveat. */
long pgg_exec_next(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    static void *known;
    int (*next)(int dir, const char *path, char *const argv[], char *const envp[], int flags);
    if (dir == AT_FDCWD && !flags)
        return by_path(path, argv, envp);
    if (!*path && flags == AT_EMPTY_PATH)
        return by_descriptor(dir, argv, envp);
    *(void **)&next = pgg_symbol_next("execveat", &known);
    if (!next)
        return pgg_sys_exec(dir, path, argv, envp, flags);
    next(dir, path, argv, envp, flags);
    return -errno;
}

int posix_spawn(SPAWN_PARAMETERS)
{
    static void *known;
    int (*next)(SPAWN_PARAMETERS);
    struct pgg_exec_buffer b;
    *(void **)&next = pgg_symbol_next("posix_spawn", &known);
    return next(process, file, actions, attributes, argv,
                pgg_exec_environment(&b, AT_FDCWD, file, envp));
}

/* The program is the first of that name that can be run. */
int posix_spawnp(SPAWN_PARAMETERS)
{
    static void *known;
    int (*next)(SPAWN_PARAMETERS);
    struct pgg_exec_buffer b;
    struct pgg_exec_search s;
    *(void **)&next = pgg_symbol_next("posix_spawnp", &known);
    pgg_exec_search_begin(&s, file);
    while (pgg_exec_search_next(&s))
        if (!access(s.path, X_OK))
            return next(process, file, actions, attributes, argv,
                        pgg_exec_environment(&b, AT_FDCWD, s.path, envp));
    return next(process, file, actions, attributes, argv, envp);
}
