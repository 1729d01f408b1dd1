/* Downloading files of build ids, by the client library of elfutils.
 *
 * The library is loaded when the first file is wanted, as libdw does it: it brings
 * libcurl, and all that needs, into the process, which runs without DEBUGINFOD_URLS never use. */
#include "debuginfod.h"

#include "binary_set.h"
#include "hex.h"
#include "mem.h"
#include "message.h"
#include "progress.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char LIBRARY[] = "libdebuginfod.so.1";

/* The library's functions; elfutils/debuginfod.h, which need not be installed, declares them. */
typedef int progress_fn(void *client, long done, long total);
typedef int find_fn(void *client, const unsigned char *id, int size, char **path);
struct functions {
    void *(*begin)(void);
    void (*end)(void *client);
    void (*set_progress)(void *client, progress_fn *fn);
    find_fn *find_debug, *find_program;
};

struct pgk_debuginfod {
    pthread_mutex_t lock;
    void *library, *client; /* NULL until the first file is wanted */
    struct functions call;
    bool noted, given_up;
    struct pgk_progress progress;
};

struct pgk_debuginfod *pgk_debuginfod_new(void)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !servers[strspn(servers, " ")])
        return NULL;
    struct pgk_debuginfod *d = pgk_mem_zalloc(1, sizeof *d);
    if (d)
        pthread_mutex_init(&d->lock, NULL);
    return d;
}

void pgk_debuginfod_close(struct pgk_debuginfod **client)
{
    struct pgk_debuginfod *d = *client;
    if (!d)
        return;
    *client = NULL;
    if (d->client)
        d->call.end(d->client);
    /* The library stays: what it loaded, as libraries for TLS do, may not bear to be unloaded. */
    pthread_mutex_destroy(&d->lock);
    pgk_mem_free(d);
}

/* C has no conversion of pointers to objects into those to functions. */
static bool find_function(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found;
}

static bool load(struct pgk_debuginfod *d)
{
    void *lib = d->library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    return lib && find_function(lib, "debuginfod_begin", &d->call.begin) &&
           find_function(lib, "debuginfod_end", &d->call.end) &&
           find_function(lib, "debuginfod_set_progressfn", &d->call.set_progress) &&
           find_function(lib, "debuginfod_find_debuginfo", &d->call.find_debug) &&
           find_function(lib, "debuginfod_find_executable", &d->call.find_program) &&
           (d->client = d->call.begin()) != NULL;
}

/* Bytes so far, and of all, which is 0 until the server has said it. */
static int show_progress(struct pgk_debuginfod *d, long done, long total)
{
    struct pgk_progress *p = &d->progress;
    if (total > 0 && p->total != (uint64_t)total && done <= total) {
        p->total = (uint64_t)total;
        p->done = 0;
    }
    pgk_progress_add(p, done > 0 && (uint64_t)done > p->done ? (uint64_t)done - p->done : 0);
    return 0; /* go on */
}

/* The request of this thread. A thread-local variable, because the oldest client library has no
 * data pointer for callbacks. */
static __thread struct pgk_debuginfod *asking;

static int on_progress(void *client, long done, long total)
{
    (void)client;
    return show_progress(asking, done, total);
}

/* Whether there is a client to ask. */
static bool start(struct pgk_debuginfod *d)
{
    if (d->client || d->given_up)
        return !d->given_up;
    if (!load(d)) {
        pgk_warn("DEBUGINFOD_URLS is set, but %s cannot be loaded, so nothing is downloaded; it is "
                 "part of elfutils (Debian: libdebuginfod1 or libdebuginfod1t64)",
                 LIBRARY);
        d->given_up = true;
        return false;
    }
    d->call.set_progress(d->client, on_progress);
    return true;
}

static void report(struct pgk_debuginfod *d)
{
    if (!d->noted)
        pgk_note("asking the servers of DEBUGINFOD_URLS (%s) for files of build ids; "
                 "--no-debuginfod turns this off",
                 getenv("DEBUGINFOD_URLS"));
    d->noted = true;
}

static void explain(struct pgk_debuginfod *d, enum pgk_id_file what, const uint8_t *id, size_t size,
                    int error)
{
    char text[PGK_BUILD_ID_TEXT];
    if (error == ENOENT)
        return; /* all servers answered that they do not have it */
    pgk_warn("no server of DEBUGINFOD_URLS gave the %s of build id %s: %s; they are not asked "
             "again in this run. DEBUGINFOD_TIMEOUT is the number of seconds that they have",
             what == PGK_ID_DEBUG ? "debug information" : "program",
             pgk_build_id_text(text, id, size), strerror(error));
    d->given_up = true;
}

char *pgk_debuginfod_fetch(struct pgk_debuginfod *d, enum pgk_id_file what, const uint8_t *id,
                           size_t size)
{
    char *path = NULL;
    if (!d || !size || size > 64)
        return NULL;
    pthread_mutex_lock(&d->lock);
    if (start(d)) {
        report(d);
        asking = d;
        pgk_progress_start(&d->progress, "downloading", "B", 0);
        find_fn *find = what == PGK_ID_DEBUG ? d->call.find_debug : d->call.find_program;
        const int fd = find(d->client, id, (int)size, &path);
        pgk_progress_end(&d->progress);
        asking = NULL;
        if (fd >= 0) {
            close(fd);
        } else {
            explain(d, what, id, size, -fd);
            path = NULL;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return path;
}
