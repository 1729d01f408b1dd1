/* The model of gcc's counters, and writing it as .gcda. */
#include "gcov_model.h"

#include "opts.h"
#include "sink.h"

int pgk_gcov_new(struct pgk_gcov **profile, struct pgk_err *err)
{
    struct pgk_gcov *g = pgk_mem_zalloc(1, sizeof *g);
    if (!g)
        return pgk_fail_nomem(err);
    *profile = g;
    return 0;
}

void pgk_gcov_close(struct pgk_gcov **profile)
{
    struct pgk_gcov *g = *profile;
    *profile = NULL;
    if (!g)
        return;
    pgk_vec_free(&g->funcs);
    pgk_index_free(&g->by_ident);
    pgk_arena_free(&g->arena);
    pgk_mem_free(g);
}

const char *pgk_gcov_kind_name(enum pgk_gcov_kind kind)
{
    static const char *const names[] = {"arcs",           "values in an interval",
                                        "powers of two",  "frequent values",
                                        "indirect calls", "averages",
                                        "set bits",       "first calls"};
    return names[kind];
}

size_t pgk_gcov_functions(const struct pgk_gcov *g)
{
    return g->funcs.n;
}

void pgk_gcov_function(const struct pgk_gcov *g, size_t i, struct pgk_gcov_function *function)
{
    const struct pgk_gcov_func *f = &g->funcs.v[i];
    struct pgk_gcov_function result = {.ident = f->ident,
                                       .lineno_checksum = f->lineno_checksum,
                                       .cfg_checksum = f->cfg_checksum,
                                       .name = f->name ? f->name : "",
                                       .source = f->source ? f->source : "",
                                       .line = f->line};
    for (int k = 0; k < PGK_GCOV_KINDS; k++) {
        result.counts[k] = f->kind[k].v;
        result.n_counts[k] = f->kind[k].n;
    }
    PGK_RESULT_GIVE(function, &result);
}

size_t pgk_gcov_list(const struct pgk_gcov *g, size_t i, enum pgk_gcov_kind kind, size_t list,
                     struct pgk_gcov_value *values, size_t max, uint64_t *total)
{
    const struct pgk_gcov_list *l = &g->funcs.v[i].kind[kind].lists[list];
    if (max && l->n)
        memcpy(values, l->v, (l->n < max ? l->n : max) * sizeof *values);
    *total = l->total;
    return l->n;
}

uint32_t pgk_gcov_runs(const struct pgk_gcov *g)
{
    return g->runs < UINT32_MAX ? (uint32_t)g->runs : UINT32_MAX;
}

bool pgk_gcov_has_counts(const struct pgk_gcov *g)
{
    return g->has_counts;
}

/* ---- writing ---- */

enum { TAG_FUNCTION = 0x01000000, TAG_COUNTERS = 0x01a10000, FUNCTION_BYTES = 12 };
#define TAG_SUMMARY UINT32_C(0xa1000000)

static uint32_t clamp_u32(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static bool all_zero(const struct pgk_gcov_counters *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->lists ? c->lists[i].total || c->lists[i].n : c->v[i] != 0)
            return false;
    return true;
}

/* Values of a list that gcc has room for. */
static uint32_t kept(const struct pgk_gcov_list *l)
{
    return l->n < PGK_GCOV_LIST_MAX ? l->n : PGK_GCOV_LIST_MAX;
}

static size_t counters_bytes(const struct pgk_gcov_counters *c)
{
    size_t words = c->n;
    for (uint32_t i = 0; c->lists && i < c->n; i++)
        words += 1 + 2 * (size_t)kept(&c->lists[i]);
    return 8 * words;
}

static void write_list(const struct pgk_gcov_list *l, struct pgk_sink *out)
{
    pgk_sink_u64(out, l->cut || kept(l) < l->n ? 0 - l->total : l->total);
    pgk_sink_u64(out, kept(l));
    for (uint32_t i = 0; i < kept(l); i++) {
        pgk_sink_u64(out, (uint64_t)l->v[i].value);
        pgk_sink_u64(out, (uint64_t)l->v[i].count);
    }
}

/* Counters that are all zero are only their size, as a negative number. */
static void write_counters(const struct pgk_gcov_counters *c, uint32_t kind, struct pgk_sink *out)
{
    bool zero = all_zero(c);
    uint32_t size = (uint32_t)counters_bytes(c);
    pgk_sink_u32(out, TAG_COUNTERS + (kind << 17));
    pgk_sink_u32(out, zero ? 0 - size : size);
    for (uint32_t i = 0; i < c->n && !zero; i++)
        if (c->lists)
            write_list(&c->lists[i], out);
        else
            pgk_sink_u64(out, (uint64_t)c->v[i]);
}

static void write_gcda(const struct pgk_gcov *g, struct pgk_sink *out)
{
    pgk_sink_u32(out, PGK_GCDA_MAGIC);
    pgk_sink_u32(out, g->version);
    pgk_sink_u32(out, g->stamp);
    pgk_sink_u32(out, g->checksum);
    pgk_sink_u32(out, TAG_SUMMARY);
    pgk_sink_u32(out, 8);
    pgk_sink_u32(out, clamp_u32(g->runs));
    pgk_sink_u32(out, clamp_u32(g->sum_max));
    for (size_t i = 0; i < g->funcs.n; i++) {
        const struct pgk_gcov_func *f = &g->funcs.v[i];
        if (!f->counted)
            continue;
        pgk_sink_u32(out, TAG_FUNCTION);
        pgk_sink_u32(out, FUNCTION_BYTES);
        pgk_sink_u32(out, f->ident);
        pgk_sink_u32(out, f->lineno_checksum);
        pgk_sink_u32(out, f->cfg_checksum);
        for (uint32_t k = 0; k < PGK_GCOV_KINDS; k++)
            if (f->kind[k].present)
                write_counters(&f->kind[k], k, out);
    }
    pgk_sink_u32(out, 0); /* the end */
}

int pgk_gcov_write(const struct pgk_gcov *g, const char *path, struct pgk_err *err)
{
    struct pgk_sink *out;
    if (!g->has_counts)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .format = "gcc counters",
                        .found = "no counts", .hint = "give .gcda files, which the program writes");
    PGK_TRY(pgk_sink_open(&out, path, err));
    write_gcda(g, out);
    return pgk_sink_commit(&out, err);
}
