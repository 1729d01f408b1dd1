/* An order of functions in which programs touch few pages while they start.
 *
 * Of a trace of first calls, the functions called until the first, second, fourth, ... call form
 * groups: each is what has to be in memory by then. Functions that share groups, over all traces,
 * are put close together. */
#include "pgokit/function_order.h"

#include "balanced_partition.h"
#include "instr_model.h"
#include "opts.h"
#include "sink.h"

#include <assert.h>
#include <stdlib.h>

/* Symbol sizes are not known: this many functions are taken for a page. */
enum { FUNCTIONS_OF_A_PAGE = 32 };

struct pgk_function_order {
    const struct pgk_instr *profile;
    PGK_VEC(uint64_t) refs; /* in order; those of unknown names are left out */
    size_t unnamed;
    bool llvm_text, tested;
    uint64_t fault_area;
};

/* A function of the traces that are learnt from. */
struct traced {
    uint64_t ref;
    size_t first_call;         /* the earliest place in a trace */
    size_t trace;              /* the last one that was looked at, from 1 */
    uint32_t first_group;      /* in that */
    struct pgk_bp_item item;
};
typedef PGK_VEC(struct traced) traced_vec;

static int by_ref(const void *a, const void *b)
{
    const struct traced *x = a, *y = b;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

static int by_first_call(const void *a, const void *b)
{
    const struct traced *x = a, *y = b;
    return x->first_call != y->first_call ? (x->first_call < y->first_call ? -1 : 1)
                                          : by_ref(a, b);
}

static struct traced *find(const traced_vec *all, uint64_t ref)
{
    const struct traced key = {.ref = ref};
    return bsearch(&key, all->v, all->n, sizeof key, by_ref);
}

static size_t length_of(const struct pgk_instr_trace *t, const struct pgk_function_order_opts *o)
{
    return o->max_trace_calls && t->n > o->max_trace_calls ? o->max_trace_calls : t->n;
}

/* All functions of the traces, each once, by reference. */
static bool collect(traced_vec *all, const struct pgk_instr *p, size_t n_traces,
                    const struct pgk_function_order_opts *o)
{
    for (size_t t = 0; t < n_traces; t++)
        for (size_t i = 0; i < length_of(&p->traces.v[t], o); i++)
            if (!pgk_vec_push(all, (struct traced){.ref = p->traces.v[t].refs[i],
                                                   .first_call = SIZE_MAX}))
                return false;
    size_t n = 0;
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_ref);
    for (size_t i = 0; i < all->n; i++)
        if (!n || all->v[i].ref != all->v[n - 1].ref)
            all->v[n++] = all->v[i];
    all->n = n;
    return true;
}

/* Puts the functions of a trace into its groups, numbered from *group; a function is in all groups
 * from the first one on that it was called in. */
static bool group_trace(traced_vec *all, const struct pgk_instr_trace *t, size_t number, size_t n,
                        uint32_t *group)
{
    size_t next = 1;
    for (size_t i = 0; i < n; i++) {
        struct traced *f = find(all, t->refs[i]);
        if (i < f->first_call)
            f->first_call = i;
        if (i >= next) {
            ++*group;
            next = 2 * i;
        }
        if (f->trace != number) {
            f->trace = number;
            f->first_group = *group;
        }
    }
    for (size_t i = 0; i < all->n; i++)
        for (uint32_t g = all->v[i].first_group; all->v[i].trace == number && g <= *group; g++)
            if (!pgk_vec_push(&all->v[i].item.groups, g))
                return false;
    ++*group;
    return true;
}

