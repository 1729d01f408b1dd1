/* The time and the processor of now. */
#ifndef PGSM_TIME_H
#define PGSM_TIME_H

#include "pgsm.h"

#pragma GCC visibility push(hidden)

void pgsm_time_begin(void);  /* of the process: it starts now */
u32 pgsm_now_ms(void);       /* since then */
u64 pgsm_processor_ns(void); /* time that the process has taken of processors */
u64 pgsm_clock_ns(void);
u32 pgsm_cpu(void);
extern u64 pgsm_start_time; /* in ms since 1970 */

#pragma GCC visibility pop
#endif
