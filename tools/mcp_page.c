/* Pages of what a verb printed: whole lines as far as they go, each page small enough for an
 * answer. */
#include "mcp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the line at the end of a page takes at most, in JSON. */
enum { FOOT_BYTES = 240 };

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

/* Bytes of the character of UTF-8 at `at`; 0: it is none. */
static size_t character(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = *at < 0x80       ? 1
                     : *at >> 5 == 6  ? 2
                     : *at >> 4 == 14 ? 3
                     : *at >> 3 == 30 ? 4
                                      : 0;
    if (n <= 1 || n > left)
        return n == 1 && *at ? 1 : 0;
    uint32_t value = *at & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        value = value << 6 | (at[i] & 0x3f);
    }
    const bool is_half = value >= 0xd800 && value < 0xe000;
    return value >= least[n] && value < 0x110000 && !is_half ? n : 0;
}

/* What a byte takes in a text of JSON. */
static size_t cost(unsigned char byte)
{
    if (byte == '"' || byte == '\\' || (byte >= '\b' && byte <= '\r' && byte != '\v'))
        return 2;
    return byte < 0x20 ? 6 : 1;
}

/* The text with U+FFFD for bytes that are no UTF-8, and for the byte 0. */
static char *as_utf8(const char *text, size_t n, size_t *size)
{
    char *clean = malloc(3 * n + 1), *to = clean;
    const unsigned char *from = (const unsigned char *)text;
    if (!clean)
        return NULL;
    for (size_t at = 0, len; at < n; at += len ? len : 1) {
        len = character(from + at, n - at);
        memcpy(to, len ? text + at : "\xef\xbf\xbd", len ? len : 3);
        to += len ? len : 3;
    }
    *size = (size_t)(to - clean);
    return clean;
}

/* Where the page that begins at `from` ends: after its last whole line, or within a line that is
 * longer than a page, between two characters. */
static size_t end_of_page(const char *text, size_t n, size_t from, size_t most_bytes)
{
    size_t at = from, line = from, spent = 0;
    while (at < n) {
        const size_t len = character((const unsigned char *)text + at, n - at);
        size_t bytes = 0;
        for (size_t i = 0; i < len; i++)
            bytes += cost((unsigned char)text[at + i]);
        if (spent + bytes > most_bytes)
            return line > from ? line : at;
        spent += bytes;
        at += len;
        if (text[at - 1] == '\n')
            line = at;
    }
    return n;
}

/* Cursors say where a page begins and in what: the hash is of all pages. */
static bool take_cursor(const char *cursor, uint64_t hash, const char *text, size_t n, size_t *from,
                        char *why, size_t size)
{
    uint64_t offset = 0, of = 0;
    int end = 0;
    *from = 0;
    if (!cursor)
        return true;
    if (strlen(cursor) >= MCP_CURSOR_SIZE ||
        sscanf(cursor, "%" SCNu64 "-%" SCNx64 "%n", &offset, &of, &end) != 2 || cursor[end]) {
        snprintf(why, size,
                 "\"cursor\" is none that this tool gave: pass the one at the end of its "
                 "last answer, or none");
        return false;
    }
    if (of != hash || offset >= n || !character((const unsigned char *)text + offset, n - offset)) {
        snprintf(why, size,
                 "\"cursor\" belongs to another answer: a file has changed, or other "
                 "arguments were given. Call the tool again without a cursor");
        return false;
    }
    *from = (size_t)offset;
    return true;
}

static char *cut_page(const char *text, size_t n, size_t from, size_t most_bytes, uint64_t hash,
                      char next[MCP_CURSOR_SIZE])
{
    char foot[FOOT_BYTES] = "";
    size_t end = end_of_page(text, n, from, most_bytes);
    if (from || end < n) {
        end = end_of_page(text, n, from, most_bytes > FOOT_BYTES ? most_bytes - FOOT_BYTES : 0);
        if (end < n)
            snprintf(next, MCP_CURSOR_SIZE, "%zu-%016" PRIx64, end, hash);
        snprintf(foot, sizeof foot, "%s[bytes %zu to %zu of %zu%s%s%s]\n",
                 end > from && text[end - 1] == '\n' ? "" : "\n", from, end, n,
                 end < n ? "; for the next ones repeat the call with \"cursor\": \"" : "", next,
                 end < n ? "\"" : ", the end");
    }
    char *page = malloc(end - from + sizeof foot);
    if (page) {
        memcpy(page, text + from, end - from);
        strcpy(page + (end - from), foot);
    }
    return page;
}

char *mcp_page(const struct mcp_view *view, const char *cursor, size_t most_bytes,
               char next[MCP_CURSOR_SIZE], char *why, size_t size)
{
    size_t n, from;
    char *page = NULL, *text = as_utf8(view->n ? view->text : "", view->n, &n);
    *next = '\0';
    if (!text) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    const uint64_t hash = hash_of(text, n);
    if (take_cursor(cursor, hash, text, n, &from, why, size)) {
        page = cut_page(text, n, from, most_bytes, hash, next);
        if (!page)
            snprintf(why, size, "out of memory");
    }
    free(text);
    return page;
}
