/* The exec family for the program: the room hears of it before another program takes the place of
 * this one, and programs of another C library are started without our libraries. The C library's
 * own functions call one another past us, so all of them are here. */
#include "guest_bytes.h"
#include "guest_exec.h"
#include "guest_memory.h"
#include "guest_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#define REPLACES __attribute__((visibility("default"), used))

REPLACES int execve(const char *path, char *const argv[], char *const envp[]);
REPLACES int execv(const char *path, char *const argv[]);
REPLACES int execvp(const char *file, char *const argv[]);
REPLACES int execvpe(const char *file, char *const argv[], char *const envp[]);
REPLACES int execl(const char *path, const char *arg, ...);
REPLACES int execlp(const char *file, const char *arg, ...);
REPLACES int execle(const char *path, const char *arg, ...);
REPLACES int execveat(int dir, const char *path, char *const argv[], char *const envp[],
                      int flags);
REPLACES int fexecve(int fd, char *const argv[], char *const envp[]);

extern char **__environ;

static void (*begins)(void), (*fails)(void);

void pgg_exec_watch(void (*before)(void), void (*after_failure)(void))
{
    begins = before;
    fails = after_failure;
}

static void begin(void)
{
    if (begins)
        begins();
}

/* Comes back only with an error. */
static long replace(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    struct pgg_exec_buffer b;
    return pgg_exec_next(dir, path, argv, pgg_exec_environment(&b, dir, path, envp), flags);
}

static int failed(long err)
{
    if (fails)
        fails();
    return (int)pgg_sys_with_errno(err);
}

/* The names below may lead to another library's functions, so that none of them calls another. */
static int run(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    begin();
    return failed(replace(dir, path, argv, envp, flags));
}

static int run_path(const char *path, char *const argv[], char *const envp[])
{
    return run(AT_FDCWD, path, argv, envp, 0);
}

int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    return run(dir, path, argv, envp, flags);
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    return run_path(path, argv, envp);
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
    return run(fd, "", argv, envp, AT_EMPTY_PATH);
}

int execv(const char *path, char *const argv[])
{
    return run_path(path, argv, __environ);
}

static size_t count(char *const argv[])
{
    size_t n = 0;
    while (argv[n])
        n++;
    return n;
}

/* A file that the kernel does not know is a script of the shell. */
static long run_or_script(const char *path, char *const argv[], char *const envp[])
{
    long err = replace(AT_FDCWD, path, argv, envp, 0);
    if (err != -ENOEXEC)
        return err;
    size_t n = count(argv), bytes = (n + 3) * sizeof *argv;
    const char **with_shell = pgg_map(bytes);
    if (!with_shell)
        return -ENOMEM;
    with_shell[0] = "/bin/sh";
    with_shell[1] = path;
    for (size_t i = 1; i < n; i++)
        with_shell[i + 1] = argv[i];
    err = replace(AT_FDCWD, "/bin/sh", (char *const *)with_shell, envp, 0);
    pgg_unmap(with_shell, bytes);
    return err;
}

/* Runs `file` as execvp does. Goes on after the errors after which the C library does; that a file
 * was found but may not be run is said only if no other folder has it. Comes back only with an
 * error. */
static long search(const char *file, char *const argv[], char *const envp[])
{
    struct pgg_exec_search s;
    long denied = 0, err = -ENOENT;
    pgg_exec_search_begin(&s, file);
    while (pgg_exec_search_next(&s)) {
        err = run_or_script(s.path, argv, envp);
        if (err == -EACCES)
            denied = err;
        else if (err != -ENOENT && err != -ESTALE && err != -ENOTDIR && err != -ENODEV &&
                 err != -ETIMEDOUT)
            return err;
    }
    return denied ? denied : err;
}

static int run_found(const char *file, char *const argv[], char *const envp[])
{
    begin();
    return failed(search(file, argv, envp));
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return run_found(file, argv, envp);
}

int execvp(const char *file, char *const argv[])
{
    return run_found(file, argv, __environ);
}

/* An argument list as an array. A child of vfork shares its parent's memory, so the usual number
 * of arguments takes none. */
struct list {
    const char *few[512], **argv;
    size_t bytes; /* of a mapping; 0: there is none */
};

/* The arguments up to NULL; `after` gets what follows it, if wanted. False: no memory. */
static bool gather(struct list *l, const char *first, va_list args, char *const **after)
{
    va_list again;
    size_t n = 1;
    va_copy(again, args);
    for (const char *arg = first; arg; arg = va_arg(again, const char *))
        n++;
    va_end(again);
    l->bytes = n * sizeof first > sizeof l->few ? n * sizeof first : 0;
    l->argv = l->bytes ? pgg_map(l->bytes) : l->few;
    if (!l->argv)
        return false;
    for (size_t i = 0; i < n; i++)
        l->argv[i] = i ? va_arg(args, const char *) : first;
    if (after)
        *after = va_arg(args, char *const *);
    return true;
}

/* name, parameter, whether an environment follows, what does it */
#define LIST(name, file, environment, call)                     \
    int name(const char *file, const char *arg, ...)            \
    {                                                           \
        struct list l;                                          \
        va_list args;                                           \
        char *const *envp = __environ;                          \
        va_start(args, arg);                                    \
        bool gathered = gather(&l, arg, args, environment);     \
        va_end(args);                                           \
        if (!gathered)                                          \
            return failed(-ENOMEM);                             \
        call(file, (char *const *)l.argv, envp);                \
        if (l.bytes)                                            \
            pgg_unmap(l.argv, l.bytes);                        \
        return -1;                                              \
    }

LIST(execl, path, NULL, run_path)
LIST(execle, path, &envp, run_path)
LIST(execlp, file, NULL, run_found)
