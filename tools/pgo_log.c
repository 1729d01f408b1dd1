/* What commands of the user print while `pgokit pgo` works goes to a file: a build may print
 * thousands of lines. Of a command that fails the last ones are shown. */
#include "pgo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN_LINES = 20, SHOWN_BYTES = 4096, GRACE_S = 10 };

static struct {
    const char *path; /* NULL: all is shown */
    int fd;
    off_t command; /* where the output of the last command begins */
} log_file;

static off_t log_end(void)
{
    struct stat s;
    return fstat(log_file.fd, &s) ? 0 : s.st_size;
}

void pgo_log_open(const char *path)
{
    cli_writes(path);
    log_file.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (log_file.fd < 0)
        pgo_stop("cannot write %s: %s", path, strerror(errno));
    log_file.path = path;
}

const char *pgo_log_path(void)
{
    return log_file.path && log_end() ? log_file.path : NULL;
}

/* The copy that puts it back; a descriptor that is closed stays so. */
static int redirect(int stream)
{
    int was = fcntl(stream, F_DUPFD_CLOEXEC, 3);
    if (dup2(log_file.fd, stream) < 0)
        pgo_stop("cannot redirect output: %s", strerror(errno));
    return was;
}

static void put_back(int stream, int was)
{
    if (was < 0 || dup2(was, stream) < 0)
        close(stream);
    if (was >= 0)
        close(was);
}

/* A command that cleans may have removed it: `dh clean` removes what is called *.log. */
static void keep_log(void)
{
    struct stat s;
    char part[SHOWN_BYTES];
    ssize_t n;
    if (!stat(log_file.path, &s))
        return;
    int again = open(log_file.path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (again < 0)
        return;
    for (off_t at = 0; (n = pread(log_file.fd, part, sizeof part, at)) > 0; at += n)
        if (write(again, part, (size_t)n) != n)
            break;
    close(log_file.fd);
    log_file.fd = again;
}

static void end_children(int sig)
{
    (void)pgo_signal_children(sig);
}

bool pgo_log_run_for(const char *program, const char *const *words, bool errors_too,
                     double seconds, struct record_ended *ended)
{
    char **argv = (char **)(uintptr_t)words; /* which record_run does not change */
    const struct record_limit service = {seconds, GRACE_S, end_children};
    const struct record_limit *limit = seconds > 0 ? &service : NULL;
    if (!log_file.path)
        return record_run_for(program, argv, limit, ended);
    fflush(stdout);
    log_file.command = log_end();
    int out = redirect(STDOUT_FILENO), err = errors_too ? redirect(STDERR_FILENO) : -1;
    bool started = record_run_for(program, argv, limit, ended);
    int why = errno;
    put_back(STDOUT_FILENO, out);
    if (errors_too)
        put_back(STDERR_FILENO, err);
    keep_log();
    errno = why;
    return started;
}

bool pgo_log_run(const char *program, const char *const *words, bool errors_too,
                 struct record_ended *ended)
{
    return pgo_log_run_for(program, words, errors_too, 0, ended);
}

void pgo_log_redirect(void)
{
    if (!log_file.path)
        return;
    (void)redirect(STDOUT_FILENO);
    (void)redirect(STDERR_FILENO);
}

bool pgo_log_has(const char *text)
{
    char part[SHOWN_BYTES + 1];
    const off_t step = SHOWN_BYTES - (off_t)strlen(text);
    bool found = false;
    for (off_t at = log_file.command; log_file.path && !found; at += step) {
        ssize_t n = pread(log_file.fd, part, SHOWN_BYTES, at);
        if (n <= 0)
            break;
        found = memmem(part, (size_t)n, text, strlen(text)) != NULL;
    }
    return found;
}

/* The last lines of `text`, which may begin within a line. */
static const char *last_lines(const char *text, size_t n, bool cut)
{
    size_t lines = 0;
    for (const char *at = text + n; at > text; at--)
        if (at < text + n && at[-1] == '\n' && ++lines == SHOWN_LINES)
            return at;
    const char *first = cut ? strchr(text, '\n') : NULL;
    return first ? first + 1 : text;
}

void pgo_log_show_end(void)
{
    char text[SHOWN_BYTES + 1];
    if (!log_file.path)
        return;
    off_t end = log_end(), from = log_file.command;
    const bool cut = end - from > SHOWN_BYTES;
    if (cut)
        from = end - SHOWN_BYTES;
    ssize_t n = pread(log_file.fd, text, SHOWN_BYTES, from);
    if (n <= 0)
        return;
    text[n] = '\0';
    const char *shown = last_lines(text, (size_t)n, cut);
    fprintf(stderr, "%s%s", shown, text[n - 1] == '\n' ? "" : "\n");
}