/* Groups of one function, or of more than half of them, say little about the order. */
static bool drop_outliers(traced_vec *all, uint32_t n_groups)
{
    uint32_t *count = pgk_mem_zalloc((size_t)n_groups + 1, sizeof *count);
    if (!count)
        return false;
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < all->v[i].item.groups.n; k++)
            count[all->v[i].item.groups.v[k]]++;
    for (size_t i = 0; i < all->n; i++) {
        struct pgk_bp_item *item = &all->v[i].item;
        size_t kept = 0;
        for (size_t k = 0; k < item->groups.n; k++) {
            uint32_t g = item->groups.v[k];
            if (count[g] > 1 && 2 * (uint64_t)count[g] <= all->n)
                item->groups.v[kept++] = g;
        }
        item->groups.n = kept;
    }
    pgk_mem_free(count);
    return true;
}

static int partition(struct pgk_function_order *order, traced_vec *all, struct pgk_err *err)
{
    struct pgk_bp_item *items = pgk_mem_alloc(all->n + 1, sizeof *items);
    if (!items)
        return pgk_fail_nomem(err);
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_first_call);
    for (size_t i = 0; i < all->n; i++) {
        items[i] = all->v[i].item;
        items[i].id = all->v[i].ref;
    }
    int status = pgk_balanced_partition(items, all->n, err);
    for (size_t i = 0; i < all->n && !status; i++)
        if (!pgk_vec_push(&order->refs, items[i].id))
            status = pgk_fail_nomem(err);
    pgk_mem_free(items);
    return status;
}

/* ---- what it is worth ---- */

struct place {
    uint64_t ref;
    size_t page;
};

