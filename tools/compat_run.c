/* The names of other tools: which tool one is, its help, and running the verb that it means. */
#include "compat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All rows of all tables. */
static const struct compat_tool *tool_at(size_t i)
{
    static const struct compat_tool *const tables[] = {compat_tools_llvm, compat_tools_gcc};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct compat_tool *tool = tables[t]; tool->name; tool++)
            if (!i--)
                return tool;
    return NULL;
}

/* Where the "-19" of "llvm-profdata-19" begins, or the end. */
static const char *release_of(const char *name)
{
    const char *end = name + strlen(name), *at = end;
    while (at > name && strchr("0123456789.", at[-1]))
        at--;
    return at > name && at[-1] == '-' && *at ? at - 1 : end;
}

const struct compat_tool *compat_find(const char *program, unsigned *release)
{
    const char *base = cli_base_name(program);
    const char *end = release_of(base);
    size_t len = (size_t)(end - base);
    *release = *end ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
    const struct compat_tool *tool;
    for (size_t i = 0; (tool = tool_at(i)); i++) {
        size_t n = strlen(tool->name);
        bool ends_so = len >= n && !strncmp(end - n, tool->name, n);
        if (ends_so && (len == n || end[-1 - (ptrdiff_t)n] == '-'))
            return tool;
    }
    return NULL;
}

static bool same_tool(const struct compat_tool *a, const struct compat_tool *b)
{
    return !strcmp(a->name, b->name);
}

static const struct compat_tool *find_subcommand(const struct compat_tool *first, const char *name)
{
    for (const struct compat_tool *tool = first; tool->name && same_tool(tool, first); tool++)
        if (name && !strcmp(tool->subcommand, name))
            return tool;
    return NULL;
}

/* ---- help ---- */

/* "--long, -s" */
static const char *spelled(const struct compat_tool *tool, const struct compat_option *o)
{
    char *all = compat_text("%s", "");
    for (const char *name = o->names; name; name = strchr(name, ' ')) {
        name += *name == ' ';
        int len = (int)strcspn(name, " ");
        const char *dashes = len == 1 ? "-" : tool->syntax == COMPAT_GFLAGS ? "-" : "--";
        all = compat_text("%s%s%s%.*s", all, *all ? ", " : "", dashes, len, name);
    }
    return all;
}

/* One outcome of an option, for people. */
static const char *outcome(const char *becomes, const char *when)
{
    if (*becomes == '!')
        return compat_text("refused%s: %s", when, becomes + 1);
    char *text = compat_text("%s%s", becomes, when);
    for (char *mark; (mark = strstr(text, "%+"));) {
        *mark = '\0';
        text = compat_text("%sVALUE+1%s", text, mark + 2);
    }
    for (char *mark; (mark = strstr(text, "%s"));) {
        *mark = '\0';
        text = compat_text("%sVALUE%s", text, mark + 2);
    }
    return text;
}

static const char *join(const char *all, const char *more)
{
    return *all ? compat_text("%s; %s", all, more) : more;
}

static const char *meaning(const struct compat_option *o)
{
    static const char *const what[] = {
        [COMPAT_OPERAND] = "an input",
        [COMPAT_WEIGHTED] = "an input that counts WEIGHT times",
        [COMPAT_LIST] = "inputs from a file, one per line",
        [COMPAT_STDOUT] = "where the output goes",
    };
    const char *all = o->argument >= COMPAT_OPERAND ? what[o->argument] : "";
    if (o->becomes)
        all = join(all, outcome(o->becomes, ""));
    if (o->otherwise)
        all = join(all, outcome(o->otherwise, " if it is false"));
    for (const struct compat_choice *c = o->choices; c && c->value; c++)
        all = join(all, outcome(c->becomes ? c->becomes : "no effect",
                                compat_text(" for %s", c->value)));
    if (o->note)
        all = join(all, o->note);
    for (enum pgk_kind kind = 0; o->becomes && *o->becomes != '!' && kind < PGK_KINDS; kind++)
        if (o->kinds == COMPAT_KIND(kind))
            all = compat_text("%s, for %s", all, pgk_kind_plural(kind));
    return o->absent ? join(all, compat_text("%s if it is not given", o->absent)) : all;
}

static void print_tool_help(const struct compat_tool *tool, const char *called)
{
    cli_for_people(CLI_PEOPLE);
    if (tool->overview)
        printf("OVERVIEW: %s\n\n", tool->overview);
    printf("%s: %s [OPTION]...%s%s\n\nThis is pgokit under the name of %s: it %s.\n",
           tool->overview ? "USAGE" : "usage", called, tool->operands ? " " : "",
           tool->operands ? tool->operands : "", tool->name, tool->summary);
    if (tool->refusal) {
        printf("\npgokit does not have this: %s\n", tool->refusal);
        return;
    }
    if (tool->overview) /* scripts look for the titles */
        printf("\nColor Options:\n\n  none; NO_COLOR in the environment means no colours\n"
               "\nGeneric Options:\n\n  --help, --version\n\nProfGen Options:\n\n");
    printf("It runs `pgokit %s` with what its options mean there:\n\n", tool->verb);
    for (const struct compat_option *o = tool->options; o->names; o++) {
        const char *names = spelled(tool, o);
        printf(strlen(names) > 28 ? "  %s\n%30s %s\n" : "  %-28s%.0s %s\n", names, "", meaning(o));
    }
}

