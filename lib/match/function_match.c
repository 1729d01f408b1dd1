/* Which functions of a build those of a profile are. */
#include "match_priv.h"

#include "function_totals.h"
#include "hash.h"
#include "name_likeness.h"
#include "search.h"

#include <stdlib.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* 2: declared in the same file of the same folder; 1: in a file of that name; 0: elsewhere. */
static int same_file(const struct pgk_match *m, const struct pgk_heap_func *old, uint32_t func)
{
    const char *file = pgk_intern_str(&m->heap->strings, old->file),
               *now = pgk_build_text(&m->build, m->build.funcs.v[func].file);
    if (!*file || !*now)
        return 0;
    if (!strcmp(pgk_build_file_tail(file), now))
        return 2;
    return !strcmp(base_name(file), base_name(now));
}

/* Functions of one name; where the profile knows its file and one of them is declared there, no
 * others. */
static bool add_candidates(struct pgk_match *m, const struct pgk_heap_func *old, uint64_t guid)
{
    size_t first = m->candidates.n;
    uint32_t at = 0;
    int best = 0;
    for (uint32_t f; (f = pgk_build_next(&m->build, guid, &at)) != PGK_INDEX_NONE;) {
        int same = same_file(m, old, f);
        if (same > best) {
            best = same;
            m->candidates.n = first;
        }
        if (same == best && !pgk_vec_push(&m->candidates, f))
            return false;
    }
    return true;
}

/* Functions of internal linkage that only one of both sides has the whole name of: those of one
 * identifier in the file that the profile knows, and at its line if one is. */
static bool add_internal(struct pgk_match *m, const struct pgk_heap_func *old, uint64_t guid,
                         bool whole_in_profile)
{
    size_t first = m->candidates.n;
    uint32_t at = 0;
    bool at_line = false;
    for (;;) {
        uint32_t f = whole_in_profile ? pgk_build_next(&m->build, guid, &at)
                                      : pgk_build_next_internal(&m->build, guid, &at);
        if (f == PGK_INDEX_NONE)
            return true;
        bool same_line = old->decl_line && m->build.funcs.v[f].decl_line == old->decl_line;
        if (!same_file(m, old, f) || (at_line && !same_line))
            continue;
        if (same_line && !at_line)
            m->candidates.n = first;
        at_line |= same_line;
        if (!pgk_vec_push(&m->candidates, f))
            return false;
    }
}

/* Every program has a main. */
static bool has_own_function(const struct pgk_match *m)
{
    const struct pgk_heap *h = m->heap;
    uint64_t main_guid = pgk_build_guid("main", 4);
    for (size_t i = 0; i < h->funcs.n; i++)
        if (m->first_candidate[i] < m->first_candidate[i + 1] &&
            (h->funcs.n == 1 || h->funcs.v[i].guid != main_guid))
            return true;
    return false;
}

int pgk_match_functions(struct pgk_match *m, struct pgk_err *err)
{
    const struct pgk_heap *h = m->heap;
    m->first_candidate = pgk_mem_zalloc(h->funcs.n + 1, sizeof *m->first_candidate);
    m->renamed = pgk_mem_alloc(h->funcs.n + 1, sizeof *m->renamed);
    m->known = pgk_mem_zalloc(m->build.funcs.n + 1, sizeof *m->known);
    if (!m->first_candidate || !m->renamed || !m->known)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < h->funcs.n; i++) {
        const struct pgk_heap_func *f = &h->funcs.v[i];
        const char *name = pgk_intern_str(&h->strings, f->name);
        size_t before = m->candidates.n;
        m->renamed[i] = PGK_INDEX_NONE;
        bool ok = add_candidates(m, f, f->guid);
        if (ok && m->candidates.n == before && *name)
            ok = add_candidates(m, f, pgk_build_guid(name, strlen(name)));
        if (ok && m->candidates.n == before && *name)
            ok = add_candidates(m, f, pgk_build_bare_guid(name, strlen(name)));
        if (ok && m->candidates.n == before)
            ok = add_internal(m, f, f->guid, false);
        uint64_t identifier = pgk_build_identifier_guid(name, strlen(name));
        if (ok && m->candidates.n == before && identifier)
            ok = add_internal(m, f, identifier, true);
        if (!ok)
            return pgk_fail_nomem(err);
        m->first_candidate[i + 1] = (uint32_t)m->candidates.n;
    }
    for (size_t i = 0; i < m->candidates.n; i++)
        m->known[m->candidates.v[i]] = true;
    return pgk_function_match_check(h->funcs.n, has_own_function(m), err);
}

/* Headers have one path in some units and another one in others. */
static bool same_declaration(const struct pgk_build *build, uint32_t a, uint32_t b)
{
    const struct pgk_build_func *f = &build->funcs.v[a], *g = &build->funcs.v[b];
    return f->decl_line == g->decl_line &&
           !strcmp(base_name(pgk_build_text(build, f->file)),
                   base_name(pgk_build_text(build, g->file)));
}

