/* An order of functions as each linker takes it. docs/formats/function-order.md */
#include "order_write.h"

#include <inttypes.h>

/* A name without the version that dynamic symbols have. */
static int length_of(const char *name)
{
    return (int)strcspn(name, "@");
}

/* Length of the name of the function that `name` is the cold part of; -1 if it is none. */
static int whole_of(const char *name)
{
    const char *cold = strstr(name, ".cold");
    return cold && strspn(cold, ".cold0123456789") == strlen(cold) ? (int)(cold - name) : -1;
}

/* Sections that a compiler may have put the function in; each is preceded by `before`. */
static void put_sections(struct pgk_sink *out, const char *name, const char *before,
                         const char *after)
{
    static const char *const of_functions[] = {".text.hot.", ".text.", ".text.unlikely.",
                                               ".text.startup."};
    static const char *const of_cold_parts[] = {".text.unlikely.", ".text.split."};
    const int cold = whole_of(name), n = cold < 0 ? length_of(name) : cold;
    const char *const *v = cold < 0 ? of_functions : of_cold_parts;
    const size_t most = cold < 0 ? PGK_COUNTOF(of_functions) : PGK_COUNTOF(of_cold_parts);
    for (size_t i = 0; i < most; i++)
        pgk_sink_printf(out, "%s%s%.*s%s", before, v[i], n, name, after);
}

static void put_name(struct pgk_sink *out, const char *name, enum pgk_order_form form)
{
    switch (form) {
    case PGK_ORDER_LLD: pgk_sink_printf(out, "%.*s\n", length_of(name), name); break;
    case PGK_ORDER_GOLD: put_sections(out, name, "", "\n"); break;
    case PGK_ORDER_LD: put_sections(out, name, "    *(", ")\n"); break;
    case PGK_ORDER_CALLS: break; /* has no line of its own */
    }
}

/* Calls of one function by another are put together by the linker. */
static void put_calls(const struct pgk_layout_functions *f, const struct pgk_call_graph *graph,
                      struct pgk_sink *out)
{
    for (size_t i = 0; i < graph->calls.n; i++) {
        const struct pgk_graph_call *c = &graph->calls.v[i];
        const char *from = f->names.v[f->list.v[c->from].first_name];
        const char *to = f->names.v[f->list.v[c->to].first_name];
        pgk_sink_printf(out, "%.*s %.*s %" PRIu64 "\n", length_of(from), from, length_of(to), to,
                        c->count);
    }
}

void pgk_order_write(const struct pgk_layout_functions *functions, const pgk_layout_list *order,
                     const struct pgk_call_graph *graph, enum pgk_order_form form,
                     struct pgk_sink *out)
{
    if (form == PGK_ORDER_CALLS) {
        put_calls(functions, graph, out);
        return;
    }
    if (form == PGK_ORDER_LD)
        pgk_sink_printf(out, "SECTIONS\n{\n  .text.ordered :\n  {\n");
    for (size_t i = 0; i < order->n; i++) {
        const struct pgk_layout_function *f = &functions->list.v[order->v[i]];
        for (uint32_t k = 0; k < f->n_names; k++)
            put_name(out, functions->names.v[f->first_name + k], form);
    }
    if (form == PGK_ORDER_LD)
        pgk_sink_printf(out, "  }\n}\nINSERT BEFORE .text;\n");
}
