/* Writer of the value data of one function. */
#include "value_sites.h"

#include <assert.h>

static uint32_t held(const struct pgk_value_site *s)
{
    return s->n < PGK_SITE_VALUES_MAX ? s->n : PGK_SITE_VALUES_MAX;
}

uint64_t pgk_values_size(const struct pgk_instr_func *f, int kinds)
{
    assert(kinds <= PGK_VALUE_KINDS);
    uint64_t size = 8;
    const struct pgk_value_site *s = f->sites;
    for (int k = 0; k < kinds; k++) {
        if (f->n_sites[k])
            size += (8 + (uint64_t)f->n_sites[k] + 7) & ~UINT64_C(7);
        for (uint32_t i = 0; i < f->n_sites[k]; i++)
            size += sizeof(struct pgk_instr_value) * held(s++);
    }
    return size;
}

static void write_values(struct pgk_values_writer *w, enum pgk_value_kind kind,
                         const struct pgk_value_site *s, struct pgk_sink *out)
{
    w->failed |= !pgk_site_rank(s, &w->ranked);
    for (size_t i = 0; i < w->ranked.n; i++) {
        struct pgk_instr_value v = w->ranked.v[i].v;
        if (w->written)
            v.value = w->written(w->ctx, kind, v.value);
        pgk_sink_bytes(out, &v, sizeof v);
    }
}

void pgk_values_write(struct pgk_values_writer *w, const struct pgk_instr_func *f,
                      struct pgk_sink *out)
{
    uint32_t kinds = 0;
    for (int k = 0; k < w->kinds; k++)
        kinds += f->n_sites[k] > 0;
    pgk_sink_u32(out, (uint32_t)pgk_values_size(f, w->kinds));
    pgk_sink_u32(out, kinds);
    for (int k = 0; k < w->kinds; k++) {
        uint32_t n = f->n_sites[k];
        if (!n)
            continue;
        const struct pgk_value_site *s = pgk_func_site(f, (enum pgk_value_kind)k, 0);
        pgk_sink_u32(out, (uint32_t)k);
        pgk_sink_u32(out, n);
        for (uint32_t i = 0; i < n; i++)
            pgk_sink_u8(out, (uint8_t)held(&s[i]));
        pgk_sink_pad(out, n);
        for (uint32_t i = 0; i < n; i++)
            write_values(w, (enum pgk_value_kind)k, &s[i], out);
    }
}

size_t pgk_values_cut(const struct pgk_instr_func *f)
{
    size_t cut = 0, at = 0;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (uint32_t i = 0; i < f->n_sites[k]; i++)
            cut += f->sites[at++].n > PGK_SITE_VALUES_MAX;
    return cut;
}
