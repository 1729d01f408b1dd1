/* The list of named temporary files. A handler may run at any time and on any thread, so
 * the list has no lock: a place is taken by its state, and filled in before it is published. */
#include "unfinished_list.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { PLACES = 64 };
enum { FREE, FILLING, NOTED };

static struct place {
    atomic_int state;
    int dir_fd;
    const char *name;
} places[PLACES];

void pgk_unfinished_add(int dir_fd, const char *name)
{
    for (size_t i = 0; i < PLACES; i++) {
        int state = FREE;
        if (!atomic_compare_exchange_strong(&places[i].state, &state, FILLING))
            continue;
        places[i].dir_fd = dir_fd;
        places[i].name = name;
        atomic_store(&places[i].state, NOTED);
        return;
    }
}

void pgk_unfinished_remove(int dir_fd, const char *name)
{
    for (size_t i = 0; i < PLACES; i++)
        if (atomic_load(&places[i].state) == NOTED && places[i].dir_fd == dir_fd &&
            places[i].name == name) {
            atomic_store(&places[i].state, FREE);
            return;
        }
}

void pgk_unfinished_delete(void)
{
    for (size_t i = 0; i < PLACES; i++)
        if (atomic_load(&places[i].state) == NOTED)
            (void)unlinkat(places[i].dir_fd, places[i].name, 0);
}
