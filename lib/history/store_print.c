/* A history for people and as JSON. */
#include "history_movers.h"
#include "history_store.h"

#include "json_out.h"
#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"
#include "vec.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Profiles that are compared with one another. */
struct class
{
    char kind[16], host[256];
    int64_t first, last; /* ids */
    uint64_t weight;     /* of the last one */
};

struct print {
    struct pgk_history *history;
    FILE *out;
    struct pgk_json *json;
    size_t n, latest; /* the class of the last profile */
    PGK_VEC(struct class) classes;
    bool no_memory;
};

static const char *time_text(char *text, size_t size, int64_t seconds, const char *form)
{
    const time_t t = (time_t)seconds;
    struct tm utc;
    *text = '\0';
    if (gmtime_r(&t, &utc))
        strftime(text, size, form, &utc);
    return text;
}

/* Notes the profile as the last of its class; the weight of the one before it, 0: there is none. */
static uint64_t remember(struct print *p, const struct pgk_history_entry *e)
{
    struct class c = {.first = e->id, .last = e->id, .weight = e->weight};
    snprintf(c.kind, sizeof c.kind, "%s", e->kind);
    snprintf(c.host, sizeof c.host, "%s", e->host_class);
    p->n++;
    for (size_t i = 0; i < p->classes.n; i++) {
        struct class *known = &p->classes.v[i];
        if (strcmp(known->kind, c.kind) || strcmp(known->host, c.host))
            continue;
        const uint64_t before = known->weight;
        known->last = e->id;
        known->weight = e->weight;
        p->latest = i;
        return before;
    }
    p->latest = p->classes.n;
    p->no_memory |= !pgk_vec_push(&p->classes, c);
    return 0;
}

/* "+12.3 %", or nothing. */
static const char *change_text(char *text, size_t size, uint64_t before, uint64_t now)
{
    *text = '\0';
    if (before)
        snprintf(text, size, "%+.1f %%", 100 * ((double)now - (double)before) / (double)before);
    return text;
}

static const char *percent_text(char *text, size_t size, double percent, bool with_sign)
{
    *text = '\0';
    if (isfinite(percent))
        snprintf(text, size, with_sign ? "%+.1f %%" : "%.1f %%", percent);
    return text;
}

static const char *weight_text(char text[PGK_HUMAN_SIZE], const struct pgk_history_entry *e)
{
    return strcmp(e->kind, "heap") ? pgk_human_count(text, e->weight)
                                   : pgk_human_bytes(text, (double)e->weight);
}

static const char *bytes_text(char text[PGK_HUMAN_SIZE], uint64_t bytes)
{
    return bytes == PGK_HISTORY_UNKNOWN ? "" : pgk_human_bytes(text, (double)bytes);
}

static int print_row(void *ctx, const struct pgk_history_entry *e)
{
    struct print *p = ctx;
    char when[40], weight[PGK_HUMAN_SIZE], peak[PGK_HUMAN_SIZE], left[PGK_HUMAN_SIZE];
    char change[32], gain[32], match[32], version[64], host[64], name[256];
    const uint64_t before = remember(p, e);
    if (p->n == 1)
        fprintf(p->out, "%5s  %-16s  %-14s  %-12s  %-6s  %14s  %9s  %9s  %9s  %8s  %8s  %s\n", "id",
                "time (UTC)", "version", "host class", "kind", "bytes or count", "change", "peak",
                "at exit", "gain", "match", "file");
    fprintf(p->out, "%5lld  %-16s  %-14s  %-12s  %-6s  %14s  %9s  %9s  %9s  %8s  %8s  %s\n",
            (long long)e->id, time_text(when, sizeof when, e->time_s, "%Y-%m-%d %H:%M"),
            pgk_human_text(version, sizeof version, e->version),
            pgk_human_text(host, sizeof host, e->host_class), e->kind, weight_text(weight, e),
            change_text(change, sizeof change, before, e->weight), bytes_text(peak, e->peak_bytes),
            bytes_text(left, e->exit_bytes), percent_text(gain, sizeof gain, e->gain_percent, true),
            percent_text(match, sizeof match, e->match_percent, false),
            pgk_human_text(name, sizeof name, e->name));
    return 0;
}

