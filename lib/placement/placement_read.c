/* Reads a plan, with the contexts of a profile, and the allocator's statistics about its groups. */
#include "placement.h"

#include "filemap.h"
#include "opts.h"
#include "text_lines.h"

#include <stdlib.h>

/* ---- the file ---- */

static int refuse(const char *path, const struct pgk_placement_fault *fault, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_CORRUPT, .file = path, .format = "plan for the allocator",
                    .offset = &fault->offset, .field = fault->field, .found = fault->what,
                    .hint = "make it again with pgokit plan -o");
}

/* The nodes of the file, by the numbers that its modules have here. */
static int take_nodes(struct pgk_plan *plan, const struct pgk_placement *file, struct pgk_err *err)
{
    uint32_t modules[PGK_PLACEMENT_MODULES_MAX];
    for (uint32_t m = 0; m < file->header->n_modules; m++) {
        modules[m] = pgk_plan_module(plan, file->modules[m].id, file->modules[m].id_size);
        if (modules[m] == UINT32_MAX)
            return pgk_fail(err, PGK_E_ARG, .field = "modules", .found = "more than a plan holds");
    }
    for (uint32_t i = 0; i < file->header->n_nodes; i++) {
        struct pgk_placement_node node = file->nodes[i];
        node.module = (uint16_t)modules[node.module];
        if (!pgk_vec_push(&plan->nodes, node))
            return pgk_fail_nomem(err);
    }
    plan->n_groups = file->header->n_groups;
    return 0;
}

static int read_file(struct pgk_plan *plan, const char *path, struct pgk_err *err)
{
    struct pgk_filemap map;
    struct pgk_placement file;
    struct pgk_placement_fault fault;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    /* A mapped file begins at a page. */
    const int status = pgk_placement_check(map.bytes, map.size, &file, &fault)
                           ? take_nodes(plan, &file, err)
                           : refuse(path, &fault, err);
    pgk_filemap_close(&map);
    return status;
}

/* ---- with a profile ---- */

static int fill(struct pgk_plan *plan, const char *path, const struct pgk_heap *heap,
                const struct pgk_match *match, struct pgk_binaries *binaries, struct pgk_err *err)
{
    PGK_TRY(read_file(plan, path, err));
    const size_t of_plan = plan->modules.n;
    PGK_TRY(pgk_plan_add_contexts(plan, heap, match, binaries, err));
    bool known = false;
    for (size_t i = 0; i < plan->calls.n && !known; i++)
        known = plan->calls.v[i].module < of_plan;
    if (!known)
        return pgk_fail(err, PGK_E_MISMATCH, .file = path, .format = "plan for the allocator",
                        .field = "build ids of the plan", .found = "none of the profile's builds",
                        .hint = "give the build that the plan is for (-b)");
    pgk_plan_sort_contexts(plan);
    for (size_t i = 0; i < plan->contexts.n; i++) {
        struct pgk_plan_context *c = &plan->contexts.v[i];
        c->reason = !c->n_steps ? PGK_PLAN_NO_CALL
                    : pgk_plan_is_large(c) ? PGK_PLAN_LARGE : PGK_PLAN_SPLIT;
    }
    pgk_plan_take_found_groups(plan, PGK_PLAN_UNNAMED);
    return 0;
}

int pgk_plan_read(struct pgk_plan **into, const char *path, const struct pgk_heap *heap,
                  const struct pgk_match *match, struct pgk_binaries *binaries,
                  const struct pgk_plan_opts *opts, struct pgk_err *err)
{
    struct pgk_plan_opts o;
    PGK_TRY(PGK_OPTS_TAKE(&o, opts, err));
    struct pgk_plan *plan = pgk_mem_zalloc(1, sizeof *plan);
    if (!plan)
        return pgk_fail_nomem(err);
    plan->depth = PGK_PLACEMENT_DEPTH_MAX;
    plan->knows_accesses = !o.lifetimes_only;
    const int status = fill(plan, path, heap, match, binaries, err);
    if (status)
        pgk_plan_close(&plan);
    else
        *into = plan;
    return status;
}

/* ---- the allocator's statistics ---- */

