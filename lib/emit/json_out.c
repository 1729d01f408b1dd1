/* JSON, written as it is made. */
#include "json_out.h"

#include "pgokit/human.h"

#include <math.h>
#include <string.h>

void pgk_json_begin(struct pgk_json *j, struct pgk_text_out *out, enum pgk_json_layout layout)
{
    *j = (struct pgk_json){.out = out, .layout = layout};
}

void pgk_json_line(struct pgk_json *j, unsigned blanks)
{
    j->breaks = true;
    j->blanks = blanks;
}

static void break_line(struct pgk_json *j)
{
    j->breaks = false;
    pgk_text_lit(j->out, "\n");
    pgk_text_fill(j->out, ' ', j->blanks);
}

/* ---- strings ---- */

/* Length of the UTF-8 sequence at `s`, of `n` bytes at most; 0 if it is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || outside ? 0 : len;
}

/* The number of bytes that need no escape. */
static size_t plain_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

static void put_string(struct pgk_text_out *o, const char *s, size_t n)
{
    pgk_text_lit(o, "\"");
    for (size_t i = 0; i < n;) {
        size_t plain = plain_length(s + i, n - i);
        pgk_text_bytes(o, s + i, plain);
        i += plain;
        if (i == n)
            break;
        unsigned char c = (unsigned char)s[i];
        size_t len = c < 0x80 ? 1 : utf8_length((const unsigned char *)s + i, n - i);
        if (c == '"' || c == '\\')
            pgk_text_printf(o, "\\%c", c);
        else if (c < 0x80)
            pgk_text_printf(o, "\\u%04x", c);
        else if (len)
            pgk_text_bytes(o, s + i, len);
        else
            pgk_text_lit(o, "\\ufffd");
        i += len ? len : 1;
    }
    pgk_text_lit(o, "\"");
}

/* ---- values ---- */

/* Writes the text before a value: comma, line or blank, and its key. */
static void item(struct pgk_json *j, const char *key)
{
    bool begins_line = j->breaks;
    if (j->some)
        pgk_text_lit(j->out, ",");
    if (j->layout >= PGK_JSON_PRETTY && j->depth)
        pgk_json_line(j, 2 * j->depth);
    if (j->breaks)
        break_line(j);
    else if (j->some && j->layout == PGK_JSON_SPACED)
        pgk_text_lit(j->out, " ");
    j->some = true;
    if (!key)
        return;
    put_string(j->out, key, strlen(key));
    pgk_text_lit(j->out, ":");
    if (j->layout == PGK_JSON_SPACED || j->layout == PGK_JSON_AIRY ||
        (j->layout == PGK_JSON_OUTLINE && begins_line))
        pgk_text_lit(j->out, " ");
}

static void open(struct pgk_json *j, const char *key, char bracket)
{
    item(j, key);
    pgk_text_bytes(j->out, &bracket, 1);
    j->some = false;
    j->depth++;
}

static void close(struct pgk_json *j, char bracket)
{
    j->depth--;
    if (j->layout >= PGK_JSON_PRETTY)
        pgk_json_line(j, 2 * j->depth);
    if (j->breaks)
        break_line(j);
    pgk_text_bytes(j->out, &bracket, 1);
    j->some = true;
}

void pgk_json_object(struct pgk_json *j, const char *key)
{
    open(j, key, '{');
}

void pgk_json_end_object(struct pgk_json *j)
{
    close(j, '}');
}

void pgk_json_array(struct pgk_json *j, const char *key)
{
    open(j, key, '[');
}

void pgk_json_end_array(struct pgk_json *j)
{
    close(j, ']');
}

void pgk_json_text_n(struct pgk_json *j, const char *key, const char *text, size_t n)
{
    item(j, key);
    put_string(j->out, text, n);
}

void pgk_json_text(struct pgk_json *j, const char *key, const char *text)
{
    pgk_json_text_n(j, key, text, strlen(text));
}

void pgk_json_number(struct pgk_json *j, const char *key, uint64_t v)
{
    item(j, key);
    pgk_text_u64(j->out, v);
}

void pgk_json_flag(struct pgk_json *j, const char *key, bool v)
{
    item(j, key);
    pgk_text_str(j->out, v ? "true" : "false");
}

void pgk_json_null(struct pgk_json *j, const char *key)
{
    item(j, key);
    pgk_text_lit(j->out, "null");
}

void pgk_json_hex(struct pgk_json *j, const char *key, uint64_t v, unsigned digits)
{
    item(j, key);
    pgk_text_lit(j->out, "\"0x");
    for (unsigned n = digits; n > 1 && n <= 16 && !(v >> 4 * (n - 1)); n--)
        pgk_text_lit(j->out, "0");
    pgk_text_hex(j->out, v, 0);
    pgk_text_lit(j->out, "\"");
}

void pgk_json_hex_bytes(struct pgk_json *j, const char *key, const uint8_t *bytes, size_t n)
{
    item(j, key);
    pgk_text_lit(j->out, "\"");
    char hex[2 * 64 + 1];
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < sizeof hex / 2 ? n - i : sizeof hex / 2;
        pgk_text_str(j->out, pgk_human_hex(hex, sizeof hex, bytes + i, part));
    }
    pgk_text_lit(j->out, "\"");
}

void pgk_json_double(struct pgk_json *j, const char *key, double v)
{
    pgk_json_digits(j, key, v, 17);
    if (isfinite(v) && v == trunc(v) && fabs(v) < 1e17)
        pgk_text_lit(j->out, ".0");
}

void pgk_json_digits(struct pgk_json *j, const char *key, double v, int digits)
{
    item(j, key);
    if (isfinite(v))
        pgk_text_printf(j->out, "%.*g", digits, v);
    else
        pgk_text_lit(j->out, "null");
}

void pgk_json_fixed(struct pgk_json *j, const char *key, double v, int decimals)
{
    item(j, key);
    if (isfinite(v))
        pgk_text_printf(j->out, "%.*f", decimals, v);
    else
        pgk_text_lit(j->out, "null");
}

void pgk_json_columns(struct pgk_json *j, const struct pgk_json_column *columns, size_t n_columns,
                      const void *of, const uint32_t *ids, size_t n)
{
    for (const struct pgk_json_column *c = columns; c < columns + n_columns; c++) {
        pgk_json_array(j, c->key);
        for (size_t i = 0; i < n; i++)
            pgk_json_number(j, NULL, c->value(of, ids ? ids[i] : (uint32_t)i));
        pgk_json_end_array(j);
    }
}
