/* Which source lines are on the page of a heap profile: those of its frames. */
#include "heap_page.h"

#include "page_sources.h"

static int collect_frame(struct pgk_page_sources *s, const struct pgk_heap_frames *t,
                         const struct pgk_view_frame *f, struct pgk_err *err)
{
    const struct pgk_view_func *func = &t->funcs.v[f->func];
    if (!func->file || !f->line || func->library)
        return 0;
    return pgk_page_sources_add(s, func->file, pgk_frames_text(t, func->file), f->line, err);
}

/* By rows, so that the limit cuts what only light contexts need. */
static int collect(struct pgk_page_sources *s, struct pgk_heap_page *p, struct pgk_err *err)
{
    const struct pgk_stack_tree *tree = &p->align.frames.stacks;
    bool *seen = pgk_mem_zalloc(p->align.frames.frames.n + 1, sizeof *seen);
    int status = seen ? 0 : pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < p->n_shown && !pgk_page_sources_full(s); i++)
        for (uint32_t n = p->rows[i].pair.node; !status && n; n = tree->nodes.v[n].parent) {
            uint32_t frame = tree->nodes.v[n].frame;
            if (!seen[frame])
                status =
                    collect_frame(s, &p->align.frames, &p->align.frames.frames.v[frame], err);
            seen[frame] = true;
        }
    pgk_mem_free(seen);
    return status;
}

static const char *file_name(const void *page, uint32_t id)
{
    const struct pgk_heap_page *p = page;
    return pgk_frames_text(&p->align.frames, id);
}

static bool file_number(void *page, uint32_t id, uint32_t *number)
{
    return pgk_heap_page_text(page, id, number);
}

int pgk_heap_page_sources(struct pgk_heap_page *p, struct pgk_err *err)
{
    struct pgk_page_sources s = {
        .files = {.folders = p->opts->source_dirs, .n_folders = p->opts->n_source_dirs},
    };
    const struct pgk_page_files files = {p, file_name, file_number};
    int status = p->opts->without_sources ? 0 : collect(&s, p, err);
    if (!status)
        status = pgk_page_sources_put(&s, p->json, &files, err);
    pgk_page_sources_free(&s);
    return status;
}