struct lines {
    struct pgk_plan *plan;
    const char *path, *at, *end;
    uint64_t number;
};

static int refuse_line(const struct lines *l, const char *field, const char *expected,
                       struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_CORRUPT, .file = l->path, .format = "lines of libpgokit_alloc",
                    .record = PGK_F("line %llu", (unsigned long long)l->number), .field = field,
                    .found = PGK_F("\"%.*s\"", l->end - l->at < 40 ? (int)(l->end - l->at) : 40,
                                   l->at),
                    .expected = expected,
                    .hint = "give what the program wrote to standard error under pgokit run "
                            "--stats, whole");
}

static bool skip(struct lines *l, const char *text)
{
    const size_t n = strlen(text);
    if ((size_t)(l->end - l->at) < n || memcmp(l->at, text, n))
        return false;
    l->at += n;
    return true;
}

static bool number(struct lines *l, uint64_t *n)
{
    const char *before = l->at;
    for (*n = 0; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++)
        if (__builtin_mul_overflow(*n, 10, n) ||
            __builtin_add_overflow(*n, (uint64_t)(*l->at - '0'), n))
            return false;
    return l->at != before;
}

static int read_group(struct lines *l, uint64_t *group, struct pgk_err *err)
{
    *group = PGK_PLAN_HINT_COLD;
    if (skip(l, "cold"))
        return 0;
    *group = PGK_PLAN_HINT_HOT;
    if (skip(l, "hot"))
        return 0;
    if (!skip(l, "group ") || !number(l, group))
        return refuse_line(l, "group", "\"group N\", \"cold\" or \"hot\"", err);
    if (!*group || *group >= l->plan->n_groups)
        return refuse_line(l, "number of the group",
                           PGK_F("1 to %u, as the plan has", l->plan->n_groups - 1), err);
    return 0;
}

/* "pgokit_alloc: group 1: 12 bytes of objects in 4096 bytes of pages (0 %), 0 bytes of empty ..."
 * Other lines are the program's. */
int pgk_plan_take_stats(struct pgk_plan *plan, const char *path, const char *line, size_t len,
                        uint64_t number_of_line, struct pgk_err *err)
{
    struct lines lines = {plan, path, line, line + len, number_of_line}, *l = &lines;
    struct pgk_plan_held held;
    uint64_t group, percent;
    if (!skip(l, "pgokit_alloc: ") || !memmem(line, len, " bytes of objects", 17))
        return 0;
    PGK_TRY(read_group(l, &group, err));
    if (!skip(l, ": ") || !number(l, &held.objects) || !skip(l, " bytes of objects in ") ||
        !number(l, &held.pages) || !skip(l, " bytes of pages (") || !number(l, &percent) ||
        !skip(l, " %), ") || !number(l, &held.empty) || !skip(l, " bytes of empty pages"))
        return refuse_line(l, "what a group holds", "\"N bytes of objects in N bytes of pages "
                           "(N %), N bytes of empty pages\"", err);
    if (!plan->held[group].pages || held.objects > plan->held[group].objects)
        plan->held[group] = held;
    plan->knows_held = true;
    return 0;
}

struct text {
    struct pgk_plan *plan;
    const char *path;
};

static int add_line(void *ctx, const char *line, size_t len, uint64_t number_of_line,
                    struct pgk_err *err)
{
    const struct text *t = ctx;
    return pgk_plan_take_stats(t->plan, t->path, line, len, number_of_line, err);
}

int pgk_plan_read_stats(struct pgk_plan *plan, const char *path, struct pgk_err *err)
{
    struct text t = {plan, path};
    memset(plan->held, 0, sizeof plan->held);
    plan->knows_held = false;
    PGK_TRY(pgk_text_lines(path, add_line, &t, err));
    if (!plan->knows_held)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .format = "lines of libpgokit_alloc",
                        .field = "lines", .found = "none of what a group holds",
                        .expected = "\"pgokit_alloc: group 1: ... bytes of objects in ...\"",
                        .hint = "run the program with pgokit run --stats --plan FILE, and keep "
                                "what it writes to standard error");
    return 0;
}
