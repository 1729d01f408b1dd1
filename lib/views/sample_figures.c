/* The coverage of a program by a sample profile, and its density. */
#include "sample_figures.h"

#include "binary_set.h"
#include "sample_lookup.h"
#include "saturate.h"

#include <stdlib.h>
#include <string.h>

/* ---- density ---- */

struct dense {
    double density;
    uint64_t samples;
};

static void add_lines(const struct pgk_sample *p, uint32_t node, uint64_t *lines, uint64_t *samples)
{
    const struct pgk_sample_node *n = &p->nodes.v[node];
    for (uint32_t i = 0; i < n->recs.n; i++) {
        if (n->recs.v[i].what != PGK_REC_BODY)
            continue;
        ++*lines;
        *samples = pgk_add_saturated(*samples, n->recs.v[i].count);
    }
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        add_lines(p, c, lines, samples);
}

static int by_density(const void *pa, const void *pb)
{
    const struct dense *a = pa, *b = pb;
    if (a->density != b->density)
        return a->density > b->density ? -1 : 1;
    return a->samples < b->samples ? -1 : a->samples > b->samples;
}

static int density_of(const struct pgk_sample *p, double *density, struct pgk_err *err)
{
    struct dense *list = pgk_mem_alloc(p->by_heat.n + 1, sizeof *list);
    size_t n = 0;
    uint64_t all = 0, reached = 0;
    if (!list)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->by_heat.n; i++) {
        uint64_t lines = 0, samples = 0;
        add_lines(p, p->by_heat.v[i], &lines, &samples);
        if (!lines)
            continue;
        list[n++] = (struct dense){(double)samples / (double)lines, samples};
        all = pgk_add_saturated(all, samples);
    }
    qsort(list, n, sizeof *list, by_density);
    *density = 0;
    for (size_t i = 0; i < n && (double)reached < (double)all * PGK_DENSITY_PPM / 1e6; i++) {
        reached = pgk_add_saturated(reached, list[i].samples);
        *density = list[i].density;
    }
    pgk_mem_free(list);
    return 0;
}

/* Contexts are shown as what they are to a compiler: inlined into their callers. */
int pgk_sample_density(const struct pgk_sample *p, double *density, struct pgk_err *err)
{
    struct pgk_sample *nested;
    if (!p->kind.contexts)
        return density_of(p, density, err);
    PGK_TRY(pgk_sample_new(&nested, err));
    int status = pgk_sample_merge(nested, p, 1, err);
    if (!status)
        status = pgk_sample_relayout(&nested, PGK_SAMPLE_NESTED, err);
    if (!status)
        status = pgk_sample_finish(nested, err);
    if (!status)
        status = density_of(nested, density, err);
    pgk_sample_close(&nested);
    return status;
}

/* ---- coverage ---- */

enum { HAS_PROFILE = 1, IS_INLINED = 2, IN_BINARY = 4 };

/* By name: where the profile has the function. */
static void mark(const struct pgk_sample *p, uint8_t *marks)
{
    for (size_t id = 1; id < p->nodes.n; id++) {
        const struct pgk_sample_node *n = &p->nodes.v[id];
        if (pgk_sample_is_top(p, (uint32_t)id))
            marks[n->name] |= HAS_PROFILE;
        else if (!(n->flags & PGK_NODE_LOST))
            marks[n->name] |= IS_INLINED;
    }
}

/* The profile's node for the function of a symbol; its name may lack compiler suffixes. */
static uint8_t found(const struct pgk_sample *p, uint8_t *marks, const char *name)
{
    size_t len = strlen(name);
    uint32_t id = pgk_sample_names_find(&p->names, name, len);
    if (!id)
        id = pgk_sample_names_find(&p->names, name, pgk_sample_drop_suffixes(name, len));
    if (!id)
        return 0;
    marks[id] |= IN_BINARY;
    return marks[id];
}

/* The cold part of a function that the compiler split is no function. */
static bool is_part(const char *name)
{
    size_t len = strlen(name);
    return len > 5 && !strcmp(name + len - 5, ".cold");
}

static int cover_binary(const struct pgk_sample *p, uint8_t *marks, const struct pgk_elf *elf,
                        struct pgk_sample_coverage *c, struct pgk_err *err)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, err));
    for (size_t i = 0; i < n;) { /* one turn is one address, which may have several names */
        uint8_t has = 0;
        uint64_t size = 0, addr = syms[i].addr;
        for (; i < n && syms[i].addr == addr; i++) {
            if (!syms[i].function || !syms[i].size || is_part(syms[i].name))
                continue;
            has |= found(p, marks, syms[i].name);
            if (syms[i].size > size)
                size = syms[i].size;
        }
        c->functions += size != 0;
        c->bytes += size;
        if (has & HAS_PROFILE) {
            c->profiled++;
            c->profiled_bytes += size;
        } else if (has & IS_INLINED) {
            c->inlined++;
            c->inlined_bytes += size;
        }
    }
    return 0;
}

int pgk_sample_cover(const struct pgk_sample *p, struct pgk_binaries *binaries,
                     struct pgk_sample_coverage *coverage, struct pgk_err *err)
{
    uint8_t *marks = pgk_mem_zalloc(p->names.list.n + 1, 1);
    int status = marks ? 0 : pgk_fail_nomem(err);
    *coverage = (struct pgk_sample_coverage){0};
    if (marks)
        mark(p, marks);
    for (uint32_t pos = 0; pos < pgk_binaries_count(binaries) && !status; pos++)
        status = cover_binary(p, marks, pgk_binaries_elf(binaries, pos), coverage, err);
    for (size_t i = 0; i < p->by_heat.n && !status; i++) {
        const struct pgk_sample_node *n = &p->nodes.v[p->by_heat.v[i]];
        if (marks[n->name] & IN_BINARY)
            continue;
        coverage->unknown++;
        coverage->unknown_samples = pgk_add_saturated(
            coverage->unknown_samples, pgk_sample_line_total(p, p->by_heat.v[i]));
    }
    pgk_mem_free(marks);
    return status;
}
