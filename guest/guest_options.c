/* Options of a guest, from its table. */
#include "guest_options.h"

#include "guest_bytes.h"
#include "guest_text.h"

static bool parse_number(const char *s, u64 *value)
{
    static const char *const words[] = {"false", "true", "no", "yes"};
    for (unsigned i = 0; i < 4; i++)
        if (pgg_streq(s, words[i])) {
            *value = i & 1;
            return true;
        }
    u64 v = 0, base = 10;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
    }
    if (!*s)
        return false;
    for (; *s; s++) {
        u64 digit = *s >= '0' && *s <= '9'                   ? (u64)(*s - '0')
                    : (*s | 32) >= 'a' && (*s | 32) <= 'f' ? (u64)((*s | 32) - 'a' + 10)
                                                           : 99;
        if (digit >= base || v > UINT32_MAX)
            return false;
        v = v * base + digit;
    }
    *value = v;
    return true;
}

static void set(const struct pgg_options *o, const char *name, const char *text)
{
    for (u32 i = 0; i < o->others_n; i++)
        if (pgg_streq(name, o->others[i].other))
            name = o->others[i].name;
    for (const struct pgg_option *row = o->rows; row < o->rows + o->n; row++) {
        u64 v;
        if (!pgg_streq(name, row->name))
            continue;
        if (row->text) {
            struct pgg_text t;
            pgg_text_init(&t, row->text, PGG_OPTION_TEXT);
            pgg_text_str(&t, text);
        } else if (parse_number(text, &v)) {
            *row->value = v < row->lowest ? row->lowest : v > row->highest ? row->highest : v;
        } else {
            pgg_say(o->who, "the value of this option is not a number, so it is ignored", name);
        }
        return;
    }
    pgg_say(o->who, "unknown option, which has no effect; help=1 prints all", name);
}

static bool separates(char c)
{
    return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n';
}

void pgg_options_parse(const struct pgg_options *o, const char *s)
{
    char name[64], text[PGG_OPTION_TEXT];
    while (s && *s) {
        while (separates(*s))
            s++;
        size_t n = 0, v = 0;
        while (*s && *s != '=' && !separates(*s)) {
            if (n < sizeof name - 1)
                name[n++] = *s;
            s++;
        }
        name[n] = 0;
        if (*s != '=')
            continue;
        char quote = s[1] == '\'' || s[1] == '"' ? s[1] : 0;
        s += quote ? 2 : 1;
        while (*s && (quote ? *s != quote : !separates(*s))) {
            if (v < sizeof text - 1)
                text[v++] = *s;
            s++;
        }
        text[v] = 0;
        if (quote && *s)
            s++;
        set(o, name, text);
    }
}

void pgg_options_print(const struct pgg_options *o)
{
    char line[400];
    for (const struct pgg_option *row = o->rows; row < o->rows + o->n; row++) {
        struct pgg_text t;
        pgg_text_init(&t, line, sizeof line);
        pgg_text_str(&t, row->name);
        pgg_text_str(&t, " (");
        if (row->text)
            pgg_text_str(&t, *row->text ? row->text : "unset");
        else
            pgg_text_u64(&t, *row->value);
        pgg_text_str(&t, "): ");
        pgg_text_str(&t, row->meaning);
        pgg_say(o->who, line, NULL);
    }
}

void pgg_options_reset(const struct pgg_options *o)
{
    for (const struct pgg_option *row = o->rows; row < o->rows + o->n; row++)
        if (row->value)
            *row->value = row->initial;
}
