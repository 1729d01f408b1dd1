/* Reports of a trial: for people, as a table in Markdown, as JSON. */
#include "markdown_out.h"
#include "percent.h"
#include "pgokit/human.h"
#include "trial_model.h"

#include <math.h>

#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static const char *const words[] = {[PGK_TRIAL_OPEN] = "not sure",
                                    [PGK_TRIAL_FASTER] = "faster",
                                    [PGK_TRIAL_SAME] = "no difference",
                                    [PGK_TRIAL_SLOWER] = "slower"};

static struct pgk_trial_result result_of(const struct pgk_trial *t, size_t row)
{
    struct pgk_trial_result r = {.struct_size = sizeof r};
    pgk_trial_result(t, row, &r);
    return r;
}

static double sure_percent(const struct pgk_trial *t)
{
    return 100 * (1 - t->error);
}

/* ---- for people ---- */

static void put_times(struct pgk_text_out *o, const struct pgk_trial_row *row, int which,
                      const char *what, double *space)
{
    pgk_text_printf(o, "  %-24s %.3f s (half of the runs from %.3f to %.3f s)\n", what,
                    pgk_trial_seconds(row, which, 0.5, space),
                    pgk_trial_seconds(row, which, 0.25, space),
                    pgk_trial_seconds(row, which, 0.75, space));
}

static void put_speed(struct pgk_text_out *o, const struct pgk_trial *t,
                      const struct pgk_trial_result *r)
{
    pgk_text_printf(o, "  %-24s %+.1f %%", "speed", r->gain);
    if (isfinite(r->low))
        pgk_text_printf(o, " (sure at %g %%: from %+.1f to %+.1f %%)\n", sure_percent(t), r->low,
                        r->high);
    else
        pgk_text_printf(o, " (too few turns to be sure at %g %%)\n", sure_percent(t));
}

static void put_instructions(struct pgk_text_out *o, const struct pgk_trial_result *r)
{
    if (r->instructions[0] && r->instructions[1])
        pgk_text_printf(o, "  %-24s %+.1f %%\n", "instructions",
                        pgk_growth_percent(r->instructions[0], r->instructions[1]));
}

static void put_bytes(struct pgk_text_out *o, const struct pgk_trial_result *r)
{
    if (r->bytes[0] && r->bytes[1])
        pgk_text_printf(o, "  %-24s %s bytes (%+.1f %%)\n", "code", COUNT(r->bytes[1]),
                        pgk_growth_percent(r->bytes[0], r->bytes[1]));
}

/* What the build of this row is compared with. */
static const char *before(const struct pgk_trial *t, size_t row)
{
    while (row--)
        if (t->rows.v[row].kept)
            return t->rows.v[row].name;
    return "plain";
}

void pgk_trial_print_row(const struct pgk_trial *t, size_t i, FILE *file)
{
    const struct pgk_trial_result r = result_of(t, i);
    const struct pgk_trial_row *row = &t->rows.v[i];
    struct pgk_text_out out;
    double *space = r.turns ? pgk_mem_alloc(r.turns, sizeof *space) : NULL;
    pgk_text_to_file(&out, file);
    if (space) {
        pgk_text_printf(&out, "processor time of %zu turn%s of both builds, in random order:\n",
                        r.turns, r.turns == 1 ? "" : "s");
        put_times(&out, row, 0, before(t, i), space);
        put_times(&out, row, 1, row->name, space);
        put_speed(&out, t, &r);
        put_instructions(&out, &r);
    }
    put_bytes(&out, &r);
    pgk_text_flush(&out);
    pgk_mem_free(space);
}

/* ---- Markdown ---- */

static void put_text(struct pgk_text_out *o, const char *what, const char *text)
{
    if (!text)
        return;
    pgk_text_printf(o, "| %s | ", what);
    pgk_md_code(o, text);
    pgk_text_lit(o, " |\n");
}

static void put_cells(struct pgk_text_out *o, double seconds, uint64_t bytes, uint64_t plain)
{
    if (seconds > 0)
        pgk_text_printf(o, "| %.3f s ", seconds);
    else
        pgk_text_lit(o, "| ");
    if (bytes && plain)
        pgk_text_printf(o, "| %s | %+.1f %% ", COUNT(bytes), pgk_growth_percent(plain, bytes));
    else
        pgk_text_printf(o, "| %s | ", bytes ? COUNT(bytes) : "");
}

static void put_row(struct pgk_text_out *o, const struct pgk_trial *t, size_t i)
{
    const struct pgk_trial_result r = result_of(t, i);
    pgk_text_printf(o, "| %s ", r.name);
    put_cells(o, r.seconds[1], r.bytes[1], t->bytes);
    if (isfinite(r.low))
        pgk_text_printf(o, "| %+.1f %% (%+.1f to %+.1f) ", r.gain, r.low, r.high);
    else if (r.turns)
        pgk_text_printf(o, "| %+.1f %% (not sure) ", r.gain);
    else
        pgk_text_lit(o, "| not measured ");
    pgk_text_printf(o, "| %zu | %s%s%s |\n", r.turns, r.kept ? "kept" : "not kept",
                    r.why ? ": " : "", r.why ? r.why : "");
}

static bool is_any_kept(const struct pgk_trial *t)
{
    bool kept = false;
    for (size_t i = 0; i < t->rows.n; i++)
        kept |= t->rows.v[i].kept;
    return kept;
}

