// A constructor that another unit calls, whose name compilers spell differently.
#ifndef BOX
#define BOX
#include <stdlib.h>
extern "C" void note(void *p);
struct Box {
    Box(int n);
    ~Box();
    void *p;
};
#endif
