/* The socket: its file, and the thread that waits there.
 *
 * The file of a process that was killed is removed by the next one that wants its name; that of a
 * living one never is. Whether it is alive is asked by connecting to it, and who asks holds a lock
 * on the folder until its own socket answers, so that none of them is taken for a dead one. */
#include "runtime_socket.h"

#include "guest_bytes.h"
#include "guest_file.h"
#include "guest_helper.h"
#include "guest_sys.h"
#include "runtime_answer.h"
#include "runtime_options.h"
#include "runtime_start.h"
#include "runtime_thread.h"

#include <errno.h>
#include <fcntl.h>

enum { WAITING = 64, LOCK_MS = 2000, TRY_MS = 5, PAUSE_MS = 100 };

static int begin(void);
static void serve(void);
static struct pgg_helper helper = {.begin = begin, .serve = serve, .name = "pgokit-heap"};
static struct sockaddr_un name = {.sun_family = AF_UNIX};
static int listener;
static struct stat file; /* of the socket */
static int user;         /* that the process is of */
static int first_pid;

/* ---- its file ---- */

/* The folder, locked; or a negative error number. */
static long lock_folder(void)
{
    char folder[sizeof name.sun_path];
    size_t n = pgg_strlen(name.sun_path);
    pgg_copy(folder, name.sun_path, n + 1);
    while (n && folder[n - 1] != '/')
        n--;
    folder[n] = 0;
    const long fd = pgg_sys_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    for (u32 past = 0;; past += TRY_MS) {
        const int err = pgg_sys_lock_file((int)fd);
        if (!err)
            return fd;
        if (err != -EWOULDBLOCK || past >= LOCK_MS) {
            pgg_sys_close((int)fd);
            return err;
        }
        pgg_sys_poll(NULL, 0, TRY_MS);
    }
}

/* A socket without a listener. */
static bool is_left_over(void)
{
    struct stat found;
    if (pgg_sys_stat_at(name.sun_path, &found, AT_SYMLINK_NOFOLLOW) || !S_ISSOCK(found.st_mode))
        return false;
    const long fd = pgg_sys_socket();
    const int err = fd < 0 ? (int)fd : pgg_sys_connect((int)fd, &name);
    if (fd >= 0)
        pgg_sys_close((int)fd);
    return err == -ECONNREFUSED;
}

static int bind_locked(int fd)
{
    int err = pgg_sys_bind(fd, &name);
    if (err == -EADDRINUSE && is_left_over()) {
        pgg_sys_remove(name.sun_path);
        err = pgg_sys_bind(fd, &name);
    }
    return err ? err : pgg_sys_listen(fd, WAITING);
}

static int open_socket(void)
{
    const long folder = lock_folder();
    if (folder < 0)
        return (int)folder;
    const long fd = pgg_sys_socket();
    int err = fd < 0 ? (int)fd : pgg_sys_socket_mode((int)fd, 0600);
    if (!err)
        err = bind_locked((int)fd);
    pgg_sys_close((int)folder);
    if (err && fd >= 0)
        pgg_sys_close((int)fd);
    return err ? err : (int)fd;
}

static void remove_file(void)
{
    struct stat now;
    if (pgg_sys_stat_at(name.sun_path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_dev == file.st_dev && now.st_ino == file.st_ino)
        pgg_sys_remove(name.sun_path);
}

/* ---- in the thread ---- */

static int begin(void)
{
    if (!pgrt_thread_of_helper())
        return -ENOMEM;
    listener = open_socket();
    user = pgg_sys_user();
    return listener < 0 ? listener : pgg_sys_stat_at(name.sun_path, &file, AT_SYMLINK_NOFOLLOW);
}

/* The C library gives all threads that it knows the rights of another user, but not this one. */
static bool has_other_user(void)
{
    static char status[4096];
    const int fd = (int)pgg_sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const long n = pgg_sys_read(fd, status, sizeof status - 1);
    pgg_sys_close(fd);
    status[n > 0 ? n : 0] = 0;
    const char *s = status;
    while (*s && !(s[0] == '\n' && s[1] == 'U' && s[2] == 'i' && s[3] == 'd' && s[4] == ':'))
        s++;
    for (u32 tabs = 0; *s && tabs < 2; s++) /* "Uid:", the real one, the effective one */
        tabs += *s == '\t';
    int effective = 0;
    if (!*s)
        return false;
    for (; *s >= '0' && *s <= '9'; s++)
        effective = effective * 10 + (*s - '0');
    return effective != user;
}

static void answer_next(void)
{
    struct pollfd bell = {.fd = PGG_HELPER_BELL, .events = POLLIN};
    const long client = pgg_sys_accept(listener);
    if (client < 0) {
        if (client != -EAGAIN && client != -EINTR && client != -ECONNABORTED)
            pgg_sys_poll(&bell, 1, PAUSE_MS); /* for lack of memory, for example */
        return;
    }
    u32 *cpu = (u32 *)(pgg_thread_pointer() + pgrt_cpu_at);
    if (pgrt_cpu_at)
        *cpu = pgg_sys_cpu(); /* the kernel keeps it up to date for threads of the C library */
    pgrt_answer((int)client, PGG_HELPER_BELL);
    pgg_sys_close((int)client);
}

static void serve(void)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = PGG_HELPER_BELL, .events = POLLIN},
                               {.fd = listener, .events = POLLIN}};
        const int n = pgg_sys_poll(fds, 2, 3600 * 1000);
        if (n > 0 && fds[0].revents)
            break;
        if (n > 0 && has_other_user())
            break;
        if (n > 0)
            answer_next();
    }
    remove_file();
}

/* ---- in threads of the program ---- */

static void say(const char *why, int err)
{
    char line[sizeof name.sun_path + 200];
    struct pgg_text t;
    pgg_text_init(&t, line, sizeof line);
    pgg_text_str(&t, "no socket ");
    pgg_text_str(&t, name.sun_path);
    pgrt_say(line, why ? why : pgg_errno_name(err));
}

/* False: this process has none. */
static bool choose_name(void)
{
    struct pgg_text t;
    if (!first_pid)
        first_pid = pgrt_pid;
    pgg_text_init(&t, name.sun_path, sizeof name.sun_path);
    pgg_file_absolute(&t, pgrt_options.socket);
    const bool unique = pgg_file_expand(&t, pgrt_options.socket, pgrt_pid);
    if (t.at == t.end)
        say("its name is longer than 106 bytes", 0);
    return t.at < t.end && (unique || first_pid == pgrt_pid);
}

void pgrt_socket_begin(void)
{
    if (!pgrt_options.socket[0] || pgg_helper_runs(&helper) || pgg_confined ||
        pgrt_gate_now() == PGRT_GATE_OFF || !choose_name())
        return;
    helper.furthest = pgrt_thread_variables();
    const int err = pgg_helper_start(&helper);
    if (err == -EADDRINUSE)
        say("another process answers there; %p in the name is the number of each process", 0);
    else if (err == -EINVAL || err == -ENOSYS)
        say("it takes Linux 5.9", 0);
    else if (err)
        say(NULL, err);
}

void pgrt_socket_end(void)
{
    pgg_helper_end(&helper);
}

void pgrt_socket_confined(void)
{
    if (!pgg_helper_runs(&helper))
        return;
    pgrt_socket_end();
    say("the process puts itself under a filter of system calls (seccomp)", 0);
}

/* The thread is the parent's, and so is its memory. */
void pgrt_socket_forked(void)
{
    helper.memory = NULL;
    helper.number = 0;
}
