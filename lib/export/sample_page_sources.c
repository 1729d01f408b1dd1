/* Where the functions of a sample profile are in their files, by the debug information of the
 * program, and the source lines that have samples. */
#include "sample_page.h"

#include "binary_set.h"
#include "page_sources.h"
#include "sample_names.h"

#include <string.h>

/* Lines before the function's first one are kept in 16 bits. */
static uint32_t line_of(const struct pgk_sample_page_place *place, uint64_t loc)
{
    uint32_t offset = pgk_sample_line(loc);
    int64_t line = (int64_t)place->line + offset;
    if (offset >= 0x8000 && offset <= 0xffff)
        line -= 0x10000;
    return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

static int take_function(void *page, const struct pgk_sym_function *f)
{
    struct pgk_sample_page *p = page;
    if (!f->name || !f->decl_file || !f->decl_line)
        return 0;
    const struct pgk_sample_name name = {.s = f->name, .len = (uint32_t)strlen(f->name)};
    uint64_t guid = pgk_name_guid(&name);
    PGK_INDEX_FOR (&p->tree.func_index, guid, i) {
        if (i >= p->n_places || p->tree.funcs.v[i].guid != guid || p->places[i].line)
            continue;
        uint32_t file = pgk_intern_safe(&p->tree.strings, f->decl_file);
        if (file == PGK_INDEX_NONE)
            return PGK_E_NOMEM;
        p->places[i] = (struct pgk_sample_page_place){file, f->decl_line};
    }
    return 0;
}

int pgk_sample_page_places(struct pgk_sample_page *p, struct pgk_err *err)
{
    size_t binaries = p->opts->binaries ? pgk_binaries_count(p->opts->binaries) : 0;
    p->n_places = p->tree.funcs.n;
    p->places = pgk_mem_zalloc(p->n_places + 1, sizeof *p->places);
    if (!p->places)
        return pgk_fail_nomem(err);
    for (uint32_t i = 0; i < binaries; i++) {
        struct pgk_err why = {0};
        int status = pgk_binaries_functions(p->opts->binaries, i, take_function, p, &why);
        if (status == PGK_E_NOMEM) /* without debug information lines stay distances */
            return pgk_fail_nomem(err);
    }
    return 0;
}

static int collect_node(struct pgk_page_sources *s, const struct pgk_sample_page *p, uint32_t node,
                        struct pgk_err *err)
{
    const struct pgk_sample_recs *recs = pgk_sample_page_records(p, node);
    const struct pgk_sample_page_place place =
        pgk_sample_page_place(p, p->tree.nodes.v[node].func);
    int status = 0;
    for (uint32_t r = 0; place.line && r < recs->n && !status; r++) {
        uint32_t line = line_of(&place, recs->v[r].loc);
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
