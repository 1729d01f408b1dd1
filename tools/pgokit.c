/* pgokit: the command line. One file per verb, cmd_<verb>.c. */
#include "compat.h"
#include "pgo.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct cli_verb *const cli_verbs[] = {
    &cmd_pgo,    &cmd_record,  &cmd_perf_check, &cmd_gen,      &cmd_merge,
    &cmd_order,  &cmd_show,    &cmd_convert,    &cmd_diff,     &cmd_match,
    &cmd_check,  &cmd_report,  &cmd_disasm,     &cmd_plan,     &cmd_run,
    &cmd_history, &cmd_mcp,    &cmd_formats, &cmd_config,     &cmd_compat,   &cmd_help,
    &cmd_complete,
    NULL,
};

void cli_print_verbs(FILE *out)
{
    const int fd = out == stdout ? STDOUT_FILENO : STDERR_FILENO;
    const char *bold = cli_style(fd, CLI_BOLD), *plain = cli_style(fd, CLI_PLAIN);
    fprintf(out, "usage: %spgokit VERB%s [OPTION]... [FILE]...\n\n"
                 "Records, converts, merges and inspects compiler profiles.\n\n", bold, plain);
    for (const struct cli_verb *const *v = cli_verbs; *v; v++)
        fprintf(out, "  %s%-10s%s  %s\n", bold, (*v)->name, plain, (*v)->summary);
    fputs("\npgokit VERB --help shows options and examples; pgokit help VERB the manual.\n"
          "Exit status: 0 done, 1 done but incomplete, 2 failed.\n",
          out);
}

/* Ends as the signal would have ended it, but leaves no temporary file. The disposition is the
 * default one again by now. */
static void clean_up(int number)
{
    pgk_unfinished_delete();
    raise(number);
}

/* A signal that is ignored, as under nohup, stays so. */
static void clean_up_on_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction action = {.sa_handler = clean_up,
                                     .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    struct sigaction old;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

const struct cli_verb *cli_find_verb(const char *name)
{
    for (const struct cli_verb *const *v = cli_verbs; *v; v++)
        if (!strcmp(name, (*v)->name))
            return *v;
    char safe[64];
    struct cli_typo typo = cli_typo(name, strlen(name));
    for (const struct cli_verb *const *v = cli_verbs; *v; v++)
        cli_typo_try(&typo, (*v)->name);
    fprintf(stderr, "pgokit: no verb '%s'%s. Try pgokit --help\n",
            pgk_human_text(safe, sizeof safe, name), cli_typo_hint(&typo, ""));
    return NULL;
}

int cli_run_verb(int argc, char **argv)
{
    const struct cli_verb *verb = cli_find_verb(*argv);
    if (!verb)
        return EXIT_FAILED;
    return verb->run ? verb->run(argc, argv) : cli_run_action(verb, argc, argv);
}

/* --color and --no-pager may also stand before the verb, as with git. Takes them out. */
static void take_options_of_output(int *argc, char **argv)
{
    while (*argc > 1 && cli_take_output_option(argv[1])) {
        for (int i = 1; i < *argc; i++)
            argv[i] = argv[i + 1];
        --*argc;
    }
}

int main(int argc, char **argv)
{
    unsigned release;
    if (argc && pgo_is_wrapper(*argv))
        return pgo_wrapper_run(argv);
    cli_wrap_errors();
    clean_up_on_signals();
    /* A write beyond `ulimit -f` then fails with EFBIG, which gets a sentence. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc && compat_find(*argv, &release))
        return compat_run(*argv, argv, false);
    take_options_of_output(&argc, argv);
    if (argc < 2) {
        cli_print_verbs(stderr);
        return EXIT_FAILED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_for_people(CLI_PEOPLE);
        cli_print_verbs(stdout);
        return cli_finish_output(EXIT_DONE);
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v")) {
        puts("pgokit " PGK_VERSION);
        return cli_finish_output(EXIT_DONE);
    }
    pgk_progress_enable(isatty(STDERR_FILENO));
    return cli_run_verb(argc - 1, argv + 1);
}
