/* The processes that commands of the user started, also those that outlive their command: pgokit
 * adopts these. How they are ended, and what processor time they took. */
#include "pgo.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct process {
    pid_t pid, parent;
    bool is_below; /* us */
};

/* False for what has ended, and only waits to be waited for. */
static bool read_process(const char *name, struct process *p)
{
    char path[300], text[512], state;
    snprintf(path, sizeof path, "/proc/%s/stat", name);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* the name may hold anything */
    *p = (struct process){.pid = (pid_t)strtol(name, NULL, 10)};
    return after && sscanf(after + 1, " %c %d", &state, &p->parent) == 2 && state != 'Z';
}

static struct process *read_all(size_t *n)
{
    struct process *all = NULL, one;
    DIR *proc = opendir("/proc");
    *n = 0;
    for (struct dirent *entry; proc && (entry = readdir(proc)) != NULL;) {
        if (*entry->d_name < '1' || *entry->d_name > '9' || !read_process(entry->d_name, &one))
            continue;
        struct process *more = realloc(all, (*n + 1) * sizeof *all);
        if (!more)
            break;
        all = more;
        all[(*n)++] = one;
    }
    if (proc)
        closedir(proc);
    return all;
}

/* Marks what is below us; a child may be listed before its parent. */
static void mark(struct process *all, size_t n)
{
    const pid_t self = getpid();
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            bool is = all[i].parent == self;
            for (size_t k = 0; k < n && !is; k++)
                is = all[k].is_below && all[k].pid == all[i].parent;
            more |= is && !all[i].is_below;
            all[i].is_below |= is;
        }
    }
}

size_t pgo_signal_children(int sig)
{
    size_t n, found = 0;
    struct process *all = read_all(&n);
    mark(all, n);
    for (size_t i = 0; i < n; i++) {
        if (!all[i].is_below)
            continue;
        found++;
        if (sig)
            kill(all[i].pid, sig);
        if (sig == SIGTERM)
            kill(all[i].pid, SIGCONT);
    }
    free(all);
    return found;
}

static void add(struct timeval *to, struct timeval more)
{
    timeradd(to, &more, to);
}

static void reap(struct rusage *used)
{
    struct rusage one;
    int status;
    while (wait4(-1, &status, WNOHANG, &one) > 0)
        if (used) {
            add(&used->ru_utime, one.ru_utime);
            add(&used->ru_stime, one.ru_stime);
        }
}

size_t pgo_end_children(double grace_s, struct rusage *used)
{
    const struct timespec step = {0, 10 * 1000 * 1000};
    const size_t found = (reap(used), pgo_signal_children(SIGTERM));
    for (double waited = 0; pgo_signal_children(waited < grace_s ? 0 : SIGKILL) > 0;
         waited += 0.01) {
        nanosleep(&step, NULL);
        reap(used);
    }
    reap(used);
    return found;
}
