/* Profiles for other viewers: the choices on the command line. */
#ifndef EXPORT_CHOICE_H
#define EXPORT_CHOICE_H

#include "cli.h"

/* All formats but the page, by name: "pprof, folded, ...". In help texts CLI_VIEWERS stands for
 * it. */
#define CLI_VIEWERS "@viewers@"
const char *export_viewers(void);

/* Name `i` of them; NULL past the last. */
const char *export_viewer(size_t i);

/* Exits with a sentence if there is no such name. */
enum pgk_heap_weight export_weight(const struct option_given *given);
const char *export_weight_word(size_t i);
/* Whether that is the name of such a format. */
bool export_is_viewer(const char *name);
/* The name of a file without its folders. */
const char *export_title(const char *path);

/* Options of `pgokit report` for every kind of profile. */
struct report_choice {
    const char *format; /* its name */
    const char *path, *base, *output;
    struct cli_list on;
};
extern const struct option_table report_choice_options;
/* Takes the profile, once all options are read; exits with a sentence if that does not do. */
void report_operand(struct report_choice *choice, int argc, char **argv);
/* Says where the output is, if it is in a file; its name may be the default. */
void report_note_output(const struct report_choice *choice);

#endif
