/* Shared by merges of all kinds: inputs that cannot be read, and options for those who run many
 * merges on many machines. */
#include "merge_inputs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- options ---- */

/* The kernel sends the signal even if the parent is killed; but not if it has ended before it was
 * asked for. SIGTERM leaves no temporary file behind. */
void merge_inputs_end_with(const char *text)
{
    unsigned long parent = cli_number("--parent", text, 1, INT32_MAX);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) || (unsigned long)getppid() != parent)
        cli_usage(&cmd_merge, "process %lu is not the one that started pgokit, or has ended",
                  parent);
}

static const struct option_choice modes[] = {
    {"any", FAIL_IF_ANY}, {"all", FAIL_IF_ALL}, {"warn", FAIL_NEVER}, {0}};
static const struct option_choice run_names[] = {{"none", PGK_RUN_NAMES_NONE},
                                                 {"basename", PGK_RUN_NAMES_BASENAME},
                                                 {"full", PGK_RUN_NAMES_FULL}, {0}};

static const struct option_row rows[] = {
    {"failure-mode", 0, "MODE",
     "when an input cannot be read: any (default), fail; all, leave it out with a warning and exit "
     "status 1; warn, exit status 0", OPTION_CHOICE(struct merge_inputs, mode, modes),
     .page = "it fails if no input can be read. Counters that cannot be merged with those of the "
             "first sound input count as unreadable"},
    {"skip-bad", 0, "N",
     "leave out up to N damaged inputs with exit status 1; each is a line of JSON on standard "
     "error. With more: exit status 3", OPTION_NUMBER(struct merge_inputs, most, 0, UINT32_MAX),
     OPTION_GIVEN(struct merge_inputs, skips),
     .page = "see [Calling merge from programs](#calling-merge-from-programs)"},
    {"run-names", 0, "NAMES",
     "names of inputs in a partial heap profile: full (default), basename, or none: bytes that do "
     "not depend on them", OPTION_CHOICE(struct merge_inputs, run_names, run_names)},
    {"parent", 0, "PID", "end when this process, which started pgokit, has ended",
     OPTION_CALL(NULL), .page = "it ends as by SIGTERM, even if that process is killed"},
    {0},
};
const struct option_table merge_inputs_options = {"merge inputs", NULL, rows};

/* Where it was not replaced. */
static void refuse_abbreviation(const struct option_given *given)
{
    cli_usage(given->verb, "write --files-from in full");
}

static const struct option_row files_row[] = {
    {"files-from", 0, "FILE", "names of further inputs, one per line; - for standard input",
     OPTION_CALL(refuse_abbreviation)},
    {0},
};
const struct option_table merge_files_option = {"merge files", NULL, files_row};

void merge_inputs_check(const struct merge_inputs *m)
{
    if (m->skips && m->mode != FAIL_IF_ANY)
        cli_usage(&cmd_merge, "--skip-bad and --failure-mode contradict one another");
}

/* ---- inputs that cannot be read ---- */

/* Reading these bytes again will not do better. */
static bool is_bad(const struct pgk_err *why)
{
    return why->status && why->status != PGK_E_IO && why->status != PGK_E_NOMEM &&
           why->status != PGK_E_CANCELLED && why->status != PGK_E_ARG;
}

/* ctx is the struct merge_inputs. */
static void note_unsound(void *ctx, const struct pgk_input *input, const struct pgk_err *why)
{
    struct merge_inputs *m = ctx;
    m->left_out++;
    if (m->skips && is_bad(why)) {
        m->refused++;
        pgk_err_print_json(why, input->path, stderr);
        return;
    }
    m->unavailable = true;
    fputs(m->skips ? "pgokit: " : "pgokit: warning: left out: ", stderr);
    pgk_err_print(why, stderr);
    fputc('\n', stderr);
    cli_said(why, true);
}

