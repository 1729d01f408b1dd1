/* Command lines of other tools, translated into those of pgokit: one table of options for each
 * tool. docs/compat.md is generated from these tables. */
#ifndef PGK_COMPAT_H
#define PGK_COMPAT_H

#include "cli.h"

/* How the tool reads its command line. */
enum compat_syntax {
    COMPAT_LLVM,   /* -x and --x, --x=V, --x V */
    COMPAT_GFLAGS, /* the same, --nox for --x=false, and - for _ in names */
    COMPAT_GNU,    /* getopt_long */
};

enum compat_argument {
    COMPAT_FLAG,     /* none, or =true and =false */
    COMPAT_VALUE,
    COMPAT_CHOICE,   /* one of `choices` */
    COMPAT_OPERAND,  /* an input of pgokit */
    COMPAT_WEIGHTED, /* N,FILE: an input with a weight */
    COMPAT_LIST,     /* a file with inputs, one a line, perhaps as N,FILE */
    COMPAT_STDOUT,   /* a file that takes what pgokit prints */
};

struct compat_choice {
    const char *value, *becomes;
};

/* What something becomes is words of pgokit, in which %s is the value, and %+ the value and 1;
 * NULL: nothing. After an exclamation mark it is a sentence that refuses. */
struct compat_option {
    const char *names; /* without dashes, the usual one first; blanks between */
    enum compat_argument argument;
    const char *becomes;
    const char *otherwise; /* what a flag becomes that is false */
    const struct compat_choice *choices;
    const char *absent;    /* the value where the option is not given */
    const char *nothing;   /* a value that becomes nothing */
    unsigned kinds;        /* COMPAT_KIND(...) of profiles; for others it has no effect. 0: all */
    const char *note;      /* for people, beside what it becomes */
};
#define COMPAT_KIND(kind) (1u << (kind))

struct compat_tool;

/* A command line of a tool while it is translated. */
struct compat_call {
    const struct compat_tool *tool;
    const char *called; /* the name and the subcommand as they were written */
    unsigned release;   /* of llvm-profdata-19; 0: the name has none */
    struct compat_given {
        const struct compat_option *option;
        const char *value; /* of a flag: "true" or "false" */
    } *given;
    size_t n_given;
    struct cli_list operands;
    enum pgk_kind kind; /* of the profiles, where `has_kind` */
    bool has_kind;
    const char *verb;   /* words; of the tool, unless its `choose` says another */
    struct cli_list words;     /* the command line of pgokit */
    const char *to;            /* an option that overrules those of the table; NULL: none */
    const char *stdout_path;   /* the target of its output; NULL: it is not redirected */
};

struct compat_tool {
    const char *name, *subcommand; /* the latter may be NULL */
    const char *summary;
    const char *refusal;    /* of the whole subcommand, NULL for one that works */
    const char *overview;   /* what the tool's own help begins with; NULL: help as of pgokit */
    const char *operands;   /* for the usage */
    enum compat_syntax syntax;
    const char *verb;       /* words of pgokit */
    const char *replaces;   /* by whom files are made that may be an input and the output, as the
                               tool reads all before it writes; NULL: none */
    const struct compat_option *options; /* the last has no names */
    /* Looks at options and operands before they are translated; may be NULL. */
    void (*choose)(struct compat_call *call);
    /* Says of an error what the tool itself says; may be NULL. */
    void (*say)(const struct pgk_err *err, bool warning);
};
extern const struct compat_tool compat_tools_llvm[], compat_tools_gcc[]; /* end with no name */

/* The tool of a name or path, which may end with a release (llvm-profdata-19) and begin with a
 * target; NULL if it is none. For a tool with subcommands the first one. */
const struct compat_tool *compat_find(const char *program, unsigned *release);
/* Runs `program` with the arguments after argv[0], or only prints the command line of pgokit. */
int compat_run(const char *program, char **argv, bool print_only);
/* The tables as Markdown. */
void compat_print_markdown(void);
/* The names, one a line with what each is for. */
void compat_print_names(void);

/* What LLVM's tools say of an error, on standard error. */
void compat_say_llvm(const struct pgk_err *err, bool warning);
/* Of merge: errors of inputs are warnings, and one line says that nothing was merged, unless it was
 * done after all. */
void compat_llvm_merges(void);
void compat_llvm_done(void);
/* For a sentence of theirs. */
void compat_say_llvm_words(const char *words);

/* Fills `words` from the arguments after the subcommand. */
void compat_translate(struct compat_call *call, char **argv);

/* The arguments with the words of response files (@FILE) in their places. */
char **compat_expand_responses(const struct compat_call *call, char **argv);

/* Keeps what is printed from here on in memory, and places it where `stdout_path` says. */
void compat_keep_output(const struct compat_call *call);
void compat_place_output(const struct compat_call *call);

/* For `choose`: */
/* The value of an option that was given; NULL if it was not. */
const char *compat_value(const struct compat_call *call, const char *name);
bool compat_is_true(const struct compat_call *call, const char *name);
void compat_add_words(struct compat_call *call, const char *words, const char *value);
_Noreturn void compat_refuse(const struct compat_call *call, const char *what, const char *why);
/* Text that lives as long as the process. */
char *compat_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Finds out of which kind the operands are, as `verb` does; folders become the profiles in them. */
void compat_find_kind(struct compat_call *call, const struct cli_verb *verb);
/* Prints the inputs as WEIGHT,FILE, those in folders with their paths, and ends. */
_Noreturn void compat_list_inputs(const struct compat_call *call);
/* Multiplies operand `i`. */
void compat_weigh(struct compat_call *call, size_t i, unsigned long weight);

#endif
