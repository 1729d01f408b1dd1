/* What recordings say of their process. */
#include "process_text.h"

#include "mem.h"
#include "vec.h"

#include <string.h>

typedef PGK_VEC(char) text_vec;

static bool put(text_vec *t, const char *s, size_t n)
{
    if (!pgk_vec_reserve(t, n))
        return false;
    memcpy(t->v + t->n, s, n);
    t->n += n;
    return true;
}

static bool is_plain(const char *s)
{
    return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_@%+=:,./-")] == 0;
}

/* As a shell reads it. */
static bool put_argument(text_vec *t, const char *s)
{
    if ((t->n && !put(t, " ", 1)) || (is_plain(s) && !put(t, s, strlen(s))))
        return false;
    if (is_plain(s))
        return true;
    if (!put(t, "'", 1))
        return false;
    for (; *s; s++)
        if (!(*s == '\'' ? put(t, "'\\''", 4) : put(t, s, 1)))
            return false;
    return put(t, "'", 1);
}

/* The text of `left` bytes up to its zero byte, which is there. */
static const char *next_text(const char **at, size_t *left)
{
    const char *text = *at;
    const size_t n = *left ? strlen(text) + 1 : 0;
    *at += n;
    *left -= n;
    return n ? text : "";
}

bool pgk_process_text_split(struct pgk_process_text *text, const char *bytes, size_t n)
{
    text_vec t = {0};
    text->program = next_text(&bytes, &n);
    text->host = next_text(&bytes, &n);
    bool ok = true;
    while (ok && n)
        ok = put_argument(&t, next_text(&bytes, &n));
    ok = ok && put(&t, "", 1);
    if (!ok)
        pgk_vec_free(&t);
    text->command_line = t.v;
    return ok;
}

void pgk_process_text_free(struct pgk_process_text *text)
{
    pgk_mem_free(text->command_line);
    text->command_line = NULL;
}