static void print_mover(void *ctx, const struct pgk_history_mover *m)
{
    struct print *p = ctx;
    char name[512];
    fprintf(p->out, "  %+8.2f %%  %7.2f %%  %7.2f %%  %s\n", m->now_percent - m->before_percent,
            m->before_percent, m->now_percent, pgk_human_function(name, sizeof name, m->name));
}

/* Between the first and the last of the class of the last profile. */
static int each_mover(struct print *p, size_t top, pgk_history_mover_fn *fn, struct pgk_err *err)
{
    const struct class *c = &p->classes.v[p->latest];
    if (p->no_memory)
        return pgk_fail_nomem(err);
    if (!p->n || c->first == c->last || !top)
        return 0;
    if (!p->json)
        fprintf(p->out,
                "\nTop movers from %lld to %lld, as shares of the whole\n\n"
                "     change     before        now  function\n",
                (long long)c->first, (long long)c->last);
    return pgk_history_movers(p->history, c->first, c->last, top, fn, p, err);
}

int pgk_history_print_table(struct pgk_history *history, const struct pgk_history_query *query,
                            size_t top, FILE *out, struct pgk_err *err)
{
    struct print p = {.history = history, .out = out};
    int status = pgk_history_walk(history, query, print_row, &p, err);
    if (!status && !p.n)
        fputs("no profile of this kind, class, version and time\n", out);
    status = status ? status : each_mover(&p, top, print_mover, err);
    pgk_vec_free(&p.classes);
    return status;
}

/* ---- JSON ---- */

static void put_count(struct pgk_json *j, const char *key, uint64_t v)
{
    if (v == PGK_HISTORY_UNKNOWN)
        pgk_json_null(j, key);
    else
        pgk_json_number(j, key, v);
}

static int put_row(void *ctx, const struct pgk_history_entry *e)
{
    struct print *p = ctx;
    char when[40];
    pgk_json_line(p->json, 2);
    pgk_json_object(p->json, NULL);
    pgk_json_number(p->json, "id", (uint64_t)e->id);
    pgk_json_text(p->json, "time", time_text(when, sizeof when, e->time_s, "%Y-%m-%dT%H:%M:%SZ"));
    pgk_json_text(p->json, "name", e->name);
    pgk_json_text(p->json, "kind", e->kind);
    pgk_json_text(p->json, "version", e->version);
    pgk_json_text(p->json, "host_class", e->host_class);
    pgk_json_text(p->json, "build_id", e->build_id);
    pgk_json_text(p->json, "page", e->page);
    pgk_json_number(p->json, "weight", e->weight);
    put_count(p->json, "objects", e->objects);
    put_count(p->json, "peak_bytes", e->peak_bytes);
    put_count(p->json, "exit_bytes", e->exit_bytes);
    put_count(p->json, "functions", e->functions);
    pgk_json_digits(p->json, "gain_percent", e->gain_percent, 6);
    pgk_json_digits(p->json, "match_percent", e->match_percent, 6);
    pgk_json_number(p->json, "size_bytes", e->size_bytes);
    pgk_json_end_object(p->json);
    remember(p, e);
    return 0;
}

static void put_mover(void *ctx, const struct pgk_history_mover *m)
{
    struct print *p = ctx;
    pgk_json_line(p->json, 2);
    pgk_json_object(p->json, NULL);
    pgk_json_text(p->json, "function", m->name);
    pgk_json_digits(p->json, "before_percent", m->before_percent, 6);
    pgk_json_digits(p->json, "now_percent", m->now_percent, 6);
    pgk_json_end_object(p->json);
}

int pgk_history_print_json(struct pgk_history *history, const struct pgk_history_query *query,
                           size_t top, FILE *out, struct pgk_err *err)
{
    struct pgk_text_out text;
    struct pgk_json j;
    struct print p = {.history = history, .out = out, .json = &j};
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_OUTLINE);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "schema", "pgokit-history-1");
    pgk_json_line(&j, 0);
    pgk_json_array(&j, "profiles");
    int status = pgk_history_walk(history, query, put_row, &p, err);
    pgk_json_end_array(&j);
    pgk_json_line(&j, 0);
    pgk_json_array(&j, "movers");
    status = status ? status : each_mover(&p, top, put_mover, err);
    pgk_json_end_array(&j);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
    pgk_vec_free(&p.classes);
    return status;
}