static void print_subcommands(const struct compat_tool *first, const char *called)
{
    printf("usage: %s SUBCOMMAND [OPTION]...\n\npgokit under the name of %s:\n\n", called,
           first->name);
    for (const struct compat_tool *tool = first; tool->name && same_tool(tool, first); tool++)
        printf("  %-12s %s%s\n", tool->subcommand, tool->summary,
               tool->refusal ? " (not in pgokit)" : "");
    printf("\n%s SUBCOMMAND --help lists its options.\n", called);
}

void compat_print_markdown(void)
{
    const struct compat_tool *tool;
    for (size_t i = 0; (tool = tool_at(i)); i++) {
        printf("%s## %s%s%s\n\nIt %s.", i ? "\n" : "", tool->name, tool->subcommand ? " " : "",
               tool->subcommand ? tool->subcommand : "", tool->summary);
        if (tool->refusal) {
            printf(" Refused: %s.\n", tool->refusal);
            continue;
        }
        printf(" Runs `pgokit %s`.\n\n| option | here |\n|---|---|\n", tool->verb);
        for (const struct compat_option *o = tool->options; o->names; o++)
            printf("| `%s` | %s |\n", spelled(tool, o), meaning(o));
    }
}

void compat_print_names(void)
{
    const struct compat_tool *tool;
    for (size_t i = 0; (tool = tool_at(i)); i++)
        if (!tool->refusal)
            printf("  %-24s %s\n", tool->subcommand
                       ? compat_text("%s %s", tool->name, tool->subcommand)
                       : tool->name, tool->summary);
}

/* ---- running ---- */

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(*words, text))
        words++;
    return *words != NULL;
}

static bool asks_for_help(const char *argument)
{
    static const char *const words[] = {"--help", "-help", "-h", "--help-hidden", "-help-hidden",
                                        NULL};
    return argument && is_one_of(argument, words);
}

static bool asks_for_version(const char *argument)
{
    static const char *const words[] = {"--version", "-version", "-v", NULL};
    return argument && is_one_of(argument, words);
}

/* As a shell would take it. */
static void print_words(const struct compat_call *call)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+./,:@%";
    fputs("pgokit", stdout);
    for (size_t i = 0; i < call->words.n; i++) {
        const char *word = call->words.v[i];
        putchar(' ');
        if (*word && !word[strspn(word, plain)]) {
            fputs(word, stdout);
            continue;
        }
        putchar('\'');
        for (; *word; word++)
            fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stdout);
        putchar('\'');
    }
    if (call->stdout_path)
        printf(" > %s", call->stdout_path);
    putchar('\n');
}

/* Incomplete is done to a script of the other tool, which would not have noticed; what is missing
 * has been said. */
static int run_words(struct compat_call *call)
{
    const char *path = call->stdout_path;
    int argc = (int)call->words.n;
    cli_list_add(&call->words, NULL);
    cli_replaces(call->tool->replaces);
    if (call->tool->say)
        cli_say_also(call->tool->say);
    if (call->tool->say && !strncmp(call->verb, "merge", strlen("merge")))
        compat_llvm_merges();
    if (path) {
        cli_writes(path);
        compat_keep_output(call);
    }
    int exit_code = cli_run_verb(argc, (char **)(uintptr_t)call->words.v);
    if (exit_code != EXIT_FAILED)
        compat_llvm_done();
    if (path && exit_code != EXIT_FAILED && !fflush(stdout))
        compat_place_output(call);
    return exit_code == EXIT_INCOMPLETE ? EXIT_DONE : exit_code;
}

/* The subcommand that argv[1] names, whose arguments begin at *argv; NULL if only help was asked
 * for. */
static const struct compat_tool *take_subcommand(const struct compat_tool *tool,
                                                 struct compat_call *call, char ***argv)
{
    if (!tool->subcommand)
        return tool;
    const char *name = (*argv)[0];
    if (asks_for_help(name)) {
        print_subcommands(tool, call->called);
        return NULL;
    }
    const struct compat_tool *found = find_subcommand(tool, name);
    if (!name && tool->say)
        compat_say_llvm_words("No subcommand specified!");
    if (!found)
        compat_refuse(call, name ? name : "a subcommand",
                      name ? "is no subcommand that pgokit has; --help lists them"
                           : "is missing; --help lists them");
    call->called = compat_text("%s %s", call->called, name);
    if (found->refusal && !asks_for_help((*argv)[1]))
        compat_refuse(call, "this is", compat_text("not in pgokit: %s", found->refusal));
    ++*argv;
    return found;
}

int compat_run(const char *program, char **argv, bool print_only)
{
    static struct compat_call call; /* as long-lived as the arguments of main */
    call.called = cli_base_name(program);
    const struct compat_tool *tool = compat_find(program, &call.release);
    if (!tool)
        compat_refuse(&call, "this is", "no name of another tool; pgokit compat lists them");
    argv++;
    if (asks_for_version(argv[0]) && !argv[1]) {
        printf("pgokit " PGK_VERSION ", as %s\n", call.called);
        if (!strncmp(tool->name, "llvm-", strlen("llvm-"))) /* which scripts look for */
            printf("  LLVM version %u\n", call.release ? call.release : PGK_LLVM_NEWEST);
        return cli_finish_output(EXIT_DONE);
    }
    if (tool->syntax != COMPAT_GFLAGS) /* whose tools have none */
        argv = compat_expand_responses(&call, argv);
    call.tool = take_subcommand(tool, &call, &argv);
    bool help = call.tool && asks_for_help(argv[0]);
    if (help)
        print_tool_help(call.tool, call.called);
    if (help || !call.tool)
        return cli_finish_output(EXIT_DONE);
    compat_translate(&call, argv);
    if (!print_only)
        return run_words(&call);
    print_words(&call);
    return cli_finish_output(EXIT_DONE);
}
