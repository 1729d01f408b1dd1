/* Messages and progress of the library. Nothing is printed by the library on its
 * own account once a callback is set; by default warnings go to stderr. */
#ifndef PGOKIT_LOG_H
#define PGOKIT_LOG_H

#include <stdbool.h>

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

/* Whether long work of the library shows its progress on a terminal: a bar on stderr, redrawn at
 * most ten times a second, from the second second on. Process-wide; default off. */
void pgk_progress_enable(bool on);
/* Names all that is done from now on ("show"), whose time is shown where no part of it shows more;
 * `what` must live until NULL ends it. Not from several threads. */
void pgk_progress_work(const char *what);
/* Draws anew what is shown, if it is time to. A thread that calls this a few times a second lets
 * also such work show its progress that takes long between two steps. */
void pgk_progress_tick(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
