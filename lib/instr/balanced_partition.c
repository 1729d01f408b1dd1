/* Balanced partitioning. The cost of a group of which x items are left and y are right is the size
 * of its places when they are written as differences: -(x log2(x + 1) + y log2(y + 1)). */
#include "balanced_partition.h"

#include "mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 18, MAX_ROUNDS = 40 };
#define SKIP_SHARE 0.1f /* of the exchanges */

/* ---- random numbers: the Mersenne Twister, MT19937 ---- */

enum { MT_WORDS = 624, MT_MIDDLE = 397 };
struct random {
    uint32_t v[MT_WORDS];
    unsigned at;
};

static void random_start(struct random *r, uint32_t seed)
{
    r->v[0] = seed;
    for (uint32_t i = 1; i < MT_WORDS; i++)
        r->v[i] = 1812433253u * (r->v[i - 1] ^ r->v[i - 1] >> 30) + i;
    r->at = MT_WORDS;
}

static void random_refill(struct random *r)
{
    for (unsigned i = 0; i < MT_WORDS; i++) {
        uint32_t y = (r->v[i] & 0x80000000u) | (r->v[(i + 1) % MT_WORDS] & 0x7fffffffu);
        r->v[i] = r->v[(i + MT_MIDDLE) % MT_WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->at = 0;
}

/* 0 to below 1. */
static float random_share(struct random *r)
{
    if (r->at == MT_WORDS)
        random_refill(r);
    uint32_t y = r->v[r->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    y ^= y >> 18;
    float share = (float)y / 4294967296.0f;
    return share < 1 ? share : nextafterf(1, 0);
}

/* ---- one halving ---- */

struct group {
    uint32_t left, right;      /* items on each side */
    float to_right, to_left;   /* what moving an item of it gains */
    bool fresh;                /* these are up to date */
};

struct gain {
    float gain;
    struct pgk_bp_item *item;
    size_t at; /* decides between equal gains */
};

struct halving {
    struct pgk_bp_item *items;
    size_t n;
    uint32_t left; /* the bucket; the right one is the next */
    struct group *groups;
    size_t n_groups;
    struct gain *gains;
    struct random random;
};

static float log2_of(uint32_t x)
{
    return (float)log2(x);
}

static float cost(uint32_t x, uint32_t y)
{
    return -((float)x * log2_of(x + 1) + (float)y * log2_of(y + 1));
}

static void refresh(struct group *g)
{
    float now = cost(g->left, g->right);
    g->to_right = g->left ? now - cost(g->left - 1, g->right + 1) : 0;
    g->to_left = g->right ? now - cost(g->left + 1, g->right - 1) : 0;
    g->fresh = true;
}

static bool is_left(const struct halving *h, const struct pgk_bp_item *item)
{
    return item->bucket == h->left;
}

static float gain_of(const struct halving *h, const struct pgk_bp_item *item)
{
    float gain = 0;
    for (size_t i = 0; i < item->groups.n; i++) {
        const struct group *g = &h->groups[item->groups.v[i]];
        gain += is_left(h, item) ? g->to_right : g->to_left;
    }
    return gain;
}

/* Exchanges from both ends, which does not keep the order: where gains are equal it matters. */
static size_t part_gains(const struct halving *h)
{
    struct gain *v = h->gains;
    size_t first = 0, last = h->n;
    for (;;) {
        while (first < last && is_left(h, v[first].item))
            first++;
        if (first == last)
            return first;
        do {
            if (--last == first)
                return first;
        } while (!is_left(h, v[last].item));
        struct gain x = v[first];
        v[first++] = v[last];
        v[last] = x;
    }
}

static int by_gain(const void *a, const void *b)
{
    const struct gain *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool move(struct halving *h, struct pgk_bp_item *item)
{
    if (random_share(&h->random) <= SKIP_SHARE)
        return false;
    bool from_left = is_left(h, item);
    item->bucket = h->left + from_left;
    for (size_t i = 0; i < item->groups.n; i++) {
        struct group *g = &h->groups[item->groups.v[i]];
        g->left += from_left ? -1u : 1u;
        g->right += from_left ? 1u : -1u;
        g->fresh = false;
    }
    return true;
}

/* Returns the number of items moved. */
static size_t exchange_round(struct halving *h)
{
    size_t moved = 0;
    for (size_t i = 0; i < h->n_groups; i++)
        if (!h->groups[i].fresh)
            refresh(&h->groups[i]);
    for (size_t i = 0; i < h->n; i++)
        h->gains[i] = (struct gain){.gain = gain_of(h, &h->items[i]), .item = &h->items[i]};
    size_t n_left = part_gains(h), n_right = h->n - n_left;
    struct gain *left = h->gains, *right = h->gains + n_left;
    for (size_t i = 0; i < h->n; i++)
        h->gains[i].at = i;
    if (n_left)
        qsort(left, n_left, sizeof *left, by_gain);
    if (n_right)
        qsort(right, n_right, sizeof *right, by_gain);
    for (size_t i = 0; i < n_left && i < n_right; i++) {
        if (left[i].gain + right[i].gain <= 0)
            break;
        moved += move(h, left[i].item);
        moved += move(h, right[i].item);
    }
    return moved;
}

/* Groups of one item, or of all, say nothing about where an item belongs: they are dropped. The
 * others are numbered as they are met. */
static void renumber(struct halving *h, uint32_t *count, uint32_t *number)
{
    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->items[i].groups.n; k++)
            count[h->items[i].groups.v[k]]++;
    for (size_t i = 0; i < h->n; i++) {
        struct pgk_bp_item *item = &h->items[i];
        size_t kept = 0;
        for (size_t k = 0; k < item->groups.n; k++) {
            uint32_t old = item->groups.v[k];
            if (count[old] == 1 || count[old] == h->n)
                continue;
            if (!number[old])
                number[old] = (uint32_t)++h->n_groups;
            item->groups.v[kept++] = number[old] - 1;
        }
        item->groups.n = kept;
    }
}

static uint32_t largest_group(const struct halving *h)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->items[i].groups.n; k++)
            if (h->items[i].groups.v[k] > largest)
                largest = h->items[i].groups.v[k];
    return largest;
}

static void count_sides(struct halving *h)
{
    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->items[i].groups.n; k++) {
            struct group *g = &h->groups[h->items[i].groups.v[k]];
            g->left += is_left(h, &h->items[i]);
            g->right += !is_left(h, &h->items[i]);
        }
}

