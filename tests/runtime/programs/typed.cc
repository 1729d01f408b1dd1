// Objects of C++ whose types are known in several ways. Each has a size of its own.
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shop
{
template <int n> struct Item {
    char bytes[n];
    explicit Item(char c) { bytes[0] = c; }
};
struct Cart {
    struct Line {
        char bytes[203];
    };
    Line *line = new Line[2];
};
} // namespace shop

// The compiler must not leave the object out.
static void keep(const void *object)
{
    __asm__ volatile("" : : "r"(object) : "memory");
}

template <class T> __attribute__((noinline)) T *made()
{
    return new T('a');
}

int main(int argc, char **)
{
    keep(new shop::Item<201>('b'));
    keep(made<shop::Item<202>>());
    shop::Cart cart;
    keep(cart.line);
    std::vector<shop::Item<205>> items;
    items.emplace_back('c');
    keep(items.data());
    std::string text(299 + argc, 'd');
    keep(text.data());
    auto unique = std::make_unique<shop::Item<207>>('e');
    keep(unique.get());
    auto *plain = static_cast<shop::Item<208> *>(std::malloc(208));
    keep(plain);
    std::map<int, shop::Item<400>> map;
    keep(&map.emplace(argc, 'f').first->second);
    return 0;
}
