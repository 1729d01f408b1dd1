/* Choosing what a verb does by the kind of its files. */
#include "merge_inputs.h"
#include "newest_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void die(const char *what, const char *name)
{
    char safe[256];
    fprintf(stderr, "pgokit: %s: cannot %s: %s\n", pgk_human_text(safe, sizeof safe, name), what,
            strerror(errno));
    exit(EXIT_FAILED);
}

const char *cli_kind_word(const struct cli_verb *kind)
{
    return strrchr(kind->name, ' ') + 1;
}

static void print_options(const struct option_group *groups, const struct option_group *printed,
                          const char *examples)
{
    if (groups)
        option_print_help(groups, printed);
    if (examples)
        printf("\n%sExamples:%s\n%s", CLI_STYLE(CLI_BOLD), CLI_STYLE(CLI_PLAIN), examples);
}

/* The actions that have a table of options, as bits. */
static unsigned holders(const struct cli_verb *verb, const struct option_table *table)
{
    unsigned found = 0;
    for (size_t i = 0; verb->actions[i]; i++)
        found |= (unsigned)option_has_table(verb->actions[i]->groups, table) << i;
    return found;
}

/* "With A, B and C:" */
static void print_kinds(const struct cli_verb *verb, unsigned actions)
{
    const char *between = "With ";
    printf("\n%s", CLI_STYLE(CLI_BOLD));
    for (size_t i = 0; actions >> i; i++) {
        if (!(actions >> i & 1))
            continue;
        printf("%s%s", between, pgk_kind_plural(verb->actions[i]->kind));
        const unsigned left = actions >> i >> 1;
        between = left & (left - 1) ? ", " : " and ";
    }
    printf(":%s\n", CLI_STYLE(CLI_PLAIN));
}

/* 0 for a table that the verb itself or every verb has. */
static unsigned sharers(const struct cli_verb *verb, const struct option_table *table)
{
    const unsigned by = holders(verb, table);
    return by & (by - 1) && table != &cli_common_options &&
                   !option_has_table(verb->groups, table)
               ? by
               : 0;
}

/* Those that the verb itself or several actions have; to be freed. */
static struct option_group *groups_apart(const struct cli_verb *verb)
{
    struct option_group *apart = option_groups_of(verb);
    size_t n = 0;
    for (const struct option_group *g = apart; g->table; g++)
        if (sharers(verb, g->table) || option_has_table(verb->groups, g->table))
            apart[n++] = *g;
    apart[n] = (struct option_group){0};
    return apart;
}

/* What several actions have, each table with the others of the same actions. */
static void print_shared(const struct cli_verb *verb, const struct option_group *apart)
{
    const unsigned all = holders(verb, &cli_common_options);
    for (unsigned by = 1; by <= all; by++) {
        bool titled = false;
        for (const struct option_group *g = apart; g->table; g++) {
            if (sharers(verb, g->table) != by)
                continue;
            if (!titled)
                print_kinds(verb, by);
            titled = true;
            option_print_help((const struct option_group[]){*g, {0}}, NULL);
        }
    }
}

/* Options that several actions have are printed once, after those that only one has. */
static void print_actions(const struct cli_verb *verb)
{
    struct option_group *apart = groups_apart(verb);
    for (size_t i = 0; verb->actions[i]; i++) {
        print_kinds(verb, 1u << i);
        fputs(verb->actions[i]->help, stdout);
        print_options(verb->actions[i]->groups, apart, verb->actions[i]->examples);
    }
    print_shared(verb, apart);
    free(apart);
}

/* "usage:" and the names of options stand out. */
static void print_usage(const char *help)
{
    const char *end = strstr(help, "\n\n");
    end = end ? end : help + strlen(help);
    printf("%s%.*s%s%s", CLI_STYLE(CLI_BOLD), (int)(end - help), help, CLI_STYLE(CLI_PLAIN), end);
}

