/* Excerpts of source files for a page. */
#include "page_sources.h"

#include "pgokit/human.h"
#include "u64_set.h"

#include <stdio.h>

enum {
    AROUND = 2,         /* lines before and after */
    MAX_TEXT = 1 << 20, /* bytes of source text on a page */
    MAX_LINE = 200,     /* bytes of a line */
};

bool pgk_page_sources_full(const struct pgk_page_sources *s)
{
    return s->text_bytes >= MAX_TEXT;
}

int pgk_page_sources_add(struct pgk_page_sources *s, uint32_t id, const char *name, uint32_t line,
                         struct pgk_err *err)
{
    const struct pgk_source_file *file;
    size_t len;
    if (pgk_page_sources_full(s))
        return 0;
    PGK_TRY(pgk_source_find(&s->files, name, &file, err));
    if (!file || !pgk_source_line(file, line, &len))
        return 0;
    uint32_t first = line > AROUND ? line - AROUND : 1;
    for (uint32_t at = first; at <= line + AROUND; at++) {
        if (!pgk_source_line(file, at, &len))
            break;
        s->text_bytes += len + 1;
        if (!pgk_vec_push(&s->lines, (uint64_t)id << 32 | at))
            return pgk_fail_nomem(err);
    }
    return 0;
}

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

static int put_files(struct pgk_page_sources *s, struct pgk_json *j,
                     const struct pgk_page_files *files, struct pgk_err *err)
{
    size_t n = pgk_u64_set(s->lines.v, s->lines.n);
    for (size_t i = 0; i < n;) {
        uint32_t id = (uint32_t)(s->lines.v[i] >> 32), number;
        const struct pgk_source_file *file;
        if (!files->number(files->page, id, &number))
            return pgk_fail_nomem(err);
        PGK_TRY(pgk_source_find(&s->files, files->name(files->page, id), &file, err));
        pgk_json_array(j, NULL);
        pgk_json_number(j, NULL, number);
        pgk_json_object(j, NULL);
        for (; i < n && s->lines.v[i] >> 32 == id; i++) {
            uint32_t line = (uint32_t)s->lines.v[i];
            size_t len;
            const char *text = pgk_source_line(file, line, &len);
            put_line(j, line, text, len);
        }
        pgk_json_end_object(j);
        pgk_json_end_array(j);
    }
    return 0;
}

int pgk_page_sources_put(struct pgk_page_sources *s, struct pgk_json *j,
                         const struct pgk_page_files *files, struct pgk_err *err)
{
    pgk_json_array(j, "sources");
    int status = put_files(s, j, files, err);
    pgk_json_end_array(j);
    return status;
}

void pgk_page_sources_free(struct pgk_page_sources *s)
{
    pgk_source_lines_free(&s->files);
    pgk_vec_free(&s->lines);
}
