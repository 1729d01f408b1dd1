/* Finished dumps of the profile, and what takes the place of the sheets. */
#ifndef PGRT_FINISHED_H
#define PGRT_FINISHED_H

#include "runtime_notes.h"

#pragma GCC visibility push(hidden)

/* A dump that is written in pieces, as all of its bytes would take as much memory as all tables. */
struct pgrt_out;
struct pgrt_dump {
    u64 size; /* of its own bytes */
    struct pgrt_texts texts; /* that the file has with it */
    /* Puts them out, with what the header is to say of where the dump ends. May be called again. */
    void (*write)(const struct pgrt_dump *d, u64 total_size, struct pgrt_out *to);
};
void pgrt_out(struct pgrt_out *to, const void *bytes, size_t n);
/* Puts a dump after those that are finished and empties the sheets. `last` leaves none. */
int pgrt_store_finish(const struct pgrt_dump *dump, bool last);
struct pgrt_texts pgrt_store_texts(void); /* of the finished dumps */
/* Leaves the file to its finished dumps and goes on in a new one, which takes its name: the program
 * may have given the old one another. With the world stopped. */
int pgrt_store_reset(void);
void pgrt_store_discard(void); /* what no dump has: the file keeps the finished ones, if any */

#pragma GCC visibility pop
#endif
