/* Shared by the verbs of the command line. Verbs use the installed headers only. */
#ifndef PGK_CLI_H
#define PGK_CLI_H

#include "option_rows.h"

#include "pgokit/pgokit.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The last: what failed will fail again, because of the bytes of an input. */
enum { EXIT_DONE = 0, EXIT_INCOMPLETE = 1, EXIT_FAILED = 2, EXIT_BAD_INPUT = 3 };

/* The function of a verb for files of one kind: a row of a verb, in a file <verb>_<kind>.c. */
struct cli_action {
    enum pgk_kind kind;
    const char *help; /* what comes before its options */
    int (*run)(int argc, char **argv);
    /* Its options. One that two kinds share has one form and one meaning. */
    const struct option_group *groups;
    const char *examples; /* lines of the help after the options */
};

/* A verb finds the kind of its first file and leaves all to the action for that kind; or, where
 * there is no such choice, has a `run` of its own. argv[0] is the verb; the result an EXIT_... */
struct cli_verb {
    const char *name, *summary;
    const char *help;     /* usage, and what holds for every kind */
    const char *exit_help; /* meaning of the exit status, if the verb adds to the usual one */
    int (*run)(int argc, char **argv);
    const struct cli_action *const *actions; /* ends with NULL; the first one works on no file */
    /* Which file's format decides about the action; NULL: the first file's. */
    int (*decide)(int n_operands, char *const *operands, const struct pgk_format **format,
                  struct pgk_err *err);
    bool takes_folders; /* of profiles, as if these were named */
    bool takes_newest;  /* without a file the newest recording in the current folder */
    /* What a `run` of its own takes; or what all actions take, for the help. */
    const struct option_group *groups;
    const char *examples; /* lines of the help after the options */
    bool stops_at_operand; /* where the command line of a program begins */
    /* One of which follows the verb: "record heap" of "record". Ends with NULL. */
    const struct cli_verb *const *kinds;
};
const char *cli_kind_word(const struct cli_verb *kind); /* "heap" */
/* All of them, in the order of their use; ends with NULL. */
extern const struct cli_verb *const cli_verbs[];
extern const struct cli_verb cmd_check;
extern const struct cli_verb cmd_compat;
extern const struct cli_verb cmd_complete;
extern const struct cli_verb cmd_config;
extern const struct cli_verb cmd_convert;
extern const struct cli_verb cmd_diff;
extern const struct cli_verb cmd_disasm;
extern const struct cli_verb cmd_formats;
extern const struct cli_verb cmd_gen;
extern const struct cli_verb cmd_help;
extern const struct cli_verb cmd_history;
extern const struct cli_verb cmd_match;
extern const struct cli_verb cmd_mcp;
extern const struct cli_verb cmd_plan;
extern const struct cli_verb cmd_run;
extern const struct cli_verb cmd_merge;
extern const struct cli_verb cmd_order;
extern const struct cli_verb cmd_perf_check;
extern const struct cli_verb cmd_pgo;
extern const struct cli_verb cmd_record;
extern const struct cli_verb cmd_report;
extern const struct cli_verb cmd_show;
extern const struct cli_action convert_gcov;
extern const struct cli_action convert_heap;
extern const struct cli_action convert_instr;
extern const struct cli_action convert_sample;
extern const struct cli_action diff_heap;
extern const struct cli_action diff_instr;
extern const struct cli_action diff_sample;
extern const struct cli_action match_heap;
extern const struct cli_action match_instr;
extern const struct cli_action match_sample;
extern const struct cli_action merge_gcov;
extern const struct cli_action merge_heap;
extern const struct cli_action merge_instr;
extern const struct cli_action merge_sample;
extern const struct cli_action order_instr, order_sample;
extern const struct cli_action plan_heap;
extern const struct cli_action report_heap;
extern const struct cli_action report_sample;
extern const struct cli_action show_binary;
extern const struct cli_action show_gcov;
extern const struct cli_action show_heap;
extern const struct cli_action show_instr;
extern const struct cli_action show_sample;

