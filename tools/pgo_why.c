/* Why a build with a profile is not kept, in a sentence, and what to type. */
#include "pgo.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of a member of the report's JSON; 0 if it is not there. */
static double member(const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", name);
    const char *at = strstr(json, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : 0;
}

void pgo_read_figures(struct pgo_figures *figures, const char *path)
{
    enum { DENSE = 50 }; /* as gen's --min-density */
    char json[8192] = "";
    FILE *f = fopen(path, "r");
    if (f) {
        json[fread(json, 1, sizeof json - 1, f)] = '\0';
        fclose(f);
    }
    const double density = member(json, "density"), branches = member(json, "branches");
    *figures = (struct pgo_figures){
        .density = density,
        .record_more = density > 0 ? DENSE / density : 0,
        .outside_percent = branches > 0 ? 100 * member(json, "branches_outside") / branches : 0,
        .misfit = strstr(json, "\"misfit\": true") != NULL,
    };
}

static double growth_percent(const struct pgk_trial_result *r, uint64_t plain)
{
    return plain && r->bytes[1] ? 100 * ((double)r->bytes[1] / (double)plain - 1) : 0;
}

static void put(char *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(char *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(to, PGO_SENTENCE, fmt, args);
    va_end(args);
}

/* Of the recording: it is of something else, or too little. */
static bool is_recording(const struct pgo_why *w, char *why, char *advice)
{
    const struct pgo_figures *f = w->figures;
    if (f->misfit) {
        put(why, "the recording does not fit the build");
        put(advice, "give --clean, by which the build makes all anew: pgokit pgo --clean 'make "
                    "clean' ...");
    } else if (f->outside_percent > 50) {
        put(why, "%.0f %% of what was recorded is in code that this build does not make",
            f->outside_percent);
        put(advice, "build the libraries that it uses with a profile, too; pgokit pgo --verbose "
                    "lists what was recorded");
    } else if (f->record_more > PGO_TOO_FEW) {
        put(why, "there are too few samples, %.1f a line", f->density);
        put(advice, "record more runs, or one that takes %.0f times as long: --runs %.0f",
            ceil(f->record_more), ceil(f->record_more) * w->runs);
    } else {
        return false;
    }
    return true;
}

/* As many turns as the distance from 0 needs, which shrinks with the root of their number. */
static void not_sure(const struct pgo_why *w, char *why, char *advice)
{
    const struct pgk_trial_result *r = w->result;
    put(why, "no difference is sure after %zu turn%s", r->turns, r->turns == 1 ? "" : "s");
    if (w->limits->rounds <= r->turns)
        put(advice, "measure more turns: leave --rounds out");
    else if (w->limits->seconds)
        put(advice, "measure for longer: --max-time %lu", 4 * w->limits->seconds);
    else
        put(advice, "measure for longer: --max-time 240");
}

static void same_or_slower(const struct pgo_why *w, char *why, char *advice)
{
    const bool slower = w->result->verdict == PGK_TRIAL_SLOWER;
    const double growth = growth_percent(w->result, w->plain_bytes);
    if (growth > 1) {
        put(why, "its code is %.1f %% larger, of which less fits the caches", growth);
        put(advice, "forbid that: --max-growth 0");
    } else if (w->other_input) {
        put(why, "what was recorded is unlike what is measured, or the processor suits the plain "
                 "layout");
        put(advice, "let --run also do what --measure does");
    } else {
        put(why, "inlining and layout by the profile suit this program %s",
            slower ? "less" : "no better");
        put(advice, "try what else the compiler can do, --layers, or the other compiler, %s",
            w->clang ? "--gcc" : "--clang");
    }
}

void pgo_explain(const struct pgo_why *w, char why[PGO_SENTENCE], char advice[PGO_SENTENCE])
{
    const struct pgk_trial_result *r = w->result;
    const struct pgo_limits *l = w->limits;
    const double growth = growth_percent(r, w->plain_bytes);
    char reason[PGO_SENTENCE];
    if (!r->turns) {
        put(why,
            "its code is %.1f %% larger than without a profile, above the %g %% of "
            "--max-growth",
            growth, l->max_growth);
        if (w->figures->record_more > PGO_TOO_FEW)
            is_recording(w, reason, advice);
        else
            put(advice, "allow it: --max-growth %.0f", ceil(growth));
    } else if (r->verdict == PGK_TRIAL_FASTER) {
        put(why, "the gain of %+.1f %% is below the %g %% of --min-gain", r->gain, l->min_gain);
        put(advice, "accept it: --min-gain %.1f", floor(10 * r->gain) / 10);
    } else if (r->seconds[0] < 0.02) {
        put(why, "a run takes only %.3f s, most of it to start", r->seconds[0]);
        put(advice, "measure one that takes 0.2 s or more: --measure COMMAND");
    } else if (r->verdict == PGK_TRIAL_OPEN) {
        not_sure(w, why, advice);
    } else {
        if (!is_recording(w, reason, advice))
            same_or_slower(w, reason, advice);
        put(why, "%s: %.200s", r->verdict == PGK_TRIAL_SLOWER ? "slower" : "no difference", reason);
    }
}
