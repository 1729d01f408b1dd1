/* In an executable: the counters are there before anything else of it runs. */
#include "pgrt.h"

void __memprof_preinit(void);

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) =
    __memprof_preinit;
