/* A library that a program opens late: one object per call, as many accesses as asked for. */
#include <stdlib.h>

void library_work(int accesses);

void library_work(int accesses)
{
    volatile char *p = malloc(33);
    for (int i = 0; i < accesses; i++)
        p[32] = (char)i;
    free((void *)p);
}
