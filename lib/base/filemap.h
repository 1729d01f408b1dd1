/* A file's bytes, read-only: mapped, or read into memory where mapping is not
 * possible (pipes, "-" for standard input). What is compressed by zstd or gzip, whatever its
 * name, is decompressed into memory. */
#ifndef PGK_FILEMAP_H
#define PGK_FILEMAP_H

#include "fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pgk_filemap {
    const uint8_t *bytes;
    size_t size;
    bool mapped;
    bool cut; /* there may be more in the file */
};

/* Opens a regular file or a pipe. A directory or a device is PGK_E_IO with a
 * sentence. Sequential access is announced to the kernel. */
int pgk_filemap_open(struct pgk_filemap *m, const char *path, struct pgk_err *err);
/* As pgk_filemap_open, but a compressed file that is damaged is opened all the same, as far as it
 * can be decompressed: the status and `err` say where the damage is (pgk_is_damage). */
int pgk_filemap_open_damaged(struct pgk_filemap *m, const char *path, struct pgk_err *err);
/* As pgk_filemap_open, to look at the beginning: of a compressed file perhaps only the first pieces
 * are there, or those before its damage; `cut` says so. */
int pgk_filemap_open_head(struct pgk_filemap *m, const char *path, struct pgk_err *err);
/* As pgk_filemap_open; but of a pipe whose first `head` bytes `is_streamed` accepts only these are
 * read, and the rest is to be read from `*fd`, which the caller closes. Otherwise `*fd` is -1. */
int pgk_filemap_open_stream(struct pgk_filemap *m, const char *path, size_t head,
                            bool (*is_streamed)(const uint8_t *bytes, size_t size), int *fd,
                            struct pgk_err *err);
/* As read(), again after signals. */
ssize_t pgk_read_some(int fd, void *into, size_t size);
/* Tells the kernel that the bytes from `first` to before `end` will not be read again; a page that
 * extends beyond `end` is kept. */
void pgk_filemap_done(const struct pgk_filemap *m, size_t first, size_t end);
/* Accepts a zeroed struct; zeroes it. */
void pgk_filemap_close(struct pgk_filemap *m);

#endif
