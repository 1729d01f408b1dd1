/* Allocates and accesses objects at random and keeps the truth: accesses, objects and bytes of
 * each allocation site, and which blocks of 64 bytes were accessed, in memory that is not on the
 * heap. Prints `site objects bytes accesses least most touched untouched least most` for each; the
 * last four are bytes in blocks that were accessed and in others, and the share of the former, in
 * per cent, in the object with the least and the most of it.
 *
 * With "bytes" each access is of one byte and nothing is reallocated, so that counting accesses
 * and counting bytes come to the same; and all is done by the first thread.
 *
 * usage: random_access SEED THREADS OPERATIONS [bytes] */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 12, SLOTS = 256, THREADS_MAX = 16, BLOCK = 64, SIZE_MAX_BYTES = 1 << 20 };

struct slot {
    volatile char *p;
    size_t size;
    int site;
    uint64_t accesses;
    uint8_t seen[SIZE_MAX_BYTES / BLOCK / 8 + 2]; /* a bit for each block */
};

struct truth {
    uint64_t objects, bytes, accesses, least, most, touched, untouched, least_share, most_share;
};

struct worker {
    uint64_t random;
    long operations;
    struct slot slots[SLOTS];
    struct truth sites[SITES];
};

static struct worker workers[THREADS_MAX];
static int bytes_only;

#define SITE(n, expression)                                            \
    __attribute__((noinline)) void *site_##n(void *old, size_t size);  \
    void *site_##n(void *old, size_t size)                             \
    {                                                                  \
        void *p = (expression);                                        \
        (void)old;                                                     \
        __asm__ volatile("" ::"r"(p) : "memory");                      \
        return p;                                                      \
    }

static void *aligned(size_t align, size_t size)
{
    void *p = NULL;
    return posix_memalign(&p, align, size) ? NULL : p;
}

SITE(0, malloc(size))
SITE(1, malloc(size))
SITE(2, malloc(size))
SITE(3, calloc(1, size))
SITE(4, calloc(size, 1))
SITE(5, memalign(64, size))
SITE(6, aligned(32, size))
SITE(7, aligned(4096, size))
SITE(8, malloc(size))
SITE(9, malloc(size))
SITE(10, realloc(old, size))
SITE(11, malloc(size))

static void *(*const sites[SITES])(void *, size_t) = {
    site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7, site_8, site_9, site_10,
    site_11,
};

static uint64_t random_below(struct worker *w, uint64_t n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (w->random >> 33) % n;
}

static size_t random_size(struct worker *w)
{
    switch (random_below(w, 4)) {
    case 0: return 1 + random_below(w, 64);
    case 1: return 1 + random_below(w, 256);
    case 2: return 1 + random_below(w, 4096);
    default: return 1 + random_below(w, random_below(w, 64) ? 32 : SIZE_MAX_BYTES);
    }
}

static size_t block_of(const struct slot *s, uintptr_t address)
{
    return address / BLOCK - (uintptr_t)s->p / BLOCK;
}

/* Accesses of a byte each, or of 8. */
static void see(struct slot *s, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        size_t block = block_of(s, (uintptr_t)s->p + from + i);
        s->seen[block / 8] |= (uint8_t)(1 << block % 8);
    }
}

static uint64_t touched(const struct slot *s)
{
    const uintptr_t begin = (uintptr_t)s->p, end = begin + s->size;
    uint64_t bytes = 0;
    for (uintptr_t at = begin, next; at < end; at = next) {
        next = (at / BLOCK + 1) * BLOCK < end ? (at / BLOCK + 1) * BLOCK : end;
        bytes += s->seen[block_of(s, at) / 8] >> block_of(s, at) % 8 & 1 ? next - at : 0;
    }
    return bytes;
}

static void end(struct worker *w, struct slot *s)
{
    struct truth *t = &w->sites[s->site];
    if (!s->p)
        return;
    const uint64_t some = touched(s), share = some * 100 / s->size;
    t->least_share = !t->objects || share < t->least_share ? share : t->least_share;
    t->most_share = share > t->most_share ? share : t->most_share;
    t->touched += some;
    t->untouched += s->size - some;
    t->least = !t->objects || s->accesses < t->least ? s->accesses : t->least;
    t->most = s->accesses > t->most ? s->accesses : t->most;
    t->objects++;
    t->bytes += s->size;
    t->accesses += s->accesses;
    s->p = NULL;
}

