/* Where the functions of a sample profile are in their files, by the debug information of the
 * program, and the source lines that have samples. */
#include "sample_page.h"

#include "page_sources.h"
#include "sample_declared.h"

static int find_places(struct pgk_sample_page *p, struct pgk_sample_declared *d,
                       struct pgk_err *err)
{
    const struct pgk_sample_func *funcs = p->tree.funcs.v;
    for (size_t i = 0; i < p->n_places; i++)
        if (!pgk_sample_declared_want(d, funcs[i].guid))
            return pgk_fail_nomem(err);
    PGK_TRY(pgk_sample_declared_read(d, p->opts->binaries, err));
    for (size_t i = 0; i < p->n_places; i++) {
        const struct pgk_declared_func *func = pgk_sample_declared_find(d, funcs[i].guid);
        if (!func)
            continue;
        p->places[i].file = pgk_intern_cstr(&p->tree.strings,
                                            pgk_intern_str(&d->files, func->file));
        p->places[i].line = func->line;
        if (p->places[i].file == PGK_INDEX_NONE)
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_sample_page_places(struct pgk_sample_page *p, struct pgk_err *err)
{
    struct pgk_sample_declared declared = {0};
    p->n_places = p->tree.funcs.n;
    p->places = pgk_mem_zalloc(p->n_places + 1, sizeof *p->places);
    if (!p->places)
        return pgk_fail_nomem(err);
    const int status = p->opts->binaries ? find_places(p, &declared, err) : 0;
    pgk_sample_declared_free(&declared);
    return status;
}

static int collect_node(struct pgk_page_sources *s, const struct pgk_sample_page *p, uint32_t node,
                        struct pgk_err *err)
{
    const struct pgk_sample_recs *recs = pgk_sample_page_records(p, node);
    const struct pgk_sample_page_place place =
        pgk_sample_page_place(p, p->tree.nodes.v[node].func);
    int status = 0;
    for (uint32_t r = 0; place.line && r < recs->n && !status; r++) {
        uint32_t line = pgk_sample_file_line(place.line, pgk_sample_line(recs->v[r].loc));
        if (line && recs->v[r].count >= p->least_count)
            status = pgk_page_sources_add(s, place.file,
                                          pgk_sample_tree_text(&p->tree, place.file), line, err);
    }
    return status;
}

/* Functions by their samples first, so that the limit cuts what is cold; then what is inlined. */
static int collect(struct pgk_page_sources *s, const struct pgk_sample_page *p,
                   struct pgk_err *err)
{
    int status = 0;
    for (size_t i = 0; i < p->n_shown && !status; i++)
        status = collect_node(s, p, p->rows[i].node, err);
    for (size_t i = 1; i < p->nodes.old.n && !status; i++)
        status = collect_node(s, p, p->nodes.old.v[i], err);
    return status;
}

static const char *file_name(const void *page, uint32_t id)
{
    const struct pgk_sample_page *p = page;
    return pgk_sample_tree_text(&p->tree, id);
}

static bool file_number(void *page, uint32_t id, uint32_t *number)
{
    struct pgk_sample_page *p = page;
    *number = p->texts.number_of[id] - 1;
    return true;
}

int pgk_sample_page_sources(struct pgk_sample_page *p, struct pgk_err *err)
{
    struct pgk_page_sources s = {
        .files = {.folders = p->opts->source_dirs, .n_folders = p->opts->n_source_dirs},
    };
    const struct pgk_page_files files = {p, file_name, file_number};
    int status = p->opts->without_sources || p->tree.now->kind.probes ? 0 : collect(&s, p, err);
    if (!status)
        status = pgk_page_sources_put(&s, p->json, &files, err);
    pgk_page_sources_free(&s);
    return status;
}