static void print_help(const struct cli_verb *verb)
{
    print_usage(verb->help);
    print_options(verb->groups, NULL, verb->examples);
    if (verb->kinds) {
        for (size_t i = 0; verb->kinds[i]; i++) {
            putchar('\n');
            print_help(verb->kinds[i]);
        }
        return;
    }
    if (verb->actions)
        print_actions(verb);
    printf("\n%sCommon options:%s\n", CLI_STYLE(CLI_BOLD), CLI_STYLE(CLI_PLAIN));
    option_print_common(verb->groups);
    char exit_status[256];
    snprintf(exit_status, sizeof exit_status, "Exit status: %s.",
             verb->exit_help ? verb->exit_help : "0 done, 2 failed");
    putchar('\n');
    option_print_words(exit_status, 0, 0);
}

void cli_need_one(const struct cli_verb *verb, int operands)
{
    if (!operands)
        cli_usage(verb, "%s takes a file, and there is no recording in this folder; pgokit record "
                        "heap -- PROGRAM makes one", verb->name);
    if (operands > 1)
        cli_usage(verb, "%s takes one file", verb->name);
}

void cli_print_help(const struct cli_verb *verb)
{
    cli_for_people(CLI_PEOPLE);
    print_help(verb);
}

/* The state of the arguments before the action is known. */
struct first_look {
    int operands; /* position of the first */
    const char *output;
    bool quiet, skips_bad;
};

static void see_option(const struct option_given *given)
{
    struct first_look *look = given->into;
    const char *name = given->row->name;
    if (given->row->kind == OPTION_IS_HELP) {
        cli_print_help(given->verb);
        exit(cli_finish_output(EXIT_DONE));
    }
    if (!strcmp(name, "output"))
        look->output = given->value;
    look->quiet |= !strcmp(name, "quiet");
    look->skips_bad |= !strcmp(name, "skip-bad");
    if (!strcmp(name, "parent"))
        merge_inputs_end_with(given->value);
}

/* Moves the operands to the end of `argv`. */
static struct first_look find_operands(const struct cli_verb *verb, int argc, char **argv)
{
    struct first_look look = {0};
    struct option_group *groups = option_groups_of(verb);
    option_look(verb, groups, argc, argv, see_option, &look);
    free(groups);
    look.operands = optind;
    optind = 0; /* to be parsed again, by the action */
    return look;
}

