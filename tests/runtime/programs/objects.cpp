// operator new and delete in their forms, exceptions through the runtime, a library that is
// opened late.
//
// usage: objects LIBRARY
#include <cstdio>
#include <dlfcn.h>
#include <new>
#include <thread>

struct alignas(128) Wide {
    char bytes[200];
};

extern "C" __attribute__((noinline)) void *plain_new()
{
    char *p = new char[40];
    p[0] = 1;
    return p;
}

extern "C" __attribute__((noinline)) void *wide_new()
{
    Wide *p = new Wide;
    p->bytes[199] = 1;
    return p;
}

extern "C" __attribute__((noinline)) void *too_much(std::size_t n)
{
    return ::operator new(n);
}

int main(int argc, char **argv)
{
    int caught = 0;
    delete[] static_cast<char *>(plain_new());
    delete static_cast<Wide *>(wide_new());
    try {
        too_much(std::size_t(1) << 60);
    } catch (const std::bad_alloc &) {
        caught++;
    }
    if (::operator new(std::size_t(1) << 60, std::nothrow))
        return 1;
    std::thread([] { delete[] static_cast<char *>(plain_new()); }).join();
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
    if (!library) {
        std::fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no library");
        return 1;
    }
    auto work = reinterpret_cast<void (*)(int)>(dlsym(library, "library_work"));
    work(25);
    dlclose(library);
    return caught == 1 ? 0 : 1;
}
