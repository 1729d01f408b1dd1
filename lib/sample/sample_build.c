/* Building sample profiles from the caller's own samples: the public side of the model, which
 * checks what readers check. */
#include "sample_origin.h"
#include "saturate.h"

static int refuse(struct pgk_err *err, const char *field, const char *found, const char *expected)
{
    return pgk_fail(err, PGK_E_ARG, .format = "sample profile", .field = field, .found = found,
                    .expected = expected);
}

static int check_open(const struct pgk_sample *p, struct pgk_err *err)
{
    return p->finished ? refuse(err, "profile", "a finished profile",
                                "one that pgk_sample_finish was not called on")
                       : 0;
}

static int check_node(const struct pgk_sample *p, uint32_t node, struct pgk_err *err)
{
    PGK_TRY(check_open(p, err));
    return node && node < p->nodes.n
               ? 0
               : refuse(err, "node", PGK_F("%u", node), "a function of this profile");
}

static int check_place(uint32_t line, struct pgk_err *err)
{
    return line <= PGK_SAMPLE_MAX_LINE
               ? 0
               : pgk_fail(err, PGK_E_LIMIT, .format = "sample profile", .field = "line offset",
                          .found = PGK_F("%u", line), .expected = "at most 65535");
}

/* Names that a line of the text format or of a list of names cannot hold. */
static int add_name(struct pgk_sample *p, const char *name, uint32_t *id, struct pgk_err *err)
{
    if (!name || !*name || strpbrk(name, "\n\r"))
        return refuse(err, "name", name && *name ? "a name with a line break" : "no name",
                      "the linkage name of a function or type");
    *id = pgk_sample_name(p, name, strlen(name));
    return *id ? 0 : pgk_fail_nomem(err);
}

static int deep(size_t depth, struct pgk_err *err)
{
    return pgk_fail(err, PGK_E_LIMIT, .format = "sample profile", .field = "depth",
                    .found = PGK_F("%zu functions in each other", depth),
                    .expected = PGK_F("fewer than %d", PGK_SAMPLE_MAX_DEPTH));
}

static int check_depth(const struct pgk_sample *p, uint32_t parent, struct pgk_err *err)
{
    size_t depth = 1;
    for (uint32_t up = parent; up; up = p->nodes.v[up].parent)
        depth++;
    return depth < PGK_SAMPLE_MAX_DEPTH ? 0 : deep(depth, err);
}

int pgk_sample_build_kind(struct pgk_sample *p, bool contexts, bool probes, struct pgk_err *err)
{
    PGK_TRY(check_open(p, err));
    if (p->nodes.n > 1 && !p->kind.known)
        return refuse(err, "kind", "functions", "a profile to which nothing was added");
    return pgk_sample_set_kind(p, contexts, probes, NULL, err);
}

static int give_node(uint32_t id, uint32_t *node, struct pgk_err *err)
{
    if (!id)
        return pgk_fail_nomem(err);
    *node = id;
    return 0;
}

int pgk_sample_build_function(struct pgk_sample *p, const char *name, uint32_t *node,
                              struct pgk_err *err)
{
    uint32_t id;
    PGK_TRY(check_open(p, err));
    PGK_TRY(add_name(p, name, &id, err));
    p->kind.known = true;
    return give_node(pgk_sample_function(p, id), node, err);
}

int pgk_sample_build_context(struct pgk_sample *p, const struct pgk_sample_call *callers, size_t n,
                             const char *name, uint32_t *node, struct pgk_err *err)
{
    uint32_t node_id = 0, name_id = 0;
    PGK_TRY(check_open(p, err));
    if (!p->kind.contexts)
        return refuse(err, "kind", "a profile without contexts",
                      "one that pgk_sample_build_kind made context-sensitive");
    if (n + 1 >= PGK_SAMPLE_MAX_DEPTH)
        return deep(n + 1, err);
    for (size_t i = 0; i <= n; i++) {
        PGK_TRY(i < n ? check_place(callers[i].line, err) : 0);
        PGK_TRY(add_name(p, i < n ? callers[i].function : name, &name_id, err));
        uint64_t loc = i ? pgk_sample_loc(callers[i - 1].line, callers[i - 1].discriminator) : 0;
        node_id = i ? pgk_sample_context(p, node_id, loc, name_id) : pgk_sample_root(p, name_id);
        if (!node_id)
            return pgk_fail_nomem(err);
    }
    pgk_sample_make_top(p, node_id);
    *node = node_id;
    return 0;
}

