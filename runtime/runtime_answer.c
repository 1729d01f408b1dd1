/* Requests and answers. A request is one line (dump, start, stop, status), or GET of HTTP for what
 * /debug/pprof has in other programs. There is one on each connection. */
#include "runtime_answer.h"

#include "guest_bytes.h"
#include "guest_sys.h"
#include "runtime_dump.h"
#include "runtime_options.h"
#include "runtime_pprof.h"
#include "runtime_socket.h"
#include "runtime_start.h"
#include "runtime_store.h"
#include "runtime_thread.h"

#include <errno.h>

enum {
    REQUEST_BYTES = 8 << 10,
    REQUEST_MS = 2000,  /* until all of it is here */
    PROGRESS_MS = 5000, /* a client that takes nothing of the answer for so long is let go */
    ANSWER_MS = 60000,  /* and in any case after so long */
    BUFFER_BYTES = 32 << 10,
};

struct connection {
    int client, bell;
    u32 began_ms;
    bool failed;
    size_t n;
    char buffer[BUFFER_BYTES];
};

/* False if not within the time, or if the thread is to end. */
static bool wait_for(const struct connection *c, short events, u32 limit_ms)
{
    const u32 end_ms = pgrt_now_ms() + limit_ms;
    for (;;) {
        struct pollfd fds[] = {{.fd = c->client, .events = events},
                               {.fd = c->bell, .events = POLLIN}};
        const u32 now_ms = pgrt_now_ms();
        const int n = now_ms < end_ms ? pgg_sys_poll(fds, 2, end_ms - now_ms) : 0;
        if (n == -EINTR)
            continue;
        return n > 0 && !fds[1].revents;
    }
}

/* ---- what is sent ---- */

