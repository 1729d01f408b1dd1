// A heap with a bit of everything the report speaks of. SLOW is the next version of the program,
// with a regression; EVIL_NAME a function whose name tries to be markup.
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

#define KEEP __attribute__((noinline))

static volatile long sink;

struct Order {
    long id, amount, unused[4], price, quantity;
};

KEEP char *make_label(int n)
{
    char *text = static_cast<char *>(malloc(64));
    snprintf(text, 64, "order %d", n);
    return text;
}

KEEP void print_labels(int n)
{
    for (int i = 0; i < n; i++) {
        char *text = make_label(i);
        sink = sink + text[0];
        free(text);
    }
}

KEEP Order *make_orders(int n)
{
    return new Order[n];
}

KEEP void use_orders(Order *orders, int n)
{
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < n; i++) {
            orders[i].id = i;
            orders[i].price = orders[i].price + i;
            sink = sink + orders[i].price;
        }
}

KEEP char *reserve_too_much(int n)
{
    char *bytes = static_cast<char *>(malloc(n));
    memset(bytes, 1, 128);
    return bytes;
}

#ifdef SLOW
KEEP char *cache_that_nobody_asked_for(int n)
{
    char *bytes = static_cast<char *>(malloc(n));
    memset(bytes, 1, n);
    return bytes;
}
#endif

#ifdef EVIL_NAME
extern "C" KEEP char *evil(int n) __asm__("</script><img src=x onerror=window.evil=1>");
extern "C" KEEP char *evil(int n)
{
    return static_cast<char *>(malloc(n));
}
#endif

int main()
{
    int n = 2000;
    std::vector<std::string> names;
    for (int i = 0; i < n; i++)
        names.push_back("a name that is longer than a small string can hold " + std::to_string(i));
    print_labels(5000);
    Order *orders = make_orders(1000);
    use_orders(orders, 1000);
    char *large = reserve_too_much(1 << 20);
    usleep(30000);
#ifdef SLOW
    char *cache = cache_that_nobody_asked_for(8 << 20);
    sink = sink + cache[5];
    print_labels(3000);
    free(cache);
#endif
#ifdef EVIL_NAME
    char *bad = evil(100);
    bad[0] = 1;
    sink = sink + bad[0];
    free(bad);
#endif
    sink = sink + large[0] + static_cast<long>(names.size());
    free(large);
    delete[] orders;
    return 0;
}
