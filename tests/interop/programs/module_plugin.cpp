// The plug-in of modules.cpp; calls on into the shared library.
#include "modules.h"

extern "C" __attribute__((noinline)) void *plugin_make(std::size_t n)
{
    delete[] new int[n]();
    return library_make(n + 1);
}
