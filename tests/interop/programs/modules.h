// What the program, its shared library and its plug-in call in each other.
#ifndef MODULES_H
#define MODULES_H
#include <cstddef>

using visit_fn = void *(*)(std::size_t);

extern "C" void *library_make(std::size_t n);
extern "C" std::size_t library_visit(visit_fn fn, int times);
extern "C" void *plugin_make(std::size_t n);
#endif
