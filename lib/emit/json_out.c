/* JSON straight into a sink. */
#include "json_out.h"

#include <math.h>
#include <string.h>

void pgk_json_text(struct pgk_sink *s, const char *text)
{
    pgk_sink_u8(s, '"');
    while (*text) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
            plain++;
        pgk_sink_bytes(s, text, plain);
        text += plain;
        if (*text == '"' || *text == '\\')
            pgk_sink_printf(s, "\\%c", *text++);
        else if (*text)
            pgk_sink_printf(s, "\\u%04x", *text++);
    }
    pgk_sink_u8(s, '"');
}

void pgk_json_number(struct pgk_sink *s, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    pgk_sink_bytes(s, digits + at, sizeof digits - at);
}

void pgk_json_double(struct pgk_sink *s, double v)
{
    if (isfinite(v))
        pgk_sink_printf(s, "%.17g", v);
    else
        pgk_sink_bytes(s, "null", 4);
}

void pgk_json_comma(struct pgk_sink *s, bool *first)
{
    if (!*first)
        pgk_sink_u8(s, ',');
    *first = false;
}

void pgk_json_key(struct pgk_sink *s, bool *first, const char *key)
{
    pgk_json_comma(s, first);
    pgk_json_text(s, key);
    pgk_sink_u8(s, ':');
}

static void member(struct pgk_sink *s, const char *key)
{
    bool first = false;
    pgk_json_key(s, &first, key);
}

void pgk_json_member_text(struct pgk_sink *s, const char *key, const char *text)
{
    member(s, key);
    pgk_json_text(s, text);
}

void pgk_json_member_number(struct pgk_sink *s, const char *key, uint64_t v)
{
    member(s, key);
    pgk_json_number(s, v);
}

void pgk_json_member_double(struct pgk_sink *s, const char *key, double v)
{
    member(s, key);
    pgk_json_double(s, v);
}

void pgk_json_columns(struct pgk_sink *s, const char *name, const struct pgk_json_column *columns,
                      size_t n_columns, const void *of, const uint32_t *ids, size_t n)
{
    bool first_column = true;
    member(s, name);
    pgk_sink_u8(s, '{');
    for (const struct pgk_json_column *c = columns; c < columns + n_columns; c++) {
        bool first = true;
        pgk_json_key(s, &first_column, c->key);
        pgk_sink_u8(s, '[');
        for (size_t i = 0; i < n; i++) {
            pgk_json_comma(s, &first);
            pgk_json_number(s, c->value(of, ids ? ids[i] : (uint32_t)i));
        }
        pgk_sink_u8(s, ']');
    }
}
