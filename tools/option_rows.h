/* Options as rows: how a command line becomes a struct, the help, the tables of the manual pages,
 * the completion of shells and the suggestion for a typo all come from them. */
#ifndef PGK_OPTION_ROWS_H
#define PGK_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cli_verb;
struct option_row;

enum option_kind {
    OPTION_IS_FLAG,   /* bool, which becomes true */
    OPTION_IS_CLEAR,  /* bool, which becomes false */
    OPTION_IS_VALUE,  /* an enum, which becomes `lowest` */
    OPTION_IS_TEXT,   /* const char * */
    OPTION_IS_LIST,   /* struct cli_list, which grows */
    OPTION_IS_NUMBER, /* an integer of any size */
    OPTION_IS_DOUBLE, /* a double that takes whole numbers */
    OPTION_IS_PERCENT, /* a double, as 7.5 or 7.5% */
    OPTION_IS_CHOICE, /* an enum, by the words of `choices` */
    OPTION_IS_CALL,   /* what `take` makes of it */
    OPTION_IS_HELP,
};

/* The words that an option takes; the last has none. */
struct option_choice {
    const char *word;
    int value;
};

/* An option on the command line. */
struct option_given {
    const struct cli_verb *verb;
    const struct option_row *row;
    const char *value; /* NULL: none */
    void *into;        /* the row's field; without one the struct of its table */
};

struct option_row {
    const char *name; /* long, without dashes; NULL ends a table */
    char letter;      /* 0: none */
    const char *argument; /* NULL: none; [NAME]: it may be left out */
    const char *help;
    enum option_kind kind;
    size_t field, size;       /* of the table's struct */
    uint64_t lowest, highest; /* of a number; of a percentage as int64_t */
    const struct option_choice *choices;
    /* Word `i` of those that the option takes, where no table has them; NULL past the last. */
    const char *(*word)(size_t i);
    void (*take)(const struct option_given *given); /* NULL: it was seen before */
    size_t given;     /* offset + 1 of a bool that becomes true; 0: none */
    bool is_output;   /* the argument is a file that is written */
    const char *page; /* a sentence that the manual page adds, in Markdown, without a full stop */
};

/* offsetof, but the member must have the type. */
#define OPTION_FIELD(type, member, is) _Generic(((type *)0)->member, is: offsetof(type, member))
#define OPTION_PLACE(type, member) \
    .field = offsetof(type, member), .size = sizeof ((type *)0)->member

/* What follows name, letter, argument and help in a row. */
#define OPTION_FLAG(type, member) \
    .kind = OPTION_IS_FLAG, .field = OPTION_FIELD(type, member, bool)
#define OPTION_CLEAR(type, member) \
    .kind = OPTION_IS_CLEAR, .field = OPTION_FIELD(type, member, bool)
#define OPTION_VALUE(type, member, value) \
    .kind = OPTION_IS_VALUE, OPTION_PLACE(type, member), .lowest = (value)
#define OPTION_TEXT(type, member) \
    .kind = OPTION_IS_TEXT, .field = OPTION_FIELD(type, member, const char *)
#define OPTION_LIST(type, member) \
    .kind = OPTION_IS_LIST, .field = OPTION_FIELD(type, member, struct cli_list)
#define OPTION_NUMBER(type, member, least, most)                                                 \
    .kind = _Generic(((type *)0)->member, double: OPTION_IS_DOUBLE, default: OPTION_IS_NUMBER),   \
    OPTION_PLACE(type, member), .lowest = (least), .highest = (most)
#define OPTION_PERCENT(type, member, least, most)                                    \
    .kind = OPTION_IS_PERCENT, .field = OPTION_FIELD(type, member, double),          \
    .lowest = (uint64_t)(int64_t)(least), .highest = (most)
#define OPTION_CHOICE(type, member, words) \
    .kind = OPTION_IS_CHOICE, OPTION_PLACE(type, member), .choices = (words)
#define OPTION_CALL(function) .kind = OPTION_IS_CALL, .take = (function)
#define OPTION_WORDS(function) .word = (function)
#define OPTION_CALL_FOR(type, member, function) \
    OPTION_CALL(function), .field = offsetof(type, member)
#define OPTION_GIVEN(type, member) .given = OPTION_FIELD(type, member, bool) + 1

/* Rows that belong together: a paragraph of the help, and a table of one manual page, which has it
 * between "<!-- options KEY -->" and "<!-- /options -->". */
struct option_table {
    const char *key;
    const char *title; /* NULL: none */
    const struct option_row *rows;
};

/* A table as an action or verb has it; the last has none. Of two options of one name the first
 * counts, so that a verb can have a meaning of its own for a common one. */
struct option_group {
    const struct option_table *table;
    size_t place; /* of the table's struct in that of the verb */
    size_t given; /* offset + 1 of a bool that becomes true by any of these; 0: none */
};
#define OPTION_GROUP(table, type, member) {&(table), offsetof(type, member), 0}
#define OPTION_GROUP_GIVEN(table, type, member, flag) \
    {&(table), offsetof(type, member), OPTION_FIELD(type, flag, bool) + 1}

bool option_has_table(const struct option_group *groups, const struct option_table *table);
/* Those of the verb and all its actions, each table once. To be freed; exits when out of memory. */
struct option_group *option_groups_of(const struct cli_verb *verb);
/* The row of that name; NULL if there is none. */
const struct option_row *option_find(const struct option_group *groups, const char *name);
/* The next row: *i counts from 0. NULL after the last. */
const struct option_row *option_next(const struct option_group *groups, size_t *i);
/* Word `i` of the values that the option takes, NULL past the last: those of its choices, or the
 * numbers of a short range. Valid until the next call. */
const char *option_word(const struct option_row *row, size_t i);
/* What the choice that was given means; exits with EXIT_FAILED and a sentence if there is none of
 * this name. */
int option_choice(const struct option_given *given);
/* "pgokit: --to takes a, b or c, not 'bb' (did you mean b?)", of the words of the row. Exits with
 * EXIT_FAILED. */
_Noreturn void option_refuse_word(const struct option_given *given);
/* The same with a sentence of its own in front. */
_Noreturn void option_refuse(const struct option_given *given, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Reads "7.5%" or, without the sign, "7.5"; false if it is neither. Any number, NaN too. */
bool option_percent(const char *text, double *percent, bool *has_sign);
/* Whether its value is a file or folder. */
bool option_is_file(const struct option_row *row);

/* Takes all options of the command line into `into`, the struct of the verb; then optind is the
 * first operand. Files are noted as inputs or outputs. Prints what is wrong and exits with
 * EXIT_FAILED, and with EXIT_DONE on --help. */
void option_parse(const struct cli_verb *verb, const struct option_group *groups, int argc,
                  char **argv, void *into);

/* Shows `see` all options before they are taken, those that are wrong left out, and moves the
 * operands, which begin at optind, to the end. */
void option_look(const struct cli_verb *verb, const struct option_group *groups, int argc,
                 char **argv, void (*see)(const struct option_given *given), void *into);

/* The help, without the common options and the tables that are in `printed`, which may be NULL. */
void option_print_help(const struct option_group *groups, const struct option_group *printed);
/* Those common options that the groups of the verb, or NULL, have no others for. */
void option_print_common(const struct option_group *groups);
/* Words from column `at` to column 80 on, and from `indent` on in the lines after it. */
void option_print_words(const char *text, int at, int indent);
/* The tables of all actions and kinds of a verb for the manual pages, each between its marks. */
void option_print_markdown(const struct cli_verb *verb);

#endif
