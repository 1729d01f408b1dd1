/* The page of a history: its profiles in columns, and what moved from each to the next of its host
 * class and kind. */
#include "page_pack.h"

#include "history_movers.h"
#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"
#include "vec.h"

#include <string.h>

enum { PROFILES = 500, MOVERS = 8 };

struct row {
    struct pgk_history_entry entry; /* its texts are copies */
    size_t before;                  /* the row of the one before; that of itself: none */
};

struct page {
    struct pgk_history *history;
    const char *title, *pages;
    const int64_t *linked;
    size_t n_linked;
    PGK_VEC(struct row) rows;
    struct pgk_json *json;
};

static void free_row(struct row *r)
{
    const char *const texts[] = {r->entry.name,       r->entry.kind,     r->entry.version,
                                 r->entry.host_class, r->entry.build_id, r->entry.page};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pgk_mem_free((char *)(uintptr_t)texts[i]);
}

static char *copy(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copied = pgk_mem_zalloc(n, 1);
    return copied ? memcpy(copied, text, n) : NULL;
}

static size_t find_before(const struct page *p, const struct pgk_history_entry *e)
{
    for (size_t i = p->rows.n; i-- > 0;)
        if (!strcmp(p->rows.v[i].entry.kind, e->kind) &&
            !strcmp(p->rows.v[i].entry.host_class, e->host_class))
            return i;
    return p->rows.n;
}

static int take_row(void *ctx, const struct pgk_history_entry *e)
{
    struct page *p = ctx;
    struct row r = {*e, find_before(p, e)};
    r.entry.name = copy(e->name);
    r.entry.kind = copy(e->kind);
    r.entry.version = copy(e->version);
    r.entry.host_class = copy(e->host_class);
    r.entry.build_id = copy(e->build_id);
    r.entry.page = copy(e->page);
    if (r.entry.name && r.entry.kind && r.entry.version && r.entry.host_class && r.entry.build_id &&
        r.entry.page && pgk_vec_push(&p->rows, r))
        return 0;
    free_row(&r);
    return PGK_E_NOMEM;
}

static void put_count(struct pgk_json *j, const char *key, uint64_t v)
{
    if (v == PGK_HISTORY_UNKNOWN)
        pgk_json_null(j, key);
    else
        pgk_json_number(j, key, v);
}

/* Only addresses that a browser opens as pages; others could be scripts. */
static void put_link(struct page *p, const struct pgk_history_entry *e)
{
    char link[1024] = "";
    const bool is_web = !strncmp(e->page, "https://", 8) || !strncmp(e->page, "http://", 7);
    const bool is_path = *e->page && !strpbrk(e->page, ":\\") && *e->page != '/';
    for (size_t i = 0; p->pages && i < p->n_linked; i++)
        if (p->linked[i] == e->id)
            snprintf(link, sizeof link, "%s/%lld.html", p->pages, (long long)e->id);
    pgk_json_text(p->json, "page", is_web || is_path ? e->page : link);
}

static void put_mover(void *ctx, const struct pgk_history_mover *m)
{
    struct page *p = ctx;
    char name[1024];
    pgk_json_array(p->json, NULL);
    pgk_json_text(p->json, NULL, pgk_human_function(name, sizeof name, m->name));
    pgk_json_digits(p->json, NULL, m->before_percent, 6);
    pgk_json_digits(p->json, NULL, m->now_percent, 6);
    pgk_json_end_array(p->json);
}

static int put_row(struct page *p, size_t i, struct pgk_err *err)
{
    const struct row *r = &p->rows.v[i];
    const struct pgk_history_entry *e = &r->entry;
    struct pgk_json *j = p->json;
    int status = 0;
    pgk_json_object(j, NULL);
    pgk_json_number(j, "id", (uint64_t)e->id);
    pgk_json_digits(j, "time", (double)e->time_s, 15);
    pgk_json_text(j, "name", e->name);
    pgk_json_text(j, "kind", e->kind);
    pgk_json_text(j, "version", e->version);
    pgk_json_text(j, "host", e->host_class);
    pgk_json_text(j, "build_id", e->build_id);
    put_link(p, e);
    pgk_json_number(j, "weight", e->weight);
    put_count(j, "objects", e->objects);
    put_count(j, "peak", e->peak_bytes);
    put_count(j, "exit", e->exit_bytes);
    pgk_json_digits(j, "gain", e->gain_percent, 6);
    pgk_json_digits(j, "match", e->match_percent, 6);
    pgk_json_array(j, "movers");
    if (r->before < i)
        status = pgk_history_movers(p->history, p->rows.v[r->before].entry.id, e->id, MOVERS,
                                    put_mover, p, err);
    pgk_json_end_array(j);
    pgk_json_end_object(j);
    return status;
}

static int put_page(void *ctx, struct pgk_json *j, struct pgk_err *err)
{
    struct page *p = ctx;
    int status = 0;
    p->json = j;
    pgk_json_object(j, NULL);
    pgk_json_text(j, "schema", "pgokit-page-1");
    pgk_json_text(j, "kind", "history");
    pgk_json_text(j, "generator", "pgokit " PGK_VERSION);
    pgk_json_text(j, "title", p->title);
    pgk_json_array(j, "profiles");
    for (size_t i = 0; i < p->rows.n && !status; i++)
        status = put_row(p, i, err);
    pgk_json_end_array(j);
    pgk_json_end_object(j);
    return status;
}

int pgk_history_write_page(struct pgk_history *history, const struct pgk_history_query *given,
                           const char *title, const char *pages, const int64_t *linked,
                           size_t n_linked, const char *path, struct pgk_err *err)
{
    struct pgk_history_query query;
    struct page p = {history, title, pages, linked, n_linked, {0}, NULL};
    struct pgk_sink *out = NULL;
    PGK_TRY(PGK_OPTS_TAKE(&query, given, err));
    if (!query.newest || query.newest > PROFILES)
        query.newest = PROFILES;
    int status = pgk_history_walk(history, &query, take_row, &p, err);
    if (status == PGK_E_NOMEM)
        pgk_fail_nomem(err);
    status = status ? status : pgk_sink_open(&out, path, err);
    status = status ? status : pgk_page_write(out, put_page, &p, err);
    if (status)
        pgk_sink_drop(&out);
    else
        status = pgk_sink_commit(&out, err);
    for (size_t i = 0; i < p.rows.n; i++)
        free_row(&p.rows.v[i]);
    pgk_vec_free(&p.rows);
    return status;
}
