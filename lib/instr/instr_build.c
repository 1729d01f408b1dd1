/* Building instrumentation profiles from the caller's own counters: the public side of the model,
 * which checks what readers check. */
#include "instr_model.h"

#include "hash.h"
#include "opts.h"

#define BIT(name) (UINT64_C(1) << PGK_INDEXED_##name)

static int refuse(struct pgk_err *err, const char *field, const char *found, const char *expected)
{
    return pgk_fail(err, PGK_E_ARG, .format = "instrumentation profile", .field = field,
                    .found = found, .expected = expected);
}

/* All that is built counts as one input. */
static struct pgk_instr_adder adder(struct pgk_instr *p)
{
    if (!p->built_input)
        p->built_input = ++p->inputs;
    return (struct pgk_instr_adder){
        .profile = p, .weight = 1, .file = "the caller's counters", .input = p->built_input};
}

static uint64_t flags_of(uint32_t traits)
{
    return (traits & PGK_INSTR_IS_IR ? BIT(IR) : 0) |
           (traits & PGK_INSTR_IS_CONTEXTUAL ? BIT(CONTEXT_SENSITIVE) : 0) |
           (traits & PGK_INSTR_IS_ENTRY_FIRST ? BIT(ENTRY_FIRST) : 0) |
           (traits & PGK_INSTR_IS_LOOP_ENTRIES ? BIT(LOOP_ENTRIES) : 0) |
           (traits & PGK_INSTR_IS_BYTE_COVERAGE ? BIT(BYTE_COVERAGE) : 0) |
           (traits & PGK_INSTR_IS_ENTRY_COVERAGE ? BIT(ENTRY_ONLY) : 0);
}

uint32_t pgk_instr_traits(const struct pgk_instr *p)
{
    uint32_t traits = 0;
    for (uint32_t bit = 1; bit <= PGK_INSTR_IS_ENTRY_COVERAGE; bit <<= 1)
        traits |= p->flags & flags_of(bit) ? bit : 0;
    return traits;
}

int pgk_instr_build_kind(struct pgk_instr *p, uint32_t traits, struct pgk_err *err)
{
    if (traits >= PGK_INSTR_IS_ENTRY_COVERAGE << 1)
        return refuse(err, "traits", PGK_F("0x%x", traits), "bits of enum pgk_instr_trait");
    if (traits & PGK_INSTR_IS_CONTEXTUAL && !(traits & PGK_INSTR_IS_IR))
        return refuse(err, "traits", "contexts without IR",
                      "PGK_INSTR_IS_IR with PGK_INSTR_IS_CONTEXTUAL");
    struct pgk_instr_adder a = adder(p);
    return pgk_instr_note_flags(&a, flags_of(traits), "instrumentation profile", err);
}

static int check(const struct pgk_instr *p, const struct pgk_instr_addition *f, struct pgk_err *err)
{
    if (!p->flags_file)
        return refuse(err, "kind", "a profile whose kind is not set",
                      "pgk_instr_build_kind before the first function");
    if (!f->name || !*f->name || strpbrk(f->name, "\n\r\1\2"))
        return refuse(err, "name", "no name, or one with control characters",
                      "the linkage name of the function");
    if (!f->n_counts || f->n_counts > UINT32_MAX || f->n_bitmap > UINT32_MAX)
        return refuse(err, "n_counts", PGK_F("%zu", f->n_counts), "1 counter or more");
    for (size_t i = 1; i < f->n_counts; i++)
        if (f->counts[i] > PGK_COUNT_MAX)
            return refuse(err, "counts", PGK_F("%llu", (unsigned long long)f->counts[i]),
                          "at most 2^64 - 3");
    for (size_t i = 0; i < f->n_sites; i++)
        if ((unsigned)f->sites[i].kind >= PGK_VALUE_KINDS || f->sites[i].n > UINT32_MAX)
            return refuse(err, "sites", PGK_F("kind %u", (unsigned)f->sites[i].kind),
                          "a kind of enum pgk_value_kind");
    return 0;
}

