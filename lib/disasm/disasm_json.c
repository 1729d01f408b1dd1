/* The listing as JSON, schema "pgokit-disasm-1". docs/formats/disasm-json.md
 *
 * Printed as it is made, so that memory does not grow with the program. */
#include "disasm_priv.h"

static void print_key(struct pgk_disasm *d, const char *key)
{
    pgk_text_str(&d->out, d->comma ? ", \"" : "\"");
    pgk_text_str(&d->out, key);
    pgk_text_lit(&d->out, "\": ");
    d->comma = true;
}

static void print_string(struct pgk_disasm *d, const char *key, const char *value)
{
    print_key(d, key);
    pgk_text_json(&d->out, value, strlen(value));
}

static void print_number(struct pgk_disasm *d, const char *key, uint64_t value)
{
    print_key(d, key);
    pgk_text_u64(&d->out, value);
}

/* Addresses and GUIDs do not fit the numbers of many readers of JSON. */
static void print_hex(struct pgk_disasm *d, const char *key, uint64_t value)
{
    print_key(d, key);
    pgk_text_lit(&d->out, "\"0x");
    pgk_text_hex(&d->out, value, 0);
    pgk_text_lit(&d->out, "\"");
}

static void open(struct pgk_disasm *d, const char *key, const char *bracket)
{
    if (key)
        print_key(d, key);
    else if (d->comma)
        pgk_text_lit(&d->out, ", ");
    pgk_text_str(&d->out, bracket);
    d->comma = false;
}

static void close(struct pgk_disasm *d, const char *bracket)
{
    pgk_text_str(&d->out, bracket);
    d->comma = true;
}

static void print_flag(struct pgk_disasm *d, const char *key, bool value)
{
    print_key(d, key);
    pgk_text_str(&d->out, value ? "true" : "false");
}

/* ---- counts ---- */

static void print_profile(struct pgk_disasm *d)
{
    const struct pgk_sample *p = pgk_disasm_profile(d->counts);
    const struct pgk_sample_summary *s = pgk_disasm_summary(d->counts);
    open(d, "profile", "{");
    print_string(d, "places", p->kind.probes ? "probes" : "lines");
    print_flag(d, "contexts", p->kind.contexts);
    print_number(d, "samples", s->total_count);
    print_number(d, "max", s->max_count);
    print_number(d, "hot", pgk_sample_hot_count(s));
    print_number(d, "cold", pgk_sample_cold_count(s));
    close(d, "}");
}

static void print_values(struct pgk_disasm *d, const char *key, bool targets,
                         const struct pgk_disasm_count *count)
{
    bool any = false;
    for (size_t i = 0; i < count->n_values; i++) {
        const struct pgk_sample_rec *v = &count->values[i];
        const struct pgk_sample_name *name =
            &pgk_disasm_profile(d->counts)->names.v.v[pgk_rec_name(v)];
        if (pgk_rec_is_target(v) != targets)
            continue;
        if (!any)
            open(d, key, "[");
        any = true;
        open(d, NULL, "{");
        if (name->s)
            print_string(d, "name", name->s);
        else
            print_hex(d, "guid", name->guid);
        print_number(d, "samples", v->count);
        close(d, "}");
    }
    if (any)
        close(d, "]");
}

static void print_count(struct pgk_disasm *d, const struct pgk_disasm_count *count)
{
    if (count->known)
        print_number(d, "samples", count->samples);
    print_values(d, "targets", true, count);
    print_values(d, "types", false, count);
}

static void print_heat(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    struct pgk_disasm_heat heat = pgk_disasm_function_heat(d, f);
    if (!heat.profiles)
        return;
    print_number(d, "samples", heat.samples);
    print_number(d, "head", heat.head);
    print_number(d, "profiles", heat.profiles);
}

/* ---- the listing ---- */

static int begin(struct pgk_disasm *d, struct pgk_err *err)
{
    (void)err;
    open(d, NULL, "{");
    print_string(d, "schema", "pgokit-disasm-1");
    print_string(d, "binary", d->path);
    if (d->counts)
        print_profile(d);
    open(d, "functions", "[");
    return 0;
}

