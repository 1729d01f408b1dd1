/* A program with an allocator of its own, which knows its objects by their addresses. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char memory[16 << 20] __attribute__((aligned(16)));
static size_t used;

static void require_own(const void *p)
{
    if ((uintptr_t)p - (uintptr_t)memory >= sizeof memory) {
        fputs("an object of another allocator\n", stderr);
        abort();
    }
}

void *malloc(size_t n)
{
    const size_t whole = ((n + 15) & ~(size_t)15) + 16;
    if (used + whole > sizeof memory)
        return NULL;
    char *p = memory + used + 16;
    memcpy(p - 16, &n, sizeof n);
    used += whole;
    return p;
}

void free(void *p)
{
    if (p)
        require_own(p);
}

void *calloc(size_t n, size_t size)
{
    void *p = malloc(n * size);
    return p ? memset(p, 0, n * size) : NULL;
}

void *realloc(void *p, size_t n)
{
    size_t had = 0;
    void *to = malloc(n);
    if (p && to) {
        require_own(p);
        memcpy(&had, (char *)p - 16, sizeof had);
        memcpy(to, p, had < n ? had : n);
    }
    return to;
}

int main(void)
{
    char *text = strdup("kept");
    for (int i = 0; i < 1000; i++) {
        text = reallocarray(text, (size_t)i % 90 + 5, 1);
        require_own(text);
        free(malloc(100));
    }
    puts(text);
    free(text);
    return 0;
}
