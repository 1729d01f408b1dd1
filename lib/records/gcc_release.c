/* Names of releases of gcc. */
#include "gcc_release.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool pgk_gcc_release(const char *text, unsigned *major, int *minor)
{
    if (strncmp(text, "gcc", 3) || !is_digit(text[3]) || !is_digit(text[4]))
        return false;
    bool has_minor = text[5] == '.' && is_digit(text[6]) && !text[7];
    if (text[5] && !has_minor)
        return false;
    *major = (unsigned)(text[3] - '0') * 10 + (unsigned)(text[4] - '0');
    *minor = has_minor ? text[6] - '0' : PGK_GCC_ANY_MINOR;
    return true;
}
