/* Each function of C that allocates, for objects that are not used and for others. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static volatile int touched;
static void *volatile escaped; /* or the compiler does without the object */
static void use(void *p)
{
    escaped = p;
    touched += p != NULL;
    free(escaped);
}
APART static void cold_malloc(size_t n)
{
    use(malloc(n));
}
APART static void cold_calloc(size_t n)
{
    char *p = calloc(n, 2);
    touched += p[n];
    use(p);
}
APART static void cold_realloc(size_t n)
{
    void *volatile p = malloc(1);
    use(realloc(p, n));
}
APART static void cold_aligned(size_t n)
{
    use(aligned_alloc(64, n * 64));
}
APART static void cold_strdup(const char *s)
{
    char *p = strdup(s);
    touched += p[0];
    use(p);
}
APART static void warm_malloc(size_t n)
{
    use(malloc(n));
}
int main(int argc, char **argv)
{
    for (size_t i = 1; i <= 8; i++) {
        cold_malloc(i);
        cold_calloc(i);
        cold_realloc(i);
        cold_aligned(i);
        cold_strdup(argv[argc - 1]);
        warm_malloc(i);
    }
    printf("%d\n", touched > 0);
    return 0;
}
