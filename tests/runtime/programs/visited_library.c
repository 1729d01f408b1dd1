/* A library that calls back, built with frames of different sizes that lie in the same place. */
#include <string.h>

void in_library(void (*f)(int), int depth);
void in_library(void (*f)(int), int depth)
{
    volatile char frame[FRAME_BYTES];
    frame[0] = 1;
    f(depth);
    __asm__ volatile("" ::"r"(frame) : "memory");
}
