/* Shelves of items: a program to profile. Each item is read three times, once a shelf is full. */
#include <stdio.h>
#include <stdlib.h>

enum { SHELVES = 40, ITEMS = 25 };

struct item {
    long id, price, weight;
};

static struct item *new_item(long id)
{
    struct item *item = (struct item *)malloc(sizeof *item);
    if (!item)
        abort();
    item->id = id;
    item->price = id % 97;
    item->weight = id % 31;
    return item;
}

int main(void)
{
    struct item *shelf[ITEMS];
    long total = 0;
    for (long s = 0; s < SHELVES; s++) {
        for (long i = 0; i < ITEMS; i++)
            shelf[i] = new_item(s * ITEMS + i);
        for (long i = 0; i < ITEMS; i++) {
            total += shelf[i]->id + shelf[i]->price * shelf[i]->weight;
            free(shelf[i]);
        }
    }
    printf("%ld\n", total);
    return 0;
}
