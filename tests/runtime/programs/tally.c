/* Says at the end what the program tallied. */
#include <stdio.h>

unsigned long pgokit_heap_updates, pgokit_heap_accesses;

__attribute__((destructor)) static void report(void)
{
    fprintf(stderr, "%lu %lu\n", pgokit_heap_updates, pgokit_heap_accesses);
}
