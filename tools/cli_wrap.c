/* Text for people, in lines that fit their terminal. Files and pipes get it as it is. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NARROWEST = 40, FURTHEST_INDENT = 20 };

/* What switches colours, which takes no column. */
static size_t escape_bytes(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && s[n] == '\033') {
        while (s + n < end && s[n] != 'm')
            n++;
        n += s + n < end;
    }
    return n;
}

/* Bytes of one column: a letter, and what switches colours before it. */
static size_t column_bytes(const char *s, const char *end)
{
    size_t n = escape_bytes(s, end);
    for (n += s + n < end; s + n < end && ((unsigned char)s[n] & 0xc0) == 0x80;)
        n++;
    return n;
}

/* Where the text of a line begins: after blanks, and after a label with blanks after it. */
static unsigned indent_of(const char *line, const char *end)
{
    unsigned at = 0, begin = 0, blanks = 0;
    for (const char *s = line; s < end && at <= FURTHEST_INDENT; s += column_bytes(s, end), at++) {
        if (*s == ' ') {
            blanks++;
            continue;
        }
        if (at == blanks || blanks > 1)
            begin = at;
        if (at != blanks && blanks > 1)
            break;
        blanks = 0;
    }
    return begin;
}

/* The blank at which the line is cut; NULL: it fits, or has none. A word that is too long stays
 * whole. Where columns are kept apart by two blanks, the cut is there, unless this would leave less
 * than half of a line. */
static const char *cut_of(const char *line, const char *end, unsigned from, unsigned width)
{
    unsigned at = from;
    const char *cut = NULL, *wide = NULL;
    for (const char *s = line; s + escape_bytes(s, end) < end; s += column_bytes(s, end), at++) {
        if (at >= width && cut && *s != ' ')
            return wide ? wide : cut;
        if (*s != ' ' || s == line || s[-1] == ' ')
            continue;
        cut = s;
        if (s + 1 < end && s[1] == ' ' && at > width / 2)
            wide = s;
    }
    return at > width ? (wide ? wide : cut) : NULL;
}

static void wrap_line(FILE *out, const char *line, const char *end, unsigned width,
                      unsigned hanging)
{
    const unsigned indent = indent_of(line, end) + hanging;
    const char *cut, *start = line + strspn(line, " ");
    fprintf(out, "%.*s", (int)(start - line), line);
    unsigned at = (unsigned)(start - line);
    while ((cut = cut_of(start, end, at, width)) != NULL) {
        fprintf(out, "%.*s\n%*s", (int)(cut - start), start, (int)indent, "");
        start = cut + strspn(cut, " ");
        at = indent;
    }
    fprintf(out, "%.*s", (int)(end - start), start);
}

void cli_wrap(FILE *out, const char *text, unsigned width, unsigned hanging)
{
    if (!width) {
        fputs(text, out);
        return;
    }
    for (const char *end; *text; text = end) {
        end = text + strcspn(text, "\n");
        wrap_line(out, text, end, width < NARROWEST ? NARROWEST : width, hanging);
        if (*end)
            fputc(*end++, out);
    }
}

/* ---- standard error ---- */

#define BEFORE_MESSAGES "pgokit: "

/* What has been written of a line that is a message. All else passes at once, as progress does. */
static struct {
    char *text;
    size_t n, capacity;
    bool after_text; /* what comes next is not at the start of a line */
    bool progress;   /* a bar is on the screen */
} message;

static const char wipe[] = "\r\033[K"; /* what each bar begins with */

static void write_now(const char *text, size_t n)
{
    if (cli_pager_takes(text, n))
        return;
    for (ssize_t done; n && ((done = write(STDERR_FILENO, text, n)) > 0 || errno == EINTR);) {
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        }
    }
}

static bool keep(const char *text, size_t n)
{
    if (message.capacity - message.n <= n) {
        char *larger = realloc(message.text, 2 * (message.n + n + 1));
        if (!larger)
            return false;
        message.text = larger;
        message.capacity = 2 * (message.n + n + 1);
    }
    memcpy(message.text + message.n, text, n);
    message.n += n;
    message.text[message.n] = '\0';
    return true;
}

