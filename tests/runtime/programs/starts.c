/* Starts a program by each function that can, in a child, and prints its exit status, which the
 * program takes from its argument; and that of calls that must fail, with their error.
 *
 * usage: starts PROGRAM-WITHOUT-A-SLASH */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *name;
static char path[300], status[8], *arguments[3];
enum { FAILED = 100 }; /* and the number of the error */

static void by_execve(void) { execve(path, arguments, environ); }
static void by_execv(void) { execv(path, arguments); }
static void by_execvp(void) { execvp(name, arguments); }
static void by_execvpe(void) { execvpe(name, arguments, environ); }
static void by_execl(void) { execl(path, name, status, NULL); }
static void by_execlp(void) { execlp(name, name, status, NULL); }
static void by_execle(void) { execle(path, name, status, NULL, environ); }
static void by_fexecve(void) { fexecve(open(path, O_RDONLY), arguments, environ); }
static void by_execveat(void)
{
    execveat(open(".", O_PATH | O_DIRECTORY), name, arguments, environ, 0);
}
static void no_execve(void) { execve("./none", arguments, environ); }
static void no_execvp(void) { execvp("none", arguments); }
static void no_execveat(void) { execveat(-1, "none", arguments, environ, 0); }
static void no_fexecve(void) { fexecve(-1, arguments, environ); }

static void report(const char *what, int wait_status)
{
    printf("%s %d\n", what, WEXITSTATUS(wait_status));
    fflush(stdout);
}

static void run(const char *what, void (*start)(void), pid_t (*make)(void))
{
    int ended;
    const pid_t child = make();
    if (!child) {
        start();
        _exit(FAILED + errno);
    }
    waitpid(child, &ended, 0);
    report(what, ended);
}

static void spawn(const char *what, int (*start)(pid_t *, const char *,
                                                 const posix_spawn_file_actions_t *,
                                                 const posix_spawnattr_t *, char *const[],
                                                 char *const[]),
                  const char *file)
{
    pid_t child;
    int ended;
    const int error = start(&child, file, NULL, NULL, arguments, environ);
    if (!error)
        waitpid(child, &ended, 0);
    report(what, error ? (FAILED + error) << 8 : ended);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*start)(void);
    } functions[] = {
        {"execve", by_execve},     {"execv", by_execv},       {"execvp", by_execvp},
        {"execvpe", by_execvpe},   {"execl", by_execl},       {"execlp", by_execlp},
        {"execle", by_execle},     {"fexecve", by_fexecve},   {"execveat", by_execveat},
        {"no execve", no_execve},  {"no execvp", no_execvp},  {"no execveat", no_execveat},
        {"no fexecve", no_fexecve},
    };
    name = argc > 1 ? argv[1] : "true";
    snprintf(path, sizeof path, "./%s", name);
    arguments[0] = argv[1];
    arguments[1] = status;
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) {
        snprintf(status, sizeof status, "%u", i + 1);
        run(functions[i].name, functions[i].start, fork);
        run(functions[i].name, functions[i].start, vfork);
    }
    strcpy(status, "50");
    spawn("posix_spawn", posix_spawn, path);
    spawn("posix_spawnp", posix_spawnp, name);
    spawn("no posix_spawn", posix_spawn, "./none");
    spawn("no posix_spawnp", posix_spawnp, "none");
    printf("system %d\n", WEXITSTATUS(system(strcat(strcat(path, " "), "60"))));
}
