/* "Did you mean ...?": names of verbs, options and values that are nearly what was typed. */
#include "cli.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LETTERS = 64, MOST_TYPOS = 2, LETTERS_FOR_A_TYPO = 3 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Digits are meant: llvm12 is another release than llvm13. */
static size_t cost(char c)
{
    return isdigit((unsigned char)c) ? MOST_TYPOS + 1 : 1;
}

/* Letters to put in, leave out, replace, or exchange with the next. */
static size_t count_typos(const char *typed, size_t n_typed, const char *name, size_t n)
{
    size_t rows[3][MOST_LETTERS + 1], *above = rows[0], *row = rows[1], *last = rows[2];
    row[0] = 0;
    for (size_t i = 0; i < n; i++)
        row[i + 1] = row[i] + cost(name[i]);
    for (size_t t = 0; t < n_typed; t++) {
        size_t *next = above;
        above = last;
        last = row;
        row = next;
        row[0] = last[0] + cost(typed[t]);
        for (size_t i = 0; i < n; i++) {
            const bool differs = typed[t] != name[i];
            const size_t of_both = cost(typed[t]) > 1 ? cost(typed[t]) : cost(name[i]);
            row[i + 1] = least(last[i] + (differs ? of_both : 0),
                               least(last[i + 1] + cost(typed[t]), row[i] + cost(name[i])));
            if (t && i && differs && typed[t] == name[i - 1] && typed[t - 1] == name[i])
                row[i + 1] = least(row[i + 1], above[i - 1] + of_both);
        }
    }
    return row[n];
}

static void try_name(struct cli_typo *t, const char *name, size_t n)
{
    if (n > MOST_LETTERS || t->length > 2 * MOST_LETTERS)
        return;
    const size_t typos = count_typos(t->typed, t->length, name, n);
    const size_t most = *t->meant ? t->typos - 1 : least(MOST_TYPOS, n / LETTERS_FOR_A_TYPO);
    if (!typos || typos > most)
        return;
    snprintf(t->meant, sizeof t->meant, "%.*s", (int)n, name);
    t->typos = typos;
}

struct cli_typo cli_typo(const char *typed, size_t length)
{
    return (struct cli_typo){.typed = typed, .length = length};
}

void cli_typo_try(struct cli_typo *t, const char *name)
{
    try_name(t, name, strlen(name));
}

const char *cli_typo_hint(struct cli_typo *t, const char *dashes)
{
    if (*t->meant)
        snprintf(t->hint, sizeof t->hint, " (did you mean %s%s?)", dashes, t->meant);
    return t->hint;
}

static bool is_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

void cli_typo_try_words(struct cli_typo *t, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (is_in_name(text[n]))
            n++;
        if (n)
            try_name(t, text, n);
        text += n ? n : 1;
    }
}

static _Noreturn void refuse(const struct cli_verb *verb, const struct option_row *row,
                             const char *value, const char *fmt, va_list args)
{
    char takes[1024], safe[64];
    const char *word;
    vsnprintf(takes, sizeof takes, fmt, args);
    struct cli_typo typo = cli_typo(value, strlen(value));
    cli_typo_try_words(&typo, takes);
    for (size_t i = 0; row && (word = option_word(row, i)) != NULL; i++)
        cli_typo_try(&typo, word);
    cli_usage(verb, "%s, not '%s'%s", takes, pgk_human_text(safe, sizeof safe, value),
              cli_typo_hint(&typo, ""));
}

void cli_refuse_value(const struct cli_verb *verb, const char *value, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    refuse(verb, NULL, value, fmt, args);
}

void option_refuse(const struct option_given *given, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    refuse(given->verb, given->row, given->value, fmt, args);
}
