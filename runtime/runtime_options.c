/* Options, all from options.def, and the name of the profile. */
#include "pgrt.h"

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

struct pgrt_options pgrt_options;

extern const char __memprof_profile_filename[] __attribute__((weak));
extern const char __memprof_default_options_str[] __attribute__((weak));
extern const char *__memprof_default_options(void) __attribute__((weak));

static const struct {
    const char *name, *meaning;
    u64 *value, initial, lowest, highest;
    char *text; /* of a string option, 1024 bytes */
} rows[] = {
#define PGRT_NUMBER(name, initial, lowest, highest, meaning) \
    {#name, meaning, &pgrt_options.name, initial, lowest, highest, NULL},
#define PGRT_STRING(name, meaning) {#name, meaning, NULL, 0, 0, 0, pgrt_options.name},
#include "options.def"
#undef PGRT_NUMBER
#undef PGRT_STRING
};

static const struct {
    const char *other, *name;
} other_names[] = {
#define PGRT_OTHER_NAME(other, name) {#other, #name},
#include "options.def"
#undef PGRT_OTHER_NAME
};

enum { ROWS = sizeof rows / sizeof *rows, TEXT_MAX = 1024 };

static bool parse_number(const char *s, u64 *value)
{
    static const char *const words[] = {"false", "true", "no", "yes"};
    for (unsigned i = 0; i < 4; i++)
        if (pgrt_streq(s, words[i])) {
            *value = i & 1;
            return true;
        }
    u64 v = 0, base = 10;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
    }
    if (!*s)
        return false;
    for (; *s; s++) {
        u64 digit = *s >= '0' && *s <= '9'                   ? (u64)(*s - '0')
                    : (*s | 32) >= 'a' && (*s | 32) <= 'f' ? (u64)((*s | 32) - 'a' + 10)
                                                           : 99;
        if (digit >= base || v > UINT32_MAX)
            return false;
        v = v * base + digit;
    }
    *value = v;
    return true;
}

static void set(const char *name, const char *text)
{
    for (unsigned i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (pgrt_streq(name, other_names[i].other))
            name = other_names[i].name;
    for (unsigned i = 0; i < ROWS; i++) {
        u64 v;
        if (!pgrt_streq(name, rows[i].name))
            continue;
        if (rows[i].text) {
            struct pgrt_text t;
            pgrt_text_init(&t, rows[i].text, TEXT_MAX);
            pgrt_text_str(&t, text);
        } else if (parse_number(text, &v)) {
            *rows[i].value = v < rows[i].lowest    ? rows[i].lowest
                             : v > rows[i].highest ? rows[i].highest
                                                   : v;
        } else {
            pgrt_say("no number as value of the option", name);
        }
        return;
    }
    if (pgrt_options.verbosity)
        pgrt_say("unknown option", name);
}

static bool separates(char c)
{
    return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n';
}

/* name=value items; a value may stand in quotes. */
static void parse(const char *s)
{
    char name[64], text[TEXT_MAX];
    while (s && *s) {
        while (separates(*s))
            s++;
        size_t n = 0, v = 0;
        while (*s && *s != '=' && !separates(*s)) {
            if (n < sizeof name - 1)
                name[n++] = *s;
            s++;
        }
        name[n] = 0;
        if (*s != '=')
            continue;
        char quote = s[1] == '\'' || s[1] == '"' ? s[1] : 0;
        s += quote ? 2 : 1;
        while (*s && (quote ? *s != quote : !separates(*s))) {
            if (v < sizeof text - 1)
                text[v++] = *s;
            s++;
        }
        text[v] = 0;
        if (quote && *s)
            s++;
        set(name, text);
    }
}

static void print_help(void)
{
    char line[400];
    for (unsigned i = 0; i < ROWS; i++) {
        struct pgrt_text t;
        pgrt_text_init(&t, line, sizeof line);
        pgrt_text_str(&t, rows[i].name);
        pgrt_text_str(&t, " (");
        if (rows[i].text)
            pgrt_text_str(&t, *rows[i].text ? rows[i].text : "unset");
        else
            pgrt_text_u64(&t, *rows[i].value);
        pgrt_text_str(&t, "): ");
        pgrt_text_str(&t, rows[i].meaning);
        pgrt_say(line, NULL);
    }
}

void pgrt_options_read(void)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (rows[i].value)
            *rows[i].value = rows[i].initial;
    /* A program's function replaces the string of its objects. */
    if (__memprof_default_options)
        parse(__memprof_default_options());
    else if (__memprof_default_options_str)
        parse(__memprof_default_options_str);
    parse(pgrt_getenv("MEMPROF_OPTIONS"));
    parse(pgrt_getenv("PGOKIT_HEAP_OPTIONS"));
    if (pgrt_options.help)
        print_help();
}

