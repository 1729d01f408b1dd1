/* Numbers and texts for people. */
#include "pgokit/human.h"

#include "compiler.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The bounds are where rounding would give a fourth digit. */
static int three_digits(char *buf, size_t size, double v, const char *unit)
{
    int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
    return snprintf(buf, size, "%.*f %s", decimals, v, unit);
}

const char *pgk_human_bytes(char buf[PGK_HUMAN_SIZE], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char *out = buf;
    if (bytes < 0) {
        *out++ = '-';
        bytes = -bytes;
    }
    size_t space = PGK_HUMAN_SIZE - (size_t)(out - buf);
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < PGK_COUNTOF(units); unit++)
        bytes /= 1024;
    if (!(bytes < 999.5))
        snprintf(out, space, "%.3g %s", bytes, units[unit]);
    else if (unit == 0 && bytes == (double)(int)bytes)
        snprintf(out, space, "%d B", (int)bytes);
    else
        three_digits(out, space, bytes, units[unit]);
    return buf;
}

/* "2 min 5 s", or "2 min" when the smaller part is zero. */
static void two_parts(char *buf, size_t size, uint64_t n, unsigned per, const char *big,
                      const char *small)
{
    int at = snprintf(buf, size, "%" PRIu64 " %s", n / per, big);
    if (n % per)
        snprintf(buf + at, size - (size_t)at, " %u %s", (unsigned)(n % per), small);
}

const char *pgk_human_ms(char buf[PGK_HUMAN_SIZE], double ms)
{
    char *out = buf;
    if (ms < 0) {
        *out++ = '-';
        ms = -ms;
    }
    size_t space = PGK_HUMAN_SIZE - (size_t)(out - buf);
    double s = ms / 1e3;
    if (!(ms < 1e15))
        snprintf(out, space, "%.3g d", ms / 864e5);
    else if (ms > 0 && ms < 0.9995)
        three_digits(out, space, ms * 1e3, "µs");
    else if (ms < 999.5 && ms == (double)(int)ms)
        snprintf(out, space, "%d ms", (int)ms);
    else if (ms < 999.5)
        three_digits(out, space, ms, "ms");
    else if (s < 59.95)
        three_digits(out, space, s, "s");
    else if (s < 3599.5)
        two_parts(out, space, (uint64_t)(s + 0.5), 60, "min", "s");
    else if (s < 86370)
        two_parts(out, space, (uint64_t)(s / 60 + 0.5), 60, "h", "min");
    else
        two_parts(out, space, (uint64_t)(s / 3600 + 0.5), 24, "d", "h");
    return buf;
}

const char *pgk_human_count(char buf[PGK_HUMAN_SIZE], uint64_t n)
{
    char digits[PGK_HUMAN_SIZE];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *out = buf;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buf;
}

static bool harmless(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c <= 0x9f) && /* C0, DEL, C1 */
           !(c >= 0x200e && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069); /* line breaks, writing direction */
}

/* Length of the character at `p` if it may be shown as it is, else 0. */
static size_t showable(const uint8_t *p)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (p[0] < 0x80)
        return harmless(p[0]);
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    uint32_t c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    bool valid = c >= smallest[len] && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
    return valid && harmless(c) ? len : 0;
}

static const char hex[] = "0123456789abcdef";

const char *pgk_human_hex(char *buf, size_t size, const uint8_t *bytes, size_t n)
{
    char *out = buf;
    for (size_t i = 0; i < n && 2 * i + 2 < size; i++) {
        *out++ = hex[bytes[i] >> 4];
        *out++ = hex[bytes[i] & 15];
    }
    *out = '\0';
    return buf;
}

/* The start of character `n` of valid UTF-8, or the end. */
static char *at_column(char *text, size_t n)
{
    for (; *text && n; n--)
        for (text++; (*text & 0xc0) == 0x80;)
            text++;
    return text;
}

char *pgk_human_fit(char *text, size_t columns)
{
    enum { DOTS = 3 };
    size_t n = 0;
    for (const char *s = text; *s; s++)
        n += (*s & 0xc0) != 0x80;
    if (!columns || n <= columns)
        return text;
    if (columns <= DOTS) {
        *at_column(text, columns) = '\0';
        return text;
    }
    const size_t first = (columns - DOTS) / 2, last = columns - DOTS - first;
    char *cut = at_column(text, first);
    const char *rest = at_column(cut, n - first - last);
    memset(cut, '.', DOTS); /* what is left out has more bytes */
    memmove(cut + DOTS, rest, strlen(rest) + 1);
    return text;
}

const char *pgk_human_text(char *buf, size_t size, const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    char *out = buf, *end = buf + size - 1;
    while (*p) {
        size_t n = showable(p);
        if (n > 0) {
            if ((size_t)(end - out) < n)
                break;
            memcpy(out, p, n);
            out += n;
            p += n;
        } else {
            if (end - out < 4)
                break;
            *out++ = '\\';
            *out++ = 'x';
            *out++ = hex[*p >> 4];
            *out++ = hex[*p & 15];
            p++;
        }
    }
    *out = '\0';
    return buf;
}
