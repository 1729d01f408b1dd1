/* Standard output for a person at a terminal: lines that fit it, colours, and a pager for what is
 * longer than it. Files and pipes get all as it is. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES_USUAL = 24, COLUMNS_USUAL = 80 };

/* ---- how wide, and whether in colour ---- */

static unsigned number_in(const char *name)
{
    const char *text = getenv(name);
    const unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    return n <= USHRT_MAX ? (unsigned)n : 0;
}

static bool size_of(int fd, struct winsize *size)
{
    return isatty(fd) && !ioctl(fd, TIOCGWINSZ, size);
}

unsigned cli_width(int fd)
{
    struct winsize size;
    const unsigned wanted = number_in("COLUMNS");
    if (!size_of(fd, &size))
        return 0;
    return wanted ? wanted : size.ws_col ? size.ws_col : COLUMNS_USUAL;
}

static unsigned lines_of_terminal(void)
{
    struct winsize size;
    const unsigned wanted = number_in("LINES");
    if (wanted)
        return wanted;
    return size_of(STDOUT_FILENO, &size) && size.ws_row ? size.ws_row : LINES_USUAL;
}

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return !term || !*term || !strcmp(term, "dumb");
}

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
const struct option_choice cli_colours[] = {
    {"auto", COLOUR_AUTO}, {"always", COLOUR_ALWAYS}, {"never", COLOUR_NEVER}, {0}};
static enum colour colour;

void cli_take_colour(const struct option_given *given)
{
    colour = given->value ? (enum colour)option_choice(given) : COLOUR_ALWAYS;
}

static bool has_colour(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    return colour == COLOUR_ALWAYS || (colour == COLOUR_AUTO && isatty(fd) && !is_dumb() &&
                                       !(no_color && *no_color));
}

bool cli_colour(void)
{
    return has_colour(STDOUT_FILENO);
}

const char *cli_style(int fd, enum cli_style style)
{
    static const char *const codes[] = {[CLI_PLAIN] = "\033[0m",  [CLI_BOLD] = "\033[1m",
                                        [CLI_DIM] = "\033[2m",    [CLI_GOOD] = "\033[32m",
                                        [CLI_BAD] = "\033[1;31m", [CLI_WARN] = "\033[33m"};
    return has_colour(fd) ? codes[style] : "";
}

/* ---- the pager ---- */

struct text {
    char *v;
    size_t n, capacity;
};

static struct {
    bool replaced, fits, paged, no_pager;
    struct text line; /* the begin of one that must fit */
    struct text held; /* what is not on the screen yet */
    unsigned lines;   /* in `held`, as the screen has them */
    pid_t pager;      /* 0: none */
    int to;           /* its input; -1: it has ended */
} out = {.to = -1};

void cli_no_pager(const struct option_given *given)
{
    (void)given;
    out.no_pager = true;
}

/* Before the verb, whose rows do not count. */
bool cli_take_output_option(const char *word)
{
    static const char name[] = "--color";
    const struct option_group groups[] = {{.table = &cli_common_options}, {0}};
    const size_t n = strlen(name);
    if (!strcmp(word, "--no-pager")) {
        out.no_pager = true;
        return true;
    }
    if (strncmp(word, name, n) || (word[n] && word[n] != '='))
        return false;
    cli_take_colour(&(struct option_given){&cmd_help, option_find(groups, name + 2),
                                           word[n] ? word + n + 1 : NULL, NULL});
    return true;
}

static void append(struct text *t, const char *text, size_t n)
{
    if (t->capacity - t->n < n) {
        const size_t capacity = 2 * (t->n + n);
        char *larger = realloc(t->v, capacity);
        if (!larger) {
            fputs("pgokit: out of memory\n", stderr);
            _exit(EXIT_FAILED);
        }
        t->v = larger;
        t->capacity = capacity;
    }
    memcpy(t->v + t->n, text, n);
    t->n += n;
}

/* Without the variables that say so: what git does. */
static const char *pager_command(void)
{
    static const char usual[] = "less -FRX";
    const char *command = getenv("PGOKIT_PAGER");
    command = command ? command : getenv("PAGER");
    if (command)
        return *command && strcmp(command, "cat") ? command : NULL;
    return is_dumb() ? NULL : usual;
}

/* Is the first word a program? Signs of the shell are its business. */
static bool is_there(const char *command)
{
    char path[PATH_MAX], word[PATH_MAX];
    const char *folders = getenv("PATH"), *end;
    const size_t n = strcspn(command, " \t");
    if (n >= sizeof word || command[strcspn(command, "=$`\"'\\;&|()<>*?~")])
        return true;
    snprintf(word, sizeof word, "%.*s", (int)n, command);
    if (strchr(word, '/'))
        return !access(word, X_OK);
    for (const char *at = folders ? folders : "/bin:/usr/bin";; at = end + 1) {
        end = strchrnul(at, ':');
        const int len = snprintf(path, sizeof path, "%.*s/%s", (int)(end - at), at, word);
        if (len < (int)sizeof path && !access(path, X_OK))
            return true;
        if (!*end)
            return false;
    }
}

