/* Names of functions, as different compilers and builds have them. */
#include "plain_name.h"

#include "compiler.h"
#include "hash.h"
#include "sample_names.h"

#include <stdbool.h>
#include <string.h>

size_t pgk_build_plain_len(const char *name, size_t len)
{
    static const char *const suffixes[] = {".llvm.",     ".part.", ".constprop.", ".isra.",
                                           ".lto_priv.", ".cold.", ".__uniq."};
    static const char cold[] = ".cold";
    enum { COLD = sizeof cold - 1 };
    for (size_t before = 0; before != len;) {
        before = len;
        len = pgk_sample_drop_numbered(name, len, suffixes, PGK_COUNTOF(suffixes));
        if (len > COLD && !memcmp(name + len - COLD, cold, COLD))
            len -= COLD;
    }
    return len;
}

uint64_t pgk_build_guid(const char *name, size_t len)
{
    return pgk_md5_low64(name, pgk_build_plain_len(name, len));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next character of a mangled name that is not of an identifier, a literal or the number of a
 * substitution or parameter: in these anything may stand. */
static size_t skip_name(const char *name, size_t len, size_t at)
{
    size_t n = 0, digits = at;
    while (digits < len && n < len && is_digit(name[digits]))
        n = n * 10 + (size_t)(name[digits++] - '0');
    if (digits > at)
        return n < len - digits ? digits + n : len;
    const char *end = NULL;
    if (at + 1 < len && (name[at] == 'S' || name[at] == 'T') &&
        (name[at + 1] == '_' || name[at + 1] <= 'Z'))
        end = memchr(name + at, '_', len - at);
    else if (at + 1 < len && name[at] == 'L' && name[at + 1] >= 'a' && name[at + 1] <= 'z')
        end = memchr(name + at, 'E', len - at);
    return end ? (size_t)(end - name) + 1 : at + 1;
}

/* The place in a mangled name that says which body of a constructor or destructor it is (C1, C2,
 * C5, D1, ..., the Itanium C++ ABI, 5.1.4.3; C4 is what gcc has in debug information); 0 in
 * others. */
static size_t structor_kind(const char *name, size_t len)
{
    if (len < 3 || memcmp(name, "_ZN", 3) != 0)
        return 0;
    for (size_t at = 3; at + 1 < len && name[at] != '.'; at = skip_name(name, len, at))
        if ((name[at] == 'C' || name[at] == 'D') && strchr("1245", name[at + 1]))
            return at + 1;
    return 0;
}

void pgk_build_plain(struct pgk_plain_name *p, const char *name, size_t len)
{
    p->s = name;
    p->len = pgk_build_plain_len(name, len);
    size_t kind = structor_kind(name, p->len);
    if (!kind || p->len > sizeof p->copy)
        return;
    memcpy(p->copy, name, p->len);
    p->copy[kind] = '2';
    p->s = p->copy;
}

uint64_t pgk_build_bare_guid(const char *name, size_t len)
{
    static const char begin[] = "_ZL", unique[] = ".__uniq.";
    size_t at = sizeof begin - 1, n = 0;
    if (len > at && !memcmp(name, begin, at) && memmem(name, len, unique, sizeof unique - 1)) {
        for (; at < len && name[at] >= '0' && name[at] <= '9' && n < len; at++)
            n = n * 10 + (size_t)(name[at] - '0');
        if (n && n <= len - at)
            return pgk_md5_low64(name + at, n);
    }
    struct pgk_plain_name plain;
    pgk_build_plain(&plain, name, len);
    return pgk_md5_low64(plain.s, plain.len);
}

const char *pgk_build_file_tail(const char *path)
{
    const char *tail = path, *last = path;
    for (const char *c = path; *c; c++) {
        if (*c == '/') {
            tail = last;
            last = c + 1;
        }
    }
    return tail;
}

/* ---- internal linkage ---- */

struct text {
    const char *s;
    size_t len;
};

/* Skips the template arguments that begin at `at`. */
static size_t skip_arguments(const char *name, size_t len, size_t at)
{
    size_t depth = 0;
    do {
        size_t next = skip_name(name, len, at);
        bool is_literal = name[at] == 'L' && next > at + 1;
        if (!is_literal && name[at] && strchr("INXJFL", name[at]))
            depth++;
        else if (name[at] == 'E')
            depth--;
        at = next;
    } while (depth && at < len);
    return at;
}

static const char anonymous[] = "_GLOBAL__N_";
enum { ANONYMOUS = sizeof anonymous - 1 };

static bool is_anonymous(struct text part)
{
    return part.len >= ANONYMOUS && !memcmp(part.s, anonymous, ANONYMOUS);
}

/* The identifier that begins with its length at `at`, up to `next`. */
static struct text identifier_at(const char *name, size_t at, size_t next)
{
    while (at < next && is_digit(name[at]))
        at++;
    return (struct text){name + at, next - at};
}

/* The last identifier of a mangled name, if it, or what is around it, or a type of its parameters
 * is of internal linkage: the Itanium C++ ABI, 5.1.2. */
static bool internal_identifier(const char *name, size_t len, struct text *last)
{
    enum { PREFIX = 2 };
    if (len <= PREFIX + 1 || memcmp(name, "_Z", PREFIX) != 0)
        return false;
    const bool nested = name[PREFIX] == 'N';
    bool internal = memmem(name, len, anonymous, ANONYMOUS);
    size_t at = PREFIX + nested;
    while (at < len && nested && name[at] && strchr("rVKRO", name[at]))
        at++;
    *last = (struct text){NULL, 0};
    for (size_t next; at + 1 < len && (nested || !last->s); at = next) {
        next = skip_name(name, len, at);
        struct text part = identifier_at(name, at, next);
        if (is_digit(name[at]))
            *last = is_anonymous(part) ? *last : part;
        else if (name[at] == 'I')
            next = skip_arguments(name, len, at);
        else if (name[at] == 'L' && is_digit(name[at + 1]))
            internal = true;
        else if (name[at] == 'D')
            return false;
        else
            break;
    }
    return internal && last->s;
}

uint64_t pgk_build_identifier_guid(const char *name, size_t len)
{
    struct text last;
    return internal_identifier(name, pgk_build_plain_len(name, len), &last)
               ? pgk_md5_low64(last.s, last.len)
               : 0;
}
