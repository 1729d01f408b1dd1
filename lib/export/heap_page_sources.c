/* Excerpts of source files for the page: the lines of its frames and some around each. */
#include "heap_page.h"

#include "pgokit/human.h"
#include "source_lines.h"
#include "u64_set.h"

enum {
    AROUND = 2,         /* lines before and after */
    MAX_TEXT = 1 << 20, /* bytes of source text on a page */
    MAX_LINE = 200,     /* bytes of a line */
};

struct excerpts {
    struct pgk_heap_page *page;
    struct pgk_source_lines sources;
    size_t text_bytes;
    PGK_VEC(uint64_t) lines; /* text id of the file << 32 | line */
};

static void put_line(struct pgk_json *j, uint32_t number, const char *text, size_t len)
{
    char line[4 * MAX_LINE + 1], safe[4 * sizeof line], key[16];
    size_t n = 0;
    for (size_t i = 0; i < len && i < MAX_LINE; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, text[i] == '\t' ? "    " : "%c", text[i]);
    line[n] = '\0';
    snprintf(key, sizeof key, "%u", number);
    pgk_json_text(j, key, pgk_human_text(safe, sizeof safe, line));
}

static int collect_frame(struct excerpts *e, const struct pgk_view_frame *f, struct pgk_err *err)
{
    const struct pgk_heap_frames *t = &e->page->align.frames;
    const struct pgk_view_func *func = &t->funcs.v[f->func];
    const struct pgk_source_file *file;
    size_t len;
    if (!func->file || !f->line || func->library)
        return 0;
    PGK_TRY(pgk_source_find(&e->sources, pgk_frames_text(t, func->file), &file, err));
    if (!file || !pgk_source_line(file, f->line, &len))
        return 0;
    uint32_t first = f->line > AROUND ? f->line - AROUND : 1;
    for (uint32_t line = first; line <= f->line + AROUND; line++) {
        if (!pgk_source_line(file, line, &len))
            break;
        e->text_bytes += len + 1;
        if (!pgk_vec_push(&e->lines, (uint64_t)func->file << 32 | line))
            return pgk_fail_nomem(err);
    }
    return 0;
}

/* By rows, so that the limit cuts what only light contexts need. */
static int collect(struct excerpts *e, struct pgk_err *err)
{
    struct pgk_heap_page *p = e->page;
    const struct pgk_stack_tree *tree = &p->align.frames.stacks;
    bool *seen = pgk_mem_zalloc(p->align.frames.frames.n + 1, sizeof *seen);
    int status = seen ? 0 : pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < p->n_shown && e->text_bytes < MAX_TEXT; i++)
        for (uint32_t n = p->rows[i].pair.node; !status && n; n = tree->nodes.v[n].parent) {
            uint32_t frame = tree->nodes.v[n].frame;
            if (!seen[frame])
                status = collect_frame(e, &p->align.frames.frames.v[frame], err);
            seen[frame] = true;
        }
    pgk_mem_free(seen);
    return status;
}

/* [[file, {"line": text}]] */
static int put_files(struct excerpts *e, struct pgk_err *err)
{
    struct pgk_json *j = e->page->json;
    size_t n = pgk_u64_set(e->lines.v, e->lines.n);
    for (size_t i = 0; i < n;) {
        uint32_t id = (uint32_t)(e->lines.v[i] >> 32), number;
        const struct pgk_source_file *file;
        if (!pgk_heap_page_text(e->page, id, &number))
            return pgk_fail_nomem(err);
        PGK_TRY(
            pgk_source_find(&e->sources, pgk_frames_text(&e->page->align.frames, id), &file, err));
        pgk_json_array(j, NULL);
        pgk_json_number(j, NULL, number);
        pgk_json_object(j, NULL);
        for (; i < n && e->lines.v[i] >> 32 == id; i++) {
            uint32_t line = (uint32_t)e->lines.v[i];
            size_t len;
            const char *text = pgk_source_line(file, line, &len);
            put_line(j, line, text, len);
        }
        pgk_json_end_object(j);
        pgk_json_end_array(j);
    }
    return 0;
}

int pgk_heap_page_sources(struct pgk_heap_page *p, struct pgk_err *err)
{
    struct excerpts e = {
        .page = p,
        .sources = {.folders = p->opts->source_dirs, .n_folders = p->opts->n_source_dirs},
    };
    pgk_json_array(p->json, "sources");
    int status = p->opts->without_sources ? 0 : collect(&e, err);
    if (!status)
        status = put_files(&e, err);
    pgk_json_end_array(p->json);
    pgk_source_lines_free(&e.sources);
    pgk_vec_free(&e.lines);
    return status;
}
