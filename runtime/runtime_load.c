/* In a shared library, which is linked to be initialised before all others. */
#include "runtime_shadow.h"

#include "runtime_start.h"
#include "runtime_thread.h"

#include <dlfcn.h>

/* What has the function of this name that the process calls. */
static bool find(const char *name, Dl_info *module)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    return function && dladdr(function, module);
}

/* Preloaded into a program with the runtime in it, or behind another allocator, this one gets no
 * calls worth a profile. Counters are still needed, to know memory that is not from here. */
static bool is_passed_over(void)
{
    static const char here;
    Dl_info heap, own, runtime;
    if (!find("malloc", &heap) || !dladdr(&here, &own) || heap.dli_fbase == own.dli_fbase)
        return false;
    pgrt_shadow_init();
    if (find("__memprof_profile_dump", &runtime) && runtime.dli_fbase == heap.dli_fbase)
        pgrt_gate_set(PGRT_GATE_OFF);
    else
        pgrt_off("the library stays out, malloc is that of", heap.dli_fname);
    return true;
}

__attribute__((constructor(101))) static void at_load(void)
{
    if (!is_passed_over())
        pgrt_ready();
}
