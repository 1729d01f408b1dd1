/* Reports of what a damaged file has lost. */
#include "salvage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void pgk_salvage_say(struct pgk_salvage *s, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->lost++;
    s->fn(s->ctx, text);
}

int pgk_salvage_skip(struct pgk_salvage *s, int status, const struct pgk_err *err)
{
    if (!status || status == PGK_E_NOMEM || status == PGK_E_IO)
        return status;
    pgk_salvage_say(s, "%s at offset 0x%" PRIx64 ": field %s: found %s, expected %s", err->record,
                    err->offset, err->field, err->found, err->expected);
    return 0;
}
