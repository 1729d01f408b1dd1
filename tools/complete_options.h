/* The options of verbs, as shells complete them. */
#ifndef PGK_COMPLETE_OPTIONS_H
#define PGK_COMPLETE_OPTIONS_H

#include "cli.h"

/* What stands behind an option. */
enum completed_value { VALUE_NONE, VALUE_TEXT, VALUE_FILE };

struct completed_option {
    const char *name;
    char letter; /* 0: none */
    enum completed_value value;
    char does[100]; /* from the help of the verb, up to the end of a sentence or a part of it */
};

struct completed_options {
    struct completed_option *v;
    size_t n;
};

/* All options of the verb and its actions, each once, in the order of the tables. Exits when out of
 * memory. */
void completed_options_find(struct completed_options *options, const struct cli_verb *verb);
void completed_options_free(struct completed_options *options);

#endif
