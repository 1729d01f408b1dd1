/* Functions of the C library in a dynamic program. */
#include "guest_symbols.h"
#include "recorder_modules.h"
#include "recorder_real.h"

#include <dlfcn.h>

const struct pgbr_real *pgbr_real(void)
{
    static struct pgbr_real real;
    static bool known; /* two threads may look up the same, with the same result */
    if (__atomic_load_n(&known, __ATOMIC_ACQUIRE))
        return &real;
#define LOOK_UP(name) *(void **)&real.name = dlsym(RTLD_NEXT, #name)
    LOOK_UP(pthread_create);
    LOOK_UP(thrd_create);
    LOOK_UP(sigwait);
    LOOK_UP(sigwaitinfo);
    LOOK_UP(sigtimedwait);
    LOOK_UP(signalfd);
    LOOK_UP(dlclose);
#undef LOOK_UP
    __atomic_store_n(&known, true, __ATOMIC_RELEASE);
    return &real;
}

PGBR_EXPORT int dlclose(void *library);

int dlclose(void *library)
{
    const int err = pgbr_real()->dlclose(library);
    pgbr_modules_closing();
    return err;
}

/* Only dynamic programs have this function, so that no program can be linked with -static with the
 * recorder for dynamic ones, which would find nothing. */
void *__tls_get_addr(void *variable);

bool pgbr_real_alone(void)
{
    void (*yield)(void);
    __asm__ volatile("" ::"r"(__tls_get_addr));
    *(void **)&yield = pgg_symbol_behind("pgokit_branches_yield");
    if (yield)
        yield();
    return yield;
}
