/* In a shared library, which is linked to be initialised before all others. */
#include "pgrt.h"

__attribute__((constructor(101))) static void at_load(void)
{
    pgrt_ready();
}
