/* A program with an allocator of its own, which ends it where it is given what it has not made. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
static char arena[1 << 20] __attribute__((aligned(64)));
static size_t used;
void *malloc(size_t n)
{
    char *p = arena + used;
    used += (n + 63) & ~(size_t)63;
    return p;
}
void *calloc(size_t n, size_t m)
{
    return malloc(n * m);
}
void *realloc(void *p, size_t n)
{
    char *q = malloc(n);
    if (p)
        memmove(q, p, n);
    return q;
}
void free(void *p)
{
    if (p && ((char *)p < arena || (char *)p >= arena + sizeof arena))
        abort();
}
int main(int argc, char **argv)
{
    char *text = NULL;
    free(strdup(argv[0]));
    free(strndup(argv[0], 3));
    free(wcsdup(L"wide"));
    if (asprintf(&text, "%d", argc) < 0)
        return 1;
    text = reallocarray(text, 10, 10);
    puts(text);
    free(text);
    return 0;
}
