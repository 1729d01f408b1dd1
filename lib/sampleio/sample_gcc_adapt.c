/* A profile made fit for a release of gcc, which reads all the numbers but makes of them something
 * else than was meant. docs/formats/sample-gcc.md "What compilers make of it" */
#include "sample_gcc.h"

#include "sample_layout.h"
#include "sample_origin.h"
#include "sample_recs.h"

/* ---- what cannot be done ---- */

static int check(const struct pgk_sample *p, struct pgk_err *err)
{
    const char *found = NULL, *hint = NULL;
    if (p->kind.probes) {
        found = "a profile whose places are probes";
        hint = "for GCC make a profile by lines";
    } else if (pgk_sample_names_unspelled(&p->names)) {
        found = "names that are known by their GUIDs alone";
        hint = "-b BINARY or --names FILE may give their names";
    }
    if (!found)
        return 0;
    return pgk_fail(err, PGK_E_ARG, .format = "GCC AutoFDO", .found = found,
                    .expected = "functions by name and line, which is all that GCC takes",
                    .hint = hint);
}

/* ---- names of clones ---- */

static size_t plain_length(const struct pgk_gcc_compiler *compiler,
                           const struct pgk_sample_name *name)
{
    if (compiler->clones != PGK_GCC_FIRST_DOT)
        return pgk_sample_drop_gcc_suffixes(name->s, name->len);
    const char *dot = memchr(name->s, '.', name->len);
    return dot && dot > name->s ? (size_t)(dot - name->s) : name->len;
}

static uint32_t name_of_clone(void *ctx, struct pgk_sample *into,
                              const struct pgk_sample_name *name)
{
    return pgk_sample_name(into, name->s, plain_length(ctx, name));
}

static size_t count_clones(const struct pgk_sample *p, const struct pgk_gcc_compiler *compiler)
{
    size_t n = 0;
    for (size_t i = 0; i < p->by_heat.n; i++) {
        const struct pgk_sample_name *name = &p->names.list.v[p->nodes.v[p->by_heat.v[i]].name];
        n += plain_length(compiler, name) < name->len;
    }
    return n;
}

/* A part that was split off is entered from within its function, which was entered before. */
static bool is_part(const struct pgk_sample_name *name)
{
    return memmem(name->s, name->len, ".part.", strlen(".part.")) ||
           memmem(name->s, name->len, ".cold", strlen(".cold"));
}

/* ---- a copy with its names ---- */

static int make_copy(struct pgk_sample *into, const struct pgk_sample *p,
                     const struct pgk_gcc_compiler *compiler, struct pgk_err *err)
{
    enum { STORED_BITS = 0xffff };
    struct pgk_sample_merger m;
    struct pgk_gcc_compiler row = *compiler;
    unsigned frames = p->kind.contexts ? 1 : PGK_ALL_FRAMES;
    PGK_TRY(pgk_sample_set_kind(into, false, false, NULL, err));
    int status = pgk_merger_open(&m, into, p, err);
    m.rename = name_of_clone;
    m.rename_ctx = &row;
    m.discriminator_mask = STORED_BITS;
    m.cleared_of_calls = compiler->lines == PGK_GCC_BY_LINE ? STORED_BITS : 0;
    for (size_t i = 0; i < p->by_heat.n && !status; i++)
        status = pgk_merger_add(&m, p->by_heat.v[i], frames, 1, err);
    for (size_t i = 0; i < p->by_heat.n && !status; i++) {
        const struct pgk_sample_node *from = &p->nodes.v[p->by_heat.v[i]];
        uint32_t to = pgk_sample_root(into, pgk_merger_name(&m, from->name));
        if (!to)
            status = pgk_fail_nomem(err);
        else if (is_part(&p->names.list.v[from->name]))
            into->nodes.v[to].head -= from->head;
    }
    pgk_merger_close(&m);
    return status ? status : pgk_sample_finish(into, err);
}

/* ---- one count per line ---- */

/* The records of a line that differ only in discriminators: the largest count, because each is that
 * of a block with this line, and all calls. */
static size_t unite_line(struct pgk_sample_rec *v, size_t n)
{
    size_t bodies = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        v[i].loc = pgk_sample_loc(pgk_sample_line(v[i].loc), 0);
        if (v[i].what != PGK_REC_BODY)
            continue;
        most = v[i].count > most ? v[i].count : most;
        v[i].count = 0;
        bodies++;
    }
    for (size_t i = 0; i < n && bodies; i++) {
        if (v[i].what == PGK_REC_BODY) {
            v[i].count = most;
            break;
        }
    }
    return bodies > 1 ? bodies - 1 : 0;
}

