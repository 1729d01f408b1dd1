/* Forks of all kinds, and exec: each process says what its content is, and the parent waits. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int stop;

static long work(int rounds)
{
    static char *kept[256];
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
        char **p = &kept[i * 7 % 256];
        const size_t n = (size_t)(i * 31 % 3000 + 1);
        sum += *p ? **p : 0;
        *p = realloc(*p, n);
        memset(*p, i & 63, n);
    }
    return sum;
}

static void *busy(void *arg)
{
    while (!stop)
        free(realloc(malloc(100), 5000));
    return arg;
}

static void wait_for(const char *name, pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    printf("%s: %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    fflush(stdout);
}

static void fork_one(const char *name, int how)
{
    char *mine = malloc(100000);
    strcpy(mine, name);
    const pid_t child = fork();
    if (!child) {
        work(20000);
        const int right = !strcmp(mine, name);
        free(mine); /* an object of the parent */
        if (how == 1)
            exit(right ? 3 : 4);
        if (how == 2)
            _exit(right ? 5 : 6);
        execl("/proc/self/exe", "processes", "leaf", NULL);
        _exit(9);
    }
    wait_for(name, child);
    free(mine);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        work(20000);
        return 7;
    }
    work(20000);
    fork_one("exit", 1);
    fork_one("_exit", 2);
    fork_one("exec", 3);
    const pid_t child = vfork();
    if (!child)
        execl("/proc/self/exe", "processes", "leaf", NULL);
    wait_for("vfork", child);
    pid_t other;
    char *const arguments[] = {"processes", "leaf", NULL};
    posix_spawn(&other, "/proc/self/exe", NULL, NULL, arguments, environ);
    wait_for("spawn", other);
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, busy, NULL);
    for (int i = 0; i < 20; i++)
        fork_one("among threads", i % 3 + 1);
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    (void)argv;
    return 0;
}
