/* diff --format and --json: how a comparison is printed. */
#ifndef DIFF_FORM_H
#define DIFF_FORM_H

#include "cli.h"

enum diff_form { DIFF_TEXT, DIFF_MARKDOWN, DIFF_JSON };

/* For an enum diff_form. */
extern const struct option_table diff_form_options;
/* Standard output is for a person, or for a program. */
void diff_form_output(enum diff_form form);

#endif