static void start(struct worker *w, struct slot *s)
{
    int site = (int)random_below(w, SITES);
    size_t size = random_size(w);
    if (bytes_only && site == 10)
        site = 11;
    char *old = (char *)s->p;
    end(w, s);
    if (site != 10) {
        free(old);
        old = NULL;
    }
    s->p = sites[site](old, size);
    s->size = size;
    s->site = site;
    s->accesses = 0;
    memset(s->seen, 0, size / BLOCK / 8 + 2);
}

static void touch(struct worker *w, struct slot *s)
{
    uint64_t n = random_below(w, 200);
    for (uint64_t i = 0; i < n; i++) {
        size_t at = random_below(w, s->size);
        s->p[at] = (char)i;
        see(s, at, 1);
    }
    s->accesses += n;
    /* First and last bytes, which are next to what is not the object's. */
    s->p[0] = 1;
    s->p[s->size - 1] = 1;
    see(s, 0, 1);
    see(s, s->size - 1, 1);
    s->accesses += 2;
}

static void fill(struct worker *w, struct slot *s)
{
    size_t from = random_below(w, s->size), n = random_below(w, s->size - from + 1);
    memset((char *)s->p + from, (int)n, n);
    see(s, from, n);
    s->accesses += (n + 7) / 8;
}

static void copy(struct worker *w, struct slot *to, struct slot *from)
{
    size_t most = to->size < from->size ? to->size : from->size;
    size_t n = random_below(w, most + 1);
    memcpy((char *)to->p, (char *)from->p, n);
    see(to, 0, n);
    see(from, 0, n);
    to->accesses += (n + 7) / 8;
    from->accesses += (n + 7) / 8;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (long i = 0; i < w->operations; i++) {
        struct slot *s = &w->slots[random_below(w, SLOTS)];
        struct slot *other = &w->slots[random_below(w, SLOTS)];
        switch (s->p ? random_below(w, 8) : 0) {
        case 0: start(w, s); break;
        case 1:
            free((void *)s->p);
            end(w, s);
            break;
        case 2:
            if (!bytes_only)
                fill(w, s);
            break;
        case 3:
            if (other->p && other != s && !bytes_only)
                copy(w, s, other);
            break;
        default: touch(w, s);
        }
    }
    return NULL;
}

static void print(int site, const struct truth *t)
{
    const uint64_t values[] = {t->objects, t->bytes,   t->accesses,  t->least,      t->most,
                               t->touched, t->untouched, t->least_share, t->most_share};
    printf("site_%d", site);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        printf(" %llu", (unsigned long long)values[i]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t ids[THREADS_MAX];
    if (argc < 4 || threads < 1 || threads > THREADS_MAX)
        return 2;
    bytes_only = argc > 4;
    for (int i = 0; i < threads; i++) {
        workers[i].random = strtoull(argv[1], NULL, 0) * 1000 + (uint64_t)i;
        workers[i].operations = atol(argv[3]);
        if (bytes_only)
            work(&workers[i]);
        else if (pthread_create(&ids[i], NULL, work, &workers[i]))
            return 2;
    }
    for (int i = 0; i < threads && !bytes_only; i++)
        pthread_join(ids[i], NULL);
    /* Half of what is left stays to the end of the process. */
    for (int i = 0; i < threads; i++)
        for (int j = 0; j < SLOTS; j++) {
            if (j % 2)
                free((void *)workers[i].slots[j].p);
            end(&workers[i], &workers[i].slots[j]);
        }
    for (int site = 0; site < SITES; site++) {
        struct truth all = {0};
        for (int i = 0; i < threads; i++) {
            const struct truth *t = &workers[i].sites[site];
            if (!t->objects)
                continue;
            all.least = !all.objects || t->least < all.least ? t->least : all.least;
            all.most = t->most > all.most ? t->most : all.most;
            all.objects += t->objects;
            all.bytes += t->bytes;
            all.accesses += t->accesses;
            all.least_share = all.touched + all.untouched && all.least_share < t->least_share
                                  ? all.least_share
                                  : t->least_share;
            all.most_share = t->most_share > all.most_share ? t->most_share : all.most_share;
            all.touched += t->touched;
            all.untouched += t->untouched;
        }
        print(site, &all);
    }
    return 0;
}