static bool begins(const char *text, size_t n, const char *with)
{
    return n >= strlen(with) && !memcmp(text, with, strlen(with));
}

/* With the word that says how bad it is in colour. */
static void wrap_message(FILE *out, unsigned width, unsigned hanging)
{
    static const struct { const char *word; enum cli_style style; } words[] = {
        {"warning: ", CLI_WARN}, {"note: ", CLI_BOLD}};
    const char *text = message.text;
    char *marked = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = text + strlen(BEFORE_MESSAGES), *word = words[i].word;
        if (!begins(text, message.n, BEFORE_MESSAGES) || strncmp(at, word, strlen(word)))
            continue;
        if (asprintf(&marked, "%s%s%s%s%s", BEFORE_MESSAGES,
                     cli_style(STDERR_FILENO, words[i].style), word,
                     cli_style(STDERR_FILENO, CLI_PLAIN), at + strlen(word)) < 0)
            marked = NULL;
        break;
    }
    cli_wrap(out, marked ? marked : text, width, hanging);
    free(marked);
}

static void write_message(void)
{
    enum { HANGING = 2 };
    char *wrapped = NULL;
    size_t n = 0;
    const unsigned width = cli_width(STDERR_FILENO);
    FILE *f = message.n && width ? open_memstream(&wrapped, &n) : NULL;
    if (f)
        wrap_message(f, width, HANGING);
    if (f && !fclose(f))
        write_now(wrapped, n);
    else
        write_now(message.text, message.n);
    free(wrapped);
    message.n = 0;
}

/* Sentences, and the lines of reports, which are indented; but commands are to be copied. */
static bool begins_message(const char *text, size_t n)
{
    return begins(text, n, BEFORE_MESSAGES) ||
           (begins(text, n, "  ") && !begins(text, n, "  pgokit "));
}

/* Part of a line, or the rest of one. */
static void write_part(const char *text, size_t n)
{
    const bool ends = text[n - 1] == '\n';
    const bool is_message = message.n || (!message.after_text && begins_message(text, n));
    const bool kept = is_message && keep(text, n);
    if (message.n && (ends || !kept))
        write_message();
    if (!kept)
        write_now(text, n);
    message.after_text = !ends;
}

/* A bar begins by wiping the line, and is written at once. */
static bool is_progress(const char *text, size_t n)
{
    return begins(text, n, wipe);
}

void cli_wipe_progress(void)
{
    flockfile(stderr);
    if (message.progress)
        write_now(wipe, strlen(wipe));
    message.progress = false;
    funlockfile(stderr);
}

static ssize_t write_lines(void *none, const char *text, size_t size)
{
    (void)none;
    if (is_progress(text, size)) {
        write_now(text, size);
        message.progress = size > strlen(wipe);
        return (ssize_t)size;
    }
    cli_wipe_progress();
    if (!message.n && !message.after_text)
        cli_flush_output(); /* what was printed before stands above */
    for (size_t at = 0, n; at < size; at += n) {
        const char *newline = memchr(text + at, '\n', size - at);
        n = newline ? (size_t)(newline + 1 - text) - at : size - at;
        write_part(text + at, n);
    }
    return (ssize_t)size;
}

void cli_wrap_errors(void)
{
    FILE *f = isatty(STDERR_FILENO)
                  ? fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_lines})
                  : NULL;
    if (!f)
        return;
    setvbuf(f, NULL, _IONBF, 0);
    stderr = f;
    atexit(write_message);
}

/* ---- notes ---- */

FILE *cli_note_open(void)
{
    fputs(BEFORE_MESSAGES "note: ", stderr);
    return stderr;
}

void cli_note_close(FILE *f)
{
    fputc('\n', f);
}

void cli_note(const char *fmt, ...)
{
    va_list args;
    FILE *f = cli_note_open();
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
    cli_note_close(f);
}