static bool halve(struct halving *h)
{
    size_t most = (size_t)largest_group(h) + 1;
    uint32_t *count = pgk_mem_zalloc(most, sizeof *count);
    uint32_t *number = pgk_mem_zalloc(most, sizeof *number);
    if (count && number)
        renumber(h, count, number);
    h->groups = count && number ? pgk_mem_zalloc(h->n_groups + 1, sizeof *h->groups) : NULL;
    h->gains = pgk_mem_alloc(h->n, sizeof *h->gains);
    bool done = h->groups && h->gains;
    if (done)
        count_sides(h);
    for (int round = 0; done && round < MAX_ROUNDS && exchange_round(h); round++)
        ;
    pgk_mem_free(count);
    pgk_mem_free(number);
    pgk_mem_free(h->groups);
    pgk_mem_free(h->gains);
    return done;
}

/* ---- all halvings ---- */

static int by_order(const void *a, const void *b)
{
    const struct pgk_bp_item *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_bucket_then_order(const void *a, const void *b)
{
    const struct pgk_bp_item *x = a, *y = b;
    return x->bucket != y->bucket ? (x->bucket < y->bucket ? -1 : 1) : by_order(a, b);
}

/* `items` are in the order of the input. */
static bool bisect(struct pgk_bp_item *items, size_t n, unsigned depth, uint32_t root,
                   uint32_t offset)
{
    if (n <= 1 || depth >= MAX_DEPTH) {
        for (size_t i = 0; i < n; i++)
            items[i].bucket = offset + (uint32_t)i;
        return true;
    }
    struct halving h = {.items = items, .n = n, .left = 2 * root};
    for (size_t i = 0; i < n; i++)
        items[i].bucket = h.left + (i >= (n + 1) / 2);
    random_start(&h.random, root);
    if (!halve(&h))
        return false;
    size_t n_left = 0;
    qsort(items, n, sizeof *items, by_bucket_then_order);
    while (n_left < n && is_left(&h, &items[n_left]))
        n_left++;
    return bisect(items, n_left, depth + 1, h.left, offset) &&
           bisect(items + n_left, n - n_left, depth + 1, h.left + 1, offset + (uint32_t)n_left);
}

int pgk_balanced_partition(struct pgk_bp_item *items, size_t n, struct pgk_err *err)
{
    for (size_t i = 0; i < n; i++)
        items[i].order = (uint32_t)i;
    if (!bisect(items, n, 0, 1, 0))
        return pgk_fail_nomem(err);
    if (n)
        qsort(items, n, sizeof *items, by_bucket_then_order);
    return 0;
}
