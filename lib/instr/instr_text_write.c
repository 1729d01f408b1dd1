/* Writer of .proftext, byte for byte as llvm-profdata 22 prints it. */
#include "instr_text.h"

#include <inttypes.h>

struct writer {
    const struct pgk_instr *p;
    struct pgk_sink *out;
    bool *has_record; /* by name */
    pgk_ranked_vec ranked;
    struct pgk_err *err;
};

static void put_name(struct writer *w, const struct pgk_instr_names *t, uint32_t i)
{
    pgk_sink_bytes(w->out, t->list.v[i].s, t->list.v[i].len);
}

static void write_flags(struct writer *w)
{
    static const struct {
        enum pgk_indexed_flag bit;
        const char *text;
    } flags[] = {
        {PGK_INDEXED_CONTEXT_SENSITIVE, "# CSIR level Instrumentation Flag\n:csir\n"},
        {PGK_INDEXED_IR, "# IR level Instrumentation Flag\n:ir\n"},
        {PGK_INDEXED_ENTRY_FIRST, "# Always instrument the function entry block\n:entry_first\n"},
        {PGK_INDEXED_LOOP_ENTRIES, "# Always instrument the loop entry blocks\n"
                                   ":instrument_loop_entries\n"},
        {PGK_INDEXED_BYTE_COVERAGE, "# Instrument block coverage\n:single_byte_coverage\n"},
    };
    bool csir = w->p->flags >> PGK_INDEXED_CONTEXT_SENSITIVE & 1;
    for (size_t i = 0; i < PGK_COUNTOF(flags); i++)
        if (w->p->flags >> flags[i].bit & 1 && !(csir && flags[i].bit == PGK_INDEXED_IR))
            pgk_sink_bytes(w->out, flags[i].text, strlen(flags[i].text));
}

/* Functions without a record have no name in a text, so that they are left out of traces. */
static uint32_t traced_name(const struct writer *w, uint64_t ref)
{
    uint32_t name = pgk_names_find(&w->p->names, ref);
    return name != PGK_INDEX_NONE && w->has_record[name] ? name : PGK_INDEX_NONE;
}

static bool has_names(const struct writer *w, const struct pgk_instr_trace *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (traced_name(w, t->refs[i]) != PGK_INDEX_NONE)
            return true;
    return false;
}

static void write_trace(struct writer *w, const struct pgk_instr_trace *t)
{
    pgk_sink_printf(w->out, "# Weight:\n%" PRIu64 "\n", t->weight);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t name = traced_name(w, t->refs[i]);
        if (name != PGK_INDEX_NONE) {
            put_name(w, &w->p->names, name);
            pgk_sink_u8(w->out, ',');
        }
    }
    pgk_sink_u8(w->out, '\n');
}

static int write_traces(struct writer *w)
{
    const struct pgk_instr *p = w->p;
    const struct pgk_instr_trace **order;
    size_t n = 0;
    if (!(p->flags >> PGK_INDEXED_TEMPORAL & 1))
        return 0;
    PGK_TRY(pgk_instr_order_traces(p, &order, w->err));
    for (size_t i = 0; i < p->traces.n; i++)
        n += has_names(w, order[i]);
    pgk_sink_printf(w->out,
                    ":temporal_prof_traces\n# Num Temporal Profile Traces:\n%zu\n"
                    "# Temporal Profile Trace Stream Size:\n%" PRIu64 "\n",
                    n, p->trace_stream);
    for (size_t i = 0; i < p->traces.n; i++)
        if (has_names(w, order[i]))
            write_trace(w, order[i]);
    pgk_sink_u8(w->out, '\n');
    pgk_mem_free(order);
    return 0;
}

