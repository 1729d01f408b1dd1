// Threads that run two functions, and objects of two types; functions of C++'s library say what the
// types are.
#include <memory>
#include <pthread.h>
#include <stdlib.h>
#include <thread>
#include <unistd.h>

#define KEEP extern "C" __attribute__((noinline))

struct Order {
    char lines[300];
};
struct Note {
    char text[70];
};

static void *volatile held;

KEEP void take_order() { held = std::allocator<Order>().allocate(1); }

KEEP void take_note() { held = std::allocator<Note>().allocate(1); }

KEEP void cook(int n)
{
    while (n-- > 0)
        take_order();
    take_note();
}

KEEP void *serve(void *)
{
    take_order();
    return held;
}

int main()
{
    std::thread(cook, 40).join();
    std::thread(cook, 60).join();
    pthread_t thread;
    if (pthread_create(&thread, nullptr, serve, nullptr))
        return 1;
    pthread_join(thread, nullptr);
    take_note();
    held = malloc(1000);
    usleep(20000); // so that the peak and the end are two times
    free(held);
    return 0;
}
