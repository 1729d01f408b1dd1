/* pgokit complete: what may come next on a command line, for the completion of shells. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pgokit complete -- [WORD]...\n\n"
    "Prints what the last WORD of the command line `pgokit WORD...` may become, one\n"
    "per line, with a tab and an explanation after it; the line \":files\" stands\n"
    "for names of files. The completion of bash, zsh and fish, which is installed\n"
    "with pgokit, asks it.\n";

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

/* The help up to the end of a sentence or a part of it. */
static void copy_sentence(char *to, size_t size, const char *text)
{
    size_t n = 0;
    while (text[n] && n + 1 < size && !(strchr(";:.", text[n]) && strchr(" ", text[n + 1])))
        n++;
    if (text[n] && n + 1 == size)
        while (n && text[n] != ' ')
            n--;
    snprintf(to, size, "%.*s", (int)n, text);
}

/* Each name once. */
static void offer_options(const struct option_group *all, const char *typed)
{
    char word[64] = "-x", does[100];
    const struct option_row *row;
    for (size_t i = 0; (row = option_next(all, &i)) != NULL;) {
        if (option_find(all, row->name) != row)
            continue;
        copy_sentence(does, sizeof does, row->help);
        if (row->letter && strncmp(typed, "--", 2)) {
            word[1] = row->letter;
            word[2] = 0;
            offer(typed, word, does);
        }
        snprintf(word, sizeof word, "--%s", row->name);
        offer(typed, word, does);
    }
}

static bool is_option(const struct option_row *row, const char *word, size_t n)
{
    return (n == 2 && word[0] == '-' && word[1] && word[1] == row->letter) ||
           (n > 2 && !strncmp(word, "--", 2) && strlen(row->name) == n - 2 &&
            !strncmp(word + 2, row->name, n - 2));
}

/* The option in the first `n` bytes of `word`, if a value follows it; else NULL. */
static const struct option_row *find_waiting(const struct option_group *all, const char *word,
                                             size_t n, bool may_lack)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_next(all, &i)) != NULL;)
        if (row->argument && (may_lack || *row->argument != '[') && is_option(row, word, n))
            return row;
    return NULL;
}

static bool is_offered_before(const struct option_group *all, const struct option_row *until,
                              const char *word)
{
    const struct option_row *row;
    const char *other;
    for (size_t i = 0; (row = option_next(all, &i)) != until;)
        for (size_t k = 0; !strcmp(row->name, until->name) && (other = option_word(row, k)); k++)
            if (!strcmp(other, word))
                return true;
    return false;
}

/* The values of all options of that name: what the kind of the file will be is not known. `before`
 * is what each begins with, "--sort=" or nothing. */
static void offer_values(const struct option_group *all, const char *name, const char *before,
                         const char *typed)
{
    const struct option_row *row;
    const char *word;
    for (size_t i = 0; (row = option_next(all, &i)) != NULL;) {
        for (size_t k = 0; !strcmp(row->name, name) && (word = option_word(row, k)) != NULL; k++) {
            char whole[128], kept[64];
            snprintf(kept, sizeof kept, "%s", word); /* the next look may write over it */
            if (is_offered_before(all, row, kept))
                continue;
            snprintf(whole, sizeof whole, "%s%s", before, kept);
            if (!strncmp(whole, typed, strlen(typed)))
                printf("%s\t--%s\n", whole, name);
        }
    }
}

/* What completes the last of `n` words after the verb. */
static void complete_operand(const struct cli_verb *verb, int n, char *const *words)
{
    const char *typed = words[n - 1], *equals = *typed == '-' ? strchr(typed, '=') : NULL;
    char before[64] = "";
    for (int i = 0; i + 1 < n; i++)
        if (!strcmp(words[i], "--")) {
            offer_files();
            return;
        }
    struct option_group *all = option_groups_of(verb);
    const struct option_row *waiting =
        equals  ? find_waiting(all, typed, (size_t)(equals - typed), true)
        : n > 1 ? find_waiting(all, words[n - 2], strlen(words[n - 2]), false)
                : NULL;
    if (equals)
        snprintf(before, sizeof before, "%.*s", (int)(equals + 1 - typed), typed);
    if (!waiting && *typed == '-' && !equals)
        offer_options(all, typed);
    else if (waiting && !option_is_file(waiting))
        offer_values(all, waiting->name, before, typed);
    else
        offer_files();
    free(all);
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
