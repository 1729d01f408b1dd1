/* `pgokit gen` on what `pgokit pgo` recorded, with its own report. */
#include "pgo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool pgo_generate(const struct pgo_generated *made)
{
    struct record_ended ended;
    const struct record_files *recordings = made->recordings;
    const struct pgo_files *files = made->files;
    const char **words = calloc(recordings->n + 2 * files->n + 14, sizeof *words);
    size_t n = 0;
    if (!words)
        pgo_stop("out of memory");
    words[n++] = "pgokit";
    words[n++] = "gen";
    words[n++] = "--no-next"; /* this compiles */
    words[n++] = "--skip-other-builds"; /* of programs that have the same name */
    if (made->figures) {
        words[n++] = "--report";
        words[n++] = made->figures;
    }
    if (made->quiet)
        words[n++] = "-q";
    if (made->form) {
        words[n++] = "--format";
        words[n++] = made->form;
    }
    words[n++] = "-o";
    words[n++] = made->output;
    for (size_t i = 0; i < recordings->n; i++)
        words[n++] = recordings->v[i].path;
    for (size_t i = 0; i < files->n; i++) {
        words[n++] = "-b";
        words[n++] = files->v[i].path;
    }
    if (!pgo_log_run("/proc/self/exe", words, made->errors_too, &ended))
        pgo_stop("cannot run pgokit gen: %s", strerror(errno));
    free(words);
    return ended.exit_code <= EXIT_INCOMPLETE;
}
