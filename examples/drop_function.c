/* Takes a function, and what was inlined into it, out of a sample profile: a loop that waits for
 * work has most samples of many a server and says nothing of its code. All else is read and built
 * again as it is: what a tool that changes profiles does.
 *
 *     cc drop_function.c $(pkg-config --cflags --libs pgokit) -o drop_function
 *     ./drop_function app.afdo wait_for_work without.afdo [gcc16] */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 1000, GUID_SIZE = 24 };

struct job {
    const struct pgk_sample *from;
    struct pgk_sample *to;
    const char *dropped;
    struct pgk_err *err;
};

/* What is known by its GUID alone is named by that number. */
static const char *name_of(char buf[GUID_SIZE], const char *name, uint64_t guid)
{
    snprintf(buf, GUID_SIZE, "%" PRIu64, guid);
    return *name ? name : buf;
}

static int copy_records(const struct job *j, uint32_t node, uint32_t into)
{
    struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
    char buf[GUID_SIZE];
    int status = 0;
    while (!status && pgk_sample_next_record(j->from, &r)) {
        const char *name = name_of(buf, r.name, r.guid);
        if (r.kind == PGK_SAMPLE_LINE)
            status = pgk_sample_build_line(j->to, into, r.line, r.discriminator, r.count, j->err);
        else if (r.kind == PGK_SAMPLE_TARGET)
            status = pgk_sample_build_target(j->to, into, r.line, r.discriminator, name, r.count,
                                             j->err);
        else
            status = pgk_sample_build_type(j->to, into, r.line, r.discriminator, name, r.count,
                                           j->err);
    }
    return status;
}

static int copy_properties(const struct job *j, const struct pgk_sample_function *f, uint32_t into)
{
    int status = pgk_sample_build_attributes(j->to, into, f->attributes, j->err);
    if (!status && f->checksum)
        status = pgk_sample_build_checksum(j->to, into, f->checksum, j->err);
    if (!status && (*f->file || f->first_run))
        status = pgk_sample_build_origin(j->to, into, f->file, f->first_run, j->err);
    return status;
}

/* Adds the samples that were dropped in the node to `dropped`; totals are without them. */
static int copy_node(const struct job *j, uint32_t node, uint32_t into, uint64_t *dropped)
{
    struct pgk_sample_function f = {.struct_size = sizeof f}, g = f;
    uint64_t inside = 0;
    uint32_t inlinee = pgk_sample_first_inlinee(j->from, node), copy;
    char buf[GUID_SIZE];
    pgk_sample_get(j->from, node, &f);
    int status = copy_properties(j, &f, into);
    if (!status)
        status = copy_records(j, node, into);
    for (; !status && inlinee; inlinee = pgk_sample_next_inlinee(j->from, inlinee)) {
        pgk_sample_get(j->from, inlinee, &g);
        const char *name = name_of(buf, g.name, g.guid);
        if (!strcmp(name, j->dropped)) {
            inside += g.total;
            continue;
        }
        status = pgk_sample_build_inlinee(j->to, into, g.line, g.discriminator, name, &copy,
                                          j->err);
        if (!status)
            status = copy_node(j, inlinee, copy, &inside);
    }
    inside = inside < f.total ? inside : f.total;
    *dropped += inside;
    return status ? status
                  : pgk_sample_build_counts(j->to, into, f.total - inside, f.head, j->err);
}

/* A function, or a calling context: `calls` are the path to it, outermost first. */
static int copy_function(const struct job *j, uint32_t node, bool contexts)
{
    struct pgk_sample_call calls[MAX_CALLS];
    static char names[MAX_CALLS + 1][GUID_SIZE];
    struct pgk_sample_function f = {.struct_size = sizeof f}, up;
    size_t n = MAX_CALLS;
    uint32_t copy;
    pgk_sample_get(j->from, node, &f);
    const char *name = name_of(names[n], f.name, f.guid);
    if (!strcmp(name, j->dropped))
        return 0;
    for (up = f; up.caller && n;) {
        uint32_t line = up.line, discriminator = up.discriminator;
        pgk_sample_get(j->from, up.caller, &up);
        n--;
        calls[n] = (struct pgk_sample_call){name_of(names[n], up.name, up.guid), line,
                                            discriminator};
    }
    int status = contexts ? pgk_sample_build_context(j->to, calls + n, MAX_CALLS - n, name, &copy,
                                                     j->err)
                          : pgk_sample_build_function(j->to, name, &copy, j->err);
    return status ? status : copy_node(j, node, copy, &(uint64_t){0});
}

static int copy(const struct job *j, const char *path, const char *target)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(j->from, &info);
    struct pgk_sample_write_opts opts = {
        .struct_size = sizeof opts, .vtables = info.vtables, .partial = info.partial};
    int status = pgk_sample_write_for(&opts, target, j->err);
    if (!status)
        status = pgk_sample_build_kind(j->to, info.contexts, info.probes, j->err);
    for (size_t i = 0; !status && i < pgk_sample_functions(j->from); i++)
        status = copy_function(j, pgk_sample_function_at(j->from, i), info.contexts);
    for (size_t i = 0; !status && i < info.n_symbols; i++)
        status = pgk_sample_build_symbol(j->to, pgk_sample_symbol_at(j->from, i), j->err);
    if (!status && info.flow_discriminators)
        pgk_sample_mark_flow(j->to);
    if (!status)
        status = pgk_sample_finish(j->to, j->err);
    return status ? status : pgk_sample_write(j->to, path, &opts, NULL, j->err);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_sample *from = NULL, *to = NULL;
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: %s PROFILE FUNCTION OUTPUT [TARGET]\n", argv[0]);
        return 1;
    }
    int status = pgk_sample_new(&from, &err);
    if (!status)
        status = pgk_sample_read(from, argv[1], 1, &err);
    if (!status)
        status = pgk_sample_finish(from, &err);
    if (!status)
        status = pgk_sample_new(&to, &err);
    if (!status)
        status = copy(&(struct job){from, to, argv[2], &err}, argv[3],
                      argc == 5 ? argv[4] : "extbinary");
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_sample_close(&from);
    pgk_sample_close(&to);
    return status != 0;
}
