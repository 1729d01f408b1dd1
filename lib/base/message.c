/* Log messages. */
#include "message.h"
#include "progress.h"

#include "pgokit/human.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TEXT_SIZE = 2048 };

static void print_to_stderr(void *ctx, enum pgk_log_level level, const char *text)
{
    static const char *const names[] = {"warning", "note", "debug"};
    char safe[4 * TEXT_SIZE];
    (void)ctx;
    fprintf(stderr, "pgokit: %s: %s\n", names[level], pgk_human_text(safe, sizeof safe, text));
}

static pgk_log_fn *receiver = print_to_stderr;
static void *receiver_ctx;
static _Atomic int least_urgent = PGK_LOG_NOTE;

void pgk_log_set(pgk_log_fn *fn, void *ctx)
{
    receiver = fn ? fn : print_to_stderr;
    receiver_ctx = ctx;
}

void pgk_log_level(enum pgk_log_level level)
{
    atomic_store(&least_urgent, (int)level);
}

static void PGK_PRINTF(2, 0) emit(enum pgk_log_level level, const char *fmt, va_list args)
{
    if ((int)level > atomic_load(&least_urgent))
        return;
    char text[TEXT_SIZE];
    vsnprintf(text, sizeof text, fmt, args);
    pgk_progress_wipe();
    receiver(receiver_ctx, level, text);
}

#define EMITTER(name, level)           \
    void name(const char *fmt, ...)    \
    {                                  \
        va_list args;                  \
        va_start(args, fmt);           \
        emit((level), fmt, args);      \
        va_end(args);                  \
    }
EMITTER(pgk_warn, PGK_LOG_WARNING)
EMITTER(pgk_note, PGK_LOG_NOTE)
EMITTER(pgk_debug, PGK_LOG_DEBUG)
