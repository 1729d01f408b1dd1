/* A library whose objects are of two kinds. */
#include <stdlib.h>

void *library_first(size_t n);
void *library_second(size_t n);

void *library_first(size_t n)
{
    void *p = malloc(n);
    __asm__ volatile("" : "+r"(p));
    return p;
}

void *library_second(size_t n)
{
    void *p = malloc(n);
    __asm__ volatile("" : "+r"(p), "+r"(n));
    return p;
}
