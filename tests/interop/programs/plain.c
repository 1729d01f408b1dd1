/* C allocations: every allocator, static and inlined functions, recursion, a table that
 * grows, blocks that live to the end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

static void touch(void *p, size_t n)
{
    volatile unsigned char *b = p;
    for (size_t i = 0; i < n; i += 8)
        b[i] = (unsigned char)(b[i] + 1);
    sink += b[0];
}

static inline __attribute__((always_inline)) void *innermost(size_t n)
{
    void *p = malloc(n); touch(p, n); return p;
}

static inline __attribute__((always_inline)) void *middle(size_t n)
{
    return innermost(n +
                     1);
}

NOINLINE void *outermost(size_t n)
{
    return middle(n * 2);
}

struct node {
    struct node *left, *right;
    char *name;
    int key;
};

NOINLINE static struct node *build(int lo, int hi)
{
    if (lo > hi)
        return NULL;
    struct node *n = calloc(1, sizeof *n);
    char text[32];
    n->key = (lo + hi) / 2;
    snprintf(text, sizeof text, "node %d", n->key);
    n->name = strdup(text);
    n->left = build(lo, n->key - 1);
    n->right = build(n->key + 1, hi);
    return n;
}

static void destroy(struct node *n)
{
    if (!n)
        return;
    destroy(n->left);
    destroy(n->right);
    free(n->name);
    free(n);
}

struct table {
    uint32_t *v;
    size_t n, cap;
};

static void push(struct table *t, uint32_t v)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 4;
        t->v = realloc(t->v, t->cap * sizeof *t->v);
    }
    t->v[t->n++] = v;
}

NOINLINE static void aligned(void)
{
    void *a = aligned_alloc(64, 192), *b = NULL;
    if (posix_memalign(&b, 128, 300) != 0)
        abort();
    touch(a, 192);
    touch(b, 300);
    free(a);
    free(b);
    free(malloc(0));
}

/* Two blocks on one line: one place where columns are not recorded. */
NOINLINE static void pairs(int n)
{
    for (int i = 0; i < n; i++) {
        char *a = malloc(24), *b = malloc(40);
        touch(a, 24);
        touch(b, 40);
        free(b);
        free(a);
    }
}

typedef void *make_fn(size_t n);
static void *make_small(size_t n) { return calloc(n, 1); }
static void *make_large(size_t n) { return calloc(n, 100); }

NOINLINE static void through_pointer(make_fn *volatile *fns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *p = fns[i](i + 1);
        touch(p, i + 1);
        free(p);
    }
}

NOINLINE static const char *once(void)
{
    static char *kept;
    if (!kept)
        kept = strndup("kept to the end of the program", 20);
    return kept;
}

#line 20000 "plain_generated.c"
NOINLINE static void *far_line(void) {
    return
        malloc(77);
}
#line 10 "plain_generated.c"
NOINLINE static void *earlier_line(void) {
#line 3 "plain_generated.c"
    return malloc(78);
}

int main(void)
{
    for (int i = 0; i < 20; i++)
        free(outermost((size_t)i));
    void *live = outermost(5000);
    struct node *tree = build(0, 30);
    struct table t = {0};
    for (uint32_t i = 0; i < 1000; i++)
        push(&t, i);
    aligned();
    pairs(7);
    make_fn *volatile fns[] = {make_small, make_large, make_small};
    through_pointer(fns, 3);
    sink += strlen(once()) + strlen(once());
    free(far_line());
    free(earlier_line());
    destroy(tree);
    free(t.v);
    if (sink == 12345)
        free(live);
    return 0;
}
