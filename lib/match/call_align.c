/* The longest common subsequence of two lists of calls, with a preference for what lies near. */
#include "call_align.h"

#include "index.h"
#include "mem.h"

/* Pairs of a table; larger functions keep only what has not moved. */
enum { MAX_PAIRS = 1 << 22 };

enum { SURE = 1000, UNSURE = 600, SAME_PLACE = 120, SAME_COLUMN = 40, NEAR = 60 };

struct aligner {
    const struct pgk_anchor *old, *now;
    size_t n_old, n_now;
    pgk_alike_fn *alike;
    void *ctx;
    uint32_t *score; /* (n_old + 1) x (n_now + 1): the best of what is left */
    struct pgk_aligned *to;
};

static int64_t shift(const struct aligner *a, size_t i, size_t j)
{
    return (int64_t)(int32_t)a->now[j].offset - (int32_t)a->old[i].offset;
}

static uint32_t pair_score(const struct aligner *a, size_t i, size_t j)
{
    unsigned alike = a->alike(a->ctx, i, j);
    if (!alike)
        return 0;
    int64_t d = shift(a, i, j);
    bool same_column = a->old[i].column == a->now[j].column;
    uint32_t s = alike > 1 ? SURE : UNSURE;
    if (d == 0 && same_column)
        s += SAME_PLACE;
    else if (same_column)
        s += SAME_COLUMN;
    d = d < 0 ? -d : d;
    return s + (d < NEAR ? (uint32_t)(NEAR - d) : 0);
}

static uint32_t *cell(const struct aligner *a, size_t i, size_t j)
{
    return &a->score[i * (a->n_now + 1) + j];
}

static void fill(const struct aligner *a)
{
    for (size_t i = a->n_old; i-- > 0;) {
        for (size_t j = a->n_now; j-- > 0;) {
            uint32_t best = *cell(a, i + 1, j), right = *cell(a, i, j + 1);
            uint32_t pair = pair_score(a, i, j);
            if (right > best)
                best = right;
            if (pair && pair + *cell(a, i + 1, j + 1) > best)
                best = pair + *cell(a, i + 1, j + 1);
            *cell(a, i, j) = best;
        }
    }
}

static void choose(const struct aligner *a)
{
    for (size_t i = 0, j = 0; i < a->n_old && j < a->n_now;) {
        uint32_t pair = pair_score(a, i, j);
        if (pair && *cell(a, i, j) == pair + *cell(a, i + 1, j + 1))
            a->to[i++].to = (uint32_t)j++;
        else if (*cell(a, i, j) == *cell(a, i + 1, j))
            i++;
        else
            j++;
    }
}

/* The calls between the nearest pairs around old call i that stand where they did to each other:
 * what an old call may have become. */
struct gap {
    size_t old_low, old_high, low, high; /* without the ends */
    int64_t shifts[2];                   /* of the pairs around it */
    unsigned n_shifts;
};

static struct gap gap_around(const struct aligner *a, size_t i)
{
    struct gap g = {0, a->n_old, 0, a->n_now, {0}, 0};
    for (size_t k = i; k-- > 0;) {
        if (a->to[k].to != PGK_INDEX_NONE) {
            g.old_low = k + 1;
            g.low = a->to[k].to + 1;
            g.shifts[g.n_shifts++] = shift(a, k, a->to[k].to);
            break;
        }
    }
    for (size_t k = i + 1; k < a->n_old; k++) {
        if (a->to[k].to != PGK_INDEX_NONE) {
            g.old_high = k;
            g.high = a->to[k].to;
            g.shifts[g.n_shifts++] = shift(a, k, a->to[k].to);
            break;
        }
    }
    return g;
}

static bool moved_with_others(const struct gap *g, int64_t by)
{
    for (unsigned s = 0; s < g->n_shifts; s++)
        if (g->shifts[s] == by)
            return true;
    return !by;
}

/* A call without a partner may be paired with the partner of a neighbour, if both share a place. */
static bool share_with(const struct aligner *a, size_t i, size_t neighbour)
{
    uint32_t j = a->to[neighbour].to;
    if (j == PGK_INDEX_NONE)
        return false;
    if (a->now[j].several && a->alike(a->ctx, i, j))
        a->to[i].to = j;
    return true;
}

static void share_place(const struct aligner *a, size_t i)
{
    if (a->to[i].to != PGK_INDEX_NONE)
        return;
    for (size_t k = i; k-- > 0;)
        if (share_with(a, i, k))
            break;
    for (size_t k = i + 1; k < a->n_old && a->to[i].to == PGK_INDEX_NONE; k++)
        if (share_with(a, i, k))
            break;
}