static bool gather(struct pgk_value_data *d, const struct pgk_instr_addition *f)
{
    for (size_t i = 0; i < f->n_sites; i++) {
        const struct pgk_instr_site_values *s = &f->sites[i];
        if (!pgk_vec_push(&d->kind[s->kind].counts, (uint32_t)s->n))
            return false;
        for (size_t v = 0; v < s->n; v++)
            if (!pgk_vec_push(&d->kind[s->kind].values, s->values[v]))
                return false;
    }
    return true;
}

static uint32_t add_name(struct pgk_instr *p, struct pgk_instr_names *t, const char *name)
{
    size_t len = strlen(name);
    return pgk_names_add(t, &p->arena, pgk_md5_low64(name, len), name, len);
}

int pgk_instr_build_function(struct pgk_instr *p, const struct pgk_instr_addition *given,
                             struct pgk_err *err)
{
    struct pgk_instr_addition f;
    struct pgk_value_data values = {0};
    struct pgk_uniformity uniformity = {0};
    PGK_TRY(PGK_OPTS_TAKE(&f, given, err));
    PGK_TRY(check(p, &f, err));
    struct pgk_instr_adder a = adder(p);
    struct pgk_instr_record r = {
        .name = add_name(p, &p->names, f.name),
        .hash = f.hash,
        .counts = f.counts,
        .n_counts = f.n_counts,
        .bitmap = f.bitmap,
        .n_bitmap = f.n_bitmap,
        .values = f.n_sites ? &values : NULL,
        .uniformity = f.uniformity ? &uniformity : NULL,
    };
    uniformity.bits = (uint8_t *)(uintptr_t)f.uniformity; /* which is only read */
    int status = r.name != PGK_INDEX_NONE && gather(&values, &f) ? 0 : pgk_fail_nomem(err);
    if (!status)
        status = pgk_instr_add(&a, &r, err);
    pgk_value_data_free(&values);
    return status;
}

int pgk_instr_build_vtable(struct pgk_instr *p, const char *name, struct pgk_err *err)
{
    if (!name || !*name || strpbrk(name, "\n\r\1\2"))
        return refuse(err, "name", "no name, or one with control characters",
                      "the linkage name of the virtual table");
    return add_name(p, &p->vtables, name) == PGK_INDEX_NONE ? pgk_fail_nomem(err) : 0;
}

int pgk_instr_build_binary_id(struct pgk_instr *p, const uint8_t *bytes, size_t size,
                              struct pgk_err *err)
{
    if (!size || size > 64)
        return refuse(err, "binary id", PGK_F("%zu bytes", size), "1 to 64 bytes");
    return pgk_instr_add_binary_id(p, bytes, size) ? 0 : pgk_fail_nomem(err);
}

int pgk_instr_build_trace(struct pgk_instr *p, const uint64_t *ids, size_t n, uint64_t weight,
                          struct pgk_err *err)
{
    if (!n || !weight)
        return refuse(err, n ? "weight" : "trace", n ? "0" : "no function", "1 or more");
    for (size_t i = 0; i < n; i++)
        if (pgk_names_find(&p->names, ids[i]) == PGK_INDEX_NONE)
            return refuse(err, "trace", PGK_F("id %llu", (unsigned long long)ids[i]),
                          "ids of functions of the profile");
    if (!pgk_instr_add_trace(p, weight, ids, n))
        return pgk_fail_nomem(err);
    p->flags |= BIT(TEMPORAL);
    p->trace_stream++;
    return 0;
}

/* ---- walking what readers found ---- */

const uint64_t *pgk_instr_trace_at(const struct pgk_instr *p, size_t i, size_t *n, uint64_t *weight)
{
    if (i >= p->traces.n)
        return NULL;
    *n = p->traces.v[i].n;
    if (weight)
        *weight = p->traces.v[i].weight;
    return p->traces.v[i].refs;
}

const char *pgk_instr_vtable_at(const struct pgk_instr *p, size_t i)
{
    return i < p->vtables.list.n ? p->vtables.list.v[i].s : NULL;
}
