/* Options as rows: the help of verbs, and the tables of the manual pages. */
#include "export_choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 80, LINE_MOST = 120, TEXT_AT = 28, LONGEST = 4096 };

/* Longer lines than a person likes to read are not worth a wider terminal. */
static int line_width(void)
{
    const int width = (int)cli_width(STDOUT_FILENO);
    return !width ? LINE : width < LINE_MOST ? width : LINE_MOST;
}

/* ---- the help ---- */

/* "  -o, --output FILE"; how wide it is. */
static int print_names(const struct option_row *row)
{
    const bool may_lack = row->argument && *row->argument == '[';
    const int inner = may_lack ? (int)strlen(row->argument) - 2 : 0;
    const char *bold = CLI_STYLE(CLI_BOLD);
    int n = row->letter ? printf("  %s-%c, ", bold, row->letter) : printf("      %s", bold);
    n += printf("--%s", row->name) - (int)strlen(bold);
    fputs(CLI_STYLE(CLI_PLAIN), stdout);
    if (may_lack)
        n += printf("[=%.*s]", inner, row->argument + 1);
    else if (row->argument)
        n += printf(" %s", row->argument);
    return n;
}

/* With the options after it, as no line begins with one that is not explained there. */
static int word_length(const char *text)
{
    size_t n = strcspn(text, " ");
    while (text[n] == ' ' && text[n + 1] == '-')
        n += 1 + strcspn(text + n + 1, " ");
    return (int)n;
}

void option_print_words(const char *text, int at, int indent)
{
    const int line = line_width();
    for (bool first = true; *text; first = false) {
        const int n = word_length(text);
        if (!first && at + 1 + n > line) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", n, text);
        at += n;
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* CLI_VIEWERS becomes the names of the formats. */
static const char *expand(const char *text, char *to, size_t size)
{
    const char *mark = strstr(text, CLI_VIEWERS);
    if (!mark)
        return text;
    snprintf(to, size, "%.*s%s%s", (int)(mark - text), text, export_viewers(),
             mark + strlen(CLI_VIEWERS));
    return to;
}

static void print_row(const struct option_row *row)
{
    char text[LONGEST];
    int at = print_names(row);
    const int gap = at + 2 > TEXT_AT ? 2 : TEXT_AT - at;
    printf("%*s", gap, "");
    option_print_words(expand(row->help, text, sizeof text), at + gap, TEXT_AT);
}

void option_print_common(const struct option_group *groups)
{
    for (const struct option_row *row = cli_common_options.rows; row->name; row++) {
        const struct option_row *own = groups ? option_find(groups, row->name) : row;
        if (!own || own == row)
            print_row(row);
    }
}

/* A row whose name an earlier group has is of no effect. */
static void print_group(const struct option_group *groups, const struct option_group *group)
{
    if (group->table->title)
        printf("\n%s%s:%s\n", CLI_STYLE(CLI_BOLD), group->table->title, CLI_STYLE(CLI_PLAIN));
    for (const struct option_row *row = group->table->rows; row->name; row++)
        if (option_find(groups, row->name) == row)
            print_row(row);
}

void option_print_help(const struct option_group *groups, const struct option_group *printed)
{
    for (const struct option_group *g = groups; g->table; g++)
        if (g->table != &cli_common_options && !option_has_table(printed, g->table))
            print_group(groups, g);
}

/* ---- the manual pages ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '-';
}

/* Options and the row's own argument are code. */
static size_t code_length(const struct option_row *row, const char *text, bool begins)
{
    size_t n = 0;
    if (begins && text[0] == '-' && (text[1] == '-' || isalpha((unsigned char)text[1])))
        for (n = 2; is_name(text[n]) || text[n] == '=';)
            n++;
    const size_t own = row->argument ? strcspn(row->argument, " =[") : 0;
    if (begins && own && !strncmp(text, row->argument, own) && !is_name(text[own]))
        n = own;
    return n;
}

static void print_as_markdown(const struct option_row *row, const char *text)
{
    for (bool begins = true; *text;) {
        const size_t n = code_length(row, text, begins);
        if (n)
            printf("`%.*s`", (int)n, text);
        else
            printf(*text == '|' || *text == '*' || *text == '_' || *text == '<' ? "\\%c" : "%c",
                   *text);
        begins = !n && !is_name(*text) && *text != '.' && *text != '=';
        text += n ? n : 1;
    }
}

static void print_markdown_row(const struct option_row *row)
{
    char text[LONGEST];
    printf("| ");
    if (row->letter)
        printf("`-%c`, ", row->letter);
    printf("`--%s", row->name);
    if (row->argument && *row->argument == '[')
        printf("[=%s` | ", row->argument + 1);
    else
        printf("%s%s` | ", row->argument ? " " : "", row->argument ? row->argument : "");
    print_as_markdown(row, expand(row->help, text, sizeof text));
    if (row->page)
        printf(". %c%s", toupper((unsigned char)*row->page), row->page + 1);
    puts(" |");
}

static void print_markdown_table(const struct option_table *table)
{
    printf("<!-- options %s -->\n| option | meaning |\n|---|---|\n", table->key);
    for (const struct option_row *row = table->rows; row->name; row++)
        print_markdown_row(row);
    puts("<!-- /options -->");
}

void option_print_markdown(const struct cli_verb *verb)
{
    struct option_group *groups = option_groups_of(verb);
    for (const struct option_group *g = groups; g->table; g++)
        print_markdown_table(g->table);
    free(groups);
    for (size_t i = 0; verb->kinds && verb->kinds[i]; i++)
        option_print_markdown(verb->kinds[i]);
}
