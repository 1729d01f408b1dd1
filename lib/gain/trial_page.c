/* The page of a trial: its rows, and what they come from. docs/report.md describes the keys. */
#include "gain_rows.h"

#include "fail.h"
#include "opts.h"
#include "page_pack.h"
#include "page_titles.h"
#include "pgokit/human.h"
#include "saturate.h"
#include "shown_names.h"
#include "sink.h"
#include "trial_model.h"

#include <math.h>

enum { DEFAULT_FUNCTIONS = 3000, MAX_CALLS = 400 };

struct page {
    const struct pgk_trial *trial;
    const struct pgk_built *builds[2];
    struct pgk_trial_page_opts opts;
    struct pgk_gain_rows rows;
    size_t n_shown; /* functions */
    struct pgk_shown_names names;
    struct pgk_json *j;
};

/* ---- times ---- */

/* Rows are measured at different times, in which the machine need not be alike; the turns of one
 * row are. So what was kept is as much faster than the plain build as all kept rows say. */
static void find_seconds(const struct pgk_trial *t, double seconds[2])
{
    seconds[0] = seconds[1] = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        struct pgk_trial_result r = {.struct_size = sizeof r};
        pgk_trial_result(t, i, &r);
        if (!r.turns)
            continue;
        if (!(seconds[0] > 0))
            seconds[0] = seconds[1] = r.seconds[0];
        if (r.kept)
            seconds[1] /= 1 + r.gain / 100;
    }
}

static void put_times(struct page *p)
{
    double seconds[2];
    find_seconds(p->trial, seconds);
    pgk_json_array(p->j, "seconds");
    for (int side = 0; side < 2; side++)
        pgk_json_digits(p->j, NULL, seconds[side] > 0 ? seconds[side] : NAN, 9);
    pgk_json_end_array(p->j);
    static const char *const keys[] = {"before", "after"};
    for (int side = 0; side < 2; side++) {
        const struct pgk_built *b = p->builds[side];
        if (!b)
            continue;
        pgk_json_object(p->j, keys[side]);
        pgk_json_number(p->j, "ticks", b->ticks);
        pgk_json_number(p->j, "pages", b->pages);
        pgk_json_end_object(p->j);
    }
}

/* ---- functions ---- */

static void put_numbers(struct page *p, const char *key,
                        uint64_t (*value)(const struct pgk_gain_row *row))
{
    pgk_json_array(p->j, key);
    for (size_t i = 0; i < p->n_shown; i++)
        pgk_json_number(p->j, NULL, value(&p->rows.functions.v[i]));
    pgk_json_end_array(p->j);
}

#define COLUMN(name, side, field)                        \
    static uint64_t name(const struct pgk_gain_row *row) \
    {                                                    \
        return row->of[side] ? row->of[side]->field : 0; \
    }
COLUMN(ticks_before, 0, ticks)
COLUMN(ticks_after, 1, ticks)
COLUMN(away_before, 0, ticks_away)
COLUMN(away_after, 1, ticks_away)
COLUMN(bytes_before, 0, bytes)
COLUMN(bytes_after, 1, bytes)
COLUMN(cold_before, 0, cold_bytes)
COLUMN(cold_after, 1, cold_bytes)
COLUMN(part_before, 0, part_bytes)
COLUMN(part_after, 1, part_bytes)

/* Counted from 1; 0: it has no place. */
static uint64_t place_of(const struct pgk_built_function *f)
{
    return f && f->place != PGK_BUILT_NOWHERE ? f->place + 1 : 0;
}

static uint64_t place_before(const struct pgk_gain_row *row)
{
    return place_of(row->of[0]);
}

static uint64_t place_after(const struct pgk_gain_row *row)
{
    return place_of(row->of[1]);
}

static uint64_t moved(const struct pgk_gain_row *row)
{
    return row->moved;
}

static void put_name(struct page *p, const char *name)
{
    pgk_json_text(p->j, NULL, *name ? pgk_shown_name(&p->names, name, strlen(name)) : "");
}

static void put_functions(struct page *p)
{
    static const struct {
        const char *key;
        uint64_t (*value)(const struct pgk_gain_row *row);
    } columns[] = {{"ticks_before", ticks_before},
                   {"ticks", ticks_after},
                   {"away_before", away_before},
                   {"away", away_after},
                   {"bytes_before", bytes_before},
                   {"bytes", bytes_after},
                   {"cold_before", cold_before},
                   {"cold", cold_after},
                   {"part_before", part_before},
                   {"part", part_after},
                   {"place_before", place_before},
                   {"place", place_after},
                   {"moved", moved}};
    pgk_json_object(p->j, "functions");
    pgk_json_array(p->j, "name");
    for (size_t i = 0; i < p->n_shown; i++)
        put_name(p, p->rows.functions.v[i].name);
    pgk_json_end_array(p->j);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        put_numbers(p, columns[i].key, columns[i].value);
    pgk_json_end_object(p->j);
}

