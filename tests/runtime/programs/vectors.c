/* Stores of vectors, and copies of structs of the same size. */
#include <stdlib.h>

typedef int vector __attribute__((vector_size(32)));
struct copied {
    char bytes[32];
};

__attribute__((noinline)) vector *stored(void);
vector *stored(void)
{
    return aligned_alloc(32, 9 * sizeof(vector));
}

__attribute__((noinline)) struct copied *copied(void);
struct copied *copied(void)
{
    return malloc(2 * sizeof(struct copied));
}

__attribute__((noinline)) int *counted(void);
int *counted(void)
{
    return malloc(72 * sizeof(int));
}

__attribute__((noinline)) static void store(vector *p, int *q)
{
    for (int i = 0; i < 9; i++)
        p[i] = (vector){i};
    for (int i = 0; i < 72; i++)
        q[i] = i;
}

__attribute__((noinline)) static void copy(struct copied *p)
{
    p[1] = p[0];
    __asm__ volatile("" : : "r"(p) : "memory");
}

int main(void)
{
    vector *p = stored();
    struct copied *q = copied();
    int *r = counted();
    store(p, r);
    copy(q);
    free(p);
    free(q);
    free(r);
    return 0;
}
