/* Two builds side by side. */
#include "gain_rows.h"

#include "search.h"

#include <stdlib.h>

static bool is_there(const struct pgk_built_function *f)
{
    return f->ticks || f->bytes;
}

/* The id of a name of another table; PGK_INDEX_NONE when out of memory. */
static uint32_t id_in(struct pgk_intern *names, const struct pgk_built *of, uint32_t name)
{
    return pgk_intern(names, pgk_intern_str(&of->names, name), pgk_intern_len(&of->names, name));
}

/* ---- functions ---- */

static bool add_side(struct pgk_gain_rows *rows, struct pgk_intern *names,
                     const struct pgk_built *b, int side)
{
    for (uint32_t i = 0; b && i < b->functions.n; i++) {
        if (!is_there(&b->functions.v[i]))
            continue;
        const uint32_t id = id_in(names, b, i);
        if (id == PGK_INDEX_NONE)
            return false;
        while (rows->functions.n <= id)
            if (!pgk_vec_push(&rows->functions, (struct pgk_gain_row){0}))
                return false;
        rows->functions.v[id].name = pgk_intern_str(&b->names, i);
        rows->functions.v[id].of[side] = &b->functions.v[i];
    }
    return true;
}

static bool has_place(const struct pgk_gain_row *r)
{
    return r->of[0] && r->of[1] && r->of[0]->place != PGK_BUILT_NOWHERE &&
           r->of[1]->place != PGK_BUILT_NOWHERE && r->of[0]->binary == r->of[1]->binary;
}

static int by_place(const struct pgk_gain_row *x, const struct pgk_gain_row *y, int side)
{
    const struct pgk_built_function *f = x->of[side], *g = y->of[side];
    if (f->binary != g->binary)
        return f->binary < g->binary ? -1 : 1;
    return f->place < g->place ? -1 : f->place > g->place;
}

static int by_first_place(const void *a, const void *b)
{
    return by_place(*(struct pgk_gain_row *const *)a, *(struct pgk_gain_row *const *)b, 0);
}

/* The longest list of functions that follow each other in both builds stays; all others have moved.
 * `ends` has, for each length, the list of that length that ends first in the later build;
 * `former` the one before each function in its list. */
static void mark_moved(struct pgk_gain_row **rows, size_t n, uint32_t *ends, uint32_t *former)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        PGK_SEARCH(low, longest, mid, by_place(rows[ends[mid]], rows[i], 1) < 0)
        former[i] = low ? ends[low - 1] : UINT32_MAX;
        ends[low] = i;
        longest = low == longest ? longest + 1 : longest;
        rows[i]->moved = true;
    }
    for (uint32_t i = longest ? ends[longest - 1] : UINT32_MAX; i != UINT32_MAX; i = former[i])
        rows[i]->moved = false;
}

static bool find_moved(struct pgk_gain_rows *rows)
{
    PGK_VEC(struct pgk_gain_row *) both = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < rows->functions.n; i++)
        if (has_place(&rows->functions.v[i]))
            ok = pgk_vec_push(&both, &rows->functions.v[i]);
    uint32_t *ends = pgk_mem_zalloc(both.n + 1, sizeof *ends),
             *former = pgk_mem_zalloc(both.n + 1, sizeof *former);
    ok = ok && ends && former;
    if (ok && both.n) {
        qsort(both.v, both.n, sizeof *both.v, by_first_place);
        mark_moved(both.v, both.n, ends, former);
    }
    pgk_mem_free(ends);
    pgk_mem_free(former);
    pgk_vec_free(&both);
    return ok;
}

static uint64_t most(const struct pgk_gain_row *r,
                     uint64_t (*of)(const struct pgk_built_function *))
{
    const uint64_t x = r->of[0] ? of(r->of[0]) : 0, y = r->of[1] ? of(r->of[1]) : 0;
    return x > y ? x : y;
}

static uint64_t ticks_of(const struct pgk_built_function *f)
{
    return f->ticks;
}

static uint64_t bytes_of(const struct pgk_built_function *f)
{
    return f->bytes;
}

static int by_ticks(const void *a, const void *b)
{
    const struct pgk_gain_row *x = a, *y = b;
    const uint64_t x_ticks = most(x, ticks_of), y_ticks = most(y, ticks_of);
    if (x_ticks != y_ticks)
        return x_ticks > y_ticks ? -1 : 1;
    const uint64_t x_bytes = most(x, bytes_of), y_bytes = most(y, bytes_of);
    return x_bytes != y_bytes ? x_bytes > y_bytes ? -1 : 1 : strcmp(x->name, y->name);
}

