/* What recordings say of their process: path of the program, name of the host, arguments, each with
 * a zero byte after it. */
#ifndef PGK_PROCESS_TEXT_H
#define PGK_PROCESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct pgk_process_text {
    const char *program, *host; /* in the bytes that were split; "": not there */
    char *command_line;         /* as a shell reads it */
};
/* The last of the n bytes, if there are any, is zero. False when out of memory. */
bool pgk_process_text_split(struct pgk_process_text *text, const char *bytes, size_t n);
void pgk_process_text_free(struct pgk_process_text *text);

#endif
