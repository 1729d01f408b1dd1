/* Loops that become vectors with lanes that take no part, and copies and fills. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1003 };
struct block {
    long words[9];
};

__attribute__((noinline)) int *chosen(void);
int *chosen(void)
{
    return malloc(N * sizeof(int));
}

__attribute__((noinline)) int *changed(void);
int *changed(void)
{
    return malloc(N * sizeof(int));
}

__attribute__((noinline)) struct block *copied(void);
struct block *copied(void)
{
    return malloc(5 * sizeof(struct block));
}

__attribute__((noinline)) static void change(int *restrict to, const int *restrict from, int n)
{
    for (int i = 0; i < n; i++)
        if (from[i] % 3 == 1)
            to[i] += from[i];
}

__attribute__((noinline)) static void copy(struct block *blocks, size_t n)
{
    struct block here = blocks[0];
    here.words[3] = 7;
    blocks[1] = here;
    blocks[2] = blocks[1];
    memset(&blocks[3], 0, n);
    memmove(&blocks[0].words[1], &blocks[0].words[0], 4 * sizeof(long));
    memcpy(&blocks[4], &blocks[3], n);
}

int main(int argc, char **argv)
{
    int *from = chosen(), *to = changed();
    struct block *blocks = copied();
    (void)argv;
    for (int i = 0; i < N; i++)
        from[i] = i * 7 + argc, to[i] = i;
    memset(blocks, 1, sizeof *blocks);
    change(to, from, N);
    copy(blocks, sizeof *blocks - argc);
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += to[i];
    printf("%ld %ld\n", sum, blocks[2].words[3]);
    free(from);
    free(to);
    free(blocks);
    return 0;
}
