/* Excerpts of source files for a page: lines that something was counted in and some around each. */
#ifndef PGK_PAGE_SOURCES_H
#define PGK_PAGE_SOURCES_H

#include "json_out.h"
#include "source_lines.h"

struct pgk_page_sources {
    struct pgk_source_lines files; /* its folders are set by whoever makes the page */
    size_t text_bytes;
    PGK_VEC(uint64_t) lines; /* text id of the file << 32 | line */
};

/* What the page calls its files. */
struct pgk_page_files {
    void *page;
    const char *(*name)(const void *page, uint32_t id);
    bool (*number)(void *page, uint32_t id, uint32_t *number); /* false when out of memory */
};

/* Adds a line if its file is found and has it, unless the page has enough text. */
PGK_MUST_USE int pgk_page_sources_add(struct pgk_page_sources *s, uint32_t file, const char *name,
                                      uint32_t line, struct pgk_err *err);
bool pgk_page_sources_full(const struct pgk_page_sources *s);
/* "sources": [[file, {"line": text}]] */
PGK_MUST_USE int pgk_page_sources_put(struct pgk_page_sources *s, struct pgk_json *j,
                                      const struct pgk_page_files *files, struct pgk_err *err);
/* Accepts a zeroed struct. */
void pgk_page_sources_free(struct pgk_page_sources *s);

#endif
