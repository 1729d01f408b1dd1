/* Options as rows: a command line becomes a struct. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* getopt's value of a row without a letter is its number and this. */
enum { FIRST_VALUE = 1 << 24 };

bool option_has_table(const struct option_group *groups, const struct option_table *table)
{
    while (groups && groups->table && groups->table != table)
        groups++;
    return groups && groups->table;
}

static size_t count_groups(const struct option_group *groups)
{
    size_t n = 0;
    while (groups && groups[n].table)
        n++;
    return n;
}

static void add_groups(struct option_group *all, const struct option_group *groups)
{
    for (size_t n = count_groups(all); groups && groups->table; groups++)
        if (!option_has_table(all, groups->table))
            all[n++] = *groups;
}

struct option_group *option_groups_of(const struct cli_verb *verb)
{
    const struct cli_action *const *actions = verb->actions;
    size_t most = count_groups(verb->groups) + 1;
    for (size_t i = 0; actions && actions[i]; i++)
        most += count_groups(actions[i]->groups);
    struct option_group *all = calloc(most, sizeof *all);
    if (!all)
        cli_usage(verb, "out of memory");
    add_groups(all, verb->groups);
    for (size_t i = 0; actions && actions[i]; i++)
        add_groups(all, actions[i]->groups);
    return all;
}

const struct option_row *option_next(const struct option_group *groups, size_t *i)
{
    size_t left = (*i)++;
    for (; groups->table; groups++)
        for (const struct option_row *row = groups->table->rows; row->name; row++)
            if (!left--)
                return row;
    return NULL;
}

const struct option_row *option_find(const struct option_group *groups, const char *name)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_next(groups, &i)) != NULL && strcmp(row->name, name);)
        ;
    return row;
}

bool option_is_file(const struct option_row *row)
{
    static const char *const files[] = {"FILE", "DIR", "FOLDER", "BINARY", "PROGRAM", "OLD",
                                        "OUTPUT"};
    for (size_t i = 0; row->argument && i < sizeof files / sizeof *files; i++)
        if (!strncmp(row->argument, files[i], strlen(files[i])))
            return true;
    return false;
}

/* ---- what getopt_long takes ---- */

struct getopt_table {
    struct option *rows;
    char *letters;
    size_t n;
};

static void add_letter(struct getopt_table *t, const struct option *o)
{
    char text[4] = {(char)o->val};
    if (o->has_arg != no_argument)
        strcat(text, o->has_arg == optional_argument ? "::" : ":");
    strcat(t->letters, text);
}

static struct getopt_table make_table(const struct cli_verb *verb,
                                      const struct option_group *groups)
{
    struct getopt_table t = {0};
    const struct option_row *row;
    size_t n = 0;
    while (option_next(groups, &n))
        ;
    t.rows = calloc(n, sizeof *t.rows);
    t.letters = calloc(n + 1, 3);
    if (!t.rows || !t.letters)
        cli_usage(verb, "out of memory");
    strcpy(t.letters, verb->stops_at_operand ? "+:" : ":");
    for (size_t i = 0; (row = option_next(groups, &i)) != NULL;) {
        struct option *o = &t.rows[t.n];
        if (option_find(groups, row->name) != row)
            continue;
        o->name = row->name;
        o->has_arg = !row->argument         ? no_argument
                     : *row->argument == '[' ? optional_argument
                                             : required_argument;
        o->val = row->letter ? row->letter : FIRST_VALUE + (int)t.n;
        if (row->letter)
            add_letter(&t, o);
        t.n++;
    }
    return t;
}

static const char *find_name(const struct getopt_table *t, int value)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].val == value)
            return t->rows[i].name;
    abort(); /* getopt_long returns what it was given */
}

static _Noreturn void refuse_unknown(const struct cli_verb *verb,
                                     const struct option_group *groups, const char *typed)
{
    const char *name = strncmp(typed, "--", 2) ? "" : typed + 2;
    struct cli_typo typo = cli_typo(name, strcspn(name, "="));
    const struct option_row *row;
    for (size_t i = 0; (row = option_next(groups, &i)) != NULL;)
        cli_typo_try(&typo, row->name);
    cli_usage(verb, "%s has no option %s%s", verb->name, typed, cli_typo_hint(&typo, "--"));
}

/* At the first look: getopt_long moves operands to the end, so that at the second one an option
 * without a value would take the first operand for it, and write to it. */
static _Noreturn void refuse_missing(const struct cli_verb *verb, char *const *argv)
{
    cli_usage(verb, "%s needs a value", argv[optind - 1]);
}

void option_look(const struct cli_verb *verb, const struct option_group *groups, int argc,
                 char **argv, void (*see)(const struct option_given *given), void *into)
{
    struct getopt_table t = make_table(verb, groups);
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, t.letters, t.rows, NULL)) != -1;) {
        if (c == ':')
            refuse_missing(verb, argv);
        if (c != '?')
            see(&(struct option_given){verb, option_find(groups, find_name(&t, c)), optarg, into});
    }
    free(t.rows);
    free(t.letters);
}

/* ---- values ---- */

