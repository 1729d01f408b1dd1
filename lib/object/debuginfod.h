/* Files of build ids from the servers that DEBUGINFOD_URLS names. */
#ifndef PGK_DEBUGINFOD_H
#define PGK_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pgk_id_file {
    PGK_ID_DEBUG,   /* debug information */
    PGK_ID_PROGRAM, /* what is run: code */
};

struct pgk_debuginfod;
/* NULL if there are no servers to ask, and when out of memory. */
struct pgk_debuginfod *pgk_debuginfod_new(void);
void pgk_debuginfod_close(struct pgk_debuginfod **client);
/* The path of the file, which the client keeps in its cache, to be freed by free(); NULL if no
 * server has it. A server that cannot be reached is warned of once and then left alone. May be
 * called by several threads. */
char *pgk_debuginfod_fetch(struct pgk_debuginfod *client, enum pgk_id_file what, const uint8_t *id,
                           size_t size);

#endif
