/* A build, from its files and the recordings of it. */
#include "built_code.h"

#include "functions.h"
#include "gen_ticks.h"
#include "opts.h"
#include "saturate.h"

#include <stdlib.h>

struct reader {
    struct pgk_built *b;
    const struct pgk_built_opts *opts;
    struct pgk_binaries *binaries;
    struct pgk_gen *gen;
    struct pgk_sample *profile;
    struct pgk_built_ticks *ticks; /* by binary */
    PGK_VEC(uint64_t) pages;       /* ticks on each page of code that has some */
    uint64_t last_page;
    uint32_t last_binary;
    struct pgk_err *err;
};

struct pgk_built_function *pgk_built_function(struct pgk_built *b, const char *name, size_t len)
{
    const uint32_t id = pgk_intern(&b->names, name, len);
    if (id == PGK_INDEX_NONE)
        return NULL;
    while (b->functions.n <= id)
        if (!pgk_vec_push(&b->functions, (struct pgk_built_function){.place = PGK_BUILT_NOWHERE}))
            return NULL;
    return &b->functions.v[id];
}

/* ---- ticks ---- */

static bool add_to_page(struct reader *r, const struct pgk_gen_ticked *t)
{
    enum { PAGE_BITS = 12 };
    const uint64_t page = t->addr >> PAGE_BITS;
    const bool is_same = r->pages.n && page == r->last_page && t->binary == r->last_binary;
    if (!is_same && !pgk_vec_push(&r->pages, 0))
        return false;
    r->pages.v[r->pages.n - 1] += t->count;
    r->last_page = page;
    r->last_binary = t->binary;
    return true;
}

static bool add_other(struct reader *r, const struct pgk_gen_ticked *t)
{
    const uint32_t file = pgk_intern_cstr(&r->b->names, t->file);
    return file != PGK_INDEX_NONE &&
           pgk_vec_push(&r->b->others, (struct pgk_built_other){file, t->count});
}

static int note_tick(void *ctx, const struct pgk_gen_ticked *t)
{
    struct reader *r = ctx;
    r->b->ticks = pgk_add_saturated(r->b->ticks, t->count);
    bool ok = t->is_known
                  ? pgk_vec_push(&r->ticks[t->binary].addrs, t->addr) &&
                        pgk_vec_push(&r->ticks[t->binary].counts, t->count) && add_to_page(r, t)
                  : add_other(r, t);
    return ok ? 0 : pgk_fail_nomem(r->err);
}

