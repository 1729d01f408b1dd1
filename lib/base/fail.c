/* Status sentences, filling a struct pgk_err and printing it. */
#include "fail.h"

#include "pgokit/human.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *pgk_status_text(int status)
{
    switch (status) {
#define X(name, number, text) \
    case PGK_##name: return text;
        PGK_STATUS_LIST(X)
#undef X
    }
    return "an unknown error";
}

/* Copies a text, cut to fit; a cut one ends in "..." and not inside a character. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = from ? strlen(from) : 0;
    if (len < size) {
        if (len)
            memmove(to, from, len);
        to[len] = '\0';
        return;
    }
    len = size - sizeof "...";
    while (len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80)
        len--;
    memmove(to, from, len);
    memcpy(to + len, "...", sizeof "...");
}

int pgk_err_fill(struct pgk_err *err, const struct pgk_err_info *info)
{
    if (!err)
        return info->status;
    err->status = info->status;
    err->sys_errno = info->sys_errno;
    err->version = info->version;
    err->offset = info->offset ? *info->offset : PGK_NO_OFFSET;
    copy_text(err->file, sizeof err->file, info->file);
    copy_text(err->format, sizeof err->format, info->format);
    copy_text(err->record, sizeof err->record, info->record);
    copy_text(err->field, sizeof err->field, info->field);
    copy_text(err->found, sizeof err->found, info->found);
    copy_text(err->expected, sizeof err->expected, info->expected);
    copy_text(err->hint, sizeof err->hint, info->hint);
    return info->status;
}

void pgk_err_advise(struct pgk_err *err, const char *hint)
{
    if (err)
        copy_text(err->hint, sizeof err->hint, hint);
}

const char *pgk_format(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(buf, size, fmt, args);
    va_end(args);
    return buf;
}

int pgk_fail_nomem(struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_NOMEM,
                    .hint = "close other programs, or work on fewer or smaller files at a time");
}

static const char *errno_hint(int e)
{
    switch (e) {
    case ENOENT: return "check the spelling of the path";
    case ENOTDIR: return "a part of the path is a file; check the path";
    case EISDIR: return "name a file inside it";
    case EACCES:
    case EPERM: return "check who may use the file and the folders above it";
    case EMFILE:
    case ENFILE: return "too many files are open; raise the limit with 'ulimit -n'";
    case ENOSPC:
    case EDQUOT: return "free some space";
    case EIO: return "the disk or its connection may be failing; see 'dmesg'";
    case ENOMEM: return "close other programs, or work on smaller files";
    }
    return NULL;
}

int pgk_fail_errno(struct pgk_err *err, const char *file, const char *what)
{
    int e = errno;
    return pgk_fail(err, PGK_E_IO, .sys_errno = e, .file = file,
                    .found = PGK_F("cannot %s", what), .hint = errno_hint(e));
}

/* One line under construction. Every byte of every text fits even if all are escaped. */
struct line {
    char text[4 * sizeof(struct pgk_err) + 512];
    size_t n;
};

static void add(struct line *l, const char *text)
{
    pgk_human_text(l->text + l->n, sizeof l->text - l->n, text);
    l->n += strlen(l->text + l->n);
}

static bool ends_a_sentence(const char *s)
{
    return *s && strchr(".?", s[strlen(s) - 1]);
}

/* A record may be a sentence that says what is wrong with the whole file. */
static void add_place(struct line *l, const struct pgk_err *err)
{
    const char *gap = "";
    const bool sentence = ends_a_sentence(err->record);
    if (err->record[0]) {
        add(l, err->record);
        gap = err->field[0] && !sentence ? ", " : " ";
    }
    if (err->field[0]) {
        add(l, gap);
        add(l, sentence ? "Field " : "field ");
        add(l, err->field);
        gap = " ";
    }
    if (err->offset != PGK_NO_OFFSET) {
        add(l, gap);
        add(l, PGK_F("at offset 0x%" PRIx64 " (%" PRIu64 ")", err->offset, err->offset));
    }
    if (err->record[0] || err->field[0] || err->offset != PGK_NO_OFFSET)
        add(l, ": ");
}

static void add_fact(struct line *l, const struct pgk_err *err)
{
    if (err->found[0]) {
        /* The refused action is a clause of its own: "cannot open". */
        if (err->status != PGK_E_IO)
            add(l, "found ");
        add(l, err->found);
    } else if (!err->expected[0]) {
        add(l, pgk_status_text(err->status));
    }
    if (err->sys_errno) {
        add(l, err->found[0] || !err->expected[0] ? ": " : "");
        add(l, strerror(err->sys_errno));
    }
    if (err->expected[0]) {
        add(l, err->found[0] || err->sys_errno ? ", expected " : "expected ");
        add(l, err->expected);
    }
}

/* Names of programs keep their small letter at the start of a sentence. */
static int starts_with_a_name(const char *s)
{
    static const char *const names[] = {"pgokit ", "clang", "gcc", "g++", "llvm-", "perf "};
    for (size_t i = 0; i < PGK_COUNTOF(names); i++)
        if (strncmp(s, names[i], strlen(names[i])) == 0)
            return 1;
    return 0;
}

static void add_hint(struct line *l, const char *hint)
{
    add(l, l->n && l->text[l->n - 1] == '.' ? " " : ". ");
    size_t start = l->n;
    add(l, hint);
    if (hint[0] >= 'a' && hint[0] <= 'z' && !starts_with_a_name(hint))
        l->text[start] = (char)(hint[0] - 'a' + 'A');
    if (!strchr(".!?", l->text[l->n - 1]))
        add(l, ".");
}

int pgk_err_print(const struct pgk_err *err, FILE *out)
{
    struct line l = {.n = 0};
    if (err->file[0]) {
        add(&l, err->file);
        add(&l, ": ");
    }
    if (err->format[0])
        add(&l, err->format);
    if (err->version)
        add(&l, PGK_F("%s%" PRIu32, err->format[0] ? " v" : "version ", err->version));
    if (err->format[0] || err->version)
        add(&l, ": ");
    add_place(&l, err);
    add_fact(&l, err);
    if (err->hint[0])
        add_hint(&l, err->hint);
    return fprintf(out, "%s", l.text);
}
