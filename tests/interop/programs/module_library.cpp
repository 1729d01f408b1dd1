// The shared library of modules.cpp.
#include "modules.h"

#include <cstdlib>
#include <memory>
#include <string>

#define NOINLINE __attribute__((noinline))

static NOINLINE void *inner(std::size_t n)
{
    return malloc(n * 3);
}

extern "C" NOINLINE void *library_make(std::size_t n)
{
    return inner(n);
}

extern "C" NOINLINE std::size_t library_visit(visit_fn fn, int times)
{
    std::size_t total = 0;
    for (int i = 0; i < times; i++) {
        std::unique_ptr<char[]> p(static_cast<char *>(fn(static_cast<std::size_t>(i) * 8)));
        auto text = std::make_unique<std::string>(40, 'x');
        total += text->size() + static_cast<std::size_t>(p[0]);
    }
    return total;
}
