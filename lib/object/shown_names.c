/* Names as people are shown them. */
#include "shown_names.h"
#include "demangle.h"
#include "mem.h"
#include "pgokit/human.h"

#include <string.h>

static const char *make(struct pgk_shown_names *n, const char *linkage)
{
    enum { SIZE = 4096 };
    char *plain = n->whole ? pgk_demangle(linkage) : pgk_demangle_short(linkage), safe[SIZE];
    if (!plain && n->columns)
        plain = pgk_mem_strdup(linkage);
    if (plain && n->columns)
        plain = pgk_fit_name(plain, n->columns);
    pgk_human_text(safe, sizeof safe, plain ? plain : linkage);
    pgk_mem_free(plain);
    return pgk_arena_copy(&n->arena, safe, strlen(safe));
}

const char *pgk_shown_name(struct pgk_shown_names *n, const char *linkage, size_t len)
{
    uint32_t id = pgk_intern(&n->linkage, linkage, len);
    n->failed |= id == PGK_INDEX_NONE;
    while (!n->failed && n->shown.n <= id) {
        const char *name = make(n, pgk_intern_str(&n->linkage, (uint32_t)n->shown.n));
        n->failed = !name || !pgk_vec_push(&n->shown, name);
    }
    return n->failed ? "?" : n->shown.v[id];
}

void pgk_shown_names_free(struct pgk_shown_names *n)
{
    pgk_intern_free(&n->linkage);
    pgk_vec_free(&n->shown);
    pgk_arena_free(&n->arena);
}