static bool has_call_at(const struct pgk_build *build, uint32_t func, uint64_t where)
{
    const struct pgk_build_func *f = &build->funcs.v[func];
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        const struct pgk_build_call *c = &build->calls.v[i];
        if (c->line && pgk_same_offset(c->offset, pgk_place_offset(where)) &&
            pgk_same_column(c->column, (uint32_t)where))
            return true;
    }
    return false;
}

uint32_t pgk_match_pick(const struct pgk_match *m, uint32_t old_func, uint64_t where,
                        bool *ambiguous)
{
    uint32_t first = m->first_candidate[old_func], end = m->first_candidate[old_func + 1];
    uint32_t picked = PGK_INDEX_NONE, n = 0;
    *ambiguous = false;
    if (first == end)
        return m->renamed[old_func];
    for (int anywhere = 0; anywhere < 2 && !n; anywhere++) {
        for (uint32_t i = first; i < end; i++) {
            uint32_t f = m->candidates.v[i];
            if (end - first > 1 && !anywhere && !has_call_at(&m->build, f, where))
                continue;
            if (n && same_declaration(&m->build, picked, f))
                continue;
            picked = n++ ? picked : f;
        }
    }
    *ambiguous = n > 1;
    return picked;
}

/* Does the function call all that the profile knows another one to call? */
static bool calls_all(const struct pgk_match *m, uint32_t func, uint32_t old_func)
{
    const struct pgk_build_func *f = &m->build.funcs.v[func];
    uint32_t first = m->first_old_call[old_func], end = m->first_old_call[old_func + 1];
    for (uint32_t o = first; o < end; o++) {
        bool found = !m->old_calls.v[o].recorded;
        for (uint32_t i = f->first_call; !found && i < f->first_call + f->n_calls; i++)
            found = pgk_match_calls(m, i, m->old_calls.v[o].callee) == PGK_CALLS_SURELY;
        if (!found)
            return false;
    }
    return first < end;
}

uint32_t pgk_match_renamed(const struct pgk_match *m, uint32_t from, uint32_t old_func)
{
    const struct pgk_build_func *f = &m->build.funcs.v[from];
    uint32_t found = PGK_INDEX_NONE;
    for (uint32_t i = f->first_call; i < f->first_call + f->n_calls; i++) {
        uint32_t callee = m->build.calls.v[i].callee;
        if (callee == PGK_INDEX_NONE || callee == found || callee == from || m->known[callee] ||
            !m->build.funcs.v[callee].has_body || !calls_all(m, callee, old_func))
            continue;
        if (found != PGK_INDEX_NONE)
            return PGK_INDEX_NONE;
        found = callee;
    }
    return found;
}

static int by_file(const void *a, const void *b)
{
    const struct pgk_func_in_file *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->func < y->func ? -1 : x->func > y->func;
}

static uint64_t hash_of_file(const char *path)
{
    const char *name = base_name(path);
    return pgk_md5_low64(name, strlen(name));
}

static bool list_files(struct pgk_match *m)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < m->build.funcs.n; i++) {
        const struct pgk_build_func *f = &m->build.funcs.v[i];
        uint32_t at = 0;
        if (f->has_body && f->file && !m->known[i] &&
            pgk_build_next(&m->profiled, f->guid, &at) == PGK_INDEX_NONE)
            ok = pgk_vec_push(&m->in_files,
                              (struct pgk_func_in_file){
                                  hash_of_file(pgk_build_text(&m->build, f->file)), i});
    }
    if (m->in_files.n)
        qsort(m->in_files.v, m->in_files.n, sizeof *m->in_files.v, by_file);
    return ok;
}

bool pgk_match_renamed_in_file(struct pgk_match *m, uint32_t old_func, uint32_t *func)
{
    const struct pgk_heap_func *old = &m->heap->funcs.v[old_func];
    const char *name = pgk_intern_str(&m->heap->strings, old->name);
    uint64_t file = hash_of_file(pgk_intern_str(&m->heap->strings, old->file));
    *func = PGK_INDEX_NONE;
    if (!*name || !old->file)
        return true;
    if (!m->in_files.n && !list_files(m))
        return false;
    PGK_SEARCH(at, m->in_files.n, mid, m->in_files.v[mid].file < file)
    for (; at < m->in_files.n && m->in_files.v[at].file == file; at++) {
        uint32_t i = m->in_files.v[at].func;
        const char *now = pgk_build_text(&m->build, m->build.funcs.v[i].linkage);
        if (!same_file(m, old, i) || !calls_all(m, i, old_func) ||
            pgk_name_likeness(name, now) < PGK_NAMES_ALIKE)
            continue;
        if (*func != PGK_INDEX_NONE) {
            *func = PGK_INDEX_NONE;
            return true;
        }
        *func = i;
    }
    return true;
}