static void flush(struct connection *c)
{
    for (size_t at = 0; at < c->n && !c->failed;) {
        const long n = pgg_sys_send(c->client, c->buffer + at, c->n - at,
                                    MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
        if (n > 0)
            at += (size_t)n;
        else if (n == -EAGAIN)
            c->failed = pgrt_now_ms() - c->began_ms > ANSWER_MS ||
                        !wait_for(c, POLLOUT, PROGRESS_MS);
        else
            c->failed = n != -EINTR;
    }
    c->n = 0;
}

static bool put(void *arg, const void *bytes, size_t n)
{
    struct connection *c = arg;
    for (const char *from = bytes; n && !c->failed;) {
        const size_t space = BUFFER_BYTES - c->n, part = n < space ? n : space;
        pgg_copy(c->buffer + c->n, from, part);
        c->n += part;
        from += part;
        n -= part;
        if (c->n == BUFFER_BYTES)
            flush(c);
    }
    return !c->failed;
}

static void put_text(struct connection *c, const char *text)
{
    put(c, text, pgg_strlen(text));
}

static void put_u64(struct connection *c, u64 v)
{
    char digits[24];
    struct pgg_text t;
    pgg_text_init(&t, digits, sizeof digits);
    pgg_text_u64(&t, v);
    put_text(c, digits);
}

/* "NAME: V" as a line. */
static void put_value(struct connection *c, const char *name, u64 v)
{
    put_text(c, name);
    put_text(c, ": ");
    put_u64(c, v);
    put_text(c, "\n");
}

static void put_three(struct connection *c, const char *a, const char *b, const char *end)
{
    put_text(c, a);
    put_text(c, b);
    put_text(c, end);
}

/* ---- lines ---- */

static void answer_dump(struct connection *c)
{
    if (!pgrt_can_stop()) {
        put_text(c, "error: nothing is recorded any more\n");
        return;
    }
    if (pgrt_store_is_open() && !pgrt_store_is_file()) {
        put_text(c, "error: the profile goes to a standard stream, which only the program has\n");
        return;
    }
    const int err = pgrt_dump(false);
    if (err)
        put_three(c, "error: the dump was not written: ", pgg_errno_name(err), "\n");
    else
        put_three(c, "ok: dump written to ", pgrt_store_path(), "\n");
}

static void set_paused(struct connection *c, bool paused)
{
    if (!pgrt_can_stop()) {
        put_text(c, "error: nothing is recorded any more\n");
        return;
    }
    pgrt_stop_world();
    pgrt_pause(paused);
    pgrt_start_world();
    put_text(c, paused ? "ok: new objects are not recorded\n" : "ok: new objects are recorded\n");
}

static void answer_start(struct connection *c)
{
    set_paused(c, false);
}

static void answer_stop(struct connection *c)
{
    set_paused(c, true);
}

static void answer_status(struct connection *c)
{
    struct pgrt_totals t;
    const bool known = pgrt_totals_take(&t);
    put_value(c, "process", (u64)pgrt_pid);
    put_three(c, "recording: ",
              !known                                   ? "no"
              : pgrt_gate_started == PGRT_GATE_PAUSED ? "stopped"
                                                       : "yes", "\n");
    put_three(c, "profile: ", pgrt_store_is_file() ? pgrt_store_path() : "none", "\n");
    put_value(c, "milliseconds", pgrt_now_ms());
    put_value(c, "contexts", known && t.n ? t.n - 1 : 0);
    put_value(c, "allocated objects", t.all.made_objects);
    put_value(c, "allocated bytes", t.all.made_bytes);
    put_value(c, "alive objects", t.all.alive_objects);
    put_value(c, "alive bytes", t.all.alive_bytes);
    pgrt_totals_free(&t);
}

static const struct {
    const char *line;
    void (*answer)(struct connection *c);
} lines[] = {
    {"dump", answer_dump},
    {"start", answer_start},
    {"status", answer_status},
    {"stop", answer_stop},
};

static void answer_line(struct connection *c, const char *line)
{
    for (u32 i = 0; i < sizeof lines / sizeof *lines; i++)
        if (pgg_streq(line, lines[i].line)) {
            lines[i].answer(c);
            return;
        }
    put_text(c, "error: unknown request; there are dump, start, stop, status, and GET of "
                "/debug/pprof/heap and /debug/pprof/allocs\n");
}

/* ---- HTTP ---- */

static void put_head(struct connection *c, const char *status, const char *type, u64 bytes)
{
    put_three(c, "HTTP/1.1 ", status, "\r\nContent-Type: ");
    put_three(c, type, "\r\nX-Content-Type-Options: nosniff", "\r\nContent-Length: ");
    put_u64(c, bytes);
    put_text(c, "\r\nConnection: close\r\n\r\n");
}

static void answer_error(struct connection *c, const char *status)
{
    put_head(c, status, "text/plain; charset=utf-8", pgg_strlen(status) + 1);
    put_text(c, status);
    put_text(c, "\n");
}

static bool count(void *sum, const void *bytes, size_t n)
{
    (void)bytes;
    *(u64 *)sum += n;
    return true;
}

static void answer_profile(struct connection *c, bool allocs)
{
    struct pgrt_totals t;
    u64 bytes = 0;
    if (!pgrt_totals_take(&t)) {
        answer_error(c, "503 nothing is recorded any more");
        return;
    }
    struct pgrt_pprof *p = pgrt_pprof_new(&t, allocs);
    if (p && pgrt_pprof_write(p, count, &bytes)) {
        put_head(c, "200 OK", "application/octet-stream", bytes);
        pgrt_pprof_write(p, put, c);
    } else {
        answer_error(c, "500 out of memory");
    }
    if (p)
        pgrt_pprof_free(p);
    pgrt_totals_free(&t);
}

/* Cuts the line into words; what follows a question mark in the second one goes. */
static void answer_http(struct connection *c, char *line)
{
    char *path = line;
    while (*path != ' ')
        path++;
    *path++ = 0;
    for (char *end = path; *end; end++)
        if (*end == ' ' || *end == '?')
            *end-- = 0;
    if (!pgg_streq(line, "GET"))
        answer_error(c, "405 only GET");
    else if (pgg_streq(path, "/debug/pprof/heap"))
        answer_profile(c, false);
    else if (pgg_streq(path, "/debug/pprof/allocs"))
        answer_profile(c, true);
    else
        answer_error(c, "404 there are /debug/pprof/heap and /debug/pprof/allocs");
}

/* ---- requests ---- */

/* The first line is "METHOD PATH HTTP/..." */
static bool is_http(const char *line)
{
    u32 words = 0;
    for (const char *s = line; *s && *s != '\n'; s++)
        if (*s == ' ' && ++words == 2)
            return s[1] == 'H' && s[2] == 'T' && s[3] == 'T' && s[4] == 'P' && s[5] == '/';
    return false;
}

/* A line, or all up to an empty one. */
static bool is_whole(const char *request)
{
    bool empty = false;
    for (const char *s = request; *s; s++) {
        if (*s == '\n' && (empty || !is_http(request)))
            return true;
        empty = *s == '\n' || (empty && *s == '\r');
    }
    return false;
}

/* False: there is none. *too_long: it does not end within what may be sent. */
static bool read_request(struct connection *c, char request[REQUEST_BYTES], bool *too_long)
{
    size_t used = 0;
    request[0] = 0;
    *too_long = false;
    while (!is_whole(request)) {
        const u32 past_ms = pgrt_now_ms() - c->began_ms;
        if (past_ms >= REQUEST_MS || !wait_for(c, POLLIN, REQUEST_MS - past_ms))
            return false;
        const long n = pgg_sys_recv(c->client, request + used, REQUEST_BYTES - 1 - used,
                                    MSG_DONTWAIT, NULL, NULL);
        if (n == -EAGAIN || n == -EINTR)
            continue;
        if (n <= 0)
            return n == 0 && used && !is_http(request);
        used += (size_t)n;
        request[used] = 0;
        *too_long = used == REQUEST_BYTES - 1 && !is_whole(request);
        if (*too_long)
            return true;
    }
    return true;
}

static void cut_line(char *line)
{
    while (*line && *line != '\n' && *line != '\r')
        line++;
    *line = 0;
}

void pgrt_answer(int client, int bell)
{
    static struct connection c; /* of one client at a time, by one thread */
    static char request[REQUEST_BYTES];
    bool too_long;
    c.client = client;
    c.bell = bell;
    c.began_ms = pgrt_now_ms();
    c.failed = false;
    c.n = 0;
    if (!read_request(&c, request, &too_long))
        return;
    const bool http = is_http(request);
    cut_line(request);
    c.began_ms = pgrt_now_ms();
    if (too_long && http)
        answer_error(&c, "431 the request is too long");
    else if (http)
        answer_http(&c, request);
    else
        answer_line(&c, too_long ? "" : request);
    flush(&c);
}
