/* Loads and stores of windows: for a library that asks which of its objects a program reads and
 * writes. It has the recorder in it (recorder_objects['access'] of the build), and no recording of
 * branches. What is seen is multiplied by a weight, so that sums estimate all accesses of the
 * process without bias: docs/design/recorder.md, "What a window stands for". */
#ifndef PGBR_ACCESS_H
#define PGBR_ACCESS_H

#include "guest.h"

#pragma GCC visibility push(hidden)

enum {
    PGBR_WINDOWS_AT_ONCE = 4, /* of all threads */
    PGBR_WEIGHT_PLACES = 8,   /* binary places of a weight */
};

/* Set before the start and never after. */
struct pgbr_accesses {
    u64 from, bytes; /* the range of addresses that are asked for */
    /* The window with this number, below PGBR_WINDOWS_AT_ONCE, has run an instruction that begins
     * to read or write in the range. `accesses` is 1, and of a string instruction one for each 8
     * bytes, rounded up. An instruction that does both is reported twice, the load first. This runs
     * between two blocks of the program, so it is compiled with -mgeneral-regs-only, takes no lock
     * and calls nothing of the C library or the kernel. Windows of other threads call it at the
     * same time, with other numbers. */
    void (*take)(u32 window, u64 addr, u32 bytes, u32 accesses, bool store);
    /* Each access that this window has reported since it began, or since this was called last,
     * stands for so many (fixed point, PGBR_WEIGHT_PLACES). All registers are kept, signals but
     * those of faults wait, and the recorder holds no lock. */
    void (*window_ended)(u32 window, u64 weight);
};
extern struct pgbr_accesses pgbr_accesses;

/* Begins, once for a process, from a constructor: windows of all threads, as many as take so many
 * thousandths of the processor time. False, with a line on standard error: it cannot. */
bool pgbr_start_for_accesses(u32 budget_permille);
void pgbr_stop_for_accesses(void); /* windows that have begun end; may start again */
/* Processor time that windows have cost the process so far, besides the program's own work. */
u64 pgbr_cost_ns(void);

#pragma GCC visibility pop
#endif