/* What is not shown one by one. */
static void put_rest(struct page *p)
{
    uint64_t ticks[2] = {0}, bytes[2] = {0};
    for (size_t i = p->n_shown; i < p->rows.functions.n; i++)
        for (int side = 0; side < 2; side++) {
            const struct pgk_built_function *f = p->rows.functions.v[i].of[side];
            ticks[side] = pgk_add_saturated(ticks[side], f ? f->ticks : 0);
            bytes[side] = pgk_add_saturated(bytes[side], f ? f->bytes : 0);
        }
    pgk_json_object(p->j, "rest");
    pgk_json_number(p->j, "functions", p->rows.functions.n - p->n_shown);
    pgk_json_number(p->j, "ticks_before", ticks[0]);
    pgk_json_number(p->j, "ticks", ticks[1]);
    pgk_json_number(p->j, "bytes_before", bytes[0]);
    pgk_json_number(p->j, "bytes", bytes[1]);
    pgk_json_number(p->j, "calls", p->rows.calls.n > MAX_CALLS ? p->rows.calls.n - MAX_CALLS : 0);
    pgk_json_end_object(p->j);
}

/* ---- inlined calls, other files ---- */

static void put_calls(struct page *p)
{
    const size_t n = p->rows.calls.n < MAX_CALLS ? p->rows.calls.n : MAX_CALLS;
    const struct pgk_gain_call *calls = p->rows.calls.v;
    pgk_json_object(p->j, "inlined");
    pgk_json_array(p->j, "callee");
    for (size_t i = 0; i < n; i++)
        put_name(p, calls[i].callee);
    pgk_json_end_array(p->j);
    pgk_json_array(p->j, "caller");
    for (size_t i = 0; i < n; i++)
        put_name(p, calls[i].caller);
    pgk_json_end_array(p->j);
    pgk_json_array(p->j, "new");
    for (size_t i = 0; i < n; i++)
        pgk_json_number(p->j, NULL, calls[i].is_new);
    pgk_json_end_array(p->j);
    pgk_json_array(p->j, "places");
    for (size_t i = 0; i < n; i++)
        pgk_json_number(p->j, NULL, calls[i].places);
    pgk_json_end_array(p->j);
    pgk_json_array(p->j, "share");
    for (size_t i = 0; i < n; i++)
        pgk_json_digits(p->j, NULL, calls[i].share, 6);
    pgk_json_end_array(p->j);
    pgk_json_end_object(p->j);
}

static uint64_t ticks_in(const struct pgk_built *b, const char *file)
{
    for (size_t i = 0; b && i < b->others.n; i++)
        if (!strcmp(pgk_intern_str(&b->names, b->others.v[i].file), file))
            return b->others.v[i].ticks;
    return 0;
}

static void put_other(struct page *p, const char *file)
{
    char safe[4096];
    pgk_json_array(p->j, NULL);
    pgk_json_text(p->j, NULL, pgk_human_text(safe, sizeof safe, file));
    for (int side = 0; side < 2; side++)
        pgk_json_number(p->j, NULL, ticks_in(p->builds[side], file));
    pgk_json_end_array(p->j);
}

static void put_others(struct page *p)
{
    pgk_json_array(p->j, "others");
    for (int side = 0; side < 2; side++) {
        const struct pgk_built *b = p->builds[side];
        for (size_t i = 0; b && i < b->others.n; i++) {
            const char *file = pgk_intern_str(&b->names, b->others.v[i].file);
            if (!side || !ticks_in(p->builds[0], file))
                put_other(p, file);
        }
    }
    pgk_json_end_array(p->j);
}

/* ---- all of it ---- */

static int put_page(void *page, struct pgk_json *j, struct pgk_err *err)
{
    struct page *p = page;
    const char *title = p->opts.title ? p->opts.title : p->trial->build;
    p->j = j;
    pgk_json_object(j, NULL);
    pgk_page_titles(j, "gain", NULL, title, false, NULL);
    pgk_json_object(j, "trial");
    pgk_trial_put_json(j, p->trial);
    pgk_json_end_object(j);
    put_times(p);
    put_functions(p);
    put_rest(p);
    put_calls(p);
    put_others(p);
    pgk_json_end_object(j);
    return p->names.failed ? pgk_fail_nomem(err) : 0;
}

int pgk_trial_write_page(const struct pgk_trial *trial, const struct pgk_built *before,
                         const struct pgk_built *after, const struct pgk_trial_page_opts *opts,
                         const char *path, struct pgk_err *err)
{
    struct page p = {.trial = trial, .builds = {before, after}};
    struct pgk_sink *out;
    PGK_TRY(PGK_OPTS_TAKE(&p.opts, opts, err));
    if (!trial->rows.n)
        return pgk_fail(err, PGK_E_ARG, .field = "rows", .found = "none",
                        .expected = "a build that was compared with the plain one");
    const size_t most = p.opts.max_functions ? p.opts.max_functions : DEFAULT_FUNCTIONS;
    int status = pgk_gain_rows_make(&p.rows, before, after) ? 0 : pgk_fail_nomem(err);
    p.n_shown = p.rows.functions.n < most ? p.rows.functions.n : most;
    if (!status)
        status = pgk_sink_open(&out, path, err);
    if (!status) {
        status = pgk_page_write(out, put_page, &p, err);
        if (status)
            pgk_sink_drop(&out);
        else
            status = pgk_sink_commit(&out, err);
    }
    pgk_gain_rows_free(&p.rows);
    pgk_shown_names_free(&p.names);
    return status;
}
