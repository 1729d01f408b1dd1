/* `pgokit pgo` works in a child; this is its parent. However the child ends, by an error, a signal
 * or a crash, the parent ends what still runs, puts the programs back that were there before, and
 * removes the folder of its own. What is to be put back stands in that folder: for a file NAME.to,
 * a symbolic link to where NAME belongs. */
#include "pgo.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_S = 5 };

static char scratch[PATH_MAX];

/* ---- notes of the child ---- */

static void note(const char *name, const char *path)
{
    char link[2 * PATH_MAX], absolute[PATH_MAX];
    if (!strncmp(path, "./", 2))
        path += 2;
    if ((size_t)snprintf(link, sizeof link, "%s/%s.to", scratch, name) >= sizeof link ||
        record_absolute(absolute, sizeof absolute, "the program", path, "") >= PATH_MAX ||
        (symlink(absolute, link) && errno != EEXIST))
        pgo_stop("cannot make %s: %s", link, strerror(errno));
}

void pgo_undo(const char *copy, const char *path)
{
    note(cli_base_name(copy), path);
}

void pgo_undo_folder(const char *path)
{
    struct stat s;
    if (lstat(path, &s))
        note("folder", path);
}

void pgo_keep_folder(void)
{
    char link[PATH_MAX + 16];
    snprintf(link, sizeof link, "%s/folder.to", scratch);
    unlink(link);
}

/* ---- after the child ---- */

static void run_rm(const char *path)
{
    const char *const words[] = {"rm", "-rf", "--", path, NULL};
    struct record_ended ended;
    (void)record_run("/bin/rm", (char **)(uintptr_t)words, &ended);
}

/* What is said of them at the end. */
struct undone {
    bool former, plain, failed;
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static void make_parents(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = folder + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
        *at = '\0';
        (void)mkdir(folder, 0777);
    }
}

/* What is in its place is of no use any more, and may take the space that is wanting. */
static bool replace(const char *copy, const char *path, bool is_former)
{
    if (pgo_replace(copy, path, is_former))
        return true;
    if (errno != ENOSPC && errno != EDQUOT)
        return false;
    unlink(path);
    return pgo_replace(copy, path, is_former);
}

static bool read_link(const char *name, char path[PATH_MAX])
{
    char link[2 * PATH_MAX];
    snprintf(link, sizeof link, "%s/%s", scratch, name);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool has_former(const char *path)
{
    char other[PATH_MAX];
    bool found = false;
    DIR *folder = opendir(scratch);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder)) != NULL;)
        found = ends_with(entry->d_name, ".former.to") && read_link(entry->d_name, other) &&
                !strcmp(other, path);
    if (folder)
        closedir(folder);
    return found;
}

static bool is_untouched(const char *path, const char *copy)
{
    struct stat now, then;
    return !stat(path, &now) && !stat(copy, &then) &&
           now.st_mtim.tv_sec == then.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then.st_mtim.tv_nsec && pgo_same_bytes(path, copy);
}

static void put_back(const char *name, struct undone *undone)
{
    char copy[2 * PATH_MAX], path[PATH_MAX], half[PATH_MAX + 8];
    const bool is_former = ends_with(name, ".former.to");
    snprintf(copy, sizeof copy, "%s/%.*s", scratch, (int)(strlen(name) - strlen(".to")), name);
    if (!read_link(name, path))
        return;
    if (!strcmp(name, "folder.to")) {
        run_rm(path);
        return;
    }
    snprintf(half, sizeof half, "%s.pgokit", path);
    unlink(half);
    if ((is_former && is_untouched(path, copy)) ||
        (!is_former && (has_former(path) || pgo_same_bytes(path, copy))))
        return;
    make_parents(path);
    if (replace(copy, path, is_former)) {
        *(is_former ? &undone->former : &undone->plain) = true;
        return;
    }
    fprintf(stderr, "pgokit: cannot put %s back: %s; it is kept as %s\n", path, strerror(errno),
            copy);
    undone->failed = true;
}

/* Each file once: what was there before wins over what the plain build made. */
static struct undone put_all_back(void)
{
    static const char *const ends[] = {".former.to", ".plain.to", "folder.to"};
    struct undone undone = {0};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        DIR *folder = opendir(scratch);
        for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
            if (ends_with(entry->d_name, ends[i]))
                put_back(entry->d_name, &undone);
        if (folder)
            closedir(folder);
    }
    return undone;
}

static void say_undone(struct undone undone, const char *why)
{
    const char *what = undone.former ? "the programs that were here before are in place again"
                       : undone.plain
                           ? "the programs of the build without the profile are in place again"
                           : NULL;
    if (*why || what)
        fprintf(stderr, "pgokit: %s%s%s\n", why, *why && what ? "; " : "", what ? what : "");
}

static _Noreturn void finish(int status, int interrupted)
{
    char why[128] = "";
    struct undone undone = {0};
    const bool crashed = WIFSIGNALED(status);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
    if (interrupted)
        snprintf(why, sizeof why, "interrupted");
    else if (crashed)
        snprintf(why, sizeof why, "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    if (interrupted || crashed || code == EXIT_FAILED) {
        pgo_end_children(GRACE_S, NULL);
        undone = put_all_back();
        say_undone(undone, why);
    }
    if (!undone.failed)
        run_rm(scratch);
    if (interrupted || crashed) {
        const int sig = interrupted ? interrupted : WTERMSIG(status);
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, sig);
        signal(sig, SIG_DFL);
        raise(sig);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    _exit(code);
}

/* Those that are ignored, as under nohup, stay so. */
static void block_signals(sigset_t *set)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction was;
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &was) && was.sa_handler != SIG_IGN)
            sigaddset(set, ends[i]);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, set, NULL);
}

static _Noreturn void guard(pid_t child, const sigset_t *set)
{
    int status = 0;
    for (;;) {
        int sig = sigwaitinfo(set, NULL);
        if (sig > 0 && sig != SIGCHLD) {
            kill(child, SIGKILL); /* which has nothing more to say */
            finish(0, sig);
        }
        if (waitpid(child, &status, WNOHANG) == child)
            finish(status, 0);
    }
}

const char *pgo_start_guarded(void)
{
    const char *folder = record_environment("TMPDIR");
    sigset_t set, before;
    if ((size_t)snprintf(scratch, sizeof scratch, "%s/" PGO_SCRATCH "XXXXXX",
                         *folder ? folder : "/tmp") >= sizeof scratch || !mkdtemp(scratch))
        pgo_stop("cannot make a folder in %s: %s", *folder ? folder : "/tmp", strerror(errno));
    fflush(NULL);
    sigprocmask(SIG_BLOCK, NULL, &before);
    block_signals(&set);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child > 0)
        guard(child, &set);
    if (child < 0) {
        rmdir(scratch);
        pgo_stop("cannot start a process: %s", strerror(errno));
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return scratch;
}

void pgo_interrupted(int sig)
{
    kill(getppid(), sig); /* who may not have got it */
    sleep(2 * GRACE_S);
}