static void put_program_name(struct pgrt_text *t)
{
    char exe[1024], *name = exe;
    long n = pgrt_syscall(SYS_readlink, "/proc/self/exe", exe, sizeof exe - 1, 0L, 0L, 0L);
    if (n < 0) {
        pgrt_text_str(t, "program");
        return;
    }
    exe[n] = 0;
    for (char *p = exe; *p; p++)
        if (*p == '/')
            name = p + 1;
    pgrt_text_str(t, name);
}

static void put_time(struct pgrt_text *t)
{
    struct timespec now = {0};
    pgrt_syscall(SYS_clock_gettime, (long)CLOCK_REALTIME, &now, 0L, 0L, 0L, 0L);
    pgrt_text_u64(t, (u64)now.tv_sec);
}

/* Expands the template; tells whether the process is part of the name. */
static bool expand(struct pgrt_text *t, const char *template)
{
    bool has_process = false;
    for (const char *s = template; *s; s++) {
        struct utsname host;
        char one[2] = {*s, 0};
        if (*s != '%' || !s[1]) {
            pgrt_text_str(t, one);
            continue;
        }
        switch (*++s) {
        case 'p':
            has_process = true;
            pgrt_text_u64(t, (u64)pgrt_pid);
            break;
        case 'h':
            if (pgrt_syscall(SYS_uname, &host, 0L, 0L, 0L, 0L, 0L) == 0)
                pgrt_text_str(t, host.nodename);
            break;
        case 'e': put_program_name(t); break;
        case 't': put_time(t); break;
        case '%': pgrt_text_str(t, "%"); break;
        default:
            one[0] = *s;
            pgrt_text_str(t, "%");
            pgrt_text_str(t, one);
        }
    }
    return has_process;
}

/* The process that the program was started as; its children add their own number to a name
 * that would otherwise be the same for all. */
static int first_pid;

bool pgrt_profile_path(char *buffer, size_t size, int *fd, bool *unique)
{
    struct pgrt_text t;
    const char *prefix = pgrt_options.log_path;
    pgrt_text_init(&t, buffer, size);
    *fd = -1;
    if (!first_pid)
        first_pid = pgrt_pid;
    *unique = true;
    if (pgrt_options.out[0]) {
        *unique = expand(&t, pgrt_options.out);
        if (!*unique && first_pid != pgrt_pid) {
            pgrt_text_str(&t, ".");
            pgrt_text_u64(&t, (u64)pgrt_pid);
            *unique = true;
        }
        return t.at < t.end;
    }
    if (!*prefix)
        prefix = __memprof_profile_filename ? __memprof_profile_filename : "";
    if (pgrt_streq(prefix, "stdout") || pgrt_streq(prefix, "stderr")) {
        *fd = prefix[3] == 'o' ? 1 : 2;
        return true;
    }
    expand(&t, *prefix ? prefix : "memprof.profraw");
    pgrt_text_str(&t, ".");
    pgrt_text_u64(&t, (u64)pgrt_pid);
    return t.at < t.end;
}
