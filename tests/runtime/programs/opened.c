/* A program that opens a library and exchanges memory with it:
 *   opened HOW LIBRARY [INNER]
 * HOW: deep, with RTLD_DEEPBIND; base, the same by dlmopen; apart, in a namespace of its own;
 * inner, where the library opens another one that only its own RUNPATH leads to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *found(void *library, const char *name)
{
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        puts(dlerror());
        exit(1);
    }
    return function;
}

int main(int argc, char **argv)
{
    const int deep = RTLD_NOW | RTLD_DEEPBIND;
    const char *how = argc > 2 ? argv[1] : "";
    void *library = !strcmp(how, "base")    ? dlmopen(LM_ID_BASE, argv[2], deep)
                    : !strcmp(how, "apart") ? dlmopen(LM_ID_NEWLM, argv[2], deep)
                    : !strcmp(how, "inner") ? dlopen(argv[2], RTLD_NOW)
                                            : dlopen(argv[2], deep);
    if (!strcmp(how, "inner"))
        library = ((void *(*)(const char *, int))found(library, "open_inner"))(argv[3], deep);
    int (*inside)(void) = (int (*)(void))found(library, "inside");
    void (*give)(void *) = (void (*)(void *))found(library, "give");
    char *(*take)(void) = (char *(*)(void))found(library, "take");
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += inside();
    for (int i = 0; strcmp(how, "apart") && i < 1000; i++) {
        give(malloc(100));
        char *taken = take();
        sum += !strcmp(taken, "taken");
        free(taken);
    }
    printf("%d\n", sum);
    return 0;
}
