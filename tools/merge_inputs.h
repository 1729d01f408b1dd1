/* Shared by merges of all kinds: which inputs may be left out, how their names are kept, and the
 * parent of the process. */
#ifndef PGK_MERGE_INPUTS_H
#define PGK_MERGE_INPUTS_H

#include "cli.h"

/* The result of a merge when some inputs cannot be read. */
enum failure_mode {
    FAIL_IF_ANY, /* it fails */
    FAIL_IF_ALL, /* they are left out with a warning, EXIT_INCOMPLETE */
    FAIL_NEVER,  /* they are left out with a warning, EXIT_DONE */
};

struct merge_inputs {
    enum failure_mode mode;
    bool skips;         /* --skip-bad: bad inputs are reported to programs ... */
    unsigned long most; /* ... and so many at most left out */
    enum pgk_run_names run_names;
    size_t left_out, refused; /* inputs that cannot be read; of these bad ones */
    bool unavailable;         /* one cannot be read for another reason than its bytes */
};

/* For a struct merge_inputs; --files-from, for shells, as it is replaced before. */
extern const struct option_table merge_inputs_options, merge_files_option;
/* Exits on options that contradict one another. */
void merge_inputs_check(const struct merge_inputs *m);
/* Takes --parent, which is in force before anything is read. */
void merge_inputs_end_with(const char *parent);
/* With --failure-mode all or warn, takes out inputs that cannot be read, and warns of them. */
void merge_inputs_sift(struct merge_inputs *m, enum pgk_kind kind, struct pgk_input *inputs,
                       size_t *n);
/* After reading has failed: takes out bad inputs that --skip-bad lets go, and true if the rest is
 * to be read; `err` is cleared then. Exits with EXIT_BAD_INPUT if they are too many. */
bool merge_inputs_skip(struct merge_inputs *m, enum pgk_kind kind, struct pgk_input *inputs,
                       size_t *n, struct pgk_err *err);
/* The input is left out, if the options allow that; else false. Of these inputs nothing but the
 * first bytes was read. */
bool merge_inputs_pass_over(struct merge_inputs *m, const struct pgk_input *input,
                            const struct pgk_err *why);
/* After reading failed: for names of tools that name all inputs that cannot be read. */
void merge_inputs_say_all(enum pgk_kind kind, const struct pgk_input *inputs, size_t n);
/* Exits where inputs were left out and none remains. */
void merge_inputs_need_some(const struct merge_inputs *m, size_t n);
/* Prints the error, with --skip-bad also for programs; the exit status. */
int merge_inputs_fail(const struct merge_inputs *m, const struct pgk_err *err);
/* The exit status of a merge that may have left inputs out. */
int merge_inputs_exit(const struct merge_inputs *m, int exit_code);
/* Inputs of which none has a known format, with --skip-bad: the exit status. */
int merge_inputs_none_known(int n_operands, char *const *operands);

#endif
