/* The program behind the golden file of heaptrack: see HOWTO.md. */
#include <cstdlib>

static void *volatile keep;

static inline __attribute__((always_inline)) void *inlined(size_t size)
{
    return malloc(size);
}

__attribute__((noinline)) static void *make(size_t size)
{
    void *made = inlined(size + 1);
    keep = made;
    return made;
}

struct Node {
    Node *next;
};

int main()
{
    Node *first = nullptr;
    for (int i = 0; i < 5; i++)
        free(make(10));
    for (int i = 0; i < 20; i++)
        first = new Node{first};
    for (Node *next; first; first = next) {
        next = first->next;
        delete first;
    }
    make(100);
    return 0;
}
