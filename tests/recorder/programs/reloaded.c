/* Loads one of two builds of a library in turns, which lie in the same place, and says how often
 * one gave what the other one gives.
 *
 * usage: reloaded ROUNDS FIRST SECOND */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long places = 0, wrong = 0;
    const void *last = NULL;
    if (argc < 4)
        return 2;
    for (int i = 0; i < atoi(argv[1]); i++) {
        void *library = dlopen(argv[2 + i % 2], RTLD_NOW);
        int (*number)(void) = library ? (int (*)(void))dlsym(library, "number") : NULL;
        if (!number)
            return 1;
        places += (const void *)number != last;
        last = (const void *)number;
        for (int k = 0; k < 20000; k++)
            wrong += number() != i % 2;
        dlclose(library);
    }
    printf("%s, %ld wrong\n", places == 1 ? "in the same place" : "elsewhere", wrong);
    return 0;
}
