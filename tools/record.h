/* Recording: finding the runtime, running a program, and the files that came of it. */
#ifndef PGK_RECORD_H
#define PGK_RECORD_H

#include "cli.h"

#include <limits.h>
#include <sys/resource.h>

/* A kind of profile that `pgokit record KIND` records. */
extern const struct cli_verb record_heap;

/* Where FILE of the runtime is, "libpgokit_heap.so" for instance: in $PGOKIT_RUNTIME, in the
 * build folder, or where it is installed. False if it is nowhere. */
bool heap_runtime_find(char path[PATH_MAX], const char *file);

/* Status of a program that could not be run, as the shell and env(1) have it. */
enum { EXIT_RECORD_FAILED = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct record_ended {
    int pid;
    int signal, exit_code; /* signal 0: it ended by itself */
    double wall_s;
    struct rusage usage; /* of the program and the children it waited for */
};
/* Runs `argv` from the file `program` and waits; signals meant for it are passed on. False
 * with errno if it could not be started. */
bool record_run(const char *program, char **argv, struct record_ended *ended);

/* The files that a template with %p, %h, %e and %t can become. */
struct record_files {
    struct record_file {
        char *path;
        unsigned long long device, inode;
        long long changed_ns;
    } *v;
    size_t n;
};
/* What there is now. Exits when out of memory. */
void record_files_before(struct record_files *files, const char *template);
/* What came or changed since, sorted by name; the others are dropped. */
void record_files_after(struct record_files *files, const char *template);
void record_files_free(struct record_files *files);

/* Of a running process with a socket: whether there is such a request, and what it answers, on
 * standard output; the status to exit with. */
bool record_attach_knows(const char *request);
int record_attach(int pid, const char *request);

/* Says on standard error what a run recorded and what to type next; `binary` is the program.
 * Quiet: only what is wrong. */
void record_heap_tell(const struct record_files *files, const struct record_ended *ended,
                      const char *binary, bool quiet);

#endif
