#include "guest_calls.h"

#include "guest_processor.h"
#include "guest_sys.h"

#include <asm/unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* An empty one may be the kernel's own, which may wait (trace_pipe) or change code (mem). */
static bool is_regular(long file)
{
    struct stat s;
    return !pgg_sys_fstat((int)file, &s) && S_ISREG(s.st_mode) && s.st_size;
}

bool pgg_call_is_quick(const struct pgg_call *call)
{
    switch (call->number) {
    case __NR_read:
    case __NR_write:
    case __NR_pread64:
    case __NR_pwrite64:
    case __NR_readv:
    case __NR_writev:
        return is_regular(call->arguments[0]);
    case __NR_mmap:
        return !(call->arguments[2] & PROT_EXEC) &&
               call->arguments[3] == (MAP_PRIVATE | MAP_ANONYMOUS);
    case __NR_lseek:
    case __NR_fstat:
    case __NR_brk:
    case __NR_madvise:
    case __NR_clock_gettime:
    case __NR_gettimeofday:
    case __NR_getpid:
    case __NR_gettid:
        return true;
    default:
        return false;
    }
}

bool pgg_call_signals_wait(u64 mask)
{
    u64 waiting = 0;
    pgg_syscall(__NR_rt_sigpending, (long)&waiting, sizeof waiting, 0, 0, 0, 0);
    return waiting & ~mask;
}

long pgg_call_make(const struct pgg_call *call)
{
    const long *a = call->arguments;
    return pgg_syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
