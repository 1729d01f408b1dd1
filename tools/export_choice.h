/* Profiles for other viewers: the choices on the command line. */
#ifndef EXPORT_CHOICE_H
#define EXPORT_CHOICE_H

#include "cli.h"

/* The formats by name, for help texts; all but the page, for convert. */
#define EXPORT_VIEWERS "pprof, folded, speedscope, csv, json"
#define EXPORT_FORMATS "html, " EXPORT_VIEWERS

/* Each exits with a sentence if there is no such name. */
enum pgk_export export_format(const struct cli_verb *verb, const char *name);
enum pgk_heap_weight export_weight(const struct cli_verb *verb, const char *name);
/* Whether that is the name of a format of EXPORT_VIEWERS, and which. */
bool export_is_viewer(const char *name, enum pgk_export *format);
/* Where an export goes: to `output`, or where it goes by default. */
const char *export_output(enum pgk_export format, const char *output);
/* The name of a file without its folders. */
const char *export_title(const char *path);

#endif
