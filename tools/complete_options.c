/* The options of verbs, as shells complete them. */
#include "complete_options.h"

#include <stdlib.h>
#include <string.h>

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

void completed_options_find(struct completed_options *options, const struct cli_verb *verb)
{
    *options = (struct completed_options){0};
    add_groups(options, verb->groups);
    for (size_t i = 0; verb->actions && verb->actions[i]; i++)
        add_groups(options, verb->actions[i]->groups);
}

void completed_options_free(struct completed_options *options)
{
    free(options->v);
}
