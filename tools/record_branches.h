/* The result of a run of the branch recorder, for messages. */
#ifndef PGK_RECORD_BRANCHES_H
#define PGK_RECORD_BRANCHES_H

#include "record.h"

struct record_branches_done {
    const struct record_files *files; /* recordings of the processes */
    const struct record_ended *ended;
    const char *binary; /* whose counts are wanted */
    const char *counts; /* where they are; NULL: there are none */
    bool perf;          /* next to each recording is a perf.data */
    bool keep;          /* recordings stay */
    bool loads;         /* they have loads, which counts have not */
    bool no_debug;      /* the binary has no debug information, which a profile takes */
    bool quiet;         /* only what is wrong */
};
void record_branches_report(const struct record_branches_done *done);

/* The file to count: `program`, or the one with the most branches where the program has hardly
 * any, which is said then. To be freed. */
char *record_branches_choose(const struct record_files *files, const char *program, bool quiet);

#endif