static int by_place_ref(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

/* Adds up, call by call, the pages that a trace has touched so far. */
static uint64_t area_of(const struct pgk_instr_trace *t, size_t n, const struct place *places,
                        size_t n_places, bool *touched)
{
    uint64_t area = 0, pages = 0;
    memset(touched, 0, n_places + 1);
    for (size_t i = 0; i < n; i++) {
        const struct place key = {.ref = t->refs[i]},
                           *at = bsearch(&key, places, n_places, sizeof key, by_place_ref);
        if (!at)
            continue;
        pages += !touched[at->page];
        touched[at->page] = true;
        area += pages;
    }
    return area;
}

static int measure(struct pgk_function_order *order, size_t first_test,
                   const struct pgk_function_order_opts *o, struct pgk_err *err)
{
    size_t n = order->refs.n;
    struct place *places = pgk_mem_alloc(n + 1, sizeof *places);
    bool *touched = pgk_mem_alloc(n + 1, sizeof *touched);
    for (size_t i = 0; places && i < n; i++)
        places[i] = (struct place){order->refs.v[i], i / FUNCTIONS_OF_A_PAGE};
    if (places && n)
        qsort(places, n, sizeof *places, by_place_ref);
    const struct pgk_instr *p = order->profile;
    for (size_t t = first_test; places && touched && t < p->traces.n; t++)
        order->fault_area +=
            area_of(&p->traces.v[t], length_of(&p->traces.v[t], o), places, n, touched);
    bool done = places && touched;
    pgk_mem_free(places);
    pgk_mem_free(touched);
    return done ? 0 : pgk_fail_nomem(err);
}

/* ---- all of it ---- */

static void drop_unnamed(struct pgk_function_order *order)
{
    size_t kept = 0;
    for (size_t i = 0; i < order->refs.n; i++)
        if (pgk_names_find(&order->profile->names, order->refs.v[i]) != PGK_INDEX_NONE)
            order->refs.v[kept++] = order->refs.v[i];
    order->unnamed = order->refs.n - kept;
    order->refs.n = kept;
}

static int compute(struct pgk_function_order *order, const struct pgk_function_order_opts *o,
                   struct pgk_err *err)
{
    const struct pgk_instr *p = order->profile;
    traced_vec all = {0};
    uint32_t groups = 0;
    size_t n = p->traces.n - o->test_traces;
    bool done = true;
    size_t learnt = o->max_traces && n > o->max_traces ? o->max_traces : n;
    done = collect(&all, p, learnt, o);
    for (size_t t = 0; t < learnt && done; t++)
        done = group_trace(&all, &p->traces.v[t], t + 1, length_of(&p->traces.v[t], o), &groups);
    int status = done && drop_outliers(&all, groups) ? 0 : pgk_fail_nomem(err);
    if (!status)
        status = partition(order, &all, err);
    for (size_t i = 0; i < all.n; i++)
        pgk_vec_free(&all.v[i].item.groups);
    pgk_vec_free(&all);
    if (!status)
        status = measure(order, n, o, err);
    drop_unnamed(order);
    return status;
}

int pgk_instr_order_functions(struct pgk_function_order **order, const struct pgk_instr *p,
                              const struct pgk_function_order_opts *given, struct pgk_err *err)
{
    struct pgk_function_order_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    if (!p->traces.n)
        return pgk_fail(err, PGK_E_EMPTY, .file = p->flags_file, .field = "temporal traces",
                        .found = "none", .expected = "at least one",
                        .hint = "build with -fprofile-generate -mllvm "
                                "-pgo-temporal-instrumentation (clang 17 or later) and record "
                                "the program's start");
    if (opts.test_traces >= p->traces.n)
        return pgk_fail(err, PGK_E_ARG, .field = "traces to test with",
                        .found = PGK_F("%zu", opts.test_traces),
                        .expected = PGK_F("fewer than the %zu of the profile", p->traces.n));
    struct pgk_function_order *new = pgk_mem_zalloc(1, sizeof *new);
    if (!new)
        return pgk_fail_nomem(err);
    new->profile = p;
    new->llvm_text = opts.llvm_text;
    new->tested = opts.test_traces;
    int status = compute(new, &opts, err);
    if (status)
        pgk_function_order_close(&new);
    else
        *order = new;
    return status;
}

size_t pgk_function_order_size(const struct pgk_function_order *order)
{
    return order->refs.n;
}

size_t pgk_function_order_unnamed(const struct pgk_function_order *order)
{
    return order->unnamed;
}

uint64_t pgk_function_order_fault_area(const struct pgk_function_order *order)
{
    return order->fault_area;
}

const char *pgk_function_order_at(const struct pgk_function_order *order, size_t i,
                                  size_t *file_len)
{
    assert(i < order->refs.n);
    const char *name =
        order->profile->names.list.v[pgk_names_find(&order->profile->names, order->refs.v[i])].s;
    const char *semicolon = strchr(name, ';');
    *file_len = semicolon && semicolon[1] ? (size_t)(semicolon - name) : 0;
    return name;
}

static void write_head(const struct pgk_function_order *order, struct pgk_sink *out)
{
    if (!order->llvm_text) {
        pgk_sink_printf(out, "# %zu functions, ordered for a fast start\n", order->refs.n);
        return;
    }
    pgk_sink_printf(out, "# Ordered %zu functions\n", order->refs.n);
    if (order->tested)
        pgk_sink_printf(out, "# Total area under the page fault curve: %e\n",
                        (double)order->fault_area);
    pgk_sink_printf(out, "# Warning: Mach-O may prefix symbols with \"_\" depending on the linkage "
                    "and this output does not take that into account. Some post-processing may be "
                    "required before passing to the linker via -order_file.\n");
}

int pgk_function_order_write(const struct pgk_function_order *order, const char *path,
                             struct pgk_err *err)
{
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    write_head(order, out);
    for (size_t i = 0; i < order->refs.n; i++) {
        size_t file_len;
        const char *name = pgk_function_order_at(order, i, &file_len);
        if (file_len) {
            pgk_sink_bytes(out, "# ", 2);
            pgk_sink_bytes(out, name, file_len);
            pgk_sink_u8(out, '\n');
            name += file_len + 1;
        }
        pgk_sink_bytes(out, name, strlen(name));
        pgk_sink_u8(out, '\n');
    }
    return pgk_sink_commit(&out, err);
}

void pgk_function_order_close(struct pgk_function_order **order)
{
    if (*order)
        pgk_vec_free(&(*order)->refs);
    pgk_mem_free(*order);
    *order = NULL;
}
