/* Begin and end of sampled objects. */
#ifndef PGSM_OBJECT_H
#define PGSM_OBJECT_H

#include "sampler_range.h"
#include "sampler_thread.h"

#pragma GCC visibility push(hidden)

/* Whether samples are drawn now: all is in place, and sampling is on. */
extern volatile bool pgsm_on;
/* Objects that should have been sampled, and had to be left to the program's allocator. */
extern u64 pgsm_dropped;

/* The calling thread draws its next sample, as sampling has been switched on. */
void pgsm_draw_anew(void);
/* An object for which pgsm_count was true: memory for it, or NULL if the program's allocator has to
 * give it. `align` is a power of two; `frame` is PGG_HERE of the function that the program
 * called. */
void *pgsm_begin(size_t bytes, size_t align, bool zero, const void *frame);
/* The program has freed an object of the range. */
void pgsm_end(void *p);
/* realloc of an object of the range, which pgsm_count did not count yet; bytes > 0. `*out`: what
 * realloc returns. False: it is to move to memory of the program's allocator. */
bool pgsm_again(void *p, size_t bytes, const void *frame, void **out);
size_t pgsm_object_usable(const void *p); /* bytes that the program may use; p is alive */
/* Without a program's own allocator so far: memory for what is freed like an object, but is of no
 * profile. */
void *pgsm_begin_unseen(size_t bytes, size_t align);

/* For those with the lock: objects that were freed by a thread that could not wait for it. */
void pgsm_end_waiting(void);

#pragma GCC visibility pop
#endif
