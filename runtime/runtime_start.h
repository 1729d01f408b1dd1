/* Start and end, time and processor. */
#ifndef PGRT_START_H
#define PGRT_START_H

#include "guest_processor.h"
#include "pgrt.h"

#pragma GCC visibility push(hidden)

void pgrt_init(void);  /* idempotent */
void pgrt_ready(void); /* the C library is: called before anything of the program runs */
void pgrt_child_init(void);
/* Turns profiling off for good and says why. */
void pgrt_off(const char *why, const char *detail);
void pgrt_accesses_count(void); /* some object of the process counts its accesses */
u64 pgrt_notes_flags(void);
u32 pgrt_now_ms(void); /* since the start */
extern int pgrt_pid;
extern u64 pgrt_start_time; /* of the process, in ms since 1970 */
extern ptrdiff_t pgrt_cpu_at; /* from the thread's own pointer; 0: the kernel has to be asked */
u32 pgrt_cpu_asked(void);

PGG_INLINE u32 pgrt_cpu(void)
{
    const u32 cpu = PGG_LIKELY(pgrt_cpu_at) ? pgg_thread_word(pgrt_cpu_at) : pgrt_cpu_asked();
    return cpu < PGRT_CPU_UNKNOWN ? cpu : PGRT_CPU_UNKNOWN;
}

#pragma GCC visibility pop
#endif
