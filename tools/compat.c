/* Other tools' command lines: one is read by its tool's table, and becomes one of pgokit. */
#include "compat.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static _Noreturn void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_FAILED);
}

char *compat_text(const char *format, ...)
{
    static struct cli_list texts; /* all of them, which are not freed */
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        out_of_memory();
    va_end(args);
    cli_list_add(&texts, text);
    return text;
}

_Noreturn void compat_refuse(const struct compat_call *call, const char *what, const char *why)
{
    char safe[256];
    fprintf(stderr, "pgokit: %s: %s %s\n", call->called, pgk_human_text(safe, sizeof safe, what),
            why);
    exit(EXIT_FAILED);
}

/* ---- options ---- */

/* Names of gflags may have a dash for an underscore. */
static bool same_name(enum compat_syntax syntax, const char *name, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = syntax == COMPAT_GFLAGS && text[i] == '-' ? '_' : text[i];
        if (name[i] != c)
            return false;
    }
    return name[len] == ' ' || !name[len];
}

static const struct compat_option *find_option(const struct compat_tool *tool, const char *text,
                                               size_t len)
{
    for (const struct compat_option *o = tool->options; o->names; o++)
        for (const char *name = o->names; name; name = strchr(name, ' ')) {
            name += *name == ' ';
            if (same_name(tool->syntax, name, text, len))
                return o;
        }
    return NULL;
}

static bool is_flag(const struct compat_option *o)
{
    return o->argument == COMPAT_FLAG;
}

static void give(struct compat_call *call, const struct compat_option *option, const char *value)
{
    struct compat_given *grown =
        realloc(call->given, (call->n_given + 1) * sizeof *call->given);
    if (!grown)
        out_of_memory();
    call->given = grown;
    call->given[call->n_given++] = (struct compat_given){option, value};
}

/* "true" or "false". */
static const char *parse_flag(const struct compat_call *call, const char *option, const char *text)
{
    static const char *const words[][5] = {{"0", "false", "f", "no", "n"},
                                           {"1", "true", "t", "yes", "y"}};
    for (int yes = 0; yes < 2; yes++)
        for (size_t i = 0; i < 5; i++)
            if (!strcasecmp(text, words[yes][i]))
                return yes ? "true" : "false";
    compat_refuse(call, option, "is a flag, which takes true or false");
}

static const char *next_argument(const struct compat_call *call, char ***at, const char *option)
{
    if (!(*at)[1])
        compat_refuse(call, option, "needs a value");
    return *++*at;
}

static _Noreturn void refuse_unknown(const struct compat_call *call, const char *option)
{
    compat_refuse(call, option,
                  "is no option that pgokit knows of this tool; --help lists those that it knows. "
                  "pgokit's own options may do the same");
}

/* -x, --x, =VALUE or VALUE as the next argument. */
static void take_long(struct compat_call *call, char ***at)
{
    const char *whole = **at, *name = whole + strspn(whole, "-"), *equals = strchr(name, '=');
    const struct compat_tool *tool = call->tool;
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct compat_option *o = find_option(tool, name, len);
    bool negated = !o && tool->syntax == COMPAT_GFLAGS && !equals && !strncmp(name, "no", 2);
    if (negated)
        o = find_option(tool, name + 2, len - 2);
    if (!o || (negated && !is_flag(o)))
        refuse_unknown(call, whole);
    if (is_flag(o))
        give(call, o, negated ? "false" : equals ? parse_flag(call, whole, equals + 1) : "true");
    else
        give(call, o, equals ? equals + 1 : next_argument(call, at, whole));
}

/* -x, -xy, -xVALUE, -x VALUE. */
static void take_letters(struct compat_call *call, char ***at)
{
    for (const char *letter = **at + 1; *letter; letter++) {
        const struct compat_option *o = find_option(call->tool, letter, 1);
        if (!o)
            refuse_unknown(call, compat_text("-%c", *letter));
        if (!is_flag(o)) {
            give(call, o, letter[1] ? letter + 1 : next_argument(call, at, **at));
            return;
        }
        give(call, o, "true");
    }
}

static void take_operand(struct compat_call *call, const char *text)
{
    if (!call->tool->operands)
        compat_refuse(call, text, "is an argument without an option, which it does not take");
    cli_list_add(&call->operands, text);
}

static void parse(struct compat_call *call, char **argv)
{
    bool operands_only = false;
    for (char **at = argv; *at; at++) {
        if (operands_only || **at != '-' || !(*at)[1])
            take_operand(call, *at);
        else if (!strcmp(*at, "--"))
            operands_only = true;
        else if (call->tool->syntax == COMPAT_GNU && (*at)[1] != '-')
            take_letters(call, &at);
        else
            take_long(call, &at);
    }
}

