// The constructor and destructor of match_box.hpp.
#include "match_box.hpp"
extern "C" void note(void *) {}
__attribute__((noinline)) Box::Box(int n)
{
    p = malloc(n);
    note(p);
}
__attribute__((noinline)) Box::~Box()
{
    void *last = malloc(8);
    note(last);
    free(last);
    free(p);
}