/* Runs the verb that argv[0] names: an EXIT_... */
int cli_run_verb(int argc, char **argv);
/* NULL with a sentence if there is none. */
const struct cli_verb *cli_find_verb(const char *name);
/* Prints what pgokit is, with all verbs. */
void cli_print_verbs(FILE *out);
/* Prints the help of a verb with those of its actions or kinds. */
void cli_print_help(const struct cli_verb *verb);
/* Exits with a sentence unless it is one operand; of a verb that takes the newest recording. */
void cli_need_one(const struct cli_verb *verb, int operands);
/* Runs the action for the kind of the first operand. */
int cli_run_action(const struct cli_verb *verb, int argc, char **argv);
/* Replaces `--files-from FILE` by the names in FILE, one per line; "-": standard input. The new
 * arguments live as long as the process. Exits with EXIT_FAILED if it cannot. */
void cli_expand_files_from(const struct cli_verb *verb, int *argc, char ***argv);

/* Replaces folders among the operands, which begin at `first`, by the profiles in them, but for
 * `output`, which may be NULL; but folders with counters of gcc stay, to be merged as such. Files
 * that are no profiles are named unless `quiet`. The new arguments live as long as the process.
 * Exits with EXIT_FAILED if it cannot, or if a folder has no profile. */
void cli_expand_folders(const struct cli_verb *verb, const char *output, bool quiet, int first,
                        int *argc, char ***argv);

/* A growing list of arguments that belong to one option. */
struct cli_list {
    const char **v;
    size_t n;
};
void cli_list_add(struct cli_list *list, const char *item); /* exits when out of memory */
void cli_list_free(struct cli_list *list);

/* Options every verb has; --help and --version are answered by the caller. */
struct cli_common {
    struct cli_list binaries, debug_files, packages, debug_dirs, sysroots;
    unsigned threads;
    bool quiet, no_cache, no_debuginfod;
    bool symbols_suffice; /* set by a verb that shows names to people */
    bool use_paths;       /* and this, if it shows what has no name, too */
};
/* Their rows; a verb may have its own meaning of one before it. */
extern const struct option_table cli_common_options;
/* -o of a profile; its struct is a pointer alone. */
extern const struct option_table cli_output_option;
#define CLI_COMMON(type) OPTION_GROUP(cli_common_options, type, common)

/* `pgokit check` for one kind: prints what a sound file holds. */
struct cli_check {
    enum pgk_kind kind;
    int (*run)(const char *path, const struct cli_common *common, struct pgk_err *err);
    /* Writes what can be read to `output` and prints what is lost; how many losses there are, or
     * a negative status. NULL: not supported. */
    int (*repair)(const char *path, const char *output, struct pgk_err *err);
};
extern const struct cli_check check_binary;
extern const struct cli_check check_gcov;
extern const struct cli_check check_heap;
extern const struct cli_check check_instr;
extern const struct cli_check check_sample;

/* The part of a path after its last slash. */
const char *cli_base_name(const char *path);

/* Calls the function with the name of each file in the folders of PATH, in their order. */
void cli_each_in_path(void (*fn)(void *ctx, const char *name), void *ctx);
/* Compiler `i` in the folders of PATH, "gcc", "clang-22"; NULL past the last. */
const char *cli_compiler(size_t i);

/* True for what a program leaves that was killed before it wrote its counters. */
bool cli_is_empty(const char *path);
bool cli_is_folder(const char *path);

/* Standard input, pipes and sockets among the operands can be read once only, but are looked at
 * before they are read: holds their bytes in memory instead. Exits with EXIT_FAILED if it
 * cannot. */
void cli_keep_stdin(int n_operands, char *const *operands);

/* An operand FILE or FILE@N, which counts N times. A file that has the whole name is meant first.
 * The path lives as long as the process. Exits with EXIT_FAILED on a weight that is none. */
#define CLI_WEIGHT_MAX 4294967295ul
struct pgk_input cli_input(const struct cli_verb *verb, const char *operand);
/* The file of a path: opened to choose the verb's action, and then read, without looking at it
 * twice. It lives as long as the process. */
