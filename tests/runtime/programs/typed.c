/* Objects whose types are known in several ways. Each has a size of its own. */
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    long value[10];
};
typedef struct {
    char *name;
    void *raw;
    struct node *list, *spare[2];
} box;

#define TWO(a, b) (*(a) = malloc(401), *(b) = malloc(402))

static box *global;

/* The compiler must not leave the object out. */
static void keep(void *object)
{
    __asm__ volatile("" : : "r"(object) : "memory");
}

static __attribute__((noinline)) void *checked(size_t size)
{
    void *p = malloc(size);
    if (!p)
        abort();
    return p;
}

static __attribute__((noinline)) struct node *made(size_t size)
{
    return checked(size);
}

static __attribute__((noinline)) void *grown(void *old, size_t size)
{
    return size ? realloc(old, size) : NULL;
}

static __attribute__((noinline)) int make(struct node **out)
{
    *out = malloc(110);
    return *out != NULL;
}

static __attribute__((noinline)) int make_aligned(box **out)
{
    return posix_memalign((void **)out, 64, 113);
}

int main(void)
{
    struct node *local = malloc(101);
    global = calloc(1, 102);
    global->name = malloc(103);
    global->list = checked(104);
    global->raw = checked(105); /* nobody knows */
    global->spare[1] = made(106);
    box *cast = (box *)grown(NULL, 107);
    char *copy = strndup("twelve signs", 11);
    struct node **table = malloc(109);
    char *text;
    struct node *other;
    TWO(&text, &other); /* one place, two types */
    struct node *by_parameter, *aligned;
    box *aligned_by_parameter;
    int failed = posix_memalign((void **)&aligned, 64, 114);
    if (failed || !make(&by_parameter) || make_aligned(&aligned_by_parameter))
        abort();
    void *all[] = {local, global, cast, copy, table, text, other, by_parameter,
                   aligned_by_parameter, aligned};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        keep(all[i]);
    return 0;
}
