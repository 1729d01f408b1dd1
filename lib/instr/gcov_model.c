/* The model of gcc's counters, and writing it as .gcda. */
#include "gcov_model.h"

#include "gcc_release.h"
#include "gcov.def"
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

/* ---- kinds and releases: records/gcov.def ---- */

static const struct {
    const char *text;
    unsigned since;
    enum pgk_gcov_merging merging;
} kinds[PGK_GCOV_KINDS] = {
#define PGK_GCOV_KIND(name, first, how, words)                                         \
    [PGK_GCOV_##name] = {.text = (words), .since = (first), .merging = PGK_GCOV_##how},
#include "gcov.def"
#undef PGK_GCOV_KIND
};

static const unsigned releases[] = {
#define PGK_GCOV_RELEASE(major) major,
#include "gcov.def"
#undef PGK_GCOV_RELEASE
};

const char *pgk_gcov_kind_name(enum pgk_gcov_kind kind)
{
    return kinds[kind].text;
}

enum pgk_gcov_merging pgk_gcov_merging(enum pgk_gcov_kind kind)
{
    return kinds[kind].merging;
}

static bool is_release(unsigned major)
{
    for (size_t i = 0; i < PGK_COUNTOF(releases); i++)
        if (releases[i] == major)
            return true;
    return false;
}

bool pgk_gcov_is_version(uint32_t version)
{
    uint32_t major = pgk_gcov_major(version), minor = pgk_gcov_minor(version);
    return is_release(major) && minor <= 9 &&
           version >> 16 == PGK_GCOV_VERSION(major, minor) >> 16;
}

void pgk_gcov_release(const struct pgk_gcov *g, unsigned *major, unsigned *minor)
{
    *major = g->version ? pgk_gcov_major(g->version) : 0;
    *minor = g->version ? pgk_gcov_minor(g->version) : 0;
}

static size_t drop_newer_kinds(struct pgk_gcov *g, unsigned major)
{
    size_t dropped = 0;
    for (size_t i = 0; i < g->funcs.n; i++)
        for (size_t k = 0; k < PGK_GCOV_KINDS; k++) {
            struct pgk_gcov_counters *c = &g->funcs.v[i].kind[k];
            if (kinds[k].since <= major || !c->present)
                continue;
            dropped += c->n;
            *c = (struct pgk_gcov_counters){0};
        }
    return dropped;
}

int pgk_gcov_set_release(struct pgk_gcov *g, const char *release, size_t *dropped,
                         struct pgk_err *err)
{
    unsigned major;
    int minor;
    *dropped = 0;
    if (!pgk_gcc_release(release, &major, &minor) || !is_release(major))
        return pgk_fail(err, PGK_E_ARG, .field = "release", .found = release,
                        .expected = PGK_F("gcc%d to gcc%d with a minor number, as gcc16.2",
                                          PGK_GCOV_OLDEST, PGK_GCOV_NEWEST),
                        .hint = "gcc -dumpfullversion prints the one of a compiler");
    if (minor == PGK_GCC_ANY_MINOR && major == pgk_gcov_major(g->version))
        return 0;
    if (minor == PGK_GCC_ANY_MINOR)
        return pgk_fail(err, PGK_E_ARG, .field = "release", .found = release,
                        .expected = PGK_F("a minor number, too, as gcc%u.2", major),
                        .hint = "gcc ignores counters of any release but its own, which gcc "
                                "-dumpfullversion prints");
    g->version = PGK_GCOV_VERSION(major, minor);
    *dropped = drop_newer_kinds(g, major);
    return 0;
}

/* ---- scaling ---- */

int64_t pgk_gcov_largest(const struct pgk_gcov *g)
{
    int64_t largest = 0;
    for (size_t i = 0; i < g->funcs.n; i++) {
        const struct pgk_gcov_counters *arcs = &g->funcs.v[i].kind[PGK_GCOV_ARCS];
        for (uint32_t c = 0; arcs->v && c < arcs->n; c++)
            largest = arcs->v[c] > largest ? arcs->v[c] : largest;
    }
    return largest;
}

/* A product of a count and a factor. */
__extension__ typedef __int128 wide;

struct ratio {
    uint64_t times, by;
    bool nearest;
};

static int64_t scaled(int64_t count, const struct ratio *r)
{
    wide size = count < 0 ? -(wide)count : count;
    size = (size * (wide)r->times + (r->nearest ? r->by / 2 : 0)) / r->by;
    if (size > INT64_MAX)
        size = INT64_MAX;
    return count < 0 ? -(int64_t)size : (int64_t)size;
}

static void scale_counters(struct pgk_gcov_counters *c, const struct ratio *r)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->lists) {
            c->v[i] = scaled(c->v[i], r);
            continue;
        }
        struct pgk_gcov_list *l = &c->lists[i];
        l->total = (uint64_t)scaled((int64_t)l->total, r);
        for (uint32_t k = 0; k < l->n; k++)
            l->v[k].count = scaled(l->v[k].count, r);
    }
}

void pgk_gcov_scale(struct pgk_gcov *g, uint64_t times, uint64_t by, bool nearest)
{
    const struct ratio r = {times, by, nearest};
    for (size_t i = 0; i < g->funcs.n; i++)
        for (int k = 0; k < PGK_GCOV_KINDS; k++)
            if (kinds[k].merging == PGK_GCOV_ADD || kinds[k].merging == PGK_GCOV_BY_VALUE)
                scale_counters(&g->funcs.v[i].kind[k], &r);
    g->sum_max = (uint64_t)scaled((int64_t)g->sum_max, &r);
}

/* ---- walking ---- */

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

/* The most values of a list that gcc can hold. */
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
