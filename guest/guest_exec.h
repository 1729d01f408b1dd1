/* Programs that are started from a recorded one. */
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

/* Where execvp looks for a file: in the folders of PATH, unless it has a slash. */
struct pgg_exec_search {
    const char *file, *folders; /* NULL: there are no more */
    char path[4096];
};
void pgg_exec_search_begin(struct pgg_exec_search *s, const char *file);
bool pgg_exec_search_next(struct pgg_exec_search *s);

/* From now on a room hears of each exec before it, and after one that failed. */
void pgg_exec_watch(void (*before)(void), void (*after_failure)(void));

/* The function that comes after ours, with the arguments of execveat: in a shared library that of
 * the next library, in a linked one the system call. Comes back only with an error. */
long pgg_exec_next(int dir, const char *path, char *const argv[], char *const envp[], int flags);

#pragma GCC visibility pop
#endif
