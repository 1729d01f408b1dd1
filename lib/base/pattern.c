/* Patterns that select names. */
#include "pattern.h"

#include <string.h>

int pgk_pattern_compile(struct pgk_pattern *p, const char *text, struct pgk_err *err)
{
    *p = (struct pgk_pattern){0};
    if (!text)
        return 0;
    int wrong = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
    if (wrong) {
        char why[100];
        regerror(wrong, &p->regex, why, sizeof why);
        return pgk_fail(err, PGK_E_ARG, .field = "pattern",
                        .found = PGK_F("'%s': %s", text, why),
                        .expected = "an extended regular expression",
                        .hint = "put a backslash before characters that are meant as they are");
    }
    p->given = true;
    return 0;
}

bool pgk_pattern_matches(const struct pgk_pattern *p, const char *name)
{
    return p->given && !regexec(&p->regex, name, 0, NULL, 0);
}

void pgk_pattern_free(struct pgk_pattern *p)
{
    if (p->given)
        regfree(&p->regex);
    *p = (struct pgk_pattern){0};
}
