/* Memory that the program maps itself, as the kernel lists it: smaps and pagemap of proc(5). */
#ifndef PGRT_REACH_MAPS_H
#define PGRT_REACH_MAPS_H

#include "guest.h"

#pragma GCC visibility push(hidden)

struct pgrt_range {
    uintptr_t from, to;
};

/* Up to `most` private writable mappings of no file that the kernel accounts for: those of the
 * runtime and its allocator are mapped with MAP_NORESERVE, and so are not among them, unless the
 * system ignores that flag. No stacks of initial threads. `text` is for what is read. */
u32 pgrt_maps_of_program(struct pgrt_range *to, u32 most, char *text, size_t bytes);

/* Calls back with the parts of a range that were ever touched: an untouched page would cost memory
 * if it were read. `known` is an address whose page was. False if the kernel does not know that
 * page or does not tell, as in an emulator: nobody was called. */
bool pgrt_maps_each_touched(const struct pgrt_range *range, const void *known,
                            void (*f)(void *arg, uintptr_t from, uintptr_t to), void *arg);

#pragma GCC visibility pop
#endif
