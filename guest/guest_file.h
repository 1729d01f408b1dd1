/* The file on disk: its name, making it, growing it, and knowing it again. Programs close
 * descriptors that they did not open, change directory and root, and take rights away from
 * themselves; what they then open under the same number must not be touched. Errors are negative
 * error numbers. */
#ifndef PGG_FILE_H
#define PGG_FILE_H

#include "guest_text.h"

#pragma GCC visibility push(hidden)

struct pgg_file {
    char path[1100], part[1110]; /* it is made under the second name */
    int stream;                  /* 1 or 2 when there is no file */
    struct pgg_file_id {
        u64 device, inode;
    } id, root; /* its own, and that of the process's root directory when it got its name */
    /* Its descriptor among those of the program, and among those of a helper (guest_helper.h). It
     * may still be that of an older file, which only its owner can close. */
    struct pgg_held {
        int fd;
        struct pgg_file_id id;
    } held[2];
    int keeper; /* the helper that has it since it was made, or 0 */
};
#define PGG_NO_FILE {.stream = -1, .held = {{.fd = -1}, {.fd = -1}}}

void pgg_file_init(void); /* names are relative to the directory of now */
/* Adds the template's text, in which %p is the process, %h the host, %e the program, %t the time
 * and %% a percent sign. True if the process is part of it. */
bool pgg_file_expand(struct pgg_text *t, const char *template, int process);
/* Adds the directory of pgg_file_init and a slash if the name is not absolute. */
void pgg_file_absolute(struct pgg_text *t, const char *name);
/* The process has had the same root directory since pgg_file_init. */
bool pgg_file_root_is_first(void);
/* The name wanted, or, of those that are `unique`, the next that is free: NAME.2 and so on. False:
 * it is too long. */
bool pgg_file_choose(struct pgg_file *f, const char *wanted, bool unique);
/* A descriptor, under its second name; -EXDEV: its name means another place now. */
long pgg_file_create(struct pgg_file *f, bool directories);
void pgg_file_take(struct pgg_file *f, int fd);             /* it is this one from now on */
void pgg_file_leave(struct pgg_file *f);
int pgg_file_descriptor(struct pgg_file *f); /* of the calling thread; it may have been closed */
int pgg_file_publish(const struct pgg_file *f); /* under its first name */
bool pgg_file_is_published(const struct pgg_file *f); /* and it has not been moved since */
void pgg_file_drop(const struct pgg_file *f, int fd);
/* By copies of a page; sizes are whole pages. */
int pgg_file_grow(struct pgg_file *f, u64 from, u64 to, const void *page);
int pgg_file_write(struct pgg_file *f, u64 off, const void *from, u64 bytes); /* where it is long */
int pgg_file_punch(struct pgg_file *f, u64 from, u64 to); /* zeros that take no blocks */
int pgg_file_shorten(struct pgg_file *f, u64 bytes); /* to so many bytes; none: it is removed */
/* All of a file that the environment names, in pages of its own. It must be a regular one of at
 * most so many bytes that root or the user owns, and is not waited for. NULL: *why says what it
 * is. */
void *pgg_file_read(const char *path, u64 most, size_t *bytes, const char **why);
/* A descriptor of a regular file to write to; what else is there under the name, a pipe or a link,
 * is neither waited for nor written to. flags: O_RDWR or O_WRONLY, and how it is made. */
long pgg_file_open(const char *path, int flags);
bool pgg_file_within_limit(u64 bytes); /* larger ones cost the process a signal that kills */

#pragma GCC visibility pop
#endif
