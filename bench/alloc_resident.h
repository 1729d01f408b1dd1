/* How much of a program is in memory, for the allocator's benchmarks. */
#ifndef ALLOC_RESIDENT_H
#define ALLOC_RESIDENT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes. */
static size_t resident(void)
{
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        abort();
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
