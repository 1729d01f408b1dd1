/* Requests to a running process that has a socket of the heap profiler.
 *
 * The socket is found through the open descriptors of the process: the thread of the profiler has
 * descriptors of its own, and the kernel lists the names of all sockets. */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define THREAD_NAME "pgokit-heap\n"
enum { SILENCE_S = 120 }; /* a dump of a large heap takes a while */

static const char *const requests[] = {"dump", "start", "status", "stop"};

bool record_attach_knows(const char *request)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (!strcmp(request, requests[i]))
            return true;
    return false;
}

static bool is_the_thread(int pid, const char *thread)
{
    char path[PATH_MAX], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%s/comm", pid, thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const bool is = fgets(name, sizeof name, file) && !strcmp(name, THREAD_NAME);
    fclose(file);
    return is;
}

/* Number of the thread that answers, or an empty text. */
static int find_thread(int pid, char thread[32])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    thread[0] = 0;
    if (!folder)
        return errno;
    for (struct dirent *e; !*thread && (e = readdir(folder));)
        if (e->d_name[0] != '.' && is_the_thread(pid, e->d_name))
            snprintf(thread, 32, "%.31s", e->d_name);
    closedir(folder);
    return 0;
}

/* The name of a socket that somebody listens to. Lines of the kernel's list are
 * NUMBER: REFERENCES PROTOCOL FLAGS TYPE STATE INODE PATH, where the flag 10000 means listening. */
static bool find_name(int pid, unsigned long long inode, struct sockaddr_un *name)
{
    char path[64], line[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/net/unix", pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned flags;
        unsigned long long this;
        int at = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%*s %*s %*s %x %*s %*s %llu %n", &flags, &this, &at) != 2 || !at ||
            this != inode || !(flags & 0x10000) || strlen(line + at) >= sizeof name->sun_path)
            continue;
        strcpy(name->sun_path, line + at);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

/* The listening socket among the descriptors of the thread. */
static bool find_socket(int pid, const char *thread, struct sockaddr_un *name, int *error)
{
    char path[PATH_MAX], target[PATH_MAX];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/task/%s/fd", pid, thread);
    DIR *folder = opendir(path);
    *error = folder ? 0 : errno;
    for (struct dirent *e; folder && !found && (e = readdir(folder));) {
        unsigned long long inode;
        char link[PATH_MAX];
        snprintf(link, sizeof link, "/proc/%d/task/%s/fd/%.20s", pid, thread, e->d_name);
        const ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        found = sscanf(target, "socket:[%llu]", &inode) == 1 && find_name(pid, inode, name);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* "pgokit: cannot ask process PID: ..." */
static int cannot(int pid, const char *why, const char *detail)
{
    fprintf(stderr, "pgokit: cannot ask process %d: %s%s\n", pid, why, detail);
    return EXIT_RECORD_FAILED;
}

/* Copies the answer to standard output; whether it is one of success. */
static int copy_answer(int pid, FILE *from)
{
    char line[2048];
    bool any = false, failed = false;
    while (fgets(line, sizeof line, from)) {
        const bool error = !any && !strncmp(line, "error: ", 7);
        any = true;
        failed |= error;
        if (error)
            fprintf(stderr, "pgokit: process %d: %s", pid, line + 7);
        else
            fputs(line, failed ? stderr : stdout);
    }
    if (!any)
        return cannot(pid, "it did not answer", ferror(from) ? " in time" : "");
    return failed ? EXIT_RECORD_FAILED : cli_finish_output(EXIT_DONE);
}

static int ask(int pid, const struct sockaddr_un *name, const char *request)
{
    const struct timeval limit = {.tv_sec = SILENCE_S};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cannot(pid, "socket: ", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)name, sizeof *name) ||
        dprintf(fd, "%s\n", request) < 0) {
        const int status = cannot(pid, "its socket: ", strerror(errno));
        close(fd);
        return status;
    }
    FILE *answer = fdopen(fd, "r");
    if (!answer) {
        close(fd);
        return cannot(pid, "out of memory", "");
    }
    const int status = copy_answer(pid, answer);
    fclose(answer);
    return status;
}

int record_attach(int pid, const char *request)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char thread[32];
    int error = find_thread(pid, thread);
    if (error)
        return cannot(pid, error == ENOENT ? "there is no process with this number" : "",
                      error == ENOENT ? "" : strerror(error));
    if (!*thread)
        return cannot(pid, "it has no socket of the heap profiler. Start it with "
                           "pgokit record heap --socket FILE", "");
    if (!find_socket(pid, thread, &name, &error))
        return cannot(pid, "its socket is not known: ",
                      error ? strerror(error) : "it is about to end");
    return ask(pid, &name, request);
}