int cli_open(struct pgk_file **file, const char *path, struct pgk_err *err);

/* An input is never an output: both are given as the command line names them, in any order, before
 * anything is opened for writing; "-" is standard input and output. Exits with EXIT_FAILED and a
 * sentence if a file or folder, by whatever names, is both. option_parse does this for operands
 * and for options whose argument is a file; verbs do it for paths that they make. */
void cli_reads(const char *path);
void cli_writes(const char *path);

/* A report in a file, or if that is "-" to standard output. Both return false with errno; then
 * there is no such file, or the one that was there before. A report that was not opened is not
 * closed. */
struct cli_report {
    FILE *out;
    const char *path;
    char *part; /* its name until it is whole; NULL: a pipe or so */
};
bool cli_report_open(struct cli_report *report, const char *path);
bool cli_report_close(struct cli_report *report);
/* But files of formats that `writer` makes may be both; NULL: none. */
void cli_replaces(const char *writer);

/* Notes the operands from optind on as inputs. */
void cli_note_operands(const struct cli_verb *verb, int argc, char **argv);

void cli_common_free(struct cli_common *common);

/* A decimal number lowest .. highest; exits with EXIT_FAILED and a sentence if it is none. */
unsigned long cli_number(const char *option, const char *text, unsigned long lowest,
                         unsigned long highest);
/* A factor above 0, "3", "0.25" or "1/4", in lowest terms. */
struct cli_factor {
    unsigned long times, by;
    bool is_fraction; /* written with a slash */
};
/* Exits with EXIT_FAILED and a sentence if the text, of which `len` bytes count, is none. */
struct cli_factor cli_factor(const char *option, const char *text, size_t len);
/* A format of the table, which has it. */
const struct pgk_format *cli_format(const char *name, enum pgk_kind kind);
#define CLI_INDEXED "indexed profile"
#define CLI_TEXT(number)    CLI_TEXT_OF(number)
#define CLI_TEXT_OF(number) #number
/* "23": the newest release of LLVM that --to takes. */
#define CLI_LLVM_NEWEST CLI_TEXT(PGK_LLVM_NEWEST)
#define CLI_GCOV "gcc counters"
/* A version that the format is written in, and one of the heap data in an indexed profile; exits as
 * cli_number does. */
