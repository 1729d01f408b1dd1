// The other file of walks.cpp.
#include "walks.h"

static unsigned twin(unsigned x)
{
    unsigned s = 1;
    while (x > 3) {
        s = s * 5 + x;
        x /= 2;
    }
    return s;
}

unsigned other_work(unsigned x)
{
    unsigned a[16], s = 0;
    for (unsigned i = 0; i < 16; i++)
        a[i] = x + i;
    for (unsigned i = 0; i < 16; i++)
        s += twin(a[i]);
    return s;
}
