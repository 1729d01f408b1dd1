// All forms of operator new with a hint, of C's functions with one, and of clang's tokens: objects
// with one hint share pages with those of no other.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

enum class __hot_cold_t : uint8_t {};
struct sized {
    void *p;
    size_t n;
};
void *operator new(size_t, __hot_cold_t);
void *operator new[](size_t, __hot_cold_t);
void *operator new(size_t, const std::nothrow_t &, __hot_cold_t) noexcept;
void *operator new[](size_t, const std::nothrow_t &, __hot_cold_t) noexcept;
void *operator new(size_t, std::align_val_t, __hot_cold_t);
void *operator new[](size_t, std::align_val_t, __hot_cold_t);
void *operator new(size_t, std::align_val_t, const std::nothrow_t &, __hot_cold_t) noexcept;
void *operator new[](size_t, std::align_val_t, const std::nothrow_t &, __hot_cold_t) noexcept;
extern "C" {
sized __size_returning_new(size_t);
sized __size_returning_new_hot_cold(size_t, __hot_cold_t);
sized __size_returning_new_aligned(size_t, std::align_val_t);
sized __size_returning_new_aligned_hot_cold(size_t, std::align_val_t, __hot_cold_t);
void *pgokit_malloc_hint(size_t, uint8_t);
void *pgokit_calloc_hint(size_t, size_t, uint8_t);
void *pgokit_realloc_hint(void *, size_t, uint8_t);
void *pgokit_aligned_alloc_hint(size_t, size_t, uint8_t);
void *__alloc_token_malloc(size_t, uint64_t);
void *__alloc_token_calloc(size_t, size_t, uint64_t);
void *__alloc_token_realloc(void *, size_t, uint64_t);
void *__alloc_token__Znwm(size_t, uint64_t);
}

static const uint8_t hints[] = {0, 1, 128, 222, 254, 255};
static const std::align_val_t wide{64};

static int kind(uint8_t hint)
{
    return hint < 128 ? 0 : hint < 240 ? 1 : 2;
}

static void *all_of(unsigned form, uint8_t n)
{
    const __hot_cold_t h{n};
    const size_t size = 64;
    switch (form) {
    case 0: return operator new(size, h);
    case 1: return operator new[](size, h);
    case 2: return operator new(size, std::nothrow, h);
    case 3: return operator new[](size, std::nothrow, h);
    case 4: return operator new(size, wide, h);
    case 5: return operator new[](size, wide, h);
    case 6: return operator new(size, wide, std::nothrow, h);
    case 7: return operator new[](size, wide, std::nothrow, h);
    case 8: return __size_returning_new_hot_cold(size, h).p;
    case 9: return __size_returning_new_aligned_hot_cold(size, wide, h).p;
    case 10: return pgokit_malloc_hint(size, n);
    case 11: return pgokit_calloc_hint(4, size / 4, n);
    case 12: return pgokit_realloc_hint(nullptr, size, n);
    case 13: return pgokit_aligned_alloc_hint(64, size, n);
    default: return nullptr;
    }
}

enum { FORMS = 14, MANY = 500 };
static struct object {
    char *p;
    int kind;
} objects[FORMS * MANY * sizeof hints];
static size_t count;

static int by_address(const void *a, const void *b)
{
    const char *x = static_cast<const object *>(a)->p, *y = static_cast<const object *>(b)->p;
    return (x > y) - (x < y);
}

int main()
{
    for (int i = 0; i < MANY; i++)
        for (unsigned form = 0; form < FORMS; form++)
            for (uint8_t hint : hints) {
                char *p = static_cast<char *>(all_of(form, hint));
                if (!p || ((form >= 4 && form < 8) || form == 9) * (uintptr_t(p) % 64)) {
                    std::printf("form %u: %p\n", form, static_cast<void *>(p));
                    return 1;
                }
                std::memset(p, kind(hint), 64);
                objects[count++] = {p, kind(hint)};
            }
    std::qsort(objects, count, sizeof *objects, by_address);
    int shared = 0;
    for (size_t i = 1; i < count; i++)
        shared += uintptr_t(objects[i].p) / 4096 == uintptr_t(objects[i - 1].p) / 4096 &&
                  objects[i].kind != objects[i - 1].kind;
    for (size_t i = 0; i < count; i++) {
        if (objects[i].p[63] != objects[i].kind)
            shared = -1;
        if (i % 2)
            std::free(objects[i].p);
        else
            operator delete(objects[i].p, size_t(64));
    }
    const sized s = __size_returning_new(100), t = __size_returning_new_aligned(100, wide);
    operator delete(s.p);
    operator delete(t.p, wide);
    std::free(__alloc_token_realloc(__alloc_token_malloc(10, 1), 20, 2));
    std::free(__alloc_token_calloc(3, 4, 5));
    operator delete(__alloc_token__Znwm(8, 3));
    std::printf("%d %d\n", shared, s.n >= 100 && t.n >= 100);
    return 0;
}
