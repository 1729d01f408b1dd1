/* Text for people, in lines that fit their terminal. Files and pipes get it as it is. */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { NARROWEST = 40, FURTHEST_INDENT = 20 };

unsigned cli_terminal_width(FILE *stream)
{
    struct winsize size;
    return !ioctl(fileno(stream), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

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

/* ---- notes ---- */

static struct {
    char *text;
    size_t size;
} note;

FILE *cli_note_open(void)
{
    FILE *f = open_memstream(&note.text, &note.size);
    if (!f) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    fputs("pgokit: note: ", f);
    return f;
}

void cli_note_close(FILE *f)
{
    enum { HANGING = 2 };
    fputc('\n', f);
    if (!fclose(f))
        cli_wrap(stderr, note.text, cli_terminal_width(stderr), HANGING);
    free(note.text);
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