static void function(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    pgk_text_str(&d->out, d->comma ? ",\n " : "\n ");
    d->comma = false;
    open(d, NULL, "{");
    print_string(d, "name", f->symbol->name);
    open(d, "aliases", "[");
    for (size_t i = 0; i < f->n_aliases; i++) {
        pgk_text_str(&d->out, i ? ", " : "");
        pgk_text_json(&d->out, f->aliases[i].name, strlen(f->aliases[i].name));
    }
    close(d, "]");
    print_string(d, "section", pgk_elf_section_at(d->elf, f->section).name);
    print_hex(d, "address", f->low);
    print_number(d, "size", f->high - f->low);
    if (d->counts)
        print_heat(d, f);
    open(d, "instructions", "[");
}

static void function_end(struct pgk_disasm *d)
{
    close(d, "]");
    close(d, "}");
}

static void print_function(struct pgk_disasm *d, uint32_t desc)
{
    struct pgk_probe_desc p = pgk_probe_desc_at(d->probes, desc);
    print_key(d, "function");
    pgk_text_json(&d->out, p.name, p.name_len);
}

static void print_probe(struct pgk_disasm *d, uint32_t number)
{
    struct pgk_probe p = pgk_probe_get(d->index, number);
    struct pgk_probe_frame frames[PGK_PROBE_MAX_DEPTH];
    uint32_t copies = pgk_probe_copies(d->index, number);
    open(d, NULL, "{");
    print_function(d, pgk_probe_function(d->index, p.node));
    print_number(d, "index", p.index);
    print_string(d, "type", pgk_probe_type_name(p.type));
    if (p.discriminator)
        print_number(d, "discriminator", p.discriminator);
    if (copies > 1)
        print_number(d, "copies", copies);
    if (d->counts) {
        struct pgk_disasm_count count = pgk_disasm_count_probe(d->counts, number);
        print_count(d, &count);
        if (pgk_disasm_is_stale(d->counts, number))
            print_flag(d, "stale", true);
    }
    size_t depth = pgk_probe_context(d->index, p.node, frames, PGK_PROBE_MAX_DEPTH);
    if (depth) {
        open(d, "inlined", "[");
        for (size_t i = 0; i < depth; i++) {
            open(d, NULL, "{");
            print_function(d, frames[i].desc);
            print_number(d, "site", frames[i].site);
            close(d, "}");
        }
        close(d, "]");
    }
    close(d, "}");
}

static void print_frame(struct pgk_disasm *d, const struct pgk_sym_frame *f)
{
    open(d, NULL, "{");
    print_string(d, "function", f->function ? f->function : "");
    print_string(d, "file", f->file ? f->file : "");
    print_number(d, "line", f->line);
    print_number(d, "column", f->column);
    print_number(d, "decl_line", f->decl_line);
    if (f->discriminator)
        print_number(d, "discriminator", f->discriminator);
    close(d, "}");
}

static void print_target(struct pgk_disasm *d, const char *key, const char *symbol_key,
                         uint64_t addr)
{
    print_hex(d, key, addr);
    const struct pgk_disasm_symbol *s = pgk_disasm_find(d, addr);
    if (!s)
        return;
    open(d, symbol_key, "{");
    print_string(d, "name", s->name);
    print_number(d, "offset", addr - s->addr);
    if (s->plt)
        print_flag(d, "plt", true);
    close(d, "}");
}

static void insn(struct pgk_disasm *d, const struct pgk_disasm_row *row)
{
    static const char *const kinds[] = {"", "conditional", "jump", "call", "return", "stop"};
    pgk_text_str(&d->out, d->comma ? ",\n  " : "\n  ");
    d->comma = false;
    open(d, NULL, "{");
    print_hex(d, "address", row->insn.addr);
    print_number(d, "length", row->insn.length);
    print_string(d, "text", row->text);
    if (row->insn.kind != PGK_INSN_OTHER)
        print_string(d, "kind", kinds[row->insn.kind]);
    if (row->insn.target)
        print_target(d, "target", "target_symbol", row->insn.target);
    if (row->insn.data)
        print_target(d, "data", "data_symbol", row->insn.data);
    print_count(d, &row->count);
    if (row->n_probes) {
        open(d, "probes", "[");
        for (size_t i = 0; i < row->n_probes; i++)
            print_probe(d, pgk_probe_by_address(d->index, row->first_probe + i));
        close(d, "]");
    }
    if (row->source) {
        open(d, "source", "[");
        for (uint32_t i = 0; i < row->source->count; i++)
            print_frame(d, &row->source->frames[i]);
        close(d, "]");
    }
    close(d, "}");
}

static void end(struct pgk_disasm *d)
{
    pgk_text_lit(&d->out, "\n");
    close(d, "]");
    close(d, "}");
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
