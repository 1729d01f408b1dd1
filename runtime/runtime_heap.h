/* All live objects, found by their marks in the shadow. */
#ifndef PGRT_HEAP_H
#define PGRT_HEAP_H

#include "runtime_object.h"

#pragma GCC visibility push(hidden)

/* Calls back with each object that is alive, in no order. With the world stopped. */
void pgrt_heap_each(void (*f)(void *arg, struct pgrt_object *o), void *arg);
/* Bytes that the program asked for and has not freed, and the address space that has been taken for
 * objects; false if it cannot be found out now, as in a signal handler. */
bool pgrt_heap_bytes(u64 *asked, u64 *taken);
/* The start of the object that an address is in; NULL if it is in none, or if this cannot be found
 * out now. It searches all objects until it finds that one. */
const void *pgrt_heap_begin(const void *address);

#pragma GCC visibility pop
#endif
