/* The listing as JSON, schema "pgokit-disasm-1". docs/formats/disasm-json.md
 *
 * Printed as it is made, so that memory does not grow with the program. */
#include "disasm_priv.h"

/* ---- counts ---- */

static void print_profile(struct pgk_disasm *d)
{
    struct pgk_json *j = &d->json;
    const struct pgk_sample *p = pgk_disasm_profile(d->counts);
    const struct pgk_sample_summary *s = pgk_disasm_summary(d->counts);
    pgk_json_object(j, "profile");
    pgk_json_text(j, "places", p->kind.probes ? "probes" : "lines");
    pgk_json_flag(j, "contexts", p->kind.contexts);
    pgk_json_number(j, "samples", s->total_count);
    pgk_json_number(j, "max", s->max_count);
    pgk_json_number(j, "hot", pgk_sample_hot_count(s));
    pgk_json_number(j, "cold", pgk_sample_cold_count(s));
    pgk_json_end_object(j);
}

static void print_values(struct pgk_disasm *d, const char *key, bool targets,
                         const struct pgk_disasm_count *count)
{
    struct pgk_json *j = &d->json;
    bool any = false;
    for (size_t i = 0; i < count->n_values; i++) {
        const struct pgk_sample_rec *v = &count->values[i];
        const struct pgk_sample_name *name =
            &pgk_disasm_profile(d->counts)->names.list.v[pgk_rec_name(v)];
        if (pgk_rec_is_target(v) != targets)
            continue;
        if (!any)
            pgk_json_array(j, key);
        any = true;
        pgk_json_object(j, NULL);
        if (name->s)
            pgk_json_text(j, "name", name->s);
        else
            pgk_json_hex(j, "guid", name->guid, 1);
        pgk_json_number(j, "samples", v->count);
        pgk_json_end_object(j);
    }
    if (any)
        pgk_json_end_array(j);
}

static void print_count(struct pgk_disasm *d, const struct pgk_disasm_count *count)
{
    struct pgk_json *j = &d->json;
    if (count->known)
        pgk_json_number(j, "samples", count->samples);
    print_values(d, "targets", true, count);
    print_values(d, "types", false, count);
}

static void print_heat(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    struct pgk_json *j = &d->json;
    struct pgk_disasm_heat heat = pgk_disasm_function_heat(d, f);
    if (!heat.profiles)
        return;
    pgk_json_number(j, "samples", heat.samples);
    pgk_json_number(j, "head", heat.head);
    pgk_json_number(j, "profiles", heat.profiles);
}

/* ---- the listing ---- */

static int begin(struct pgk_disasm *d, struct pgk_err *err)
{
    struct pgk_json *j = &d->json;
    (void)err;
    pgk_json_begin(j, &d->out, PGK_JSON_SPACED);
    pgk_json_object(j, NULL);
    pgk_json_text(j, "schema", "pgokit-disasm-1");
    pgk_json_text(j, "binary", d->path);
    if (d->counts)
        print_profile(d);
    pgk_json_array(j, "functions");
    return 0;
}

static void function(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    struct pgk_json *j = &d->json;
    pgk_json_line(j, 1);
    pgk_json_object(j, NULL);
    pgk_json_text(j, "name", f->symbol->name);
    pgk_json_array(j, "aliases");
    for (size_t i = 0; i < f->n_aliases; i++)
        pgk_json_text(j, NULL, f->aliases[i].name);
    pgk_json_end_array(j);
    pgk_json_text(j, "section", pgk_elf_section_at(d->elf, f->section).name);
    pgk_json_hex(j, "address", f->low, 1);
    pgk_json_number(j, "size", f->high - f->low);
    if (d->counts)
        print_heat(d, f);
    pgk_json_array(j, "instructions");
}

static void function_end(struct pgk_disasm *d)
{
    struct pgk_json *j = &d->json;
    pgk_json_end_array(j);
    pgk_json_end_object(j);
}

static void print_function(struct pgk_disasm *d, uint32_t desc)
{
    struct pgk_probe_desc p = pgk_probe_desc_at(d->probes, desc);
    pgk_json_text_n(&d->json, "function", p.name, p.name_len);
}

