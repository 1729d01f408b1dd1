/* The slow plain reference for the symboliser: libdw, one address at a time, every DIE of
 * the unit visited for each. */
#ifndef PLAIN_SYMBOLISER_H
#define PLAIN_SYMBOLISER_H

#include <stdint.h>

struct plain_symboliser;

struct plain_frame {
    const char *function, *file; /* file with its folder as libdw prints it */
    uint32_t decl_line, line, column, discriminator;
};

enum { PLAIN_MAX_FRAMES = 256 };

/* NULL when libdw finds no debug information in the file. */
struct plain_symboliser *plain_open(const char *path);
void plain_close(struct plain_symboliser *s);
/* Frames of the address, innermost first; returns how many. */
unsigned plain_symbolise(struct plain_symboliser *s, uint64_t addr,
                         struct plain_frame frames[PLAIN_MAX_FRAMES]);

#endif
