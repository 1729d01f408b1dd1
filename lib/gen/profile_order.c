/* A sample profile as an order of functions for the linker. docs/formats/function-order.md */
#include "binary_set.h"
#include "functions.h"
#include "index.h"
#include "order_write.h"
#include "pgokit/gen.h"
#include "saturate.h"

#include <string.h>

struct reader {
    const struct pgk_sample *profile;
    const struct pgk_layout_functions *functions;
    struct pgk_index names; /* of functions by GUID: positions in functions->names */
    uint32_t *function_of;  /* by name: the function */
    struct pgk_call_graph graph;
};

static uint64_t guid_of(const char *name, size_t n)
{
    char text[1024];
    if (n >= sizeof text)
        return 0;
    memcpy(text, name, n);
    text[n] = '\0';
    return pgk_sample_guid(text);
}

static bool index_names(struct reader *r)
{
    const struct pgk_layout_functions *f = r->functions;
    r->function_of = pgk_mem_zalloc(f->names.n + 1, sizeof *r->function_of);
    bool ok = r->function_of;
    for (uint32_t i = 0; ok && i < f->list.n; i++) {
        const struct pgk_layout_function *one = &f->list.v[i];
        for (uint32_t k = one->first_name; ok && k < one->first_name + one->n_names; k++) {
            r->function_of[k] = i;
            ok = pgk_index_add(&r->names,
                               guid_of(f->names.v[k], pgk_symbol_length(f->names.v[k])), k);
        }
    }
    return ok;
}

/* Equal hashes of 64 bits are equal GUIDs. */
static uint32_t find(const struct reader *r, const char *name, uint64_t guid)
{
    guid = *name ? guid_of(name, pgk_symbol_length(name)) : guid;
    PGK_INDEX_FOR (&r->names, guid, i)
        return r->function_of[i];
    return PGK_LAYOUT_NONE;
}

static bool add_sizes(struct reader *r)
{
    for (size_t i = 0; i < r->functions->list.n; i++) {
        const struct pgk_layout_function *f = &r->functions->list.v[i];
        if (!pgk_vec_push(&r->graph.functions,
                          (struct pgk_graph_function){.size = f->high - f->low}))
            return false;
    }
    return true;
}

/* The calls of a node, whose place in the caller a profile does not say: they are in its middle. */
static bool add_calls(struct reader *r, uint32_t node, uint32_t caller)
{
    struct pgk_sample_record record = {.struct_size = sizeof record, .node = node};
    while (pgk_sample_next_record(r->profile, &record)) {
        uint32_t to = record.kind == PGK_SAMPLE_TARGET ? find(r, record.name, record.guid)
                                                       : PGK_LAYOUT_NONE;
        struct pgk_graph_call call = {caller, to, r->graph.functions.v[caller].size / 2,
                                      record.count};
        if (to != PGK_LAYOUT_NONE && to != caller && record.count &&
            !pgk_vec_push(&r->graph.calls, call))
            return false;
    }
    return true;
}

/* With what is inlined into it, at any depth. */
static bool add_node(struct reader *r, uint32_t top, uint32_t caller)
{
    uint32_t node = top;
    while (node) {
        if (!add_calls(r, node, caller))
            return false;
        uint32_t next = pgk_sample_first_inlinee(r->profile, node);
        while (!next && node != top) {
            struct pgk_sample_function f = {.struct_size = sizeof f};
            next = pgk_sample_next_inlinee(r->profile, node);
            pgk_sample_get(r->profile, node, &f);
            node = next ? node : f.caller;
        }
        node = next;
    }
    return true;
}

static bool add_functions(struct reader *r)
{
    for (size_t i = 0; i < pgk_sample_functions(r->profile); i++) {
        struct pgk_sample_function f = {.struct_size = sizeof f};
        uint32_t node = pgk_sample_function_at(r->profile, i);
        pgk_sample_get(r->profile, node, &f);
        uint32_t at = find(r, f.name, f.guid);
        if (at == PGK_LAYOUT_NONE || !f.total)
            continue;
        uint64_t *count = &r->graph.functions.v[at].count;
        *count = pgk_add_saturated(*count, f.total);
        if (!add_node(r, node, at))
            return false;
    }
    return true;
}

static int write(const struct reader *r, const pgk_layout_list *order, enum pgk_order_form form,
                 const char *path, struct pgk_err *err)
{
    struct pgk_sink *out;
    if (!order->n)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .format = "order of functions",
                        .field = "functions", .found = "none of the binary in the profile",
                        .expected = "functions of both",
                        .hint = "give the program that the profile is of with -b");
    PGK_TRY(pgk_sink_open(&out, path, err));
    pgk_order_write(r->functions, order, &r->graph, form, out);
    return pgk_sink_commit(&out, err);
}

int pgk_sample_write_order(const struct pgk_sample *profile, const struct pgk_binaries *binaries,
                           enum pgk_order_form form, const char *path, size_t *n,
                           struct pgk_err *err)
{
    struct pgk_layout_functions functions;
    pgk_layout_list order = {0};
    struct reader r = {.profile = profile, .functions = &functions};
    PGK_TRY(pgk_layout_functions_open(&functions, pgk_binaries_elf(binaries, 0), err));
    bool ok = index_names(&r) && add_sizes(&r) && add_functions(&r) &&
              pgk_layout_order(&order, &r.graph);
    int status = ok ? write(&r, &order, form, path, err) : pgk_fail_nomem(err);
    if (!status)
        *n = order.n;
    pgk_vec_free(&order);
    pgk_call_graph_free(&r.graph);
    pgk_index_free(&r.names);
    pgk_mem_free(r.function_of);
    pgk_layout_functions_close(&functions);
    return status;
}