int pgk_sample_build_inlinee(struct pgk_sample *p, uint32_t parent, uint32_t line,
                             uint32_t discriminator, const char *name, uint32_t *node,
                             struct pgk_err *err)
{
    uint32_t id;
    PGK_TRY(check_node(p, parent, err));
    PGK_TRY(check_place(line, err));
    PGK_TRY(check_depth(p, parent, err));
    PGK_TRY(add_name(p, name, &id, err));
    return give_node(pgk_sample_inlinee(p, parent, pgk_sample_loc(line, discriminator), id), node,
                     err);
}

int pgk_sample_build_line(struct pgk_sample *p, uint32_t node, uint32_t line,
                          uint32_t discriminator, uint64_t samples, struct pgk_err *err)
{
    PGK_TRY(check_node(p, node, err));
    PGK_TRY(check_place(line, err));
    return pgk_sample_add_body(p, node, pgk_sample_loc(line, discriminator), samples)
               ? 0
               : pgk_fail_nomem(err);
}

int pgk_sample_build_target(struct pgk_sample *p, uint32_t node, uint32_t line,
                            uint32_t discriminator, const char *name, uint64_t calls,
                            struct pgk_err *err)
{
    uint32_t id;
    PGK_TRY(check_node(p, node, err));
    PGK_TRY(check_place(line, err));
    PGK_TRY(add_name(p, name, &id, err));
    return pgk_sample_add_target(p, node, pgk_sample_loc(line, discriminator), id, calls)
               ? 0
               : pgk_fail_nomem(err);
}

int pgk_sample_build_type(struct pgk_sample *p, uint32_t node, uint32_t line,
                          uint32_t discriminator, const char *name, uint64_t objects,
                          struct pgk_err *err)
{
    uint32_t id;
    PGK_TRY(check_node(p, node, err));
    PGK_TRY(check_place(line, err));
    PGK_TRY(add_name(p, name, &id, err));
    return pgk_sample_add_vtable(p, node, pgk_sample_loc(line, discriminator), id, objects)
               ? 0
               : pgk_fail_nomem(err);
}

int pgk_sample_build_counts(struct pgk_sample *p, uint32_t node, uint64_t total, uint64_t head,
                            struct pgk_err *err)
{
    PGK_TRY(check_node(p, node, err));
    pgk_sample_add_total(p, node, total);
    pgk_sample_add_head(p, node, head);
    return 0;
}

int pgk_sample_build_origin(struct pgk_sample *p, uint32_t node, const char *file,
                            uint64_t first_run, struct pgk_err *err)
{
    PGK_TRY(check_node(p, node, err));
    if (file && strpbrk(file, "\n\r"))
        return refuse(err, "file", "a name with a line break", "the path of a source file");
    return pgk_sample_add_origin(p, p->nodes.v[node].name, file, file ? strlen(file) : 0, first_run)
               ? 0
               : pgk_fail_nomem(err);
}

int pgk_sample_build_checksum(struct pgk_sample *p, uint32_t node, uint64_t checksum,
                              struct pgk_err *err)
{
    PGK_TRY(check_node(p, node, err));
    if (!p->kind.probes)
        return refuse(err, "kind", "a profile by lines",
                      "one that pgk_sample_build_kind made one by probes");
    p->nodes.v[node].checksum = checksum;
    return 0;
}

int pgk_sample_build_attributes(struct pgk_sample *p, uint32_t node, uint32_t attributes,
                                struct pgk_err *err)
{
    PGK_TRY(check_node(p, node, err));
    p->nodes.v[node].attributes |= attributes;
    p->preinlined |= (attributes & PGK_SAMPLE_SHOULD_INLINE) != 0;
    return 0;
}

int pgk_sample_build_symbol(struct pgk_sample *p, const char *name, struct pgk_err *err)
{
    PGK_TRY(check_open(p, err));
    if (!name || !*name || strpbrk(name, "\n\r"))
        return refuse(err, "symbol", "no name, or one with a line break", "a linkage name");
    return pgk_sample_add_symbol(p, name, strlen(name)) ? 0 : pgk_fail_nomem(err);
}

int pgk_sample_build_totals(struct pgk_sample *p, struct pgk_err *err)
{
    PGK_TRY(check_open(p, err));
    for (uint32_t id = 1; id < p->nodes.n; id++)
        p->nodes.v[id].total = 0;
    /* Inlined functions follow the function that they are inlined into. */
    for (uint32_t id = (uint32_t)p->nodes.n - 1; id; id--) {
        struct pgk_sample_node *n = &p->nodes.v[id];
        for (uint32_t i = 0; i < n->recs.n; i++)
            if (n->recs.v[i].what == PGK_REC_BODY)
                n->total = pgk_add_saturated(n->total, n->recs.v[i].count);
        if (n->parent && !(n->flags & PGK_NODE_CONTEXT))
            pgk_sample_add_total(p, n->parent, n->total);
    }
    return 0;
}
