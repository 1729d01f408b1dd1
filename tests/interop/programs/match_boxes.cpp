// Objects of match_box.hpp, and of a local class.
#include "match_box.hpp"
namespace {
struct Shelf {
    __attribute__((noinline)) void *room(int n)
    {
        void *p = malloc(n);
        note(p);
        return p;
    }
};
}
static __attribute__((noinline)) void *shelve(Shelf &shelf, int n)
{
    void *p = shelf.room(n);
    note(p);
    return p;
}
int main()
{
    Shelf shelf;
    Box small(3);
    Box *large = (Box *)malloc(sizeof *large);
    large->p = Box(300).p;
    note(large);
    free(shelve(shelf, 40));
    return 0;
}