/* Each only once. */
static void put_advice(struct pgk_text_out *o, const struct pgk_trial *t)
{
    const char *last = "";
    if (is_any_kept(t))
        return;
    for (size_t i = 0; i < t->rows.n; i++) {
        const char *advice = t->rows.v[i].advice;
        if (advice && strcmp(advice, last) != 0)
            pgk_text_printf(o, "\n%s\n", last = advice);
    }
}

void pgk_trial_print_markdown(const struct pgk_trial *t, FILE *file)
{
    struct pgk_text_out out, *o = &out;
    pgk_text_to_file(o, file);
    pgk_text_lit(o, "## Build with a profile\n\n"
                    "| build | time | bytes of code | growth | speed | turns | |\n"
                    "|---|--:|--:|--:|--:|--:|---|\n| plain ");
    put_cells(o, t->rows.n ? result_of(t, 0).seconds[0] : 0, t->bytes, 0);
    pgk_text_lit(o, "| | | |\n");
    for (size_t i = 0; i < t->rows.n; i++)
        put_row(o, t, i);
    pgk_text_printf(
        o,
        "\nTime is processor time, the median of the turns, in each of which both builds "
        "ran once in random order. Each build is compared with the best before it; in "
        "parentheses stands what the gain surely lies between, at %g %%.\n",
        sure_percent(t));
    put_advice(o, t);
    pgk_text_lit(o, "\n| | |\n|---|---|\n");
    put_text(o, "built by", t->build);
    put_text(o, "compiler", t->compiler);
    put_text(o, "recorded", t->run);
    put_text(o, "measured", t->measured);
    put_text(o, "profile", t->profile);
    pgk_text_flush(o);
}

/* ---- JSON ---- */

static void member(struct pgk_json *j, const char *key, const char *text)
{
    if (text)
        pgk_json_text(j, key, text);
    else
        pgk_json_null(j, key);
}

static void count(struct pgk_json *j, const char *key, uint64_t n)
{
    if (n)
        pgk_json_number(j, key, n);
    else
        pgk_json_null(j, key);
}

static void json_turns(struct pgk_json *j, const struct pgk_trial_row *row)
{
    pgk_json_array(j, "turns");
    for (size_t i = 0; i < row->turns.n; i++) {
        const struct pgk_trial_turn *turn = &row->turns.v[i];
        pgk_json_array(j, NULL);
        for (int which = 0; which < 2; which++)
            pgk_json_fixed(j, NULL, turn->seconds[which], 6);
        for (int which = 0; which < 2 && turn->instructions[which]; which++)
            pgk_json_number(j, NULL, turn->instructions[which]);
        pgk_json_end_array(j);
    }
    pgk_json_end_array(j);
}

static void json_row(struct pgk_json *j, const struct pgk_trial *t, size_t i)
{
    const struct pgk_trial_result r = result_of(t, i);
    pgk_json_line(j, 4);
    pgk_json_object(j, NULL);
    pgk_json_text(j, "name", r.name);
    pgk_json_text(j, "before", before(t, i));
    pgk_json_text(j, "verdict", r.turns ? words[r.verdict] : "not measured");
    pgk_json_flag(j, "kept", r.kept);
    member(j, "why", r.why);
    member(j, "advice", r.advice);
    pgk_json_fixed(j, "gain_percent", r.turns ? r.gain : NAN, 3);
    pgk_json_fixed(j, "low_percent", r.low, 3);
    pgk_json_fixed(j, "high_percent", r.high, 3);
    pgk_json_fixed(j, "seconds_before", r.turns ? r.seconds[0] : NAN, 6);
    pgk_json_fixed(j, "seconds", r.turns ? r.seconds[1] : NAN, 6);
    count(j, "instructions_before", r.instructions[0]);
    count(j, "instructions", r.instructions[1]);
    count(j, "bytes_before", r.bytes[0]);
    count(j, "bytes", r.bytes[1]);
    json_turns(j, &t->rows.v[i]);
    pgk_json_end_object(j);
}

void pgk_trial_put_json(struct pgk_json *j, const struct pgk_trial *t)
{
    pgk_json_line(j, 2);
    member(j, "build", t->build);
    member(j, "run", t->run);
    member(j, "measured", t->measured);
    member(j, "compiler", t->compiler);
    member(j, "profile", t->profile);
    pgk_json_line(j, 2);
    pgk_json_digits(j, "sure_percent", sure_percent(t), 6);
    pgk_json_digits(j, "matters_percent", t->matters, 6);
    count(j, "plain_bytes", t->bytes);
    pgk_json_flag(j, "kept", is_any_kept(t));
    pgk_json_line(j, 2);
    pgk_json_array(j, "rows");
    for (size_t i = 0; i < t->rows.n; i++)
        json_row(j, t, i);
    pgk_json_line(j, 2);
    pgk_json_end_array(j);
    pgk_json_line(j, 0);
}

void pgk_trial_print_json(const struct pgk_trial *t, FILE *file)
{
    struct pgk_text_out out;
    struct pgk_json j;
    pgk_text_to_file(&out, file);
    pgk_json_begin(&j, &out, PGK_JSON_SPACED);
    pgk_json_object(&j, NULL);
    pgk_trial_put_json(&j, t);
    pgk_json_end_object(&j);
    pgk_text_lit(&out, "\n");
    pgk_text_flush(&out);
}
