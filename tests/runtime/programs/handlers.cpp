// What the runtime's functions call in turn allocates, too: a handler of the program for want of
// memory, the C++ library for an exception, the C library for the text of a format.
#include <cstdio>
#include <cstdlib>
#include <new>

static int calls;

extern "C" {
__attribute__((noinline)) void handler()
{
    void *volatile p = std::malloc(77);
    std::free(p);
    if (++calls == 3)
        std::set_new_handler(nullptr);
}

__attribute__((noinline)) int thrown()
{
    volatile std::size_t huge = std::size_t(1) << 45;
    try {
        ::operator delete(::operator new(huge));
    } catch (const std::bad_alloc &) {
        return 1;
    }
    return 0;
}

__attribute__((noinline)) int printed(int width)
{
    char *volatile text = nullptr;
    const int n = asprintf(const_cast<char **>(&text), "%*d", width, 7);
    const bool right = n == width && text[n - 1] == '7' && !text[n];
    std::free(text);
    return right;
}
}

int main()
{
    std::set_new_handler(handler);
    const int all = thrown() + printed(11) + printed(1000);
    std::printf("%d %d\n", calls, all);
    return 0;
}
