/* Sums over a match of functions. */
#include "function_totals.h"

#include "hash.h"
#include "opts.h"
#include "percent.h"
#include "saturate.h"

#include <assert.h>
#include <stdlib.h>

int pgk_function_match_new(struct pgk_function_match **match, struct pgk_err *err)
{
    struct pgk_function_match *m = pgk_mem_zalloc(1, sizeof *m);
    if (!m)
        return pgk_fail_nomem(err);
    *match = m;
    return 0;
}

void pgk_function_match_close(struct pgk_function_match **match)
{
    struct pgk_function_match *m = *match;
    if (!m)
        return;
    *match = NULL;
    pgk_intern_free(&m->strings);
    pgk_vec_free(&m->changed);
    pgk_index_free(&m->index);
    pgk_mem_free(m);
}

int pgk_function_match_check(size_t functions, bool found, struct pgk_err *err)
{
    if (found)
        return 0;
    return pgk_fail(err, PGK_E_MISMATCH, .field = "functions",
                    .found = PGK_F("%zu functions, none of which the binary has", functions),
                    .expected = "a profile of this program, of whatever build",
                    .hint = "give the program that was profiled, as it is built now");
}

/* ---- sums ---- */

void pgk_function_match_count(struct pgk_function_match *m, enum pgk_match_level level,
                              uint64_t samples, struct pgk_level_samples *of_function)
{
    const enum pgk_match_level both[] = {level, PGK_MATCH_LEVELS};
    for (size_t i = 0; i < PGK_COUNTOF(both); i++) {
        struct pgk_function_totals *t = &m->totals[both[i]];
        t->places++;
        t->samples = pgk_add_saturated(t->samples, samples);
    }
    of_function->of[level] = pgk_add_saturated(of_function->of[level], samples);
    of_function->any[level] = true;
}

void pgk_function_match_close_function(struct pgk_function_match *m,
                                       const struct pgk_level_samples *of_function)
{
    unsigned best = PGK_MATCH_LEVELS;
    for (unsigned l = 0; l < PGK_MATCH_LEVELS; l++)
        if (of_function->any[l] && (best == PGK_MATCH_LEVELS ||
                                    of_function->of[l] > of_function->of[best]))
            best = l;
    if (best == PGK_MATCH_LEVELS)
        return;
    m->totals[best].functions++;
    m->totals[PGK_MATCH_LEVELS].functions++;
}

void pgk_function_totals(const struct pgk_function_match *match, enum pgk_match_level level,
                         struct pgk_function_totals *totals)
{
    assert((unsigned)level <= PGK_MATCH_LEVELS);
    PGK_RESULT_GIVE(totals, &match->totals[level]);
}

double pgk_function_match_percent(const struct pgk_function_match *match)
{
    const struct pgk_function_totals *all = &match->totals[PGK_MATCH_LEVELS];
    uint64_t samples = 0, places = 0;
    for (unsigned l = 0; l <= PGK_MATCH_FOUND; l++) {
        samples = pgk_add_saturated(samples, match->totals[l].samples);
        places += match->totals[l].places;
    }
    return all->samples ? pgk_percent((double)samples, all->samples)
                        : pgk_percent((double)places, all->places);
}

/* ---- what has changed ---- */

static bool same_change(const struct pgk_changed *a, const struct pgk_changed *b)
{
    return a->guid == b->guid && a->callee_guid == b->callee_guid && a->level == b->level &&
           (!a->callee_guid || a->line == b->line);
}

bool pgk_function_match_note(struct pgk_function_match *m, const struct pgk_changed *one)
{
    uint64_t hash = pgk_hash_pair(pgk_hash_pair(one->guid, one->callee_guid),
                                  one->callee_guid ? one->line : UINT64_MAX - one->level);
    PGK_INDEX_FOR (&m->index, hash, i) {
        struct pgk_changed *c = &m->changed.v[i];
        if (!same_change(c, one))
            continue;
        uint64_t samples = pgk_add_saturated(c->samples, one->samples), places = c->places + 1;
        if (one->samples > c->most) {
            *c = *one;
            c->most = one->samples;
        }
        c->samples = samples;
        c->places = places;
        return true;
    }
    struct pgk_changed c = *one;
    c.most = one->samples;
    c.places = 1;
    return pgk_vec_push(&m->changed, c) &&
           pgk_index_add(&m->index, hash, (uint32_t)m->changed.n - 1);
}

static int by_weight(const void *a, const void *b)
{
    const struct pgk_changed *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    if (x->places != y->places)
        return x->places > y->places ? -1 : 1;
    if (x->guid != y->guid)
        return x->guid < y->guid ? -1 : 1;
    if (x->callee_guid != y->callee_guid)
        return x->callee_guid < y->callee_guid ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

void pgk_function_match_finish(struct pgk_function_match *m)
{
    if (m->changed.n)
        qsort(m->changed.v, m->changed.n, sizeof *m->changed.v, by_weight);
}

size_t pgk_function_changes(const struct pgk_function_match *match)
{
    return match->changed.n;
}

void pgk_function_change(const struct pgk_function_match *match, size_t position,
                         struct pgk_function_change *change)
{
    assert(position < match->changed.n);
    const struct pgk_changed *c = &match->changed.v[position];
    struct pgk_function_change r = {
        .level = (enum pgk_match_level)c->level,
        .samples = c->samples,
        .places = c->places,
        .guid = c->guid,
        .callee_guid = c->callee_guid,
        .function = pgk_intern_str(&match->strings, c->function),
        .callee = c->callee_guid ? pgk_intern_str(&match->strings, c->callee) : NULL,
        .file = pgk_intern_str(&match->strings, c->file),
        .checksum = c->checksum,
        .now_checksum = c->now_checksum,
        .decl_line = c->decl_line,
        .line = c->line,
        .discriminator = c->discriminator,
        .now_line = c->now_line,
        .has_now = c->has_now,
        .line_zero = c->line_zero,
        .by_checksum = c->by_checksum,
        .inlined = c->inlined,
        .now_function = pgk_intern_str(&match->strings, c->now_function),
    };
    PGK_RESULT_GIVE(change, &r);
}
