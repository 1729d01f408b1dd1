/* What this machine can record. */
#ifndef PGK_PERF_CHECK_H
#define PGK_PERF_CHECK_H

/* The event to record branch stacks with; NULL if the machine has none, or perf is not there. */
const char *perf_check_branches(void);

#endif