static _Noreturn void become_pager(const char *command, const int channel[2])
{
    dup2(channel[0], STDIN_FILENO);
    close(channel[0]);
    close(channel[1]);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* From then on an interrupt is the pager's: its user ends it, and we notice. */
static bool start_pager(void)
{
    int channel[2];
    const char *command = out.no_pager ? NULL : pager_command();
    pgk_progress_work(NULL);
    cli_wipe_progress();
    if (!command || !is_there(command) || pipe(channel))
        return false;
    out.pager = fork();
    if (!out.pager)
        become_pager(command, channel);
    close(channel[0]);
    if (out.pager < 0) {
        out.pager = 0;
        close(channel[1]);
        return false;
    }
    out.to = channel[1];
    pgk_progress_enable(false);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    return true;
}

/* False with errno if it cannot be written. */
static bool write_all(int fd, const char *text, size_t n)
{
    while (n) {
        const ssize_t done = write(fd, text, n);
        if (done < 0 && errno != EINTR)
            return false;
        text += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

bool cli_pager_takes(const char *text, size_t n)
{
    if (out.to < 0)
        return false;
    if (write_all(out.to, text, n))
        return true;
    close(out.to); /* its user has seen enough */
    out.to = -1;
    return false;
}

/* What a pager that has ended does not take is nothing that its user wants to see. */
static bool put(const char *text, size_t n)
{
    if (out.paged)
        pgk_progress_work(NULL); /* all is there; what comes slowly goes on */
    if (cli_pager_takes(text, n) || out.pager)
        return true;
    cli_wipe_progress();
    return write_all(STDOUT_FILENO, text, n);
}

static bool release(void)
{
    const bool ok = put(out.held.v, out.held.n);
    out.held.n = 0;
    return ok;
}

/* What a line takes on the screen. */
static unsigned lines_of(const char *text, size_t n)
{
    const unsigned width = cli_width(STDOUT_FILENO);
    size_t columns = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\033')
            while (i + 1 < n && text[i] != 'm')
                i++;
        else
            columns += text[i] != '\n' && (text[i] & 0xc0) != 0x80;
    }
    return 1 + (unsigned)(columns ? (columns - 1) / (width ? width : COLUMNS_USUAL) : 0);
}

/* Whole lines, or the end of all. */
static bool emit(const char *text, size_t n)
{
    if (!out.paged || out.pager)
        return put(text, n);
    append(&out.held, text, n);
    for (size_t at = 0, len; at < n; at += len) {
        const char *newline = memchr(text + at, '\n', n - at);
        len = newline ? (size_t)(newline + 1 - text) - at : n - at;
        out.lines += lines_of(text + at, len);
    }
    if (out.lines < lines_of_terminal())
        return true;
    out.paged = start_pager();
    return release();
}

static bool emit_fitting(char *line, size_t n)
{
    char *wrapped = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&wrapped, &size);
    line[n] = '\0';
    if (f)
        cli_wrap(f, line, cli_width(STDOUT_FILENO), 0);
    const bool ok = f && !fclose(f) ? emit(wrapped, size) : emit(line, n);
    free(wrapped);
    return ok;
}

static ssize_t write_output(void *none, const char *text, size_t size)
{
    (void)none;
    if (!out.fits)
        return emit(text, size) ? (ssize_t)size : 0;
    for (size_t at = 0, n; at < size; at += n) {
        const char *newline = memchr(text + at, '\n', size - at);
        n = newline ? (size_t)(newline + 1 - text) - at : size - at;
        append(&out.line, text + at, n);
        if (!newline)
            continue;
        append(&out.line, "", 1);
        const size_t whole = out.line.n - 1;
        out.line.n = 0;
        if (!emit_fitting(out.line.v, whole))
            return 0;
    }
    return (ssize_t)size;
}

bool cli_flush_output(void)
{
    bool ok = !fflush(stdout) && !ferror(stdout);
    if (out.line.n) {
        append(&out.line, "", 1);
        ok &= emit_fitting(out.line.v, out.line.n - 1);
        out.line.n = 0;
    }
    if (out.held.n)
        ok &= release();
    return ok;
}

/* At the end of the process, which the pager may outlive by hours. */
static void end_output(void)
{
    cli_flush_output();
    if (!out.pager)
        return;
    if (out.to >= 0)
        close(out.to);
    out.to = -1;
    while (waitpid(out.pager, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void cli_for_data(const char *path)
{
    if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
        pgk_progress_work(NULL);
}

void cli_for_people(enum cli_output how)
{
    if (!isatty(STDOUT_FILENO))
        return;
    out.fits |= how != CLI_EXACT;
    out.paged |= how != CLI_LINES;
    if (out.replaced)
        return;
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});
    if (!f)
        return;
    fflush(stdout);
    setvbuf(f, NULL, _IOLBF, 0);
    stdout = f;
    out.replaced = true;
    atexit(end_output);
}
