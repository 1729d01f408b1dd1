/* Response files of other tools: an argument @FILE stands for the words in the file. */
#include "compat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100 }; /* files that name one another */

/* The whole file as text; NULL if there is none of this name, which leaves the argument as it is,
 * as with LLVM's tools and with gcc's. */
static char *read_all(const struct compat_call *call, const char *argument)
{
    FILE *in = fopen(argument + 1, "re");
    char *text = NULL;
    size_t cap = 0;
    if (!in && errno == ENOENT)
        return NULL;
    if (!in)
        compat_refuse(call, argument, compat_text("cannot be read: %s", strerror(errno)));
    if (getdelim(&text, &cap, '\0', in) < 0 && ferror(in))
        compat_refuse(call, argument, compat_text("cannot be read: %s", strerror(errno)));
    if (!feof(in))
        compat_refuse(call, argument, "is no response file: it has a byte 0");
    fclose(in);
    char *kept = compat_text("%s", text ? text : "");
    free(text);
    return kept;
}

/* Unquotes the word at *at in its place and moves *at after it. A backslash takes the next byte as
 * it is, also between quotes. */
static char *take_word(char **at)
{
    char *word = *at, *to = word, quote = '\0';
    for (; **at; ++*at) {
        char c = **at;
        if (c == '\\' && (*at)[1])
            *to++ = *++*at;
        else if (quote && c == quote)
            quote = '\0';
        else if (quote)
            *to++ = c;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (strchr(" \t\r\n\f\v", c))
            break;
        else
            *to++ = c;
    }
    *at += **at != '\0';
    *to = '\0';
    return word;
}

static void expand(const struct compat_call *call, char *argument, unsigned depth,
                   struct cli_list *into)
{
    char *text = *argument == '@' && argument[1] ? read_all(call, argument) : NULL;
    if (!text) {
        cli_list_add(into, argument);
        return;
    }
    if (depth == DEEPEST)
        compat_refuse(call, argument, "is a response file that names itself, perhaps by others");
    while (*(text += strspn(text, " \t\r\n\f\v")))
        expand(call, take_word(&text), depth + 1, into);
}

char **compat_expand_responses(const struct compat_call *call, char **argv)
{
    static struct cli_list words; /* as long-lived as the arguments of main */
    for (; *argv; argv++)
        expand(call, *argv, 0, &words);
    cli_list_add(&words, NULL);
    return (char **)(uintptr_t)words.v;
}
