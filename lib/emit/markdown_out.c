/* Texts of files in Markdown with tables. */
#include "markdown_out.h"

#include "pgokit/human.h"

#include <stdbool.h>

enum { LONGEST = 240 };

static size_t longest_run(const char *text, char c)
{
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == c ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest;
}

/* A bar would end the cell. Where a backslash stands before it, readers differ in which of the two
 * the next backslash belongs to, so that one is written as a number. */
static void put_escaped(struct pgk_text_out *o, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            pgk_text_lit(o, "\\|");
        else if (*text == '\\' && text[1] == '|')
            pgk_text_lit(o, "\\x5c");
        else
            pgk_text_bytes(o, text, 1);
    }
}

/* The part of a text that is shown; true if the text is too long. */
static bool cut(char safe[LONGEST + 8], const char *text)
{
    size_t n = LONGEST;
    pgk_human_text(safe, LONGEST + 8, text);
    if (strlen(safe) <= n)
        return false;
    while ((safe[n] & 0xc0) == 0x80)
        n--; /* to the beginning of a character */
    safe[n] = '\0';
    return true;
}

/* The fence is longer than any run of its character in the text; readers take one blank away at
 * either end of a text that has them at both. */
void pgk_md_code(struct pgk_text_out *o, const char *text)
{
    char safe[LONGEST + 8];
    bool was_cut = cut(safe, text);
    if (!*safe)
        return;
    size_t fence = longest_run(safe, '`') + 1;
    bool blanks = fence > 1 || *safe == ' ' || safe[strlen(safe) - 1] == ' ';
    pgk_text_fill(o, '`', fence);
    pgk_text_fill(o, ' ', blanks);
    put_escaped(o, safe);
    if (was_cut)
        pgk_text_lit(o, "...");
    pgk_text_fill(o, ' ', blanks);
    pgk_text_fill(o, '`', fence);
}
