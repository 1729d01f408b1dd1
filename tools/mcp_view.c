/* What pgokit mcp runs for a client: a verb of the command line, in a process of its own that reads
 * below the folders of the server and writes nothing. Whatever becomes of it, the server goes on.
 */
#include "cli.h"
#include "mcp_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

enum { OUTPUT_MAX_BYTES = 64 << 20, MESSAGES_MAX_BYTES = 64 << 10, MS_PER_S = 1000 };

/* ---- the process ---- */

/* Takes everything but reading below the folders from this process, as far as the kernel can: names
 * in profiles, and links that are made after a look at them, lead nowhere else. */
static void confine(const struct mcp_folders *folders)
{
#ifdef LANDLOCK_ACCESS_FS_READ_FILE
    const struct landlock_ruleset_attr all = {.handled_access_fs = 2 * LANDLOCK_ACCESS_FS_MAKE_SYM -
                                                                   1}; /* of the first version */
    const long rules = syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0)
        return;
    for (size_t i = 0; i < folders->n; i++) {
        const struct landlock_path_beneath_attr may = {
            .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
            .parent_fd = folders->v[i].fd};
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &may, 0);
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_landlock_restrict_self, rules, 0);
#else
    (void)folders;
#endif
}

/* The verb with what keeps it from the network and from writing to caches, before the operands. */
static int run_verb(const struct mcp_folders *folders, const struct mcp_command *command)
{
    const char *words[MCP_WORDS + 3];
    int n = 0;
    if (!strcmp(command->v[0], "list")) {
        const char *last = command->v[command->n - 1];
        return mcp_list(folders, strcmp(last, "--") ? last : NULL);
    }
    for (size_t i = 0; i < command->n; i++) {
        if (!strcmp(command->v[i], "--")) {
            words[n++] = "--no-cache";
            words[n++] = "--no-debuginfod";
            memcpy(words + n, command->v + i, (command->n - i) * sizeof *words);
            n += (int)(command->n - i);
            break;
        }
        words[n++] = command->v[i];
    }
    words[n] = NULL;
    optind = 0;
    return cli_run_verb(n, (char **)(uintptr_t)words);
}

static _Noreturn void become_verb(const struct mcp_folders *folders,
                                  const struct mcp_command *command, int out, int err)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0 || (folders->n == 1 && chdir(folders->v[0].path)))
        _exit(EXIT_FAILED);
    pgk_progress_enable(false);
    confine(folders);
    exit(run_verb(folders, command));
}

/* ---- what it prints ---- */

struct text {
    char *v;
    size_t n, most;
};

/* False if it is the end, or more than there may be. */
static bool take_some(struct text *t, int fd)
{
    enum { PIECE = 1 << 16 };
    char *grown = realloc(t->v, t->n + PIECE);
    if (!grown)
        return false;
    t->v = grown;
    const ssize_t n = read(fd, t->v + t->n, PIECE);
    t->n += n > 0 ? (size_t)n : 0;
    return (n > 0 || (n < 0 && errno == EINTR)) && t->n <= t->most;
}

static long ms_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - then->tv_sec) * MS_PER_S + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* Reads both until they end; NULL, or why the process must end instead. */
static const char *take_all(int fds[2], struct text texts[2], unsigned seconds)
{
    struct timespec start;
    struct pollfd polled[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
    clock_gettime(CLOCK_MONOTONIC, &start);
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        const long left = (long)seconds * MS_PER_S - ms_since(&start);
        if (left <= 0)
            return "it took longer than --timeout allows";
        if (poll(polled, 2, (int)(left < INT32_MAX ? left : INT32_MAX)) <= 0)
            continue;
        for (size_t i = 0; i < 2; i++)
            if (polled[i].fd >= 0 && polled[i].revents && !take_some(&texts[i], polled[i].fd)) {
                if (texts[i].n > texts[i].most)
                    return "it printed more than 64 MiB; ask for less, such as a smaller top";
                polled[i].fd = -1;
            }
    }
    return NULL;
}

/* Notes come first: they say what the rest lacks. */
static void join(struct mcp_view *view, struct text texts[2], int status, const char *stopped)
{
    const char *why = stopped ? stopped : WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "";
    char *text = malloc(texts[0].n + texts[1].n + strlen(why) + 64);
    view->failed = *why || WEXITSTATUS(status) == EXIT_FAILED;
    if (text) {
        memcpy(text, texts[1].n ? texts[1].v : "", texts[1].n);
        memcpy(text + texts[1].n, texts[0].n ? texts[0].v : "", texts[0].n);
        view->n = texts[0].n + texts[1].n;
        if (*why)
            view->n += (size_t)sprintf(text + view->n, "pgokit was stopped: %s\n", why);
    }
    view->text = text;
    free(texts[0].v);
    free(texts[1].v);
}

static void refuse(struct mcp_view *view, const char *what)
{
    char *text = NULL;
    const int n = asprintf(&text, "pgokit cannot %s: %s\n", what, strerror(errno));
    *view = (struct mcp_view){.failed = true};
    if (n > 0) {
        view->text = text;
        view->n = (size_t)n;
    }
}

void mcp_folders_view(void *ctx, const struct mcp_command *command, struct mcp_view *view)
{
    const struct mcp_folders *folders = ctx;
    int out[2], err[2], status = 0;
    if (pipe2(out, O_CLOEXEC)) {
        refuse(view, "make a pipe");
        return;
    }
    if (pipe2(err, O_CLOEXEC)) {
        refuse(view, "make a pipe");
        close(out[0]);
        close(out[1]);
        return;
    }
    const pid_t child = fork();
    if (!child)
        become_verb(folders, command, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    if (child < 0) {
        refuse(view, "start a process");
    } else {
        struct text texts[2] = {{.most = OUTPUT_MAX_BYTES}, {.most = MESSAGES_MAX_BYTES}};
        const char *why = take_all((int[]){out[0], err[0]}, texts, folders->seconds);
        if (why)
            kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        join(view, texts, status, why);
    }
    close(out[0]);
    close(err[0]);
}
