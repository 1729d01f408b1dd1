/* diff --format and --json: how a comparison is printed. */
#ifndef DIFF_FORM_H
#define DIFF_FORM_H

enum diff_form { DIFF_TEXT, DIFF_MARKDOWN, DIFF_JSON };

#define DIFF_FORM_LONG                        \
    {"format", required_argument, NULL, 'F'}, \
    {"json", no_argument, NULL, 'J'}
#define DIFF_FORM_HELP                                                                      \
    "      --format NAME    text (default), markdown, which is for the summary of a job, or json\n"

/* Takes an option that cli_next_option returned, if it is one of these; exits with a sentence if
 * there is no such form. */
void diff_form_option(enum diff_form *form, int option);

#endif
