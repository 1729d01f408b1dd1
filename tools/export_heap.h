/* Heap profiles for other viewers: the choices on the command line. */
#ifndef EXPORT_HEAP_H
#define EXPORT_HEAP_H

#include "cli.h"

/* The formats by name, for help texts. */
#define EXPORT_HEAP_FORMATS "html, pprof, folded, speedscope, csv, json"

/* Each exits with a sentence if there is no such name. */
enum pgk_heap_export export_heap_format(const struct cli_verb *verb, const char *name);
enum pgk_heap_weight export_heap_weight(const struct cli_verb *verb, const char *name);

#endif