long cli_version(const char *option, const char *text, const char *format, enum pgk_kind kind);
long cli_memprof_version(const char *text);
/* Prints "pgokit: ..." and exits with EXIT_FAILED. */
_Noreturn void cli_usage(const struct cli_verb *verb, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The name that was nearly typed, among those that are tried. */
struct cli_typo {
    const char *typed;
    size_t length, typos;
    char meant[65]; /* "": none is near */
    char hint[96];
};
struct cli_typo cli_typo(const char *typed, size_t length);
void cli_typo_try(struct cli_typo *typo, const char *name);
void cli_typo_try_words(struct cli_typo *typo, const char *text); /* each word of it */
/* " (did you mean --sort?)", or nothing. */
const char *cli_typo_hint(struct cli_typo *typo, const char *dashes);
/* Prints "pgokit: --sort takes total or name, not 'nmae'" with a hint; the names are words of the
 * format's result. Exits with EXIT_FAILED. */
_Noreturn void cli_refuse_value(const struct cli_verb *verb, const char *value, const char *fmt,
                                ...) __attribute__((format(printf, 3, 4)));
/* Columns that a person wants: those of COLUMNS, or of the terminal; 0 into a file or a pipe. */
unsigned cli_width(int fd);
/* What standard output gets from now on, if it is a terminal. */
enum cli_output {
    CLI_PEOPLE, /* text whose lines fit the terminal, through a pager if there are more of them */
    CLI_LINES,  /* the same without a pager: it comes slowly, or is short */
    CLI_EXACT,  /* through a pager, as it is */
};
void cli_for_people(enum cli_output how);
/* The library writes to `path`; if that is "-" and a terminal, no progress is shown between. */
void cli_for_data(const char *path);
/* Shows what is held back; false if it could not be written. */
bool cli_flush_output(void);
/* Whether a pager runs, which then has the text: elsewhere it would be written over. */
bool cli_pager_takes(const char *text, size_t n);
void cli_no_pager(const struct option_given *given);
/* Writes lines, cut at blanks to be no wider; what follows a cut is indented as its line is, and
 * by `hanging` more. Width 0: as they are. */
void cli_wrap(FILE *out, const char *text, unsigned width, unsigned hanging);
/* Takes a progress bar off the screen, before something else is written to it. */
void cli_wipe_progress(void);
/* Shows from the second second on that a verb works, until it prints or ends. */
void cli_show_progress(const struct cli_verb *verb);
/* Where standard error is a terminal, messages that begin with "pgokit: " are wrapped at its width
 * from now on: those of the library, too. */
void cli_wrap_errors(void);
/* What is written between goes to standard error after "pgokit: note: ". */
FILE *cli_note_open(void);
void cli_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_note_close(FILE *note);
/* Whether standard output has colours: by --color, or because it is a terminal whose user has not
 * refused them. */
bool cli_colour(void);
extern const struct option_choice cli_colours[];
void cli_take_colour(const struct option_given *given);
/* Takes "--color=never" or "--no-pager" as it is; false for any other word. */
bool cli_take_output_option(const char *word);
enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_GOOD, CLI_BAD, CLI_WARN };
/* What switches to a style; "" where there are no colours. */
const char *cli_style(int fd, enum cli_style style);
#define CLI_STYLE(style) cli_style(1, style)
/* For names of other tools: what is said of an error besides, in their words. */
void cli_say_also(void (*say)(const struct pgk_err *err, bool warning));
bool cli_says_also(void);
/* An error was printed; as a warning, if what failed was left out. cli_fail calls it. */
void cli_said(const struct pgk_err *err, bool warning);
/* Prints the error; returns EXIT_FAILED. */
int cli_fail(const struct pgk_err *err);
/* Flushes standard output; EXIT_FAILED with a sentence if it could not be written. */
int cli_finish_output(int exit_code);

/* True if something was given to find binaries by. */
bool cli_has_binaries(const struct cli_common *common);
/* The binaries of -b, opened. */
int cli_open_binaries(const struct cli_common *common, struct pgk_binaries **set,
                      struct pgk_err *err);
/* The same; where none were given, those that the addresses of the profile lie in, as far as they
 * are found by build id. *set is NULL if the program itself is not among them. */
int cli_find_binaries(const struct cli_common *common, const struct pgk_heap *heap,
                      struct pgk_binaries **set, struct pgk_err *err);
/* The program that the addresses of the profile lie in, alone, as it is found by build id whatever
 * -b is; *path is NULL if it is not found, else to be freed. A note says which. */
int cli_find_program(const struct cli_common *common, const struct pgk_heap *heap, char **path,
                     struct pgk_err *err);
/* Exits with a sentence: `needs` (what the verb needs them for), the build ids of the profile that
 * nothing was found for, where they were looked for, and what to do. */
_Noreturn void cli_not_found(const struct cli_verb *verb, const struct pgk_heap *heap,
                             const char *needs);

/* Warns that the compiler will treat N contexts as cold because their accesses are unknown. */
void cli_warn_cold_by_default(size_t contexts);

/* Says what symbolisation could not name. */
void cli_note_symbolised(const struct pgk_heap_symbolised *done);
/* The same by library. */
void cli_note_unnamed(const struct pgk_heap *heap);
/* "libx.so (build id 0123...)" of a module. */
const char *cli_module_text(char *text, size_t size, const struct pgk_heap_unnamed *u);
/* Contexts with stacks that have more frames than were kept, and their bytes. */
struct cli_cut {
    size_t contexts;
    uint64_t bytes;
};
struct cli_cut cli_cut_stacks(const struct pgk_heap *heap);
void cli_note_cut(const struct cli_cut *cut);
/* Says which functions an LLVM format makes one of, if any. */
void cli_note_same_named(const struct pgk_heap *heap);

#endif