const char *compat_value(const struct compat_call *call, const char *name)
{
    const struct compat_option *o = find_option(call->tool, name, strlen(name));
    const char *value = NULL;
    for (size_t i = 0; i < call->n_given; i++)
        if (call->given[i].option == o)
            value = call->given[i].value;
    return value;
}

bool compat_is_true(const struct compat_call *call, const char *name)
{
    const char *value = compat_value(call, name);
    return value && *value == 't';
}

/* ---- translation ---- */

/* One word of `becomes`, with the value in it. */
static char *fill_word(const struct compat_call *call, const char *word, size_t len,
                       const char *value)
{
    const char *percent = memchr(word, '%', len);
    if (!percent)
        return compat_text("%.*s", (int)len, word);
    int before = (int)(percent - word);
    if (percent[1] == 's')
        return compat_text("%.*s%s", before, word, value);
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    if (end == value || *end || *value == '-')
        compat_refuse(call, value, "is not a number");
    return compat_text("%.*s%lu", before, word, n + 1);
}

void compat_add_words(struct compat_call *call, const char *words, const char *value)
{
    while (words && *words) {
        size_t len = strcspn(words, " ");
        cli_list_add(&call->words, fill_word(call, words, len, value));
        words += len + (words[len] == ' ');
    }
}

/* A name with an @ would be taken for one with a weight. */
static void add_input(struct compat_call *call, const char *name, const char *weight)
{
    cli_list_add(&call->operands, compat_text("%s@%s", name, weight));
}

static void add_weighted(struct compat_call *call, const char *option, char *text)
{
    char *comma = strchr(text, ',');
    size_t digits = strspn(text, "0123456789");
    bool wrong = !comma || !digits || comma != text + digits || !comma[1] ||
                 strspn(text, "0") == digits;
    if (wrong && call->tool->say)
        compat_say_llvm_words("input weight must be a positive integer");
    if (wrong)
        compat_refuse(call, option, compat_text("takes WEIGHT,FILE, not '%s'", text));
    *comma = '\0';
    add_input(call, comma + 1, text);
}

static char *trim(char *line)
{
    line += strspn(line, " \t\r\n");
    for (size_t n = strlen(line); n && strchr(" \t\r\n", line[n - 1]);)
        line[--n] = '\0';
    return line;
}

/* Lines FILE or WEIGHT,FILE; those that begin with # are remarks. */
static void add_list(struct compat_call *call, const char *option, const char *path)
{
    FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
    char *line = NULL;
    size_t cap = 0;
    if (!in)
        compat_refuse(call, option, compat_text("names %s, which cannot be read: %s", path,
                                                strerror(errno)));
    cli_reads(path);
    while (getline(&line, &cap, in) >= 0) {
        char *entry = trim(line);
        if (!*entry || *entry == '#')
            continue;
        entry = compat_text("%s", entry);
        if (strchr(entry, ','))
            add_weighted(call, option, entry);
        else
            add_input(call, entry, "1");
    }
    free(line);
    if (in != stdin)
        fclose(in);
}

static const char *option_name(const struct compat_option *o)
{
    return compat_text("--%.*s", (int)strcspn(o->names, " "), o->names);
}

static const char *choose_value(struct compat_call *call, const struct compat_option *o,
                                const char *value)
{
    char *all = compat_text("%s", "");
    for (const struct compat_choice *c = o->choices; c->value; c++) {
        if (!strcmp(c->value, value))
            return c->becomes;
        all = compat_text("%s%s%s", all, *all ? ", " : "", c->value);
    }
    struct cli_typo typo = cli_typo(value, strlen(value));
    cli_typo_try_words(&typo, all);
    compat_refuse(call, option_name(o),
                  compat_text("takes %s, not '%s'%s", all, value, cli_typo_hint(&typo, "")));
}

/* What an option becomes; NULL for nothing. Inputs that an option names are added on the way. */
static const char *resolve(struct compat_call *call, const struct compat_option *o,
                           const char *value)
{
    if (o->nothing && !strcmp(o->nothing, value))
        return NULL;
    switch (o->argument) {
    case COMPAT_FLAG:
        return *value == 't' ? o->becomes : o->otherwise;
    case COMPAT_VALUE:
        return o->becomes;
    case COMPAT_CHOICE:
        return choose_value(call, o, value);
    case COMPAT_OPERAND:
        cli_list_add(&call->operands, value);
        return o->becomes;
    case COMPAT_WEIGHTED:
        add_weighted(call, option_name(o), compat_text("%s", value));
        return NULL;
    case COMPAT_LIST:
        add_list(call, option_name(o), value);
        return NULL;
    case COMPAT_STDOUT:
        call->stdout_path = strcmp(value, "-") ? value : NULL;
        return NULL;
    }
    abort();
}

