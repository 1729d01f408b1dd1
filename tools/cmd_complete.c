/* pgokit complete: what may come next on a command line, for the completion of shells. */
#include "complete_options.h"

#include <string.h>

static const char help[] =
    "usage: pgokit complete -- [WORD]...\n\n"
    "Prints what the last WORD of the command line `pgokit WORD...` may become, one per line, "
    "with\n"
    "a tab and an explanation behind it; the line \":files\" stands for names of files. The\n"
    "completion of bash, zsh and fish, which is installed with pgokit, asks it.\n";

static const struct option_group groups[] = {{.table = &cli_common_options}, {0}};

static void offer(const char *typed, const char *word, const char *does)
{
    if (!strncmp(word, typed, strlen(typed)))
        printf("%s\t%s\n", word, does);
}

static void offer_files(void)
{
    puts(":files");
}

static void offer_verbs(const char *typed)
{
    for (const struct cli_verb *const *v = cli_verbs; *v; v++)
        offer(typed, (*v)->name, (*v)->summary);
}

static void offer_kinds(const struct cli_verb *verb, const char *typed)
{
    for (size_t i = 0; verb->kinds[i]; i++)
        offer(typed, cli_kind_word(verb->kinds[i]), verb->kinds[i]->summary);
}

static void offer_options(const struct completed_options *found, const char *typed)
{
    char word[64] = "-x";
    for (size_t i = 0; i < found->n; i++) {
        if (found->v[i].letter && strncmp(typed, "--", 2)) {
            word[1] = found->v[i].letter;
            word[2] = 0;
            offer(typed, word, found->v[i].does);
        }
        snprintf(word, sizeof word, "--%s", found->v[i].name);
        offer(typed, word, found->v[i].does);
    }
}

/* The value of `word` if it is an option whose value is the next word. */
static enum completed_value value_behind(const struct completed_options *found, const char *word)
{
    for (size_t i = 0; i < found->n; i++)
        if ((word[0] == '-' && word[1] && word[1] == found->v[i].letter && !word[2]) ||
            (!strncmp(word, "--", 2) && !strcmp(word + 2, found->v[i].name)))
            return found->v[i].value;
    return VALUE_NONE;
}

/* What completes the last of `n` words behind the verb. */
static void complete_operand(const struct cli_verb *verb, int n, char *const *words)
{
    struct completed_options found;
    const char *typed = words[n - 1];
    for (int i = 0; i + 1 < n; i++)
        if (!strcmp(words[i], "--")) {
            offer_files();
            return;
        }
    completed_options_find(&found, verb);
    const enum completed_value value = n > 1 ? value_behind(&found, words[n - 2]) : VALUE_NONE;
    if (value == VALUE_NONE && *typed == '-' && !strchr(typed, '='))
        offer_options(&found, typed);
    else if (value != VALUE_TEXT)
        offer_files();
    completed_options_free(&found);
}

static const struct cli_verb *find(const struct cli_verb *const *verbs, const char *name)
{
    for (; *verbs; verbs++)
        if (!strcmp(strrchr((*verbs)->name, ' ') ? cli_kind_word(*verbs) : (*verbs)->name, name))
            return *verbs;
    return NULL;
}

static void complete(int n, char *const *words)
{
    if (n < 2) {
        offer_verbs(n ? words[0] : "");
        offer(n ? words[0] : "", "--help", "all verbs");
        offer(n ? words[0] : "", "--version", "the version");
        return;
    }
    const struct cli_verb *verb = find(cli_verbs, words[0]);
    if (verb == &cmd_help && n == 2) {
        offer_verbs(words[1]);
        return;
    }
    if (verb && verb->kinds && n == 2) {
        offer_kinds(verb, words[1]);
        return;
    }
    const int first = verb && verb->kinds ? 2 : 1;
    if (first == 2)
        verb = find(verb->kinds, words[1]);
    if (verb)
        complete_operand(verb, n - first, words + first);
}

static int run(int argc, char **argv)
{
    struct cli_common common = {0};
    option_parse(&cmd_complete, groups, argc, argv, &common);
    cli_common_free(&common);
    complete(argc - optind, argv + optind);
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_complete = {
    .name = "complete",
    .summary = "prints shell completions",
    .help = help,
    .run = run,
    .groups = groups,
    .stops_at_operand = true,
};