/* Copies what is left in `fd` to memory, from where it can be read twice. */
static void keep_pipe(int fd, const char *name)
{
    char buf[1 << 16];
    ssize_t got;
    int kept = memfd_create("pgokit-input", MFD_CLOEXEC);
    if (kept < 0)
        die("keep", name);
    while ((got = read(fd, buf, sizeof buf)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            die("read", name);
        for (ssize_t done = 0, n; done < got; done += n)
            if ((n = write(kept, buf + done, (size_t)(got - done))) < 0)
                die("keep", name);
    }
    if (lseek(kept, 0, SEEK_SET) || dup2(kept, fd) < 0)
        die("keep", name);
    close(kept);
}

/* The descriptor of "-", or of a shell's <(command); -1 if it is neither. */
static int inherited_fd(const char *operand)
{
    int fd;
    char rest;
    if (!strcmp(operand, "-"))
        return STDIN_FILENO;
    return sscanf(operand, "/dev/fd/%d%c", &fd, &rest) == 1 ? fd : -1;
}

void cli_keep_stdin(int n_operands, char *const *operands)
{
    for (int i = 0; i < n_operands; i++) {
        struct stat st;
        int fd = inherited_fd(operands[i]);
        if (fd >= 0 && !fstat(fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
            keep_pipe(fd, fd == STDIN_FILENO ? "standard input" : operands[i]);
    }
}

/* The newest recording here becomes the operand, if there is one. */
static void take_newest(bool quiet, int *argc, char ***argv)
{
    static struct cli_list list; /* as long-lived as the arguments of main */
    size_t in_run;
    char safe[256], *name = newest_recording(".", &in_run);
    if (!name)
        return;
    for (int i = 0; i < *argc; i++)
        cli_list_add(&list, (*argv)[i]);
    cli_list_add(&list, name);
    *argc = (int)list.n;
    cli_list_add(&list, NULL);
    *argv = (char **)(uintptr_t)list.v;
    pgk_human_text(safe, sizeof safe, name);
    if (!quiet && in_run > 1)
        cli_note("%s is the largest of the %zu recordings of the newest run here", safe, in_run);
    else if (!quiet)
        cli_note("%s is the newest recording here", safe);
}

/* A folder may have recordings. */
static _Noreturn void refuse_folder(const char *path)
{
    size_t in_run;
    char safe[256], file[512], *newest = newest_recording(path, &in_run);
    fprintf(stderr, "pgokit: %s is a folder. ", pgk_human_text(safe, sizeof safe, path));
    if (newest)
        fprintf(stderr, "Its newest recording: pgokit show %s",
                pgk_human_text(file, sizeof file, newest));
    else
        fputs("It has no recording", stderr);
    fprintf(stderr, "; all profiles in it: pgokit merge %s -o all.profdata\n", safe);
    exit(EXIT_FAILED);
}

int cli_run_action(const struct cli_verb *verb, int argc, char **argv)
{
    const struct first_look look = find_operands(verb, argc, argv);
    if (!look.quiet)
        cli_show_progress(verb);
    int first = look.operands;
    if (verb->takes_folders)
        cli_expand_folders(verb, look.output, look.quiet, first, &argc, &argv);
    if (first == argc && verb->takes_newest)
        take_newest(look.quiet, &argc, &argv);
    if (first == argc) /* which the action has words for */
        return verb->actions[0]->run(argc, argv);
    cli_keep_stdin(argc - first, argv + first);

    struct pgk_err err = {0};
    const struct pgk_format *format;
    struct pgk_file *file;
    if (verb->takes_newest && cli_is_folder(argv[first]))
        refuse_folder(argv[first]);
    if (verb->decide) {
        if (verb->decide(argc - first, argv + first, &format, &err))
            return look.skips_bad ? merge_inputs_none_known(argc - first, argv + first)
                                  : cli_fail(&err);
    } else {
        if (cli_open(&file, cli_input(verb, argv[first]).path, &err))
            return cli_fail(&err);
        format = pgk_file_info_format(pgk_file_info(file));
    }
    for (size_t i = 0; verb->actions[i]; i++)
        if (verb->actions[i]->kind == format->kind)
            return verb->actions[i]->run(argc, argv);
    char safe[256];
    fprintf(stderr, "pgokit: %s has the format '%s'; pgokit %s does not work on %s\n",
            pgk_human_text(safe, sizeof safe, argv[first]), format->name, verb->name,
            pgk_kind_plural(format->kind));
    return EXIT_FAILED;
}

/* Grows `list` by the lines of a file, which are names even if they look like options. */
static void add_lines(struct cli_list *list, const char *path)
{
    FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
    if (!in)
        die("open", path);
    cli_reads(path);
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, in)) >= 0;) {
        if (n && line[n - 1] == '\n')
            line[--n] = 0;
        char *name;
        if (!n)
            continue;
        if (asprintf(&name, "%s%s", *line == '-' && line[1] ? "./" : "", line) < 0)
            die("read", path);
        cli_list_add(list, name);
    }
    if (ferror(in))
        die("read", path);
    free(line);
    if (in != stdin)
        fclose(in);
}

void cli_expand_files_from(const struct cli_verb *verb, int *argc, char ***argv)
{
    static const char option[] = "--files-from";
    static struct cli_list list; /* as long-lived as the arguments of main */
    bool operands_only = false;
    for (int i = 0; i < *argc; i++) {
        char *arg = (*argv)[i];
        operands_only |= !strcmp(arg, "--");
        if (operands_only || strncmp(arg, option, strlen(option))) {
            cli_list_add(&list, arg);
        } else if (arg[strlen(option)] == '=') {
            add_lines(&list, arg + strlen(option) + 1);
        } else {
            if (++i == *argc)
                cli_usage(verb, "%s needs a value", option);
            add_lines(&list, (*argv)[i]);
        }
    }
    *argc = (int)list.n;
    cli_list_add(&list, NULL);
    *argv = (char **)(uintptr_t)list.v;
}
