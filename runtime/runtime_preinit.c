/* In an executable: the counters are there before anything else of it runs. */
#include "runtime_shadow.h"

void __memprof_preinit(void);

/* Linkers keep the order of their inputs in this array, so functions of the program may be called
 * before ours. The loader fills in addresses before it calls any of them, and asks the resolver of
 * an indirect function for its address. */
__attribute__((used)) static void (*resolve(void))(void)
{
    pgrt_shadow_reserve();
    return __memprof_preinit;
}

static void start(void) __attribute__((ifunc("resolve")));

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = start;
