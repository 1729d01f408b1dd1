/* Reader of folded stacks, lines such as "main;parse;app+0x1139 12", whose frames are places in
 * files. docs/formats/viewer-stacks.md */
#include "hex.h"
#include "stack_profile.h"

#include <inttypes.h>

/* "NAME+0xHEX", "NAME(+0xHEX)" as the C library prints it, or either in brackets. */
int pgk_stacks_in_named(struct pgk_stack_reader *r, struct pgk_perf_name text, uint32_t *region,
                        uint64_t *address)
{
    struct pgk_stack_mapping m = {.from_base = true};
    size_t end = text.n, at;
    uint64_t value = 0;
    *region = PGK_STACK_NOWHERE;
    *address = 0;
    while (end && (text.s[end - 1] == ')' || text.s[end - 1] == ']'))
        end--;
    for (at = end; at && pgk_hex_digits[(uint8_t)text.s[at - 1]];)
        at--;
    if (at == end || end - at > 16 || at < 4 || memcmp(text.s + at - 3, "+0x", 3) != 0)
        return 0;
    for (size_t i = at; i < end; i++)
        value = value << 4 | (uint64_t)(pgk_hex_digits[(uint8_t)text.s[i]] - 1);
    m.path = (struct pgk_perf_name){text.s, at - 3};
    while (m.path.n && m.path.s[m.path.n - 1] == '(')
        m.path.n--;
    if (m.path.n && *m.path.s == '[') {
        m.path.s++;
        m.path.n--;
    }
    *address = value;
    return pgk_stacks_in_map(r, &m, region);
}

/* The count at the end of a line; false if there is none, or no stack. */
static bool take_count(struct pgk_perf_name *line, uint64_t *count)
{
    size_t at = line->n;
    uint64_t n = 0;
    while (at && line->s[at - 1] >= '0' && line->s[at - 1] <= '9')
        at--;
    if (at == line->n || line->n - at > 18 || at < 2 || line->s[at - 1] != ' ')
        return false;
    for (size_t i = at; i < line->n; i++)
        n = n * 10 + (uint64_t)(line->s[i] - '0');
    *count = n;
    line->n = at - 1;
    return true;
}

/* The innermost frame is the last one. */
static int read_line(struct pgk_stack_reader *r, struct pgk_perf_name line, uint64_t count,
                     uint64_t off)
{
    pgk_stacks_in_begin(r);
    for (;;) {
        const char *mark = memrchr(line.s, ';', line.n);
        const char *start = mark ? mark + 1 : line.s;
        const struct pgk_perf_name frame = {start, line.n - (size_t)(start - line.s)};
        uint32_t region;
        uint64_t address;
        PGK_TRY(pgk_stacks_in_named(r, frame, &region, &address));
        PGK_TRY(pgk_stacks_in_push(r, region, address, off));
        if (!mark)
            return pgk_stacks_in_pass(r, count, 0);
        line.n = (size_t)(mark - line.s);
    }
}

static struct pgk_perf_name next_line(const uint8_t *bytes, size_t size, size_t at)
{
    const uint8_t *end = memchr(bytes + at, '\n', size - at);
    const size_t n = end ? (size_t)(end - bytes) - at : size - at;
    return (struct pgk_perf_name){(const char *)bytes + at,
                                  n && bytes[at + n - 1] == '\r' ? n - 1 : n};
}

static int read(struct pgk_stack_reader *r, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        struct pgk_perf_name line = next_line(bytes, size, at);
        const size_t whole = line.n;
        uint64_t count = 0;
        const uint64_t off = at;
        at += whole + 1;
        at += at <= size && bytes[at - 1] == '\r';
        if (!whole)
            continue;
        if (!take_count(&line, &count))
            return pgk_fail(r->err, PGK_E_CORRUPT, .file = r->src->file, .format = r->src->format,
                            .offset = &off, .record = "line", .field = "count",
                            .found = "a line that does not end in one",
                            .expected = "frames with semicolons between them, a blank, a count",
                            .hint = "the file is damaged; write it again");
        PGK_TRY(read_line(r, line, count, off));
    }
    return 0;
}

/* By the first line: a count, and a frame that is a place in a file. Folded stacks of names alone
 * are of no use. */
static bool sniff(const uint8_t *bytes, size_t size)
{
    uint64_t count;
    if (!size || *bytes <= ' ' || *bytes == '{')
        return false;
    struct pgk_perf_name line = next_line(bytes, size, 0);
    const char *mark = take_count(&line, &count) ? memmem(line.s, line.n, "+0x", 3) : NULL;
    return mark && mark > line.s && !memchr(line.s, 0, line.n);
}

const struct pgk_stack_form pgk_stack_folded = {"folded stacks", sniff, read};
