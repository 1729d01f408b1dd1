/* What ten questions are asked about: a program that reads, keeps and forgets. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

void *shelf_take(size_t bytes);

struct list {
    struct list *next;
    char text[56];
};

static struct list *cache, *pages;

KEEP void *take(size_t bytes)
{
    void *volatile got = malloc(bytes);
    memset(got, 1, bytes);
    return got;
}

KEEP void read_page(void)
{
    struct list *page = take(sizeof *page + 30000);
    page->next = pages;
    pages = page;
}

KEEP void load(void)
{
    for (int i = 0; i < 100; i++)
        read_page();
}

KEEP void remember(int times)
{
    for (int i = 0; i < times; i++) {
        struct list *volatile entry = malloc(sizeof *entry);
        entry->next = cache;
        cache = entry;
    }
}

int main(void)
{
    void *volatile shelf = shelf_take(5000000); /* most at once, before the pages */
    usleep(20000);
    free(shelf);
    load();
    remember(3000);
    usleep(20000);
    while (pages) {
        struct list *next = pages->next;
        free(pages);
        pages = next;
    }
    usleep(20000);
    cache = NULL;
    return 0;
}
