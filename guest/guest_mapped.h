/* A file that is mapped whole and grows where it is, so that a kill loses nothing that was stored.
 * Errors are negative error numbers. */
#ifndef PGG_MAPPED_H
#define PGG_MAPPED_H

#include "guest_file.h"

#pragma GCC visibility push(hidden)

struct pgg_mapped {
    struct pgg_file file; /* with a stream, the memory is of no file */
    char *base;           /* NULL until addresses are reserved */
    u64 size;             /* mapped from there on */
    u64 capacity;         /* most that can be */
    bool whole;           /* all reserved addresses are mapped; the file has a hole after `size` */
};

int pgg_mapped_reserve(struct pgg_mapped *m, u64 bytes); /* addresses for all, if base is NULL */
/* By copies of the page, which are in the file before they are mapped. A fork does not inherit
 * what is mapped: a child must not write into its parent's file. */
int pgg_mapped_grow(struct pgg_mapped *m, u64 to, const void *page);
/* Maps all reserved addresses, so that growing takes no descriptor, and closes the descriptor,
 * because programs check which ones they have. Does nothing if Linux is older than 5.14, or files
 * may not have this size. */
void pgg_mapped_let_go(struct pgg_mapped *m);
int pgg_mapped_end(struct pgg_mapped *m); /* the file ends where it is used; it grows no more */
int pgg_mapped_write(struct pgg_mapped *m, u64 off, const void *from, u64 bytes); /* below `size` */
/* Pages, which are zeros then and take no blocks. Not all systems can. */
int pgg_mapped_punch(struct pgg_mapped *m, u64 from, u64 to);
/* Another file in its place, or none (fd < 0), with so many bytes of it mapped. */
int pgg_mapped_move(struct pgg_mapped *m, int fd, u64 size);
/* Continues the mapping from `from` on in another file, from its start, to which the content was
 * copied; the old file ends there. Addresses do not change. */
int pgg_mapped_split(struct pgg_mapped *m, int fd, u64 from);
/* Gives up the parent's file and the reserved addresses: in the child, the place of the mapping is
 * a hole, which something else may occupy by now. */
void pgg_mapped_forked(struct pgg_mapped *m);

#pragma GCC visibility pop
#endif