static void print_probe(struct pgk_disasm *d, uint32_t number)
{
    struct pgk_json *j = &d->json;
    struct pgk_probe p = pgk_probe_get(d->index, number);
    struct pgk_probe_frame frames[PGK_PROBE_MAX_DEPTH];
    uint32_t copies = pgk_probe_copies(d->index, number);
    pgk_json_object(j, NULL);
    print_function(d, pgk_probe_function(d->index, p.node));
    pgk_json_number(j, "index", p.index);
    pgk_json_text(j, "type", pgk_probe_type_name(p.type));
    if (p.discriminator)
        pgk_json_number(j, "discriminator", p.discriminator);
    if (copies > 1)
        pgk_json_number(j, "copies", copies);
    if (d->counts) {
        struct pgk_disasm_count count = pgk_disasm_count_probe(d->counts, number);
        print_count(d, &count);
        if (pgk_disasm_is_stale(d->counts, number))
            pgk_json_flag(j, "stale", true);
    }
    size_t depth = pgk_probe_context(d->index, p.node, frames, PGK_PROBE_MAX_DEPTH);
    if (depth) {
        pgk_json_array(j, "inlined");
        for (size_t i = 0; i < depth; i++) {
            pgk_json_object(j, NULL);
            print_function(d, frames[i].desc);
            pgk_json_number(j, "site", frames[i].site);
            pgk_json_end_object(j);
        }
        pgk_json_end_array(j);
    }
    pgk_json_end_object(j);
}

static void print_frame(struct pgk_disasm *d, const struct pgk_sym_frame *f)
{
    struct pgk_json *j = &d->json;
    pgk_json_object(j, NULL);
    pgk_json_text(j, "function", f->function ? f->function : "");
    pgk_json_text(j, "file", f->file ? f->file : "");
    pgk_json_number(j, "line", f->line);
    pgk_json_number(j, "column", f->column);
    pgk_json_number(j, "decl_line", f->decl_line);
    if (f->discriminator)
        pgk_json_number(j, "discriminator", f->discriminator);
    pgk_json_end_object(j);
}

static void print_target(struct pgk_disasm *d, const char *key, const char *symbol_key,
                         uint64_t addr)
{
    struct pgk_json *j = &d->json;
    pgk_json_hex(j, key, addr, 1);
    const struct pgk_disasm_symbol *s = pgk_disasm_find(d, addr);
    if (!s)
        return;
    pgk_json_object(j, symbol_key);
    pgk_json_text(j, "name", s->name);
    pgk_json_number(j, "offset", addr - s->addr);
    if (s->plt)
        pgk_json_flag(j, "plt", true);
    pgk_json_end_object(j);
}

static void insn(struct pgk_disasm *d, const struct pgk_disasm_row *row)
{
    struct pgk_json *j = &d->json;
    static const char *const kinds[] = {"", "conditional", "jump", "call", "return", "stop"};
    pgk_json_line(j, 2);
    pgk_json_object(j, NULL);
    pgk_json_hex(j, "address", row->insn.addr, 1);
    pgk_json_number(j, "length", row->insn.length);
    pgk_json_text(j, "text", row->text);
    if (row->insn.kind != PGK_INSN_OTHER)
        pgk_json_text(j, "kind", kinds[row->insn.kind]);
    if (row->insn.target)
        print_target(d, "target", "target_symbol", row->insn.target);
    if (row->insn.data)
        print_target(d, "data", "data_symbol", row->insn.data);
    print_count(d, &row->count);
    if (row->n_probes) {
        pgk_json_array(j, "probes");
        for (size_t i = 0; i < row->n_probes; i++)
            print_probe(d, pgk_probe_by_address(d->index, row->first_probe + i));
        pgk_json_end_array(j);
    }
    if (row->source) {
        pgk_json_array(j, "source");
        for (uint32_t i = 0; i < row->source->count; i++)
            print_frame(d, &row->source->frames[i]);
        pgk_json_end_array(j);
    }
    pgk_json_end_object(j);
}

static void end(struct pgk_disasm *d)
{
    struct pgk_json *j = &d->json;
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
    pgk_json_end_object(j);
    pgk_text_lit(&d->out, "\n");
}

const struct pgk_disasm_style pgk_disasm_json = {
    .insns = PGK_INSN_READABLE,
    .begin = begin,
    .function = function,
    .insn = insn,
    .function_end = function_end,
    .end = end,
};