static int falling(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void count_pages(struct reader *r)
{
    uint64_t all = 0, so_far = 0;
    if (r->pages.n)
        qsort(r->pages.v, r->pages.n, sizeof *r->pages.v, falling);
    for (size_t i = 0; i < r->pages.n; i++)
        all += r->pages.v[i];
    for (size_t i = 0; i < r->pages.n && (double)so_far < 0.9 * (double)all; i++) {
        so_far += r->pages.v[i];
        r->b->pages++;
    }
}

static int read_ticks(struct reader *r)
{
    const size_t n = pgk_binaries_count(r->binaries);
    r->ticks = pgk_mem_zalloc(n, sizeof *r->ticks);
    if (!r->ticks)
        return pgk_fail_nomem(r->err);
    PGK_TRY(pgk_gen_each_tick(r->gen, note_tick, r));
    count_pages(r);
    for (uint32_t i = 0; i < n; i++)
        PGK_TRY(pgk_built_add_ticks(r->b, r->binaries, i, &r->ticks[i], r->opts->threads, r->err));
    return 0;
}

/* ---- inlined functions ---- */

static int by_callee(const void *a, const void *b)
{
    const struct pgk_built_inlined *x = a, *y = b;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->caller < y->caller ? -1 : x->caller > y->caller;
}

void pgk_built_sort_inlined(struct pgk_built *b)
{
    size_t kept = 0;
    if (b->inlined.n)
        qsort(b->inlined.v, b->inlined.n, sizeof *b->inlined.v, by_callee);
    for (size_t i = 0; i < b->inlined.n; i++) {
        const struct pgk_built_inlined *one = &b->inlined.v[i];
        struct pgk_built_inlined *last = kept ? &b->inlined.v[kept - 1] : NULL;
        if (last && !by_callee(last, one)) {
            last->places += one->places;
            last->samples = pgk_add_saturated(last->samples, one->samples);
        } else {
            b->inlined.v[kept++] = *one;
        }
    }
    b->inlined.n = kept;
}

static uint64_t lines_of(const struct pgk_sample *p, uint32_t node)
{
    struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
    uint64_t sum = 0;
    while (pgk_sample_next_record(p, &r))
        if (r.kind == PGK_SAMPLE_LINE)
            sum = pgk_add_saturated(sum, r.count);
    return sum;
}

static bool name_of(struct reader *r, uint32_t node, uint32_t *name)
{
    struct pgk_sample_function f = {.struct_size = sizeof f};
    if (!pgk_sample_get(r->profile, node, &f))
        return false;
    *name = pgk_intern(&r->b->names, f.name, pgk_symbol_length(f.name));
    return *name != PGK_INDEX_NONE;
}

static bool note_inlined(struct reader *r, uint32_t node, uint32_t caller)
{
    struct pgk_built_inlined one = {
        .caller = caller, .places = 1, .samples = lines_of(r->profile, node)};
    return name_of(r, node, &one.callee) && (!one.samples || pgk_vec_push(&r->b->inlined, one));
}

/* All that is inlined in a function, at any depth, which a stack of nodes walks through. */
static bool walk_inlined(struct reader *r, uint32_t top)
{
    PGK_VEC(uint32_t) open = {0};
    bool ok = pgk_vec_push(&open, top);
    while (ok && open.n) {
        const uint32_t node = open.v[--open.n];
        uint32_t caller;
        ok = name_of(r, node, &caller);
        for (uint32_t i = pgk_sample_first_inlinee(r->profile, node); i && ok;
             i = pgk_sample_next_inlinee(r->profile, i))
            ok = note_inlined(r, i, caller) && pgk_vec_push(&open, i);
    }
    pgk_vec_free(&open);
    return ok;
}

static int read_inlined(struct reader *r)
{
    PGK_TRY(pgk_gen_profile(r->gen, &r->profile, r->err));
    for (size_t i = 0; i < pgk_sample_functions(r->profile); i++)
        if (!walk_inlined(r, pgk_sample_function_at(r->profile, i)))
            return pgk_fail_nomem(r->err);
    pgk_built_sort_inlined(r->b);
    return 0;
}

/* ---- all of it ---- */

static int open_files(struct reader *r)
{
    const struct pgk_binaries_opts how = {
        .struct_size = sizeof how, .threads = r->opts->threads, .symbols_suffice = true};
    const struct pgk_gen_opts gen = {.struct_size = sizeof gen,
                                     .mode = PGK_GEN_LINES,
                                     .threads = r->opts->threads,
                                     .no_vtables = true,
                                     .no_recovered_types = true,
                                     .skip_other_builds = true};
    PGK_TRY(pgk_binaries_new(&r->binaries, &how, r->err));
    for (size_t i = 0; i < r->opts->n_binaries; i++)
        PGK_TRY(pgk_binaries_add(r->binaries, r->opts->binaries[i], r->err));
    PGK_TRY(pgk_gen_new(&r->gen, r->binaries, &gen, r->err));
    PGK_TRY(pgk_gen_want_ticks(r->gen, r->err));
    for (size_t i = 0; i < r->opts->n_recordings; i++)
        PGK_TRY(pgk_gen_add(r->gen, r->opts->recordings[i], r->err));
    return 0;
}

static int read_all(struct reader *r)
{
    if (!pgk_built_function(r->b, "", 0)) /* [0] */
        return pgk_fail_nomem(r->err);
    PGK_TRY(open_files(r));
    for (uint32_t i = 0; i < pgk_binaries_count(r->binaries); i++)
        PGK_TRY(pgk_built_add_code(r->b, r->binaries, i, r->opts->threads, r->err));
    PGK_TRY(read_inlined(r));
    PGK_TRY(read_ticks(r));
    /* Names of callees and files are functions without code. */
    const char *last = pgk_intern_str(&r->b->names, (uint32_t)r->b->names.strs.n - 1);
    return pgk_built_function(r->b, last, strlen(last)) ? 0 : pgk_fail_nomem(r->err);
}

int pgk_built_read(struct pgk_built **build, const struct pgk_built_opts *given,
                   struct pgk_err *err)
{
    struct pgk_built_opts opts;
    struct reader r = {.opts = &opts, .err = err};
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    if (!opts.n_binaries || !opts.n_recordings)
        return pgk_fail(err, PGK_E_ARG, .field = "binaries, recordings", .found = "none",
                        .expected = "the files of a build, and recordings of it");
    r.b = pgk_mem_zalloc(1, sizeof *r.b);
    int status = r.b ? read_all(&r) : pgk_fail_nomem(err);
    for (size_t i = 0; r.ticks && i < pgk_binaries_count(r.binaries); i++) {
        pgk_vec_free(&r.ticks[i].addrs);
        pgk_vec_free(&r.ticks[i].counts);
    }
    pgk_mem_free(r.ticks);
    pgk_vec_free(&r.pages);
    pgk_sample_close(&r.profile);
    pgk_gen_close(&r.gen);
    pgk_binaries_close(&r.binaries);
    if (status)
        pgk_built_close(&r.b);
    else
        *build = r.b;
    return status;
}

void pgk_built_close(struct pgk_built **build)
{
    struct pgk_built *b = *build;
    if (!b)
        return;
    pgk_intern_free(&b->names);
    pgk_vec_free(&b->functions);
    pgk_vec_free(&b->inlined);
    pgk_vec_free(&b->others);
    pgk_mem_free(b);
    *build = NULL;
}