static bool make_functions(struct pgk_gain_rows *rows, const struct pgk_built *before,
                           const struct pgk_built *after)
{
    struct pgk_intern names = {0};
    const bool ok = add_side(rows, &names, before, 0) && add_side(rows, &names, after, 1);
    size_t kept = 0;
    pgk_intern_free(&names);
    for (size_t i = 0; i < rows->functions.n; i++)
        if (rows->functions.v[i].name)
            rows->functions.v[kept++] = rows->functions.v[i];
    rows->functions.n = kept;
    if (!ok || !find_moved(rows))
        return false;
    if (kept)
        qsort(rows->functions.v, kept, sizeof *rows->functions.v, by_ticks);
    return true;
}

/* ---- inlined calls ---- */

struct call {
    uint32_t callee, caller; /* common names */
    uint32_t in;             /* the position in its build */
    int side;
};
typedef PGK_VEC(struct call) call_vec;

static int by_names(const struct call *x, const struct call *y)
{
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static int by_names_and_side(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    const int order = by_names(x, y);
    return order ? order : x->side - y->side;
}

static bool list_calls(call_vec *calls, struct pgk_intern *names, const struct pgk_built *b,
                       int side)
{
    for (uint32_t i = 0; b && i < b->inlined.n; i++) {
        const struct call one = {id_in(names, b, b->inlined.v[i].callee),
                                 id_in(names, b, b->inlined.v[i].caller), i, side};
        if (one.callee == PGK_INDEX_NONE || one.caller == PGK_INDEX_NONE ||
            !pgk_vec_push(calls, one))
            return false;
    }
    return true;
}

static double samples_of(const struct pgk_built *b)
{
    double sum = 0;
    for (size_t i = 0; b && i < b->inlined.n; i++)
        sum += (double)b->inlined.v[i].samples;
    return sum > 0 ? sum : 1;
}

static bool add_call(struct pgk_gain_rows *rows, const struct call *c,
                     const struct pgk_built *const *builds, const double *all)
{
    const struct pgk_built *b = builds[c->side];
    const struct pgk_built_inlined *in = &b->inlined.v[c->in];
    const struct pgk_gain_call call = {pgk_intern_str(&b->names, in->callee),
                                       pgk_intern_str(&b->names, in->caller), c->side == 1,
                                       in->places, (double)in->samples / all[c->side]};
    return pgk_vec_push(&rows->calls, call);
}

static int by_share(const void *a, const void *b)
{
    const struct pgk_gain_call *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    const int order = strcmp(x->callee, y->callee);
    return order ? order : strcmp(x->caller, y->caller);
}

/* Those of one side only; a comparison takes two. */
static bool make_calls(struct pgk_gain_rows *rows, const struct pgk_built *before,
                       const struct pgk_built *after)
{
    const struct pgk_built *const builds[] = {before, after};
    const double all[] = {samples_of(before), samples_of(after)};
    struct pgk_intern names = {0};
    call_vec calls = {0};
    if (!before || !after)
        return true;
    bool ok = list_calls(&calls, &names, before, 0) && list_calls(&calls, &names, after, 1);
    if (calls.n)
        qsort(calls.v, calls.n, sizeof *calls.v, by_names_and_side);
    for (size_t i = 0; ok && i < calls.n; i++) {
        if (i + 1 < calls.n && !by_names(&calls.v[i], &calls.v[i + 1]))
            i++; /* in both */
        else
            ok = add_call(rows, &calls.v[i], builds, all);
    }
    if (rows->calls.n)
        qsort(rows->calls.v, rows->calls.n, sizeof *rows->calls.v, by_share);
    pgk_vec_free(&calls);
    pgk_intern_free(&names);
    return ok;
}

bool pgk_gain_rows_make(struct pgk_gain_rows *rows, const struct pgk_built *before,
                        const struct pgk_built *after)
{
    *rows = (struct pgk_gain_rows){0};
    return make_functions(rows, before, after) && make_calls(rows, before, after);
}

void pgk_gain_rows_free(struct pgk_gain_rows *rows)
{
    pgk_vec_free(&rows->functions);
    pgk_vec_free(&rows->calls);
}
