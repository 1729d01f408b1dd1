/* JSON, read into a tree of values. */
#include "json_in.h"

#include "hex.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct reader {
    struct pgk_cursor *c;
    struct pgk_arena *arena;
    struct pgk_err *err;
};

static int fail(const struct reader *r, const uint8_t *at, const char *field, const char *expected)
{
    const struct pgk_cursor *c = r->c;
    const uint64_t off = c->src.base_off + (uint64_t)(at - c->start);
    return pgk_fail(r->err, PGK_E_CORRUPT, .file = c->src.file, .format = c->src.format,
                    .offset = &off, .record = "JSON", .field = field,
                    .found = at < c->end ? PGK_F("byte 0x%02x", *at) : "the end of the file",
                    .expected = expected, .hint = "the file is damaged; write it again");
}

static void skip_blanks(struct pgk_cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\r' || *c->at == '\t'))
        c->at++;
}

/* ---- texts ---- */

static char *put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code >= 0x10000) {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
    } else if (code >= 0x800) {
        *to++ = (char)(0xe0 | code >> 12);
    }
    *to++ = code < 0x800 ? (char)(0xc0 | code >> 6) : (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* Four digits; false if they are none. */
static bool take_unit(const uint8_t **at, const uint8_t *end, uint32_t *unit)
{
    uint8_t bytes[2];
    if (end - *at < 4 || pgk_hex_read((const char *)*at, (const char *)*at + 4, bytes, 2) != 2)
        return false;
    *unit = (uint32_t)bytes[0] << 8 | bytes[1];
    *at += 4;
    return true;
}

/* After "\u". Halves of pairs that stand alone become U+FFFD. */
static bool take_code(const uint8_t **at, const uint8_t *end, uint32_t *code)
{
    uint32_t low;
    const uint8_t *more;
    if (!take_unit(at, end, code))
        return false;
    if (*code < 0xd800 || *code > 0xdfff)
        return true;
    more = *at + 2;
    if (*code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
        take_unit(&more, end, &low) && low >= 0xdc00 && low <= 0xdfff) {
        *code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
        *at = more;
    } else {
        *code = 0xfffd;
    }
    return true;
}

/* Between `from` and `to`, which is the closing quote. */
static int unescape(const struct reader *r, const uint8_t *from, const uint8_t *to,
                    const char **text, uint32_t *n)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char *out = pgk_arena_alloc(r->arena, 1, (size_t)(to - from) + 1), *end = out;
    if (!out)
        return pgk_fail_nomem(r->err);
    while (from < to) {
        const char *letter;
        uint32_t code;
        if (*from != '\\') {
            *end++ = (char)*from++;
        } else if (from[1] && (letter = strchr(letters, from[1]))) {
            *end++ = bytes[letter - letters];
            from += 2;
        } else {
            const uint8_t *at = from + 2;
            if (from[1] != 'u' || !take_code(&at, to, &code))
                return fail(r, from, "text", "an escape such as \\n or \\u0020");
            end = put_code(end, code);
            from = at;
        }
    }
    *text = out;
    *n = (uint32_t)(end - out);
    return 0;
}

static int take_text(const struct reader *r, const char **text, uint32_t *n)
{
    struct pgk_cursor *c = r->c;
    const uint8_t *start = ++c->at, *at = start;
    bool plain = true;
    while (at < c->end && *at != '"') {
        plain &= *at != '\\';
        at += *at == '\\' && c->end - at > 1 ? 2 : 1;
    }
    c->at = at;
    if (at >= c->end)
        return fail(r, c->end, "text", "a closing quote");
    if (at - start > INT32_MAX)
        return fail(r, start, "text", "fewer than 2 GiB");
    c->at++;
    *text = (const char *)start;
    *n = (uint32_t)(at - start);
    return plain ? 0 : unescape(r, start, at, text, n);
}

/* ---- values ---- */

static int take_number(const struct reader *r, struct pgk_json_value *v)
{
    struct pgk_cursor *c = r->c;
    const uint8_t *start = c->at;
    while (c->at < c->end && *c->at && strchr("+-.0123456789eE", *c->at))
        c->at++;
    if (c->at == start || c->at - start > 64)
        return fail(r, start, "value", "a value");
    v->kind = PGK_JSON_NUMBER;
    v->text = (const char *)start;
    v->n = (uint32_t)(c->at - start);
    return 0;
}

static bool take_word(struct pgk_cursor *c, const char *word)
{
    const size_t n = strlen(word);
    if (pgk_cur_left(c) < n || memcmp(c->at, word, n))
        return false;
    c->at += n;
    return true;
}

static int take_value(const struct reader *r, struct pgk_json_value *v, unsigned depth);