static bool is_taken(const struct aligner *a, size_t j)
{
    for (size_t i = 0; i < a->n_old; i++)
        if (a->to[i].to == j)
            return true;
    return false;
}

/* The only call of the function on the lines that the neighbours of old call i are paired with: one
 * without a partner, or one that shares its place. */
static uint32_t only_on_line(const struct aligner *a, size_t i, bool shared)
{
    uint32_t found = PGK_INDEX_NONE;
    for (size_t k = 0; k < a->n_old; k++) {
        if (a->old[k].offset != a->old[i].offset || a->to[k].to == PGK_INDEX_NONE)
            continue;
        for (uint32_t j = 0; j < a->n_now; j++) {
            if (a->now[j].offset != a->now[a->to[k].to].offset || a->alike(a->ctx, i, j) < 2 ||
                j == found || (shared ? !a->now[j].several : is_taken(a, j)))
                continue;
            if (found != PGK_INDEX_NONE)
                return PGK_INDEX_NONE;
            found = j;
        }
    }
    return found;
}

/* Compilers put calls in the arguments of a call before it or after it, by their columns. */
static void cross_on_line(const struct aligner *a, size_t i)
{
    a->to[i].to = only_on_line(a, i, false);
    if (a->to[i].to == PGK_INDEX_NONE)
        a->to[i].to = only_on_line(a, i, true);
}

/* If a call could be one of several, it is the one that moved like the pairs around it, if only one
 * did. */
static void settle(const struct aligner *a, size_t i)
{
    struct gap g = gap_around(a, i);
    size_t found = 0, n = 0;
    if (moved_with_others(&g, shift(a, i, a->to[i].to)))
        return;
    for (size_t k = g.low; k < g.high; k++) {
        if (a->alike(a->ctx, i, k) == a->alike(a->ctx, i, a->to[i].to) &&
            moved_with_others(&g, shift(a, i, k))) {
            found = k;
            n++;
        }
    }
    if (n == 1)
        a->to[i].to = (uint32_t)found;
}

/* A pair is certain if no other call fits: none between the pairs around it, or none that moved
 * with these, or in this column. If calls of several functions were at one place, all calls of its
 * line and after it count. */
static bool is_ambiguous(const struct aligner *a, size_t i)
{
    struct gap g = gap_around(a, i);
    size_t j = a->to[i].to, rivals = 0, beside = 0, same_column = 0;
    bool moved = moved_with_others(&g, shift(a, i, j));
    bool in_column = a->old[i].column && a->old[i].column == a->now[j].column;
    for (size_t k = g.low; k < g.high; k++) {
        bool meant = a->old[i].several && a->now[k].offset >= a->now[j].offset;
        if (k == j || meant || !a->alike(a->ctx, i, k))
            continue;
        rivals++;
        if (moved_with_others(&g, shift(a, i, k))) {
            beside++;
            same_column += a->old[i].column == a->now[k].column;
        }
    }
    for (size_t k = g.old_low; k < g.old_high; k++)
        rivals += k != i && a->alike(a->ctx, k, j);
    if (!rivals || (moved && !beside))
        return false;
    return !(moved && in_column && !same_column);
}

int pgk_calls_align(const struct pgk_anchor *old, size_t n_old, const struct pgk_anchor *now,
                    size_t n_now, pgk_alike_fn *alike, void *ctx, struct pgk_aligned *to,
                    struct pgk_err *err)
{
    struct aligner a = {old, now, n_old, n_now, alike, ctx, NULL, to};
    for (size_t i = 0; i < n_old; i++)
        to[i] = (struct pgk_aligned){.to = PGK_INDEX_NONE};
    if (!n_old || !n_now || n_now > MAX_PAIRS / n_old)
        return 0;
    a.score = pgk_mem_zalloc((n_old + 1) * (n_now + 1), sizeof *a.score);
    if (!a.score)
        return pgk_fail_nomem(err);
    fill(&a);
    choose(&a);
    pgk_mem_free(a.score);
    for (size_t i = 0; i < n_old; i++)
        if (to[i].to != PGK_INDEX_NONE)
            settle(&a, i);
    for (size_t i = 0; i < n_old; i++)
        if (to[i].to != PGK_INDEX_NONE)
            to[i].ambiguous = is_ambiguous(&a, i);
    for (size_t i = 0; i < n_old; i++)
        share_place(&a, i);
    for (size_t i = 0; i < n_old; i++)
        if (to[i].to == PGK_INDEX_NONE)
            cross_on_line(&a, i);
    return 0;
}
