/* A health service after the description of the benchmark "health" of the Olden suite, written
 * anew: alloc_health LEVELS STEPS. Villages form a tree in which each has four below it and a
 * hospital. In each step people fall ill; a patient waits, is assessed, and is treated there or
 * sent to the village above. Patients and the cells of lists are small objects that come and go all
 * the time, and every step goes over all lists. Prints how many were treated, and how long that
 * took. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))
enum { BELOW = 4, ASSESSMENT = 3, TREATMENT = 10 };

struct patient {
    uint32_t steps, left, villages;
    struct village *home;
};
struct cell {
    struct cell *next, *before;
    struct patient *patient;
};
struct list {
    struct cell *first, *last;
};
struct village {
    struct village *below[BELOW], *above;
    struct list waiting, assessed, inside, sent; /* sent: to the village above, in this step */
    uint32_t beds, free, seed, level;
};
static uint64_t treated, steps_sum, villages_sum;

static NOINLINE void *get(size_t n)
{
    void *p = calloc(1, n);
    if (!p)
        abort();
    return p;
}

static uint32_t chance(struct village *v)
{
    return (v->seed = v->seed * 1103515245 + 12345) >> 8 & 0xffff;
}

static NOINLINE void append(struct list *l, struct patient *p)
{
    struct cell *c = get(sizeof *c);
    c->patient = p;
    c->before = l->last;
    *(l->last ? &l->last->next : &l->first) = c;
    l->last = c;
}

static void take_out(struct list *l, struct cell *c)
{
    *(c->before ? &c->before->next : &l->first) = c->next;
    *(c->next ? &c->next->before : &l->last) = c->before;
    free(c);
}

static NOINLINE struct village *build(uint32_t level, uint32_t *number, struct village *above)
{
    struct village *v = get(sizeof *v);
    *v = (struct village){.above = above, .seed = ++*number * 2654435761u, .level = level};
    v->beds = v->free = 1u << (level < 14 ? level : 14);
    for (int i = 0; level > 1 && i < BELOW; i++)
        v->below[i] = build(level - 1, number, v);
    return v;
}

static NOINLINE struct patient *falls_ill(struct village *v)
{
    struct patient *p = get(sizeof *p);
    p->home = v;
    return p;
}

static void leave(struct village *v)
{
    for (struct cell *c = v->inside.first, *next; c; c = next) {
        struct patient *p = c->patient;
        next = c->next;
        p->steps++;
        if (--p->left)
            continue;
        v->free++;
        treated++;
        steps_sum += p->steps;
        villages_sum += p->villages;
        take_out(&v->inside, c);
        free(p);
    }
}

/* One of ten is treated here, the others above, where there is somebody. */
static void assess(struct village *v)
{
    for (struct cell *c = v->assessed.first, *next; c; c = next) {
        struct patient *p = c->patient;
        next = c->next;
        p->steps++;
        if (--p->left)
            continue;
        const int here = !v->above || chance(v) % 10 == 0;
        p->left = TREATMENT;
        v->free += here ? 0 : 1;
        append(here ? &v->inside : &v->sent, p);
        take_out(&v->assessed, c);
    }
}

static void admit(struct village *v)
{
    for (struct cell *c = v->waiting.first, *next; c; c = next) {
        struct patient *p = c->patient;
        next = c->next;
        p->steps++;
        if (!v->free)
            continue;
        v->free--;
        p->left = ASSESSMENT;
        p->villages++;
        append(&v->assessed, p);
        take_out(&v->waiting, c);
    }
}

static void step(struct village *v)
{
    for (int i = 0; i < BELOW && v->below[0]; i++) {
        struct village *b = v->below[i];
        step(b);
        for (struct cell *c = b->sent.first, *next; c; c = next) {
            next = c->next;
            append(&v->waiting, c->patient);
            take_out(&b->sent, c);
        }
    }
    leave(v);
    assess(v);
    admit(v);
    if (chance(v) % 3 == 0)
        append(&v->waiting, falls_ill(v));
}

int main(int argc, char **argv)
{
    const uint32_t levels = argc > 1 ? (uint32_t)atoi(argv[1]) : 6;
    const int steps = argc > 2 ? atoi(argv[2]) : 300;
    uint32_t number = 0;
    struct village *top = build(levels, &number, NULL);
    for (int i = 0; i < steps; i++)
        step(top);
    printf("%u villages, %llu treated, %llu steps, %llu villages seen\n", number,
           (unsigned long long)treated, (unsigned long long)steps_sum,
           (unsigned long long)villages_sum);
    return 0;
}