/* A key, a colon. */
static int take_key(const struct reader *r, struct pgk_json_value *v)
{
    skip_blanks(r->c);
    if (r->c->at >= r->c->end || *r->c->at != '"')
        return fail(r, r->c->at, "key", "a text");
    PGK_TRY(take_text(r, &v->key, &v->key_bytes));
    skip_blanks(r->c);
    if (r->c->at >= r->c->end || *r->c->at != ':')
        return fail(r, r->c->at, "key", "a colon");
    r->c->at++;
    return 0;
}

/* After the bracket that opens it. */
static int take_items(const struct reader *r, struct pgk_json_value *v, uint8_t close,
                      unsigned depth)
{
    struct pgk_json_value **end = &v->first;
    skip_blanks(r->c);
    if (r->c->at < r->c->end && *r->c->at == close) {
        r->c->at++;
        return 0;
    }
    for (;;) {
        struct pgk_json_value *item = pgk_arena_alloc(r->arena, 1, sizeof *item);
        if (!item)
            return pgk_fail_nomem(r->err);
        *item = (struct pgk_json_value){0};
        if (close == '}')
            PGK_TRY(take_key(r, item));
        PGK_TRY(take_value(r, item, depth + 1));
        *end = item;
        end = &item->next;
        v->n++;
        skip_blanks(r->c);
        const uint8_t mark = r->c->at < r->c->end ? *r->c->at : 0;
        if (mark != ',' && mark != close)
            return fail(r, r->c->at, "value", close == '}' ? "a comma or }" : "a comma or ]");
        r->c->at++;
        if (mark == close)
            return 0;
    }
}

static int take_value(const struct reader *r, struct pgk_json_value *v, unsigned depth)
{
    struct pgk_cursor *c = r->c;
    skip_blanks(c);
    v->off = pgk_cur_off(c);
    const uint8_t first = c->at < c->end ? *c->at : 0;
    if (depth > DEPTH_MAX)
        return fail(r, c->at, "value",
                    PGK_F("at most %d objects and arrays in each other", DEPTH_MAX));
    if (first == '{' || first == '[') {
        c->at++;
        v->kind = first == '{' ? PGK_JSON_OBJECT : PGK_JSON_ARRAY;
        return take_items(r, v, first == '{' ? '}' : ']', depth);
    }
    if (first == '"') {
        v->kind = PGK_JSON_TEXT;
        return take_text(r, &v->text, &v->n);
    }
    v->kind = take_word(c, "true") ? PGK_JSON_TRUE : PGK_JSON_FALSE;
    if (v->kind == PGK_JSON_TRUE || take_word(c, "false"))
        return 0;
    v->kind = PGK_JSON_NULL;
    return take_word(c, "null") ? 0 : take_number(r, v);
}

int pgk_json_in_next(struct pgk_cursor *c, struct pgk_arena *arena,
                     const struct pgk_json_value **value, struct pgk_err *err)
{
    const struct reader r = {c, arena, err};
    skip_blanks(c);
    if (!pgk_cur_left(c))
        return 0;
    struct pgk_json_value *v = pgk_arena_alloc(arena, 1, sizeof *v);
    if (!v)
        return pgk_fail_nomem(err);
    *v = (struct pgk_json_value){0};
    PGK_TRY(take_value(&r, v, 0));
    *value = v;
    return 1;
}

const struct pgk_json_value *pgk_json_in_member(const struct pgk_json_value *value, const char *key)
{
    const size_t n = strlen(key);
    if (!value || value->kind != PGK_JSON_OBJECT)
        return NULL;
    for (const struct pgk_json_value *v = value->first; v; v = v->next)
        if (v->key_bytes == n && !memcmp(v->key, key, n))
            return v;
    return NULL;
}

bool pgk_json_in_integer(const struct pgk_json_value *value, uint64_t *number)
{
    char text[72], *end = NULL;
    if (!value || (value->kind != PGK_JSON_NUMBER && value->kind != PGK_JSON_TEXT) || !value->n ||
        value->n >= sizeof text)
        return false;
    memcpy(text, value->text, value->n);
    text[value->n] = 0;
    if (strspn(text, "-0123456789") == value->n) {
        *number = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
        return !*end;
    }
    const double d = strtod(text, &end);
    if (*end || !(d > -9e18 && d < 1.8e19))
        return false;
    *number = d < 0 ? (uint64_t)(int64_t)d : (uint64_t)d;
    return true;
}

bool pgk_json_in_is(const struct pgk_json_value *value, const char *text)
{
    const size_t n = strlen(text);
    return value && value->kind == PGK_JSON_TEXT && value->n == n && !memcmp(value->text, text, n);
}
