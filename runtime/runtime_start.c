/* Start and end: what has to happen before the first object, in a child, and at exit. */
#include "runtime_start.h"

#include "guest_exec.h"
#include "guest_file.h"
#include "guest_frames.h"
#include "guest_modules.h"
#include "guest_open.h"
#include "guest_process.h"
#include "guest_sys.h"
#include "runtime_access.h"
#include "runtime_confine.h"
#include "runtime_dump.h"
#include "runtime_hooks.h"
#include "runtime_options.h"
#include "runtime_reach.h"
#include "runtime_series.h"
#include "runtime_socket.h"
#include "runtime_store.h"
#include "runtime_thread.h"
#include "runtime_trigger.h"

#include <linux/rseq.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

int pgrt_pid;
u64 pgrt_start_time;

static u64 start_ms;
static bool started;
ptrdiff_t pgrt_cpu_at;
bool pgrt_space_is_limited;

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
extern const uint8_t __memprof_histogram __attribute__((weak));

static u64 clock_ms(void)
{
    struct timespec now;
    /* Coarse: the kernel keeps it in a page of ours, a load and no instruction that waits. */
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
        return 0;
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

u32 pgrt_now_ms(void)
{
    return (u32)(clock_ms() - start_ms);
}

/* The C library registers an area that the kernel keeps up to date. */
static void find_cpu(void)
{
    if (&__rseq_size && __rseq_size)
        pgrt_cpu_at = __rseq_offset + (ptrdiff_t)offsetof(struct rseq, cpu_id);
}

u32 pgrt_cpu_asked(void)
{
    return (u32)sched_getcpu();
}

void pgrt_off(const char *why, const char *detail)
{
    if (pgrt_gate_now() != PGRT_GATE_OFF)
        pgrt_say(why, detail);
    pgrt_gate_set(PGRT_GATE_OFF);
}

static bool merged; /* some object of the process adds up accesses to different granules */

u64 pgrt_notes_flags(void)
{
    return PGRT_NOTE_CUT | (pgrt_instrumented ? 0 : PGRT_NOTE_LIBRARY_ACCESSES) |
           (pgrt_threads_several() ? PGRT_NOTE_THREADS : 0) | (merged ? PGRT_NOTE_MERGED : 0);
}

void pgrt_init(void)
{
    static volatile u32 once;
    if (__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL))
        return;
    pgrt_pid = pgg_sys_process();
    pgrt_confine_init();
    find_cpu();
    start_ms = clock_ms();
    pgrt_start_time = pgg_process_clock_ms();
    pgrt_histogram = &__memprof_histogram && __memprof_histogram;
    bool shadow = pgrt_shadow_init();
    pgrt_threads_init();
    pgrt_options_read();
    pgrt_hooks_init();
    pgg_file_init();
    pgg_walk_options = (struct pgg_walk_options){.depth = pgrt_options.depth,
                                                 .frame_pointers = pgrt_options.frame_pointers};
    if (!shadow) {
        pgrt_off("recording nothing",
                 "no memory for the counters; raise the limit on memory (ulimit -d)");
        return;
    }
    if (!pgrt_options.enabled) {
        pgrt_gate_set(PGRT_GATE_OFF);
        return;
    }
    pgg_modules_refresh();
    pgrt_triggers_init();
    if (pgrt_store_open()) {
        pgrt_pause(pgrt_options.paused);
        pgrt_gate_set(pgrt_gate_started);
    }
    started = true;
    pgrt_cost_once_ends();
}

void pgrt_ready(void)
{
    pgg_open_watch(pgrt_say);
    pgg_exec_watch(pgrt_exec_begins, pgrt_exec_failed);
    pgg_frames_ready();
    pgrt_init();
    /* An allocation of the C library's own start came before it knew its modules. */
    const struct pgg_segment *list;
    if (pgrt_gate_now() != PGRT_GATE_OFF && !pgg_modules(&list))
        pgg_modules_refresh();
    pgrt_socket_begin();
}

/* Objects that live now are the parent's; a child that only runs another program makes no file. */
void pgrt_child_init(void)
{
    if (!started)
        return;
    if (pgg_confined) {
        pgrt_off("nothing is recorded in the child",
                 "under a filter of system calls (seccomp) no file is made for it");
        return;
    }
    pgrt_pid = pgg_sys_process();
    pgrt_start_time = pgg_process_clock_ms();
    pgrt_generation++;
    pgrt_store_forked();
    pgrt_threads_after_fork();
    pgrt_series_forked();
    pgg_modules_after_fork();
    pgrt_histograms_clear();
    pgrt_cost_forked();
    pgrt_child_objects = 0;
    pgrt_dropped = 0;
    pgrt_socket_forked();
    pgrt_gate_set(pgrt_gate_started);
}

/* ---- entry points of objects ---- */

PGRT_EXPORT void __memprof_init(void);
PGRT_EXPORT void __memprof_preinit(void);
PGRT_EXPORT void __memprof_version_mismatch_check_v1(void);
PGRT_EXPORT void __pgokit_heap_merges(void);
PGRT_EXPORT int __memprof_profile_dump(void);
PGRT_EXPORT void __memprof_profile_reset(void);
PGRT_EXPORT void __memprof_print_accumulated_stats(void);
PGRT_EXPORT const int __memprof_rt_version = 1;

bool pgrt_instrumented;

/* The file may be there already, and must say what counts even if the process is killed now. */
void pgrt_accesses_count(void)
{
    const bool first = !pgrt_instrumented;
    pgrt_instrumented = true;
    pgrt_init();
    if (first)
        pgrt_sheets_note_flags();
}

/* Counting code cannot do without counters, and would only crash with less to say. */
static void need_counters(void)
{
    if (!__memprof_shadow_memory_dynamic_address)
        pgg_sys_exit(1);
}

void __memprof_init(void)
{
    pgrt_accesses_count();
    need_counters();
}

/* Only linked into programs that count. */
void __memprof_preinit(void)
{
    pgrt_ready();
    need_counters();
}

void __memprof_version_mismatch_check_v1(void) {}

void __pgokit_heap_merges(void)
{
    merged = true;
    pgrt_sheets_note_flags();
}

int __memprof_profile_dump(void)
{
    if (!pgrt_can_stop())
        return 1;
    pgrt_dump(false);
    return 0;
}

void __memprof_profile_reset(void)
{
    if (pgrt_can_stop())
        pgrt_reset();
}

void __memprof_print_accumulated_stats(void)
{
    char line[200];
    struct pgg_text t;
    pgg_text_init(&t, line, sizeof line);
    pgg_text_u64(&t, pgg_contexts() - 1);
    pgg_text_str(&t, " contexts, ");
    pgg_text_u64(&t, pgrt_dropped);
    pgg_text_str(&t, " objects without context");
    pgrt_say(line, NULL);
}

/* After the destructors of the program; what they still free is in the profile. */
__attribute__((destructor(101))) static void at_exit(void)
{
    if (!pgrt_busy())
        pgrt_socket_end();
    if (!pgrt_can_stop())
        return;
    __builtin_unwind_init(); /* so that registers of the callers are on the stack */
    if (pgrt_options.dump_at_exit && pgrt_options.leak_check)
        pgrt_reach_prepare();
    if (pgrt_options.dump_at_exit)
        pgrt_dump(true);
    else
        pgrt_discard();
}