static void store(void *field, size_t size, uint64_t n)
{
    switch (size) {
    case sizeof(uint8_t):
        *(uint8_t *)field = (uint8_t)n;
        break;
    case sizeof(uint32_t):
        *(uint32_t *)field = (uint32_t)n;
        break;
    case sizeof(uint64_t):
        *(uint64_t *)field = n;
        break;
    default:
        abort(); /* a row of the program itself is wrong */
    }
}

const char *option_word(const struct option_row *row, size_t i)
{
    enum { SHORT = 16 };
    static char number[24];
    size_t n = 0;
    if (row->word)
        return row->word(i);
    if (row->choices) {
        while (n < i && row->choices[n].word)
            n++;
        return row->choices[n].word;
    }
    if (row->kind != OPTION_IS_NUMBER || row->highest - row->lowest >= SHORT ||
        i > row->highest - row->lowest)
        return NULL;
    snprintf(number, sizeof number, "%" PRIu64, row->lowest + i);
    return number;
}

/* "flat or nested", "base, pass1 or pass2". */
static void list_words(char *to, size_t size, const struct option_row *row)
{
    size_t n = 0, all = 0;
    while (option_word(row, all))
        all++;
    for (size_t i = 0; i < all && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%s", !i ? "" : i + 1 < all ? ", " : " or ",
                              option_word(row, i));
}

_Noreturn void option_refuse_word(const struct option_given *given)
{
    char words[512] = "";
    list_words(words, sizeof words, given->row);
    option_refuse(given, "--%s takes %s", given->row->name, words);
}

int option_choice(const struct option_given *given)
{
    for (const struct option_choice *c = given->row->choices; c->word; c++)
        if (!strcmp(c->word, given->value))
            return c->value;
    option_refuse_word(given);
}

static uint64_t take_number(const struct option_given *given)
{
    char option[64];
    snprintf(option, sizeof option, "--%s", given->row->name);
    return cli_number(option, given->value, given->row->lowest, given->row->highest);
}

bool option_percent(const char *text, double *percent, bool *has_sign)
{
    char *end;
    *percent = strtod(text, &end);
    *has_sign = !strcmp(end, "%");
    return end != text && (!*end || *has_sign);
}

/* What is below 1 and has no sign may be meant as a share. */
static double take_percent(const struct option_given *given)
{
    const struct option_row *row = given->row;
    const double least = (double)(int64_t)row->lowest, most = (double)row->highest;
    double n;
    bool has_sign;
    if (!option_percent(given->value, &n, &has_sign) || !(n >= least && n <= most) ||
        (!has_sign && n > 0 && n < 1))
        option_refuse(given, "--%s takes a percentage, as 5%%, of at least %.0f and at most %.0f",
                      row->name, least, most);
    return n;
}

static void take(const struct option_given *given)
{
    const struct option_row *row = given->row;
    void *field = given->into;
    switch (row->kind) {
    case OPTION_IS_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_IS_CLEAR:
        *(bool *)field = false;
        break;
    case OPTION_IS_VALUE:
        store(field, row->size, row->lowest);
        break;
    case OPTION_IS_TEXT:
        *(const char **)field = given->value;
        break;
    case OPTION_IS_LIST:
        cli_list_add(field, given->value);
        break;
    case OPTION_IS_NUMBER:
        store(field, row->size, take_number(given));
        break;
    case OPTION_IS_DOUBLE:
        *(double *)field = (double)take_number(given);
        break;
    case OPTION_IS_PERCENT:
        *(double *)field = take_percent(given);
        break;
    case OPTION_IS_CHOICE:
        store(field, row->size, (uint64_t)option_choice(given));
        break;
    case OPTION_IS_CALL:
        if (row->take)
            row->take(given);
        break;
    case OPTION_IS_HELP:
        cli_print_help(given->verb);
        exit(cli_finish_output(EXIT_DONE));
    }
}

static void set_true(char *into, size_t given)
{
    if (given)
        *(bool *)(into + given - 1) = true;
}

static void note_file(const struct option_row *row, const char *value)
{
    if (!value || !option_is_file(row))
        return;
    if (row->is_output)
        cli_writes(value);
    else if (!cli_is_folder(value))
        cli_reads(value);
}

/* Takes the first option of that name. */
static void take_named(const struct cli_verb *verb, const struct option_group *groups,
                       const char *name, char *into)
{
    for (const struct option_group *g = groups; g->table; g++)
        for (const struct option_row *row = g->table->rows; row->name; row++) {
            if (strcmp(row->name, name))
                continue;
            note_file(row, optarg);
            take(&(struct option_given){verb, row, optarg, into + g->place + row->field});
            set_true(into + g->place, row->given);
            set_true(into, g->given);
            return;
        }
}

void option_parse(const struct cli_verb *verb, const struct option_group *groups, int argc,
                  char **argv, void *into)
{
    struct getopt_table t = make_table(verb, groups);
    for (int c; (c = getopt_long(argc, argv, t.letters, t.rows, NULL)) != -1;) {
        if (c == ':')
            refuse_missing(verb, argv);
        if (c == '?')
            refuse_unknown(verb, groups, argv[optind - 1]);
        take_named(verb, groups, find_name(&t, c), into);
    }
    free(t.rows);
    free(t.letters);
    if (!verb->stops_at_operand) /* those are of a program, for which its verb does it */
        cli_note_operands(verb, argc, argv);
}
