/* Instrumentation whose runtime has malloc, as the heap profiler does. One of the two would not see
 * the program's objects and would say nothing of it, or the program would not start. */
#include "gcc_plugin.h"

void pgc_refuse_unit(const char *name)
{
    static const struct {
        unsigned flag;
        const char *option;
    } rows[] = {
        {SANITIZE_KERNEL_ADDRESS, "kernel-address"},
        {SANITIZE_ADDRESS, "address"},
        {SANITIZE_KERNEL_HWADDRESS, "kernel-hwaddress"},
        {SANITIZE_HWADDRESS, "hwaddress"},
        {SANITIZE_THREAD, "thread"},
        {SANITIZE_LEAK, "leak"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!(flag_sanitize & rows[i].flag))
            continue;
        error("%s: %<-fsanitize=%s%> and counting accesses cannot be in one program, as both "
              "replace functions of the C library; leave out that option or the plugin",
              name, rows[i].option);
        return;
    }
}
