// A program that shares its stacks with a shared library and a plug-in opened at run time.
// With -DONE_MODULE the same sources are linked into one program.
#include "modules.h"

#ifndef ONE_MODULE
#include <dlfcn.h>
#endif
#include <cstdlib>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

static NOINLINE void *called_back(std::size_t n)
{
    return new char[n + 1]();
}

static NOINLINE unsigned long own_work(int n)
{
    std::vector<int> v;
    for (int i = 0; i < n; i++)
        v.push_back(i);
    return v.size();
}

int main(int argc, char **argv)
{
    (void)argc;
    sink += own_work(100);
    free(library_make(33));
    sink += library_visit(called_back, 5);
#ifdef ONE_MODULE
    (void)argv;
    auto make = plugin_make;
#else
    void *plugin = dlopen(argv[1], RTLD_NOW);
    if (!plugin)
        return 1;
    auto make = reinterpret_cast<decltype(&plugin_make)>(dlsym(plugin, "plugin_make"));
#endif
    free(make(55));
    return 0;
}
