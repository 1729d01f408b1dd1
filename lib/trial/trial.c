/* Turns of two builds, and what follows from them. */
#include "trial_model.h"

#include "fail.h"
#include "median_interval.h"
#include "opts.h"

#include <math.h>
#include <stdlib.h>

static bool keep(char **to, const char *text)
{
    *to = text ? pgk_mem_strdup(text) : NULL;
    return *to || !text;
}

int pgk_trial_new(struct pgk_trial **trial, const struct pgk_trial_opts *opts, struct pgk_err *err)
{
    struct pgk_trial_opts o;
    *trial = NULL;
    PGK_TRY(PGK_OPTS_TAKE(&o, opts, err));
    if (!(o.error >= 0 && o.error < 1) || !(o.matters >= 0 && o.matters < 100))
        return pgk_fail(err, PGK_E_ARG, .field = "error, matters",
                        .expected = "a chance, and a percentage");
    struct pgk_trial *t = pgk_mem_zalloc(1, sizeof *t);
    if (!t)
        return pgk_fail_nomem(err);
    t->error = o.error > 0 ? o.error : 0.05;
    t->matters = o.matters > 0 ? o.matters : 1;
    t->bytes = o.bytes;
    bool all = keep(&t->build, o.build);
    all &= keep(&t->run, o.run);
    all &= keep(&t->measured, o.measured);
    all &= keep(&t->compiler, o.compiler);
    all &= keep(&t->profile, o.profile);
    *trial = t;
    if (all)
        return 0;
    pgk_trial_close(trial);
    return pgk_fail_nomem(err);
}

void pgk_trial_close(struct pgk_trial **trial)
{
    struct pgk_trial *t = *trial;
    if (!t)
        return;
    for (size_t i = 0; i < t->rows.n; i++) {
        struct pgk_trial_row *row = &t->rows.v[i];
        pgk_mem_free(row->name);
        pgk_mem_free(row->why);
        pgk_mem_free(row->advice);
        pgk_mem_free(row->gains);
        pgk_vec_free(&row->turns);
    }
    pgk_vec_free(&t->rows);
    pgk_mem_free(t->build);
    pgk_mem_free(t->run);
    pgk_mem_free(t->measured);
    pgk_mem_free(t->compiler);
    pgk_mem_free(t->profile);
    pgk_mem_free(t);
    *trial = NULL;
}

int pgk_trial_begin(struct pgk_trial *t, const char *name, uint64_t bytes, struct pgk_err *err)
{
    struct pgk_trial_row row = {.beyond = SIZE_MAX, .bytes = {t->bytes, bytes}};
    for (size_t i = 0; i < t->rows.n; i++)
        if (t->rows.v[i].kept)
            row.bytes[0] = t->rows.v[i].bytes[1];
    if (!keep(&row.name, name) || !pgk_vec_push(&t->rows, row)) {
        pgk_mem_free(row.name);
        return pgk_fail_nomem(err);
    }
    return 0;
}

static int no_row(struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_ARG, .expected = "a row, which pgk_trial_begin makes");
}

int pgk_trial_add(struct pgk_trial *t, const struct pgk_trial_turn *given, struct pgk_err *err)
{
    struct pgk_trial_turn turn;
    PGK_TRY(PGK_OPTS_TAKE(&turn, given, err));
    if (!t->rows.n)
        return no_row(err);
    for (int i = 0; i < 2; i++)
        if (!(turn.seconds[i] > 0 && isfinite(turn.seconds[i])))
            return pgk_fail(err, PGK_E_ARG, .field = "seconds", .expected = "times above 0");
    struct pgk_trial_row *row = &t->rows.v[t->rows.n - 1];
    if (!pgk_vec_reserve(&row->turns, 1))
        return pgk_fail_nomem(err);
    double *more = pgk_mem_resize(row->gains, row->turns.cap, sizeof *more);
    if (!more)
        return pgk_fail_nomem(err);
    row->gains = more;
    const double gain = 100 * (turn.seconds[0] / turn.seconds[1] - 1);
    size_t at = row->turns.n;
    for (; at && row->gains[at - 1] > gain; at--)
        row->gains[at] = row->gains[at - 1];
    row->gains[at] = gain;
    row->turns.v[row->turns.n++] = turn;
    row->beyond = pgk_median_beyond(row->turns.n, t->error, row->beyond);
    return 0;
}

int pgk_trial_end(struct pgk_trial *t, bool kept, const char *why, const char *advice,
                  struct pgk_err *err)
{
    if (!t->rows.n)
        return no_row(err);
    struct pgk_trial_row *row = &t->rows.v[t->rows.n - 1];
    pgk_mem_free(row->why);
    pgk_mem_free(row->advice);
    row->kept = kept;
    const bool all = keep(&row->why, why);
    return keep(&row->advice, advice) && all ? 0 : pgk_fail_nomem(err);
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double part)
{
    const double at = part * (double)(n - 1);
    const size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (sorted[high] - sorted[low]) * (at - (double)low);
}

double pgk_trial_seconds(const struct pgk_trial_row *row, int which, double part, double *space)
{
    for (size_t i = 0; i < row->turns.n; i++)
        space[i] = row->turns.v[i].seconds[which];
    qsort(space, row->turns.n, sizeof *space, order);
    return row->turns.n ? quantile(space, row->turns.n, part) : 0;
}

static uint64_t instructions(const struct pgk_trial_row *row, int which, double *space)
{
    for (size_t i = 0; i < row->turns.n; i++) {
        if (!row->turns.v[i].instructions[which])
            return 0;
        space[i] = (double)row->turns.v[i].instructions[which];
    }
    qsort(space, row->turns.n, sizeof *space, order);
    return row->turns.n ? (uint64_t)quantile(space, row->turns.n, 0.5) : 0;
}

static enum pgk_trial_verdict verdict(double low, double high, double matters)
{
    if (low > 0)
        return PGK_TRIAL_FASTER;
    if (high < 0)
        return PGK_TRIAL_SLOWER;
    return low > -matters && high < matters ? PGK_TRIAL_SAME : PGK_TRIAL_OPEN;
}

void pgk_trial_result(const struct pgk_trial *t, size_t i, struct pgk_trial_result *result)
{
    const struct pgk_trial_row *row = &t->rows.v[i];
    const size_t n = row->turns.n;
    struct pgk_trial_result r = {.name = row->name,
                                 .kept = row->kept,
                                 .turns = n,
                                 .low = -INFINITY,
                                 .high = INFINITY,
                                 .bytes = {row->bytes[0], row->bytes[1]},
                                 .why = row->why,
                                 .advice = row->advice};
    if (n)
        r.gain = quantile(row->gains, n, 0.5);
    if (row->beyond != SIZE_MAX) {
        r.low = row->gains[row->beyond];
        r.high = row->gains[n - 1 - row->beyond];
    }
    r.verdict = verdict(r.low, r.high, t->matters);
    double *space = n ? pgk_mem_alloc(n, sizeof *space) : NULL;
    for (int which = 0; space && which < 2; which++) {
        r.seconds[which] = pgk_trial_seconds(row, which, 0.5, space);
        r.instructions[which] = instructions(row, which, space);
    }
    pgk_mem_free(space);
    PGK_RESULT_GIVE(result, &r);
}
