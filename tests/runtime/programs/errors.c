/* Errors with the heap, and what only looks like one:
 *   errors double | many | large | interior | page | grown | stack | resized | theirs
 * "went on" is printed where nothing ended the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t n);

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    char onto[64], *volatile p = malloc(40), *volatile q = malloc(300000);
    if (!strcmp(how, "double")) {
        free(p);
        free(p);
    } else if (!strcmp(how, "many")) {
        free(p);
        for (int i = 0; i < 20000; i++)
            free(malloc(140));
        free(p);
    } else if (!strcmp(how, "large")) {
        free(q);
        free(q);
    } else if (!strcmp(how, "interior")) {
        free(p + 16);
    } else if (!strcmp(how, "page")) {
        free(q + 200000);
    } else if (!strcmp(how, "stack")) {
        free(onto + 16);
    } else if (!strcmp(how, "resized")) {
        p = realloc(p + 16, 100);
    } else {
        for (int i = 0; i < 1000; i++)
            free(__libc_malloc(100));
        p = realloc(strcpy(__libc_malloc(10), "theirs"), 100000);
        if (strcmp(p, "theirs"))
            return 1;
        free(p);
    }
    puts("went on");
    return 0;
}
