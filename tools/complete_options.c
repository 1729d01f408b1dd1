/* The options of verbs: names from the tables that parse them, the rest from the help. */
#include "complete_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '-';
}

/* The place behind "--NAME" where the help explains it: in a line that begins with an option. NULL
 * if there is none. */
static const char *find_in_help(const char *help, const char *name)
{
    const size_t len = strlen(name);
    for (const char *line = help; *line;) {
        const char *end = strchrnul(line, '\n');
        if (line[strspn(line, " ")] == '-')
            for (const char *at = line; (at = strstr(at, "--")) && at < end;) {
                at += 2;
                if (!strncmp(at, name, len) && !is_name(at[len]))
                    return at + len;
            }
        line = end + !!*end;
    }
    return NULL;
}

/* By the word that stands for the value. */
static enum completed_value find_value(const char *behind, const struct option *o)
{
    static const char *const files[] = {"FILE", "DIR", "FOLDER", "BINARY", "PROGRAM", "OLD",
                                        "OUTPUT"};
    if (o->has_arg == no_argument)
        return VALUE_NONE;
    behind += strspn(behind, " =[");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strncmp(behind, files[i], strlen(files[i])))
            return VALUE_FILE;
    return VALUE_TEXT;
}

/* Copies the explanation, which begins behind two blanks and may go on in lines that are further in
 * than options are, up to the end of a sentence or a part of it. */
static void copy_explanation(char *to, size_t size, const char *behind)
{
    enum { FURTHER_IN = 12 };
    size_t n = 0;
    const char *end = strchrnul(behind, '\n'), *text = strstr(behind, "  ");
    if (!text || text > end)
        text = end;
    while (*text && n + 1 < size) {
        const size_t blanks = strspn(text, " \n");
        const bool next_line = memchr(text, '\n', blanks) != NULL;
        text += blanks;
        if (next_line && (blanks < FURTHER_IN || *text == '-'))
            break;
        if (n)
            to[n++] = ' ';
        while (*text && !isspace((unsigned char)*text) && n + 1 < size)
            to[n++] = *text++;
        if (n && strchr(";:.", to[n - 1]))
            break;
    }
    while (n && strchr(" ;:.,", to[n - 1]))
        n--;
    to[n] = 0;
}

static const char *find_explanation(const struct cli_verb *verb, const char *name)
{
    const char *found = find_in_help(verb->help, name);
    for (size_t i = 0; !found && verb->actions && verb->actions[i]; i++)
        found = find_in_help(verb->actions[i]->help, name);
    return found;
}

static const struct option_row *find_common(const char *name)
{
    return option_find((const struct option_group[]){{.table = &cli_common_options}, {0}}, name);
}

bool option_takes_file(const struct cli_verb *verb, const struct option *o)
{
    const struct option_row *common = find_common(o->name);
    if (common)
        return option_is_file(common);
    const char *behind = find_explanation(verb, o->name);
    return behind && find_value(behind, o) == VALUE_FILE;
}

static bool has_option(const struct completed_options *options, const char *name)
{
    for (size_t i = 0; i < options->n; i++)
        if (!strcmp(options->v[i].name, name))
            return true;
    return false;
}

static struct completed_option *add_new(struct completed_options *options)
{
    struct completed_option *v = realloc(options->v, (options->n + 1) * sizeof *v);
    if (!v) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    options->v = v;
    return &v[options->n++];
}

/* The help of a row up to the end of a sentence or a part of it. */
static void copy_sentence(char *to, size_t size, const char *help)
{
    size_t n = 0;
    while (help[n] && n + 1 < size && !(strchr(";:.", help[n]) && strchr(" ", help[n + 1])))
        n++;
    if (help[n] && n + 1 == size)
        while (n && help[n] != ' ')
            n--;
    snprintf(to, size, "%.*s", (int)n, help);
}

static void add_row(struct completed_options *options, const struct option_row *row)
{
    struct completed_option *v;
    if (has_option(options, row->name))
        return;
    v = add_new(options);
    v->name = row->name;
    v->letter = row->letter;
    v->value = !row->argument         ? VALUE_NONE
               : option_is_file(row) ? VALUE_FILE
                                      : VALUE_TEXT;
    copy_sentence(v->does, sizeof v->does, row->help);
}

static void add_groups(struct completed_options *options, const struct option_group *groups)
{
    const struct option_row *row;
    for (size_t i = 0; groups && (row = option_next(groups, &i)) != NULL;)
        add_row(options, row);
}

static void add_option(struct completed_options *options, const struct cli_verb *verb,
                       const struct option *o)
{
    if (find_common(o->name)) {
        add_row(options, find_common(o->name));
        return;
    }
    const char *behind = find_explanation(verb, o->name);
    if (!behind) {
        fprintf(stderr, "pgokit: %s takes --%s, which its help does not explain\n", verb->name,
                o->name);
        exit(EXIT_FAILED);
    }
    struct completed_option *v = add_new(options);
    v->name = o->name;
    v->letter = o->val > ' ' && o->val <= '~' ? (char)o->val : 0;
    v->value = find_value(behind, o);
    copy_explanation(v->does, sizeof v->does, behind);
}

static void add_table(struct completed_options *options, const struct cli_verb *verb,
                      const struct option *table)
{
    for (const struct option *o = table; o->name; o++)
        if (!has_option(options, o->name))
            add_option(options, verb, o);
}

void completed_options_find(struct completed_options *options, const struct cli_verb *verb)
{
    *options = (struct completed_options){0};
    if (verb->options)
        add_table(options, verb, verb->options);
    add_groups(options, verb->groups);
    for (size_t i = 0; verb->actions && verb->actions[i]; i++) {
        if (verb->actions[i]->options)
            add_table(options, verb, verb->actions[i]->options);
        add_groups(options, verb->actions[i]->groups);
    }
}

void completed_options_free(struct completed_options *options)
{
    free(options->v);
}
