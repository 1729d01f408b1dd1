/* Linkage names as the names that programmers wrote. */
#include "demangle.h"

#include "mem.h"
#include "pgokit/human.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* D's has a number after it, of letters of the first name; "_Data" is a name of C. */
static bool is_of_d(const char *linkage_name)
{
    return !strncmp(linkage_name, "_D", 2) && linkage_name[2] >= '0' && linkage_name[2] <= '9';
}

/* Of D, parameters are always there: those at the end of a name, which are no template
 * arguments, "!(...)". */
static void cut_parameters(char *name)
{
    size_t at = strlen(name);
    unsigned depth = 0;
    if (!at || name[at - 1] != ')')
        return;
    do {
        at--;
        depth += name[at] == ')';
        depth -= name[at] == '(';
    } while (at && depth);
    if (at && name[at - 1] != '!')
        name[at] = 0;
}

static char *demangle(const char *linkage_name, int options)
{
    /* cplus_demangle would read a plain C name such as "f" as a type. */
    const bool d = is_of_d(linkage_name);
    if (!d && strncmp(linkage_name, "_Z", 2) && strncmp(linkage_name, "_R", 2))
        return NULL;
    char *name = cplus_demangle(linkage_name, (d ? DMGL_DLANG : DMGL_AUTO) | options);
    char *copy = name ? pgk_mem_strdup(name) : NULL;
    free(name); /* the demangler's own memory */
    if (copy && d && !(options & DMGL_PARAMS))
        cut_parameters(copy);
    return copy;
}

char *pgk_demangle(const char *linkage_name)
{
    return demangle(linkage_name, 0);
}

char *pgk_demangle_fully(const char *linkage_name)
{
    return demangle(linkage_name, DMGL_PARAMS | DMGL_ANSI);
}

char *pgk_shorten_templates(const char *name)
{
    static const char dots[] = "<...";
    char *text = pgk_mem_alloc(strlen(name) + 1, sizeof dots), *to = text;
    int depth = 0;
    if (!text)
        return NULL;
    const char *s = name;
    for (; *s == '<'; s++) /* Rust's "<Type as Trait>::method" */
        *to++ = *s;
    for (; *s; s++) {
        bool is_operator = (s - name >= 8 && !strncmp(s - 8, "operator", 8)) ||
                           (s - name >= 9 && !strncmp(s - 9, "operator<", 9));
        if (*s == '<' && !is_operator) {
            if (!depth++)
                to = stpcpy(to, dots);
        } else if (*s == '>' && depth && s[-1] != '-') {
            if (!--depth)
                *to++ = '>';
        } else if (!depth) {
            *to++ = *s;
        }
    }
    *to = 0;
    return text;
}

char *pgk_fit_name(char *name, size_t columns)
{
    if (!columns || strlen(name) <= columns)
        return name;
    /* "<...>" may be longer than what it stands for, so only long names are touched. */
    char *shorter = pgk_shorten_templates(name);
    if (!shorter)
        return pgk_human_fit(name, columns);
    pgk_mem_free(name);
    return pgk_human_fit(shorter, columns);
}

char *pgk_demangle_short(const char *linkage_name)
{
    enum { LONG = 60 }; /* letters; "<...>" may be longer than what it stands for */
    char *name = pgk_demangle(linkage_name);
    char *shorter = name && strlen(name) > LONG ? pgk_shorten_templates(name) : NULL;
    if (!shorter)
        return name;
    pgk_mem_free(name);
    return shorter;
}

const char *pgk_human_function(char *buf, size_t size, const char *linkage_name)
{
    char *name = pgk_demangle(linkage_name);
    pgk_human_text(buf, size, name ? name : linkage_name);
    pgk_mem_free(name);
    return buf;
}

size_t pgk_name_demangle(const char *linkage_name, bool parameters, char *buf, size_t size)
{
    char *name = parameters ? pgk_demangle_fully(linkage_name) : pgk_demangle(linkage_name);
    const char *whole = name ? name : linkage_name;
    size_t len = strlen(whole), n = len < size ? len : size - 1;
    if (size) {
        memcpy(buf, whole, n);
        buf[n] = '\0';
    }
    pgk_mem_free(name);
    return len;
}
