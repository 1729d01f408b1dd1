/* What the verbs of the command line share. Verbs use the installed headers only. */
#ifndef PGK_CLI_H
#define PGK_CLI_H

#include "pgokit/pgokit.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXIT_DONE = 0, EXIT_INCOMPLETE = 1, EXIT_FAILED = 2 };

struct cli_verb {
    const char *name, *summary, *help;
    int (*run)(int argc, char **argv); /* argv[0] is the verb; returns an EXIT_... */
};
extern const struct cli_verb cmd_merge, cmd_show, cmd_check, cmd_formats;

/* A growing list of arguments that belong to one option. */
struct cli_list {
    const char **v;
    size_t n;
};
void cli_list_add(struct cli_list *list, const char *item); /* exits when out of memory */
void cli_list_free(struct cli_list *list);

/* Options every verb has; --help and --version are answered by the caller. */
struct cli_common {
    struct cli_list binaries, debug_dirs;
    unsigned threads;
    bool quiet;
};
#define CLI_COMMON_SHORT "b:j:qh"
#define CLI_COMMON_LONG                              \
    {"binary", required_argument, NULL, 'b'},        \
    {"debug-dir", required_argument, NULL, 'D'},     \
    {"jobs", required_argument, NULL, 'j'},          \
    {"quiet", no_argument, NULL, 'q'},               \
    {"help", no_argument, NULL, 'h'}
#define CLI_COMMON_HELP                                                                  \
    "  -b, --binary FILE    a profiled program or library, with debug information; may be\n" \
    "                       repeated\n"                                                  \
    "      --debug-dir DIR  where to look for separate debug files; may be repeated\n"   \
    "  -j, --jobs N         threads, 1 to 1024 (default: one per processor)\n"           \
    "  -q, --quiet          no notes and no progress, only warnings and errors\n"         \
    "  -h, --help           this text\n"

/* Next option that is the verb's own, or -1 after the last; common ones are taken in. Prints
 * what is wrong and exits with EXIT_FAILED on a wrong one, and with EXIT_DONE on --help. */
int cli_next_option(const struct cli_verb *verb, int argc, char **argv, const char *own_short,
                    const struct option *options, struct cli_common *common);
void cli_common_free(struct cli_common *common);

/* A decimal number lowest .. highest; exits with EXIT_FAILED and a sentence if it is none. */
unsigned long cli_number(const char *option, const char *text, unsigned long lowest,
                         unsigned long highest);
/* Prints "pgokit: ..." and exits with EXIT_FAILED. */
_Noreturn void cli_usage(const struct cli_verb *verb, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints the error; returns EXIT_FAILED. */
int cli_fail(const struct pgk_err *err);
/* Flushes standard output; EXIT_FAILED with a sentence if it could not be written. */
int cli_finish_output(int exit_code);

/* The binaries of -b, opened. */
int cli_open_binaries(const struct cli_common *common, struct pgk_binaries **set,
                      struct pgk_err *err);

/* Says what a file holds that this release does not carry on; true if there is such. */
bool cli_warn_not_carried(const char *path, const struct pgk_file_info *info);
/* Says what symbolisation could not name. */
void cli_note_symbolised(const struct pgk_heap_symbolised *done);

#endif
