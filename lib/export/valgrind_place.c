/* Frames as valgrind's tools print them. */
#include "valgrind_place.h"

#include "path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int print(char *to, size_t size, const struct pgk_heap_frames *frames,
                 const struct pgk_view_frame *f)
{
    const struct pgk_view_func *func = &frames->funcs.v[f->func];
    const char *name = f->is_address ? "???" : pgk_frames_text(frames, func->name);
    if (f->line)
        return snprintf(to, size, "0x%" PRIX64 ": %s (%s:%" PRIu32 ")", f->address, name,
                        pgk_base_name(pgk_frames_text(frames, func->file)), f->line);
    if (f->is_address)
        return snprintf(to, size, "0x%" PRIX64 ": %s (in module %s)", f->address, name,
                        pgk_frames_text(frames, func->module));
    return snprintf(to, size, "0x%" PRIX64 ": %s", f->address, name);
}

const char *pgk_valgrind_place(pgk_place_text *buf, const struct pgk_heap_frames *frames,
                               const struct pgk_view_frame *frame)
{
    const int n = print(NULL, 0, frames, frame);
    buf->n = 0;
    if (n < 0 || !pgk_vec_reserve(buf, (size_t)n + 1))
        return NULL;
    print(buf->v, (size_t)n + 1, frames, frame);
    buf->n = (size_t)n + 1;
    return buf->v;
}
