/* Recording: finding the runtime, running a program, and the files that came of it. */
#ifndef PGK_RECORD_H
#define PGK_RECORD_H

#include "cli.h"

#include <limits.h>
#include <sys/resource.h>

/* A kind of profile that `pgokit record KIND` records. */
extern const struct cli_verb record_heap, record_branches;

/* A program that is to be recorded. */
struct record_program {
    char program[PATH_MAX];   /* the file that is run */
    char profiled[PATH_MAX];  /* the file that has the code: of a script the interpreter */
    struct pgk_program found; /* what `profiled` is */
};
struct record_files;
/* "pgokit: cannot record PROGRAM: ..." */
_Noreturn void record_refuse(int exit_code, const char *program, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Finds a name without a slash in the folders of PATH, as execvp(3) does; *seen: it is in one of
 * them, perhaps as a file that cannot be run. */
bool record_find_in_path(char path[PATH_MAX], const char *name, bool *seen);
/* Notes what a run reads, as far as the command line and the environment name it, so that none of
 * it is an output. */
void record_note_inputs(const struct record_program *p, char **argv);
/* The same of files that the template can become, where it names no process. */
void record_note_outputs(const struct record_files *files, const char *template);
/* These refuse what cannot be recorded. */
void record_find_program(char path[PATH_MAX], const char *name); /* as execvp(3) looks for it */
void record_inspect(struct record_program *p); /* fills in the fields after `program` */
/* The hint for a program into which nothing can be preloaded, because it is static, or has more
 * rights than its user; NULL: none. */
void record_check_can_preload(const struct record_program *p, const char *if_static,
                              const char *if_go, const char *if_more_rights);
void record_find_runtime(const char *program, char path[PATH_MAX], const char *file);
/* The absolute name, because a program may change its folder before it starts another; its length,
 * which may exceed the buffer. */
int record_absolute(char *to, size_t size, const char *program, const char *name, const char *end);
/* Options put a name between marks of one kind. */
void record_check_quotes(const char *program, const char *name, const char *option);
/* The absolute path of an output; in a folder it gets the default name. */
void record_output(char path[PATH_MAX], const char *program, const char *name,
                   const char *default_name);
char record_quote(const char *text); /* a quotation mark that is not in it, if there is one */
const char *record_environment(const char *name); /* "": not set */
/* Sets NAME to FIRST:SECOND; what is empty is left out. */
void record_join(const char *name, const char *first, const char *second);

/* The path of FILE of the runtime, such as "libpgokit_heap.so": in $PGOKIT_RUNTIME, in the build
 * folder, or where it is installed. False if it is nowhere. */
bool heap_runtime_find(char path[PATH_MAX], const char *file);
/* The path of the installed FILE: `below` is absolute or begins at the folder of this program. */
bool installed_find(char path[PATH_MAX], const char *below, const char *file);

/* Status of a program that could not be run, as the shell and env(1) have it. */
enum { EXIT_RECORD_FAILED = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct record_ended {
    int pid;
    int signal, exit_code; /* signal 0: it ended by itself */
    int caught;            /* the last signal that we got meanwhile; 0: none */
    bool is_over_time;     /* ended by the limit */
    double wall_s;
    struct rusage usage; /* of the program and the children it waited for */
};
/* Processor time in it, of the program's own code and of the kernel for it. */
double record_cpu_s(const struct record_ended *ended);
/* Seconds of a clock that nobody sets. */
double record_now_s(void);
/* Runs `argv` from the file `program` and waits; signals meant for it are passed on. False
 * with errno if it could not be started. */
bool record_run(const char *program, char **argv, struct record_ended *ended);
/* The same; NULL: without a limit. */
struct record_limit {
    double seconds, grace_s;
    void (*end)(int sig); /* sends it to the program: SIGTERM, and after the grace SIGKILL */
};
bool record_run_for(const char *program, char **argv, const struct record_limit *limit,
                    struct record_ended *ended);

/* The files that a template with %p, %h, %e and %t can become. */
struct record_files {
    struct record_file {
        char *path;
        unsigned long long device, inode;
        long long changed_ns;
    } * v;
    size_t n;
};
/* Lists the files that exist now. Exits when out of memory. */
void record_files_before(struct record_files *files, const char *template);
/* The files that are new or changed since, sorted by name; the others are dropped. */
void record_files_after(struct record_files *files, const char *template);
void record_files_free(struct record_files *files);

/* Requests to a running process with a socket: whether a request exists; and sends it, prints the
 * answer on standard output, and returns the exit status. */
bool record_attach_knows(const char *request);
int record_attach(int pid, const char *request);

/* What a page is made of: the largest profile, and the program that it needs, or "". */
struct record_heap_page {
    char profile[PATH_MAX], binary[PATH_MAX]; /* "": there is none */
};
/* Says on standard error what a run recorded and what to type next; `binary` is the program.
 * Quiet: only what is wrong. */
void record_heap_report(const struct record_files *files, const struct record_ended *ended,
                        const char *binary, bool leak_check, bool quiet,
                        struct record_heap_page *page);

/* A word after a blank, as the shell reads it. */
void record_print_word(const char *word);

/* record --open. */
#define RECORD_OPEN(type)                                                                        \
    {"open", 0, NULL, "make a page of the profile, and open it; without a display, say where it " \
     "is", OPTION_FLAG(type, open), .page = "the page is named as the profile, with `.html` at " \
     "its end. [pgokit report](pgokit-report.md) makes it"}
/* The variables that a recorded program gets, as they are before that. */
void record_keep_environment(void);
/* Runs this pgokit with words as these, the verb first, in the environment that was kept; whether
 * it succeeded. */
bool record_run_pgokit(const char *const *words);
/* Shows a page in the browser, if there is a display, and says where it is. */
void record_open_page(const char *page);

/* Removes what a former run left under this name, as it would be taken for that of this run, which
 * made none; says so. */
void record_drop_former(const char *path);

/* The option of both kinds. */
#define RECORD_NO_CMDLINE(type)                                                                  \
    {"no-cmdline", 0, NULL, "leave the arguments of PROGRAM out of what is recorded",            \
     OPTION_FLAG(type, no_cmdline),                                                              \
     .page = "recordings name the program, its arguments, the host and when it started"}

#endif
