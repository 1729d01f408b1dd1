/* Reading a heap profile for people: with names, where binaries are given. */
#ifndef HEAP_INPUT_H
#define HEAP_INPUT_H

#include "cli.h"

struct heap_input {
    struct pgk_heap *heap;
    const struct pgk_file_info *info;
    struct pgk_heap_symbolised symbolised;
    bool of_two;   /* set before reading: binaries that it does not need are no fault */
    bool show_all; /* set before reading: what has no name stays as an address, and all files that
                      can be found give names; for views */
};

/* Close in->heap in any case. Without binaries in `common` they are found by build id. */
int heap_input_read(struct heap_input *in, const char *path, const struct cli_common *common,
                    struct pgk_err *err);
/* Both profiles of a comparison, each with those of all binaries that are its own. Warns of each of
 * `given`, which are among them, that neither needs, and if the program of one gave no names. Close
 * the heaps of both in any case. */
int heap_input_read_two(struct heap_input *const in[2], const char *const paths[2],
                        const struct cli_common *all, const struct cli_list *given,
                        struct pgk_err *err);
/* The same, with the addresses that the profile has. */
int heap_input_read_addresses(struct heap_input *in, const char *path, struct pgk_err *err);
/* Says how to get names if the profile has none. */
void heap_input_note_no_names(const struct pgk_heap *heap);

#endif
