/* Heap profiles for other viewers: the choices on the command line. */
#include "export_heap.h"

#include <string.h>

enum pgk_heap_export export_heap_format(const struct cli_verb *verb, const char *name)
{
    for (enum pgk_heap_export f = 0; f < PGK_EXPORTS; f++)
        if (!strcmp(name, pgk_heap_export_name(f)))
            return f;
    cli_usage(verb, "--format takes one of " EXPORT_HEAP_FORMATS ", not '%s'", name);
}

enum pgk_heap_weight export_heap_weight(const struct cli_verb *verb, const char *name)
{
    for (enum pgk_heap_weight w = 0; w < PGK_WEIGHTS; w++)
        if (!strcmp(name, pgk_heap_weight_name(w)))
            return w;
    cli_usage(verb, "--weight takes bytes, count, accesses or lifetime-bytes, not '%s'", name);
}
