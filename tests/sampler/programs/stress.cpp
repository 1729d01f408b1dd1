// Allocates, grows and frees at random in threads, by all functions, and checks each byte.
// stress THREADS ROUNDS SEED [plain]; plain: without what some allocators
// do otherwise
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

using Object = std::pair<unsigned char *, size_t>;

static bool plain;
static std::mutex mutex;
static std::vector<Object> shared; // freed by another thread than it was made by

static void require(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

static unsigned char value_of(size_t n)
{
    return static_cast<unsigned char>(n * 7 + 1);
}

static void check(const unsigned char *p, size_t n, unsigned char value)
{
    for (size_t i = 0; i < n; i++)
        require(p[i] == value, "content");
}

struct Work {
    unsigned state;
    std::vector<Object> objects;

    unsigned next()
    {
        state = state * 1103515245 + 12345;
        return state >> 8;
    }

    size_t size()
    {
        if (next() % 4)
            return next() % 300;
        return next() % 20 ? next() % 9000 : next() % 2000000;
    }

    unsigned char *make(size_t n)
    {
        void *p = nullptr;
        const size_t align = static_cast<size_t>(16) << next() % 10;
        switch (next() % 7) {
        case 0:
            return static_cast<unsigned char *>(calloc(1, n));
        case 1:
            p = memalign(align, n);
            break;
        case 2:
            require(!posix_memalign(&p, align, n), "posix_memalign");
            break;
        case 3:
            return static_cast<unsigned char *>(::operator new(n));
        case 4:
            p = ::operator new(n, std::align_val_t(align));
            break;
        case 5:
            p = aligned_alloc(align, (n + align - 1) & -align);
            break;
        default:
            return static_cast<unsigned char *>(malloc(n));
        }
        require(plain || reinterpret_cast<uintptr_t>(p) % align == 0, "alignment");
        return static_cast<unsigned char *>(p);
    }

    void add()
    {
        size_t n = size();
        unsigned char *p = make(n);
        require(p, "no memory");
        if (next() % 4 == 0) // as redis does
            n = malloc_usable_size(p);
        memset(p, value_of(n), n);
        objects.push_back({p, n});
    }

    void grow()
    {
        Object &o = objects[next() % objects.size()];
        const size_t n = size() + 1;
        unsigned char *p = static_cast<unsigned char *>(realloc(o.first, n));
        check(p, n < o.second ? n : o.second, value_of(o.second));
        memset(p, value_of(n), n);
        o = {p, n};
    }

    void drop()
    {
        const size_t i = next() % objects.size();
        Object o = objects[i];
        objects[i] = objects.back();
        objects.pop_back();
        check(o.first, o.second, value_of(o.second));
        require(malloc_usable_size(o.first) >= o.second, "usable size");
        if (next() % 8 == 0) {
            std::lock_guard<std::mutex> lock(mutex);
            shared.push_back(o);
            if (shared.size() < 50)
                return;
            o = shared.front();
            shared.erase(shared.begin());
        }
        free(o.first);
    }

    void run(int rounds)
    {
        for (int i = 0; i < rounds; i++) {
            const unsigned what = next() % 12;
            if (objects.size() > 1000 || (what > 8 && !objects.empty()))
                drop();
            else if (what > 6 && !objects.empty())
                grow();
            else
                add();
        }
        while (!objects.empty())
            drop();
    }
};

static void zeros()
{
    for (size_t n = 1; n < 3000000; n = n * 3 + 1)
        for (int i = 0; i < 50; i++) {
            unsigned char *p = static_cast<unsigned char *>(calloc(n, 1));
            require(p, "no memory");
            check(p, n < 5000 ? n : 5000, 0);
            memset(p, 0xff, n);
            free(p);
        }
}

static void edges()
{
    volatile size_t most = SIZE_MAX;
    require(!malloc(most), "malloc of all memory");
    require(!calloc(most, 2), "calloc of more than all");
    require(!realloc(nullptr, most - 100), "realloc to all");
    void *p = malloc(10);
    require(!reallocarray(p, most, 2), "reallocarray of more than all");
    free(p);
    free(nullptr);
    require(malloc_usable_size(nullptr) == 0, "usable size of nothing");
    try {
        ::operator delete(::operator new(most - 64));
        require(false, "operator new of all memory");
    } catch (const std::bad_alloc &) {
    }
    require(!::operator new(most - 64, std::nothrow), "the same without throwing");
    for (int i = 0; i < 100; i++) {
        free(malloc(0));
        free(valloc(10));
        free(pvalloc(10));
        delete[] new int[20];
        delete new (std::nothrow) long;
    }
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 100000;
    const unsigned seed = argc > 3 ? static_cast<unsigned>(atoi(argv[3])) : 1;
    std::vector<std::thread> all;
    plain = argc > 4;
    if (!plain)
        edges();
    zeros();
    for (int i = 0; i < threads; i++)
        all.emplace_back([=] { Work{seed + static_cast<unsigned>(i) * 77, {}}.run(rounds); });
    for (std::thread &t : all)
        t.join();
    for (const Object &o : shared)
        free(o.first);
    puts("ok");
}
