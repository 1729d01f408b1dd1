/* What programs are started with from a recorded one. */
#ifndef PGG_EXEC_H
#define PGG_EXEC_H

#include "guest.h"

#pragma GCC visibility push(hidden)

/* The environment for a program: as it is, or, where the dynamic linker of the program (or of the
 * interpreter of a script) is not glibc's, which could not load our libraries and would end it,
 * without these in LD_PRELOAD. It is put together in the buffer, as a child of vfork shares its
 * parent's memory. dir is a descriptor or AT_FDCWD; an empty path is the descriptor itself. */
struct pgg_exec_buffer {
    char *list[1024], preload[4096];
};
char *const *pgg_exec_environment(struct pgg_exec_buffer *b, int dir, const char *path,
                                  char *const *environment);

#pragma GCC visibility pop
#endif
