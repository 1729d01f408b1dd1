/* Options of a guest: a table of its own, read from strings and the environment. */
#ifndef PGG_OPTIONS_H
#define PGG_OPTIONS_H

#include "guest.h"

#pragma GCC visibility push(hidden)

enum { PGG_OPTION_TEXT = 1024 }; /* bytes of a string option */

struct pgg_option {
    const char *name, *meaning;
    u64 *value, initial, lowest, highest; /* of a number, else NULL and 0 */
    char *text;                           /* of a string, else NULL */
};
struct pgg_options {
    const char *who; /* says what is wrong with them */
    const struct pgg_option *rows;
    u32 n, others_n;
    const struct pgg_other_name {
        const char *other, *name;
    } *others;
};

void pgg_options_reset(const struct pgg_options *o); /* numbers get their initial values */
/* name=value items; a value may stand in quotes. Numbers are cut to their range. Unknown names
 * are said. NULL: none. */
void pgg_options_parse(const struct pgg_options *o, const char *items);
void pgg_options_print(const struct pgg_options *o); /* all, on standard error */

#pragma GCC visibility pop
#endif