/* Functions are named if they have a record, as in LLVM. */
static void write_value(struct writer *w, enum pgk_value_kind kind, uint64_t value)
{
    const struct pgk_instr *p = w->p;
    if (kind == PGK_VALUE_SIZE) {
        pgk_sink_printf(w->out, "%" PRIu64, value);
        return;
    }
    const struct pgk_instr_names *t = kind == PGK_VALUE_VTABLE ? &p->vtables : &p->names;
    uint32_t name = value ? pgk_names_find(t, value) : PGK_INDEX_NONE;
    if (name == PGK_INDEX_NONE || (t == &p->names && !w->has_record[name]))
        pgk_sink_printf(w->out, "%s", PGK_EXTERNAL_SYMBOL);
    else
        put_name(w, t, name);
}

static int write_sites(struct writer *w, const struct pgk_instr_func *f)
{
    static const char *const names[] = {"IPVK_IndirectCallTarget", "IPVK_MemOPSize",
                                        "IPVK_VTableTarget"};
    int kinds = 0;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        kinds += f->n_sites[k] > 0;
    if (!kinds)
        return 0;
    pgk_sink_printf(w->out, "# Num Value Kinds:\n%d\n", kinds);
    for (int k = 0; k < PGK_VALUE_KINDS; k++) {
        if (!f->n_sites[k])
            continue;
        pgk_sink_printf(w->out, "# ValueKind = %s:\n%d\n# NumValueSites:\n%u\n", names[k], k,
                        f->n_sites[k]);
        for (uint32_t i = 0; i < f->n_sites[k]; i++) {
            if (!pgk_site_rank(pgk_func_site(f, (enum pgk_value_kind)k, i), &w->ranked))
                return pgk_fail_nomem(w->err);
            pgk_sink_printf(w->out, "%zu\n", w->ranked.n);
            for (size_t v = 0; v < w->ranked.n; v++) {
                write_value(w, (enum pgk_value_kind)k, w->ranked.v[v].v.value);
                pgk_sink_printf(w->out, ":%" PRIu64 "\n", w->ranked.v[v].v.count);
            }
        }
    }
    return 0;
}

static int write_function(struct writer *w, const struct pgk_instr_func *f)
{
    put_name(w, &w->p->names, f->name);
    pgk_sink_printf(w->out,
                    "\n# Func Hash:\n%" PRIu64 "\n# Num Counters:\n%u\n"
                    "# Counter Values:\n",
                    f->hash, f->n_counts);
    for (uint32_t i = 0; i < f->n_counts; i++)
        pgk_sink_printf(w->out, "%" PRIu64 "\n", f->counts[i]);
    if (f->n_bitmap) {
        pgk_sink_printf(w->out, "# Num Bitmap Bytes:\n$%u\n# Bitmap Byte Values:\n", f->n_bitmap);
        for (uint32_t i = 0; i < f->n_bitmap; i++)
            pgk_sink_printf(w->out, "0x%x\n", f->bitmap[i]);
        pgk_sink_u8(w->out, '\n');
    }
    PGK_TRY(write_sites(w, f));
    pgk_sink_u8(w->out, '\n');
    return 0;
}

static int write_all(struct writer *w)
{
    const struct pgk_instr *p = w->p;
    uint32_t *order;
    for (size_t i = 0; i < p->funcs.n; i++)
        w->has_record[p->funcs.v[i].name] = true;
    write_flags(w);
    PGK_TRY(write_traces(w));
    PGK_TRY(pgk_instr_order(p, &order, w->err));
    int status = 0;
    for (size_t i = 0; i < p->funcs.n && !status; i++)
        status = write_function(w, &p->funcs.v[order[i]]);
    pgk_mem_free(order);
    return status;
}

int pgk_instr_text_write(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err)
{
    struct writer w = {.p = p, .out = out, .err = err};
    w.has_record = pgk_mem_zalloc(p->names.list.n + 1, sizeof *w.has_record);
    int status = w.has_record ? write_all(&w) : pgk_fail_nomem(err);
    pgk_mem_free(w.has_record);
    pgk_vec_free(&w.ranked);
    return status;
}

size_t pgk_instr_text_uniform(const struct pgk_instr *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->funcs.n; i++)
        n += p->funcs.v[i].uniformity != NULL;
    return n;
}
