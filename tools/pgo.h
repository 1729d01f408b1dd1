/* Shared by the files of `pgokit pgo`: how the folder is built, the compiler, the files that a
 * build makes, and runs that are measured. */
#ifndef PGK_PGO_H
#define PGK_PGO_H

#include "record.h"

#include <time.h>

/* Prints "pgokit: ..." and what to do next; exits with EXIT_FAILED. */
_Noreturn void pgo_stop(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Runs a command of the user by the shell and stops if it does not end with 0; `what` is "the
 * build" or so. */
void pgo_shell(const char *what, const char *command, struct record_ended *ended);
/* Says on standard error what is done; quiet: not. */
void pgo_say(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A copy of a variable, and how it is set again, or removed. */
char *pgo_saved(const char *name);
void pgo_put_back(const char *name, char *value);
/* A folder of its own, which is removed when the process ends. */
const char *pgo_make_scratch(void);

/* ---- how the folder is built ---- */

struct pgo_project {
    const char *file; /* that is in the folder */
    const char *name, *build, *clean;
    bool is_rust; /* rustc compiles, and what else does is only for parts of it */
};
/* NULL: by none of the known build systems. */
const struct pgo_project *pgo_find_project(void);

/* ---- the compiler ---- */

struct pgo_compiler {
    const char *cc, *cxx; /* as CC and CXX; live as long as the process. NULL: rustc alone */
    bool clang;
    unsigned long release;         /* as it says itself */
    const char *flags, *flags_cxx; /* the user's CFLAGS and CXXFLAGS, or -O2 */
};
/* `name` NULL: $CC, else the first that there is of clang and gcc. Stops if it cannot be run. For
 * Rust without a name: rustc, and clang for what else is compiled if it is there. */
void pgo_find_compiler(struct pgo_compiler *compiler, const char *name, bool is_rust);
/* The same with another compiler, and the user's flags. */
void pgo_change_compiler(struct pgo_compiler *compiler, const char *name);
/* "gcc-13" for "g++-13", "cc" for "c++"; lives as long as the process. */
const char *pgo_compiler_of_c(const char *name);
/* Says whether a build that used the compiler `name` takes the profile for this one. */
bool pgo_takes_same_profile(const struct pgo_compiler *compiler, const char *name);
/* Sets CC, CXX, CFLAGS, CXXFLAGS and LDFLAGS for a build, those of cargo, and the flags that the
 * compilers in front of PATH add; `profile` NULL: the first one. */
void pgo_set_flags(const struct pgo_compiler *compiler, const char *profile);

/* ---- compilers in front of PATH ---- */

#define PGO_RUSTC "pgokit-rustc" /* the name of cargo's RUSTC_WRAPPER */

/* Puts links with the names of all compilers into FOLDER/bin, which belongs in front of PATH while
 * something is built. */
void pgo_wrap_compilers(const char *folder);
/* What they add for a compiler of this kind, "clang" or "gcc", and for rustc. */
void pgo_wrapper_flags(const char *kind, const char *flags, const char *rust_flags);
/* Calls the function with the name of each compiler that a build used, until it returns true. */
bool pgo_any_used(const char *folder, bool (*is)(void *ctx, const char *name), void *ctx);
/* For main: was the program started by such a link? Then it becomes the compiler. */
bool pgo_is_wrapper(const char *name);
int pgo_wrapper_run(char **argv);

/* ---- building and recording ---- */

struct pgo_builder {
    const char *build, *clean; /* the commands; clean NULL: none */
    const char *cc;            /* of --cc; NULL: chosen by us */
    const char *scratch;
    struct pgo_compiler *compiler;
    bool removes; /* `clean` is the project's own */
    bool quiet;
};
/* Builds without the profile, by the compiler that the build uses if it does not ask for ours;
 * and with it, or without. Both return when the build began. */
struct timespec pgo_build_first(struct pgo_builder *builder);
struct timespec pgo_build(const struct pgo_builder *builder, const char *profile);

struct pgo_load {
    const char *run; /* the command */
    const char *scratch;
    unsigned long frequency, runs; /* runs 0: by their time */
    bool quiet;
};
/* Records the command; stops if nothing comes of it. */
void pgo_record(const struct pgo_load *load, struct record_files *recordings);

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
/* Copies them to a folder, from which pgo_place puts them back. */
void pgo_keep(struct pgo_files *files, const char *folder, bool with);
void pgo_place(const struct pgo_files *files, bool with);
/* Stops unless a build made each file again, and at least one of them otherwise. */
void pgo_check_rebuilt(const struct pgo_files *files, struct timespec since);
void pgo_files_free(struct pgo_files *files);

/* ---- what the user's commands print ---- */

/* From now on it goes to this file, whose name lives as long as the process. */
void pgo_log_open(const char *path);
/* NULL: there is none, or it is empty. */
const char *pgo_log_path(void);
/* As record_run; what it prints, or only what goes to standard output, goes to the file. */
bool pgo_log_run(const char *program, const char *const *words, bool errors_too,
                 struct record_ended *ended);
/* Shows the last lines of what the last command printed. */
void pgo_log_show_end(void);

/* ---- measuring ---- */

struct pgo_gain {
    double percent;   /* as many more runs in the same time; the median of the rounds */
    double low, high; /* the middle half of the rounds */
};
/* Runs the command with both builds in turn and prints what it found. */
struct pgo_gain pgo_measure(const struct pgo_files *files, const char *command, unsigned rounds,
                            bool quiet);

#endif
