/* pgokit config: what its kinds of flags share. */
#ifndef PGK_CONFIG_H
#define PGK_CONFIG_H

#include "record.h"

struct config {
    struct cli_common common;
    bool use, layout; /* profiles; orders of code; else record the heap */
    bool cflags, ldflags, libs, shared, histogram;
    const char *cc;
    const char *report; /* folder for records of what is used; NULL: none */
    struct cli_list profiles;
    bool clang;
    bool other_processor;  /* a gcc that no plugin of this machine fits */
    unsigned long release; /* 0: not in its name */
};

/* Exits if command lines would split the path. */
void config_check_path(const char *path);

/* Prints the flags to use profiles with. */
void config_use(const struct config *c);
/* Prints the flags to order code by the one profile, or to build what is recorded for it. */
void config_layout(const struct config *c);

#endif
