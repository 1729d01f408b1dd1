/* Shared by the files of `pgokit pgo`: how the folder is built, the compiler, the files that a
 * build makes, and runs that are measured. */
#ifndef PGK_PGO_H
#define PGK_PGO_H

#include "record.h"

#include <stdio.h>
#include <time.h>

/* Prints "pgokit: ..." and what to do next; exits with EXIT_FAILED. */
_Noreturn void pgo_stop(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Runs a command of the user by the shell and stops if it does not end well; `what` is "the
 * recorded command" or so. Processes that it leaves are ended. A load may end with a status that
 * is expected, and the service that was named runs meanwhile; the time is then that of the
 * service. */
void pgo_shell(const char *what, const char *command, struct record_ended *ended);
void pgo_expect_exit(unsigned long status);
/* The same, but returns whether it ended well. */
bool pgo_try_load(const char *command, struct record_ended *ended);
void pgo_measure_service(const char *command);
/* A service: ended after so many seconds, by SIGTERM. */
void pgo_shell_for(const char *what, const char *command, double seconds,
                   struct record_ended *ended);
/* A build, which ends with 0; the function, which may be NULL, has more to say if it does not. */
struct pgo_builder;
void pgo_build_shell(const char *what, const char *command,
                     const char *(*hint)(const struct pgo_builder *builder),
                     const struct pgo_builder *builder);
/* The same, but false if it fails. */
bool pgo_try_build(const char *command);
/* Says on standard error what is done; quiet: not. */
void pgo_say(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Formatted text, to be freed; stops if there is no memory. */
char *pgo_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A copy of a variable, and how it is set again, or removed. */
char *pgo_saved(const char *name);
void pgo_put_back(const char *name, char *value);

/* ---- the tree stays as it was ---- */

#define PGO_SCRATCH "pgokit-pgo-" /* begins the name of that folder */

/* Makes a folder of its own and goes on in a child. If that fails or is interrupted, what is noted
 * below is put back, what still runs is ended, and the folder is removed. */
const char *pgo_start_guarded(void);
/* The copy, a file in the folder of its own that ends in ".former" or ".plain", goes to `path`;
 * what was there before wins. */
void pgo_undo(const char *copy, const char *path);
/* A folder that is not there is removed, unless it is kept after that. */
void pgo_undo_folder(const char *path);
void pgo_keep_folder(void);
/* Waits for the end that a signal means for all of us. */
void pgo_interrupted(int sig);

/* Sends a signal (0: none) to all processes that pgokit started, and those that these did; returns
 * how many there are. */
size_t pgo_signal_children(int sig);
/* Ends them by SIGTERM, and after the grace by SIGKILL, and waits for them; how many there were.
 * Adds their processor time, if `used` is not NULL. */
size_t pgo_end_children(double grace_s, struct rusage *used);

/* ---- how the folder is built ---- */

struct pgo_project {
    const char *file;  /* that is in the folder */
    const char *holds; /* a word that is in the file; NULL: any file is one */
    const char *needs; /* another file that is there; NULL: none */
    const char *name, *build, *clean;
    const char *shown;  /* what is said of `build`; NULL: itself */
    const char *folder; /* that the build makes; NULL: none of its own */
    const char *hint;   /* what to do if the build fails; NULL: nothing known */
    bool is_rust;       /* rustc compiles, and what else does is only for parts of it */
    bool is_debian;     /* dpkg has the flags, for gcc */
    bool has_own_level; /* of optimisation, so that -O2 is not ours to give */
};
/* NULL: by none of the known build systems. With a command of the user, what is known of that. */
const struct pgo_project *pgo_find_project(const char *command);
/* The next one that the folder can be built by; NULL: none. */
const struct pgo_project *pgo_other_project(const struct pgo_project *project);
/* Where cargo builds, if that is not below the current folder; "" else. */
const char *pgo_target_folder(void);

/* ---- the compiler ---- */

struct pgo_compiler {
    const char *cc, *cxx; /* as CC and CXX; live as long as the process. NULL: rustc alone */
    bool clang;
    unsigned long release;         /* as it says itself */
    const char *flags, *flags_cxx; /* the user's CFLAGS and CXXFLAGS, or -O2, or "" */
    bool is_debian;                /* flags are those of dpkg-buildflags */
    bool is_usual;                 /* nobody named it */
    /* What the use of a profile adds, with a blank before each, and the same of rustc. */
    const char *use, *use_rust;
    bool by_variables; /* the flags are in CFLAGS, too, as the build calls it by a path */
    bool align; /* functions begin at cache lines, in both builds */
    bool lto;   /* cargo's option for thin LTO */
};
/* gcc 12 turns on further passes for all functions, which cost about what the profile gains:
 * docs/formats/sample-gcc.md. */
#define PGO_GCC_FEW_PASSES                                                                     \
    " -fno-gcse-after-reload -fno-ipa-cp-clone -fno-loop-interchange -fno-loop-unroll-and-jam" \
    " -fno-peel-loops -fno-predictive-commoning -fno-split-loops -fno-tracer"                  \
    " -fno-tree-loop-distribution -fno-unswitch-loops -fno-version-loops-for-strides"          \
    " -fno-unroll-loops"
#define PGO_GCC_LEAN PGO_GCC_FEW_PASSES " -fvect-cost-model=very-cheap"
/* Functions begin at cache lines. */
#define PGO_ALIGN      " -falign-functions=64"
#define PGO_ALIGN_RUST " -Cllvm-args=-align-all-functions=6"
/* `name` NULL: $CC, else the first that there is of clang and gcc, for Debian's packages of gcc and
 * clang. Stops if it cannot be run. For Rust without a name: rustc, and clang for what else is
 * compiled if it is there. `project` is NULL where it is not known. */
void pgo_find_compiler(struct pgo_compiler *compiler, const char *name,
                       const struct pgo_project *project);
/* Flags of rustc, and those for its linker among the ones of C compilers; to be freed. */
char *pgo_rust_flags(const char *rust, const char *more);
/* The form of profile that it reads, as gen's --to has it. */
enum { PGO_FORM = 32 };
void pgo_form_of(const struct pgo_compiler *compiler, char form[PGO_FORM]);
/* The same with another compiler, and the user's flags. */
void pgo_change_compiler(struct pgo_compiler *compiler, const char *name);
/* "gcc-13" for "g++-13", "cc" for "c++"; lives as long as the process. */
const char *pgo_compiler_of_c(const char *name);
/* Says whether a build that used the compiler `name` takes the profile for this one. */
bool pgo_takes_same_profile(const struct pgo_compiler *compiler, const char *name);
/* Sets CC, CXX, CFLAGS, CXXFLAGS and LDFLAGS for a build, those of cargo, and the flags that the
 * compilers in front of PATH add; `profile` NULL: the first one. */
void pgo_set_flags(const struct pgo_compiler *compiler, const char *profile);

/* The flags of a compile with this profile, or if that is NULL, of one to be recorded; to be
 * freed. */
char *pgo_flags(const struct pgo_compiler *compiler, const char *profile);

/* ---- compilers in front of PATH ---- */

#define PGO_RUSTC "pgokit-rustc" /* the name of cargo's RUSTC_WRAPPER */

/* Makes links with the names of all compilers; what they used is noted in the folder. */
void pgo_wrap_compilers(const char *folder);
/* Puts them in front of PATH; returns what it was, for pgo_put_back. */
char *pgo_use_links(void);
/* The archive that is linked into static programs from now on; "": none. */
void pgo_wrapper_archive(const char *archive);
/* What they add for clang, gcc and rustc. */
void pgo_wrapper_flags(const char *clang, const char *gcc, const char *rust);
/* The compilers that a build used since pgo_wrap_compilers, by their names: calls the function
 * with each one and with how often it was called. What configure tries is not counted. */
void pgo_each_used(const char *folder, void (*use)(void *ctx, const char *name, long times),
                   void *ctx);
/* For main: was the program started by such a link? Then it becomes the compiler. */
bool pgo_is_wrapper(const char *name);
int pgo_wrapper_run(char **argv);

/* ---- building and recording ---- */

struct pgo_builder {
    const char *build, *clean; /* the commands; clean NULL: none */
    const char *cc;            /* of --cc; NULL: chosen by us */
    const char *scratch;
    struct pgo_compiler *compiler;
    const struct pgo_project *project; /* NULL: of no known build system */
    bool removes;                      /* `clean` is the project's own */
    bool quiet;
    /* From when on the build made what is removed before it is built again; 0: nothing is. */
    struct timespec removes_since;
};
/* The command, in words that a person reads. */
const char *pgo_shown_build(const struct pgo_builder *builder);
/* Builds without the profile, and finds out which compiler the build uses; and builds with it.
 * Both return when the build began. */
struct timespec pgo_build_first(struct pgo_builder *builder);
struct timespec pgo_build(const struct pgo_builder *builder, const char *profile);
/* One that may fail: it is tried whether the compiler and linker bear the flags. */
bool pgo_build_layer(const struct pgo_builder *builder, const char *profile);
/* The parts of the former: a build that removes the folder it makes if it fails, and then true if
 * another compiler made most of it, which is now the builder's; *mixed: not all of it. Stops if
 * --cc names ours. */
struct timespec pgo_build_new(const struct pgo_builder *builder, const char *profile);
bool pgo_follow_compiler(struct pgo_builder *builder, bool *mixed);
/* Whether no link was used, so that from now on the flags are in variables, too. */
bool pgo_needs_variables(const struct pgo_builder *builder);
struct pgo_files;
/* Whether our recorder has to be linked into one of the programs to record it. */
bool pgo_needs_archive(const struct pgo_files *files);
/* Once more with the recorder in it, if nothing can be preloaded into a program. */
void pgo_build_recorded(const struct pgo_builder *builder, const struct pgo_files *files);

struct pgo_load {
    const char *run;  /* the command */
    const char *name; /* recordings are called SCRATCH/NAME.%p */
    const char *scratch;
    unsigned long frequency, runs; /* runs 0: by their time */
    double for_s;                  /* 0: it ends by itself */
    bool quiet;
};
/* Records the command, and returns how often; stops if nothing comes of it. */
unsigned pgo_record(const struct pgo_load *load, struct record_files *recordings);

/* ---- the files that a build makes ---- */

struct pgo_file {
    char *path;           /* below the current folder, or as -b has it */
    char *without, *with; /* its copies: as the first build made it, and as the second did */
};
struct pgo_files {
    struct pgo_file *v;
    size_t n;
};
/* Programs and shared libraries below the current folder that changed since `since`, or if there
 * are any, those of `chosen`. Stops if there are none. */
void pgo_find_files(struct pgo_files *files, const struct cli_list *chosen, struct timespec since);
/* The same; false if there are none. */
bool pgo_look_for_files(struct pgo_files *files, const struct cli_list *chosen,
                        struct timespec since);
/* Copies them to a folder, from which pgo_place puts them back. */
void pgo_keep(struct pgo_files *files, const char *folder, bool with);
void pgo_place(const struct pgo_files *files, bool with);
/* Notes the programs that are there before the first build. */
void pgo_keep_former(const struct cli_list *chosen, const char *folder);
bool pgo_same_bytes(const char *a, const char *b);
/* Puts a copy in the place of a file, with its owner and dates or not; false with errno. */
bool pgo_replace(const char *copy, const char *path, bool all);
/* Whether a build made each file again. */
bool pgo_was_rebuilt(const struct pgo_files *files, struct timespec since);
/* Stops unless it did, and at least one of them otherwise. */
void pgo_check_rebuilt(const struct pgo_files *files, struct timespec since);
/* Removes programs, libraries and objects below the current folder that changed since. */
void pgo_remove_made(struct timespec since);
/* The copy with the profile becomes the one without. */
void pgo_promote(struct pgo_files *files);
/* Whether the last build made other programs than those that were kept without a profile. */
bool pgo_differs(const struct pgo_files *files);
/* Of machine code in the files of the last build; 0: not known. */
uint64_t pgo_code_bytes(const struct pgo_files *files);
void pgo_files_free(struct pgo_files *files);

/* ---- what the user's commands print ---- */

/* From now on it goes to this file, whose name lives as long as the process. */
void pgo_log_open(const char *path);
/* NULL: there is none, or it is empty. */
const char *pgo_log_path(void);
/* As record_run; what it prints, or only what goes to standard output, goes to the file. */
bool pgo_log_run(const char *program, const char *const *words, bool errors_too,
                 struct record_ended *ended);
/* A command that is ended after so many seconds; 0: not. */
bool pgo_log_run_for(const char *program, const char *const *words, bool errors_too, double seconds,
                     struct record_ended *ended);
/* In a child: what it prints goes to the file from now on. */
void pgo_log_redirect(void);
/* Says whether the last command printed this. */
bool pgo_log_has(const char *text);
/* Shows the last lines of what the last command printed. */
void pgo_log_show_end(void);

/* ---- measuring ---- */

/* What the user asked for. */
struct pgo_limits {
    bool has_min_gain, has_max_growth, layers;
    bool or_smaller;             /* than a form that was kept, and surely not slower, is enough */
    double min_gain, max_growth; /* per cent */
    unsigned long rounds;        /* at most so many turns of each comparison */
    unsigned long seconds;       /* of it; 0: the default */
};
/* Runs the command with both builds in turns until the difference is sure, and adds them to the
 * row. */
struct pgk_trial_result pgo_measure(struct pgk_trial *trial, size_t row,
                                    const struct pgo_files *files, const char *command,
                                    const struct pgo_limits *limits, bool quiet);
/* By more than 1 % of its code. */
bool pgo_is_smaller(const struct pgk_trial_result *result);
#define PGO_MATTERS 1.0 /* per cent: a loss that is surely less is none */
/* A counter of the instructions of all commands that are run from now on; -1: there is none. */
int pgo_counter_open(void);
uint64_t pgo_counter_read(int counter); /* 0: nothing is known */

/* `pgokit gen` on recordings of the files as they stand in the tree. */
struct pgo_generated {
    const struct record_files *recordings;
    const struct pgo_files *files;
    const char *form; /* of gen's --format; NULL: the default */
    const char *output;
    const char *figures;    /* the file of its report; NULL: none */
    bool quiet, errors_too; /* with the errors to the log, not to the terminal */
};
/* false: it made nothing. */
bool pgo_generate(const struct pgo_generated *made);

/* What `pgokit gen` says of the profile. */
struct pgo_figures {
    double density;         /* samples a line; 0: not known */
    double record_more;     /* so many times as many would be enough */
    double outside_percent; /* of the branches are in code that the build does not make */
    bool misfit;            /* the recording is of another build */
};
enum { PGO_TOO_FEW = 2 }; /* samples, if so many times as many would be enough */
void pgo_read_figures(struct pgo_figures *figures, const char *path);

enum { PGO_SENTENCE = 320 };
struct pgo_why {
    const struct pgk_trial_result *result;
    const struct pgo_limits *limits;
    const struct pgo_figures *figures;
    uint64_t plain_bytes; /* of code; 0: not known */
    unsigned runs;        /* that were recorded */
    bool other_input;     /* what is measured is not what was recorded */
    bool clang;
};
/* Why a build is not kept, and what to do. */
void pgo_explain(const struct pgo_why *about, char why[PGO_SENTENCE], char advice[PGO_SENTENCE]);

enum pgo_built {
    PGO_BUILT,
    PGO_BUILT_SAME, /* the programs are the same as the best */
    PGO_BUILT_NOT,
};
struct pgo_trying {
    struct pgo_compiler *compiler; /* its flags for the profile become those of the best */
    struct pgo_files *files;       /* `without` is the plain build, then the best */
    /* Builds with the profile. A layer may fail to build. */
    enum pgo_built (*build)(void *ctx, bool first, bool is_layer);
    void *ctx;
    const char *measure;
    const struct pgo_limits *limits;
    const struct pgo_figures *figures;
    uint64_t plain_bytes;
    unsigned runs;
    bool other_input, quiet;
    const struct pgo_layering *layering; /* of pgo_layers.h */
    FILE *human;                         /* for what people read */
};
/* Builds and measures all forms in which the compiler can use the profile, and leaves the best in
 * place, or the plain build; says so. *refused: a limit of the user forbids it. */
bool pgo_try(const struct pgo_trying *trying, struct pgk_trial *trial, bool *refused);

#endif