/* Names inputs, which have to be known before the others are translated. */
static bool names_inputs(const struct compat_option *o)
{
    return o->argument == COMPAT_OPERAND || o->argument == COMPAT_WEIGHTED ||
           o->argument == COMPAT_LIST;
}

static void translate_one(struct compat_call *call, const struct compat_option *o,
                          const char *value)
{
    const char *becomes = resolve(call, o, value);
    bool matters = !o->kinds || !call->has_kind || (o->kinds & COMPAT_KIND(call->kind));
    if (becomes && *becomes == '!')
        compat_refuse(call, option_name(o), compat_text("is not supported: %s", becomes + 1));
    if (matters)
        compat_add_words(call, becomes, value);
}

static void translate(struct compat_call *call, bool inputs)
{
    for (const struct compat_option *o = call->tool->options; o->names; o++)
        if (o->absent && names_inputs(o) == inputs &&
            !compat_value(call, option_name(o) + strlen("--")))
            translate_one(call, o, o->absent);
    for (size_t i = 0; i < call->n_given; i++)
        if (names_inputs(call->given[i].option) == inputs)
            translate_one(call, call->given[i].option, call->given[i].value);
}

void compat_weigh(struct compat_call *call, size_t i, unsigned long weight)
{
    call->operands.v[i] = compat_text("%s@%lu", call->operands.v[i], weight);
}

void compat_find_kind(struct compat_call *call, const struct cli_verb *verb)
{
    struct pgk_err err = {0};
    const struct pgk_format *format = NULL;
    struct pgk_file *file;
    int n = (int)call->operands.n;
    char **operands = (char **)(uintptr_t)call->operands.v;
    cli_keep_stdin(n, operands);
    if (verb->takes_folders) {
        cli_expand_folders(verb, compat_value(call, "output"), true, 0, &n, &operands);
        cli_list_free(&call->operands);
        call->operands = (struct cli_list){(const char **)(uintptr_t)operands, (size_t)n};
    }
    if (!n)
        return;
    /* The verb reports files that cannot be opened. */
    if (verb->decide)
        call->has_kind = !verb->decide(n, operands, &format, &err);
    else if (!cli_open(&file, cli_input(verb, operands[0]).path, &err))
        call->has_kind = (format = pgk_file_info_format(pgk_file_info(file))) != NULL;
    if (call->has_kind)
        call->kind = format->kind;
}

static void print_input(const char *path, const char *weight)
{
    struct stat st;
    struct dirent **entries;
    int n = !stat(path, &st) && S_ISDIR(st.st_mode) ? scandir(path, &entries, NULL, alphasort) : -1;
    if (n < 0) {
        printf("%s,%s\n", weight, path);
        return;
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") && strcmp(name, ".."))
            print_input(compat_text("%s/%s", path, name), weight);
        free(entries[i]);
    }
    free(entries);
}

_Noreturn void compat_list_inputs(const struct compat_call *call)
{
    for (size_t i = 0; i < call->operands.n; i++) {
        char *path = compat_text("%s", call->operands.v[i]), *at = strrchr(path, '@');
        bool has_weight = at && at[1] && !at[1 + strspn(at + 1, "0123456789")];
        if (has_weight)
            *at = '\0';
        print_input(path, has_weight ? at + 1 : "1");
    }
    exit(cli_finish_output(EXIT_DONE));
}

static void add_operands(struct compat_call *call)
{
    if (!call->operands.n)
        return;
    cli_list_add(&call->words, "--");
    for (size_t i = 0; i < call->operands.n; i++)
        cli_list_add(&call->words, call->operands.v[i]);
}

/* A name with an @ that the tool takes as it is. */
static void keep_names(struct compat_call *call)
{
    for (size_t i = 0; i < call->operands.n; i++)
        if (strchr(call->operands.v[i], '@'))
            compat_weigh(call, i, 1);
}

void compat_translate(struct compat_call *call, char **argv)
{
    call->verb = call->tool->verb;
    parse(call, argv);
    if (!strncmp(call->verb, "merge", strlen("merge")))
        keep_names(call);
    translate(call, true);
    if (call->tool->choose)
        call->tool->choose(call);
    struct cli_list chosen = call->words;
    call->words = (struct cli_list){0};
    compat_add_words(call, call->verb, NULL);
    for (size_t i = 0; i < chosen.n; i++)
        cli_list_add(&call->words, chosen.v[i]);
    cli_list_free(&chosen);
    translate(call, false);
    if (call->to)
        cli_list_add(&call->words, call->to);
    add_operands(call);
}