static bool unite_lines(struct pgk_sample *p, uint32_t node, size_t *merged)
{
    PGK_VEC(struct pgk_sample_rec) recs = {0};
    struct pgk_sample_recs *list = &p->nodes.v[node].recs;
    if (!pgk_vec_reserve(&recs, list->n))
        return false;
    if (list->n)
        memcpy(recs.v, list->v, list->n * sizeof *recs.v);
    for (size_t i = 0, end; i < list->n; i = end) {
        for (end = i; end < list->n && pgk_sample_line(list->v[end].loc) ==
                                           pgk_sample_line(list->v[i].loc);)
            end++;
        *merged += unite_line(recs.v + i, end - i);
    }
    recs.n = recs.v ? pgk_recs_sort(recs.v, list->n) : 0;
    pgk_sample_clear_recs(p, node);
    bool ok = pgk_sample_add_sorted(p, node, recs.v, recs.n, 1);
    pgk_vec_free(&recs);
    return ok;
}

static size_t count_inlinees(const struct pgk_sample *p, uint32_t node)
{
    size_t n = 0;
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        n += 1 + count_inlinees(p, c);
    return n;
}

static size_t count_all_inlinees(const struct pgk_sample *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->by_heat.n; i++)
        n += count_inlinees(p, p->by_heat.v[i]);
    return n;
}

/* gcc takes the last count of a line for all of it, and finds inlined calls without discriminator
 * only; make_copy has put these together. */
static int go_by_lines(struct pgk_sample *p, const struct pgk_sample *from, size_t *merged,
                       struct pgk_err *err)
{
    size_t before = count_all_inlinees(from), after = count_all_inlinees(p);
    *merged = before > after ? before - after : 0;
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (!unite_lines(p, id, merged))
            return pgk_fail_nomem(err);
    p->finished = false; /* another order by totals, which changed */
    PGK_TRY(pgk_sample_build_totals(p, err));
    return pgk_sample_finish(p, err);
}

/* ---- heads ---- */

/* All counts of a function are multiplied by its head over the count of its first block, so that a
 * head that is too small makes it cold. */
static size_t raise_heads(struct pgk_sample *p)
{
    size_t raised = 0;
    for (size_t i = 0; i < p->by_heat.n; i++) {
        struct pgk_sample_node *n = &p->nodes.v[p->by_heat.v[i]];
        uint64_t entries = pgk_sample_entries(p, p->by_heat.v[i]);
        raised += n->head < entries;
        n->head = n->head > entries ? n->head : entries;
    }
    return raised;
}

/* ---- times ---- */

/* gcc places functions by their times and takes 0, which is unknown, for the first of all. */
static int time_all(struct pgk_sample *p, struct pgk_err *err)
{
    uint64_t last = 0;
    for (size_t i = 0; i < p->by_heat.n; i++) {
        uint64_t t = pgk_sample_origin(p, p->nodes.v[p->by_heat.v[i]].name).first_run;
        last = t > last ? t : last;
    }
    for (size_t i = 0; last && i < p->by_heat.n; i++) {
        uint32_t name = p->nodes.v[p->by_heat.v[i]].name;
        if (!pgk_sample_origin(p, name).first_run &&
            !pgk_sample_add_origin(p, name, NULL, 0, last + (last < UINT64_MAX)))
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_gcc_adapt(struct pgk_sample **adapted, const struct pgk_sample *p,
                  const struct pgk_gcc_compiler *compiler, struct pgk_gcc_changes *changes,
                  struct pgk_err *err)
{
    struct pgk_sample *copy;
    *changes = (struct pgk_gcc_changes){.contexts = p->kind.contexts};
    PGK_TRY(check(p, err));
    changes->clones_joined = count_clones(p, compiler);
    PGK_TRY(pgk_sample_new(&copy, err));
    int status = make_copy(copy, p, compiler, err);
    if (!status && compiler->lines == PGK_GCC_BY_LINE)
        status = go_by_lines(copy, p, &changes->lines_merged, err);
    if (!status && compiler->heads == PGK_GCC_SCALING)
        changes->heads_raised = raise_heads(copy);
    if (!status && compiler->profile->layout == PGK_GCC_SUMMARY)
        status = time_all(copy, err);
    if (status)
        pgk_sample_close(&copy);
    else
        *adapted = copy;
    return status;
}
