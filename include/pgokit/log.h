/* Messages and progress of the library. Nothing is printed by the library on its
 * own account once a callback is set; by default warnings go to stderr. */
#ifndef PGOKIT_LOG_H
#define PGOKIT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How urgent a message is. */
enum pgk_log_level {
    PGK_LOG_WARNING, /* what a user should know */
    PGK_LOG_NOTE, /* what a user may want to know */
    PGK_LOG_DEBUG, /* for those who work on pgokit */
};

/* Receives one finished sentence without newline. May be called from any thread. */
typedef void pgk_log_fn(void *ctx, enum pgk_log_level level, const char *text);

/* Process-wide; set before other threads use the library. NULL: the default. */
void pgk_log_set(pgk_log_fn *fn, void *ctx);
/* Messages less urgent than `level` are dropped; default PGK_LOG_NOTE. */
void pgk_log_level(enum pgk_log_level level);

/* Progress of long work: on a terminal a bar on stderr, redrawn at most ten times a
 * second, from the second second on; otherwise nothing. `what` names the work
 * ("reading"), `unit` what is counted: "B" prints MB/s and time left. */
struct pgk_progress {
    const char *what, *unit; /* what the work is, and what is counted */
    uint64_t total, done;    /* total 0: unknown */
    uint64_t start_ns, last_ns; /* when it began, and was last drawn */
    bool drawn; /* there is a bar to wipe */
};
void pgk_progress_enable(bool on); /* process-wide; default off */
/* Begins; the texts must live until the end. */
void pgk_progress_start(struct pgk_progress *p, const char *what, const char *unit, uint64_t total);
void pgk_progress_add(struct pgk_progress *p, uint64_t more); /* one thread at a time */
void pgk_progress_end(struct pgk_progress *p);                /* wipes the bar */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