static void sift(struct merge_inputs *m, enum pgk_kind kind, struct pgk_input *inputs, size_t *n)
{
    struct pgk_err err = {0};
    if (*n && pgk_inputs_sift(kind, inputs, n, note_unsound, m, &err))
        exit(cli_fail(&err));
}

void merge_inputs_sift(struct merge_inputs *m, enum pgk_kind kind, struct pgk_input *inputs,
                       size_t *n)
{
    if (m->mode != FAIL_IF_ANY)
        sift(m, kind, inputs, n);
}

static _Noreturn void refuse(const struct merge_inputs *m)
{
    fprintf(stderr, "pgokit: %zu input%s damaged, and --skip-bad leaves out %lu at most\n",
            m->refused, m->refused == 1 ? " is" : "s are", m->most);
    exit(EXIT_BAD_INPUT);
}

bool merge_inputs_skip(struct merge_inputs *m, enum pgk_kind kind, struct pgk_input *inputs,
                       size_t *n, struct pgk_err *err)
{
    size_t before = m->refused;
    if (!m->skips || !is_bad(err))
        return false;
    sift(m, kind, inputs, n);
    if (m->unavailable)
        exit(EXIT_FAILED);
    if (m->refused > m->most)
        refuse(m);
    if (m->refused == before)
        return false; /* each is sound for itself */
    *err = (struct pgk_err){0};
    return true;
}

bool merge_inputs_pass_over(struct merge_inputs *m, const struct pgk_input *input,
                            const struct pgk_err *why)
{
    if (m->skips ? !is_bad(why) : m->mode == FAIL_IF_ANY)
        return false;
    note_unsound(m, input, why);
    return true;
}

static void say_unsound(void *ctx, const struct pgk_input *input, const struct pgk_err *why)
{
    (void)ctx;
    (void)input;
    cli_said(why, true);
}

void merge_inputs_say_all(enum pgk_kind kind, const struct pgk_input *inputs, size_t n)
{
    struct pgk_input *copy = cli_says_also() ? calloc(n, sizeof *copy) : NULL;
    struct pgk_err err = {0};
    size_t left = n;
    if (!copy || !n)
        return;
    memcpy(copy, inputs, n * sizeof *copy);
    if (!pgk_inputs_sift(kind, copy, &left, say_unsound, NULL, &err) && left < n)
        cli_say_also(NULL); /* the one that the caller reports has been named */
    free(copy);
}

void merge_inputs_need_some(const struct merge_inputs *m, size_t n)
{
    if (m->refused > m->most)
        refuse(m);
    if (n || !m->left_out)
        return;
    if (!m->skips)
        cli_usage(&cmd_merge, "none of the inputs can be read");
    fputs("pgokit: all inputs are damaged\n", stderr);
    exit(EXIT_BAD_INPUT);
}

int merge_inputs_fail(const struct merge_inputs *m, const struct pgk_err *err)
{
    if (!m->skips || !is_bad(err) || !*err->file)
        return cli_fail(err);
    pgk_err_print_json(err, NULL, stderr);
    cli_fail(err);
    return EXIT_BAD_INPUT;
}

int merge_inputs_exit(const struct merge_inputs *m, int exit_code)
{
    return exit_code == EXIT_DONE && m->left_out && m->mode != FAIL_NEVER ? EXIT_INCOMPLETE
                                                                         : exit_code;
}

int merge_inputs_none_known(int n_operands, char *const *operands)
{
    struct merge_inputs m = {.skips = true, .most = UINT32_MAX};
    for (int i = 0; i < n_operands; i++) {
        struct pgk_input input = cli_input(&cmd_merge, operands[i]);
        struct pgk_err err = {0};
        if (cli_open(&input.file, input.path, &err))
            note_unsound(&m, &input, &err);
    }
    if (m.unavailable)
        return EXIT_FAILED;
    merge_inputs_need_some(&m, 0);
    return EXIT_BAD_INPUT;
}
