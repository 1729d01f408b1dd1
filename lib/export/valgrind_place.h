/* A frame as valgrind's tools print it, whose viewers take the address off. */
#ifndef PGK_VALGRIND_PLACE_H
#define PGK_VALGRIND_PLACE_H

#include "heap_frames.h"
#include "vec.h"

typedef PGK_VEC(char) pgk_place_text;

/* "0x0: main (a.c:12)", or "0x45B8F7: ??? (in module 69de2b25)" for an address without function.
 * The text is in `buf`, and valid until the next call; NULL when out of memory. */
const char *pgk_valgrind_place(pgk_place_text *buf, const struct pgk_heap_frames *frames,
                               const struct pgk_view_frame *frame);

#endif
